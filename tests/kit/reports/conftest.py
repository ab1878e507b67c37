"""An experiment of awkward texts, and a run of it made by hand."""

from datetime import date

import pytest

from evidence_kit.experiments.model import (
    Baseline,
    DocumentHit,
    Experiment,
    ExperimentSource,
    Judgment,
    Parameters,
    PassageHit,
    Question,
    QuestionResult,
    Run,
    digest_of,
)
from evidence_kit.sources.validity import Validity

# \0 and \r are what HTML cannot hold; the rest is what it, or a reader's eye, might take for something else.
AWKWARD = (
    "\n第一行\r\n第二行\r第三行\n\n"
    "控制\0符\x1b[31m 与 \x85、\x9b、\x0b\x0c\x7f；\ufeff 与 \ufffe；\u2028 行 \u2029 段。\n"
    "表情 👩\u200d🚀 与 🇨🇳、e\u0301、カ\u3099；\tTab。\n"
    "翻转 \u202egnp.exe\u202c 之后，\u2067אבג\u2069 与 مرحبا 混排。\n"
    "<script>alert(1)</script> <b>粗</b> &amp; &#0; {{ 7*7 }} {% raw %} --> ]]> \"'\u00ad软\n"
)
PLAIN = (
    "天文馆周二至周日开放，周一闭馆。\r\n"
    "夜场观测需要提前三天预约，雨天取消并全额退款。\r\n"
    "团体票满二十人起售。"
)
SOURCES = (
    ExperimentSource("a<b>.txt", "古怪 <i>标题</i> \u202e", AWKWARD, transformations=("bom_removed",)),
    ExperimentSource("b.md", "开放时间", PLAIN, 3, encoding="gb18030"),
    ExperimentSource(
        "c.md",
        "旧的开放时间",
        "天文馆每天开放。",
        validity=Validity("active", date(2020, 1, 1), date(2025, 12, 31), ("z.md",)),
    ),
)
QUESTIONS = (
    Question("q1", "夜场观测下雨怎么办？\n<script>alert(2)</script>\0"),
    Question("q2", "火箭"),
    Question("q3", "控制符 & 表情在哪里？"),
)


def hit(source, quote, score):
    start = source.text.index(quote)
    return PassageHit(source.source_id, score, start, start + len(quote), quote)


@pytest.fixture
def experiment():
    digests = {key: digest_of(key) for key in ("sources", "questions", "judgments", "parameters", "code")}
    old = {"Recall@2": 0.5, "nDCG@2": None}
    return Experiment(
        name="天文馆 & <观测>",
        sources=SOURCES,
        questions=QUESTIONS,
        judgments=(
            Judgment("q1", "a<b>.txt", 0, QUESTIONS[0].text_sha256, SOURCES[0].text_sha256),
            Judgment("q1", "b.md", 3, QUESTIONS[0].text_sha256, SOURCES[1].text_sha256),
            Judgment("q3", "a<b>.txt", 2, QUESTIONS[2].text_sha256, digest_of("旧文")),
        ),
        parameters=Parameters(k=2),
        baselines=(Baseline("初版 <1>", "2026-11-01", Parameters(), digests, old, {"q1": old, "旧问": {}}),),
    )


@pytest.fixture
def run(experiment):
    awkward, plain, _ = experiment.sources
    first = hit(plain, "夜场观测需要提前三天预约，雨天取消并全额退款。\r\n", 3.5)
    overlap = hit(plain, "雨天取消并全额退款。\r\n团体票满二十人起售。", 2.0)
    whole = hit(awkward, AWKWARD, 1.25)
    end = hit(awkward, AWKWARD[AWKWARD.index("第二行") : AWKWARD.index("段。")], 1.0)
    measured = {"Recall@2": 1.0, "nDCG@2": 2 / 3}
    undefined = {"Recall@2": None, "nDCG@2": None}
    results = (
        QuestionResult(
            QUESTIONS[0],
            (DocumentHit(1, first, 3, "current"), DocumentHit(2, whole, 0, "current")),
            (first, overlap, whole),
            measured,
        ),
        QuestionResult(QUESTIONS[1], (), (), undefined),
        QuestionResult(
            QUESTIONS[2],
            (DocumentHit(1, end, None, "stale"), DocumentHit(2, overlap, None, "unjudged")),
            (end, overlap),
            undefined,
        ),
    )
    return Run(
        parameters=experiment.parameters,
        as_of="2026-11-30",
        passages=12,
        left_out={"c.md": "ended"},
        results=results,
        means=measured,
        undefined={"Recall@2": ("q2", "q3"), "nDCG@2": ("q2", "q3")},
        missing=("q2",),
        unjudged_in_top_k=1,
        stale_in_top_k=1,
        stale_pairs=(("q3", "a<b>.txt"),),
        judged_out_of_force=0,
    )
