"""An experiment comes back from its JSON as it was, or not at all."""

import json
from dataclasses import replace
from datetime import date

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from evidence_kit.errors import EvidenceError
from evidence_kit.experiments.baseline import CONDITIONS, parameters_digest
from evidence_kit.experiments.limits import PROFILES
from evidence_kit.experiments.model import (
    Baseline,
    Experiment,
    ExperimentError,
    ExperimentSource,
    Judgment,
    Parameters,
    Question,
    digest_of,
)
from evidence_kit.formats.experiment_json import experiment_from_json, experiment_to_json
from evidence_kit.sources.strict_json import JsonInputError
from evidence_kit.sources.validity import Validity

TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
IDS = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=3).filter(str.strip)
SHA256 = st.text("0123456789abcdef", min_size=64, max_size=64)
MEASURES = st.sampled_from(["AP", "nDCG@3", "MRR@10", "Recall@999999", "P@1"])
PARAMETERS = st.builds(
    Parameters,
    method=st.sampled_from(["bm25", "tfidf_log"]),
    analyzer=st.sampled_from(["words_han", "char_ngrams(2,3)"]),
    window=st.integers(1000, 1_000_000),
    overlap=st.integers(0, 999),
    k=st.integers(1, 10_000),
    k1=st.floats(0, 1000) | st.integers(0, 9),
    b=st.floats(0, 1),
    budget=st.integers(1, 100_000_000),
)


@st.composite
def baselines(draw):
    parameters = draw(PARAMETERS)
    values = st.fixed_dictionaries(
        {name: st.none() | st.floats(0, 1) for name in draw(st.lists(MEASURES, unique=True, max_size=3))}
    )
    per_question = draw(st.dictionaries(TEXTS, values, min_size=1, max_size=2))
    first, *others = per_question.values()
    columns = {name: [first[name], *(row[name] for row in others)] for name in first}
    return Baseline(
        name=draw(IDS),
        as_of=draw(st.dates()).isoformat(),
        parameters=parameters,
        digests={key: draw(SHA256) for key in CONDITIONS} | {"parameters": parameters_digest(parameters)},
        means={name: mean_of(column) for name, column in columns.items()},
        per_question=per_question,
    )


def mean_of(values):
    """The mean of one or two values, None where none is defined: a float holds the sum of two in [0, 1]."""
    defined = [value for value in values if value is not None]
    return sum(defined) / len(defined) if defined else None


@st.composite
def validities(draw, source_id):
    first, last = draw(st.none() | st.dates()), draw(st.none() | st.dates())
    if first and last and last < first:
        first, last = last, first
    # Ids before its own only: no circle.
    superseded = tuple(draw(st.lists(IDS.filter(lambda other: other < source_id), unique=True, max_size=2)))
    return Validity(draw(st.sampled_from(["active", "expired"])), first, last, superseded)


@st.composite
def sources(draw):
    text, source_id = draw(TEXTS), draw(IDS)
    return ExperimentSource(
        source_id=source_id,
        title=draw(TEXTS),
        text=text,
        body_start=draw(st.integers(0, len(text))),
        validity=draw(validities(source_id)),
        encoding=draw(st.sampled_from(["utf-8", "gb18030"])),
        transformations=tuple(draw(st.lists(TEXTS, max_size=2))),
        origin=draw(st.sampled_from(["", " ", "甲/乙.md", "\u202e.csv"])),
    )


def records(strategy, key, most=3):
    return st.lists(strategy, unique_by=key, max_size=most).map(lambda found: tuple(sorted(found, key=key)))


@st.composite
def experiments(draw):
    all_sources = draw(records(sources(), lambda source: source.source_id))
    questions = draw(records(st.builds(Question, IDS, IDS), lambda question: question.question_id))
    judgments = []
    for question in questions:
        for source in all_sources:
            if draw(st.booleans()):
                stale = draw(st.booleans())
                judged = draw(SHA256) if stale else source.text_sha256
                judgments.append(
                    Judgment(
                        question.question_id,
                        source.source_id,
                        draw(st.integers(0, 3)),
                        question.text_sha256,
                        judged,
                    )
                )
    return Experiment(
        name=draw(IDS),
        sources=all_sources,
        questions=questions,
        judgments=tuple(judgments),
        parameters=draw(PARAMETERS),
        baselines=draw(records(baselines(), lambda baseline: baseline.name, most=2)),
        views=draw(st.dictionaries(TEXTS, TEXTS, max_size=3)),
    )


def read(text):
    return experiment_from_json(text.encode("utf-8"), "x.json")


@settings(suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(experiments())
def test_experiment_reads_back_equal_and_its_export_has_the_same_bytes(experiment):
    text = experiment_to_json(experiment)
    again = read(text)
    assert again == experiment
    assert experiment_to_json(again) == text
    assert [again.state(judgment) for judgment in again.judgments] == [
        experiment.state(judgment) for judgment in experiment.judgments
    ]


@pytest.fixture
def experiment():
    tea = ExperimentSource("s1", "茶", "茶\r\n👩\u200d🚀\0", 1, transformations=("bom_removed",))
    rain = ExperimentSource(
        "s2",
        "雨",
        "下雨",
        validity=Validity("active", date(2026, 1, 1), date(2026, 12, 31), ("s1",)),
        encoding="gb18030",
    )
    asked = Question("q1", "喝什么？")
    digests = {key: digest_of(key) for key in CONDITIONS}
    digests["parameters"] = parameters_digest(Parameters())
    scores = {"MRR@3": None, "nDCG@3": 2 / 3}
    return Experiment(
        name="试验",
        sources=(tea, rain),
        questions=(asked, Question("q2", "下雨吗？")),
        judgments=(
            Judgment("q1", "s1", 3, asked.text_sha256, tea.text_sha256),
            Judgment("q1", "s2", 0, asked.text_sha256, digest_of("旧")),
        ),
        parameters=Parameters(k1=1),
        baselines=(Baseline("b", "2026-11-30", Parameters(), digests, scores, {"q1": scores}),),
        views={"tab": "sources"},
    )


def test_equal_experiments_have_one_form(experiment):
    shuffled = replace(
        experiment,
        parameters=Parameters(k1=1.0),
        views=dict(reversed(experiment.views.items())),
    )
    assert experiment_to_json(shuffled) == experiment_to_json(experiment)


def test_indent_key_order_and_a_bom_do_not_matter(experiment):
    text = experiment_to_json(experiment)
    loose = json.dumps(dict(reversed(json.loads(text).items()))).encode("utf-8-sig")
    assert experiment_from_json(loose, "x") == experiment


def places(value, path=()):
    """Every place in a JSON value that holds a value, containers included."""
    yield path
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in items:
        yield from places(item, (*path, key))


DAMAGES = [None, True, False, 0, -1, 4, 1.5, 2**53 - 1, "", "坏", "2026-02-30", [], {}, [0], {"a": 0}, [[]]]


@pytest.mark.parametrize("damage", DAMAGES, ids=repr)
def test_any_one_value_that_is_damaged_is_refused_with_its_place_or_gives_another_experiment(
    damage, experiment
):
    text = experiment_to_json(experiment)
    for path in places(json.loads(text)):
        if not path:
            continue
        record = json.loads(text)
        parent = record
        for key in path[:-1]:
            parent = parent[key]
        if parent[path[-1]] == damage and type(parent[path[-1]]) is type(damage):
            continue
        parent[path[-1]] = damage
        try:
            read_back = read(json.dumps(record))
        except EvidenceError as error:
            assert error.message.startswith("x.json 无法读取 [bad_shape]：")
            shown = "".join(f"[{key}]" if isinstance(key, int) else f".{key}" for key in path).lstrip(".")
            named = error.message.split("：", 1)[1].split(" ")[0]
            # A key the damage brought with it, or the record that the damaged field makes contradictory.
            assert shown.startswith(named) or named.startswith(shown) or path[0] in ("sources", "questions")
        else:
            # 1 and 1.0 are the same number of a floating field.
            assert read_back != experiment or isinstance(damage, float)


def test_any_key_that_is_taken_away_or_added_is_refused_with_its_place(experiment):
    text = experiment_to_json(experiment)
    free = {"views", "means", "per_question"}
    for path in places(json.loads(text)):
        record = json.loads(text)
        target = record
        for key in path:
            target = target[key]
        if not isinstance(target, dict) or free & set(path):
            continue
        target["extra"] = 0
        with pytest.raises(JsonInputError, match="extra 是未知的键"):
            read(json.dumps(record))
        del target["extra"]
        for key in list(target):
            kept = target.pop(key)
            with pytest.raises(JsonInputError, match=f"{key} 缺失"):
                read(json.dumps(record))
            target[key] = kept


def changed(experiment, path, value):
    record = json.loads(experiment_to_json(experiment))
    target = record
    *keys, last = path
    for key in keys:
        target = target[key]
    target[last] = value
    return json.dumps(record)


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        (["schema"], "evidence-experiment/2", "schema 应是 evidence-experiment/1"),
        (["judgments", 1, "grade"], 4, r"judgments\[1\].grade 不成立：q1 与 s2 的等级 .* 无效"),
        (["judgments", 1, "grade"], -1, r"judgments\[1\].grade 不成立：q1 与 s2 的等级 .* 无效"),
        (["judgments", 1, "grade"], True, r"judgments\[1\].grade 应是整数"),
        (["judgments", 1, "grade"], 2.0, r"judgments\[1\].grade 应是整数"),
        (["judgments", 0, "source_id"], "s9", r"judgments\[0\].source_id 所指的 's9' 不在这个实验里"),
        (["judgments", 0, "question_id"], "q9", r"judgments\[0\].question_id 所指的 'q9' 不在这个实验里"),
        (["judgments", 1, "source_id"], "s1", r"judgments\[1\].source_id 与前一条重复"),
        (["judgments", 0, "source_sha256"], "A" * 64, r"judgments\[0\].source_sha256 应是 64 位"),
        (["sources", 1, "source_id"], "s1", r"sources\[1\].source_id 与前一条重复"),
        (["sources", 1, "source_id"], "a", r"sources\[1\].source_id 没有按标识升序排列"),
        (["sources", 0, "source_id"], "", r"sources\[0\] 不成立：资料标识是空的"),
        (["sources", 0, "body_start"], 8, r"sources\[0\] 不成立：资料 s1 的正文起点 8"),
        (["sources", 0, "body_start"], False, r"sources\[0\].body_start 应是整数"),
        (["sources", 0, "transformations"], ["a", 1], r"sources\[0\].transformations\[1\] 应是字符串"),
        (["sources", 1, "validity", "status"], "gone", r"sources\[1\].validity 不成立：状态 'gone'"),
        (["sources", 1, "validity", "effective_until"], "2025-12-31", r"\[1\].validity 不成立：有效期"),
        (["sources", 1, "validity", "supersedes"], ["a", "a"], r"sources\[1\].validity 不成立：.*重复"),
        (["sources", 1, "validity", "effective_from"], "20260101", r"effective_from 不成立：日期"),
        (["sources", 1, "validity", "effective_from"], "2026-W01-1", r"effective_from 不成立：日期"),
        (["sources", 1, "validity", "effective_from"], "2026-02-29", r"effective_from 不成立：日期"),
        (["sources", 1, "validity", "effective_from"], "２０２６-01-01", r"effective_from 不成立：日期"),
        (["questions", 1, "question_id"], "q1", r"questions\[1\].question_id 与前一条重复"),
        (["parameters", "method"], "dense", "parameters 不成立：参数无效：method='dense'"),
        (["parameters", "k1"], True, "parameters.k1 应是有限的数"),
        (["parameters", "k"], 3.0, "parameters.k 应是整数"),
        (["baselines", 0, "as_of"], None, r"baselines\[0\].as_of 应是字符串"),
        (["baselines", 0, "digests", "code"], "", r"baselines\[0\].digests.code 应是 64 位"),
        (["baselines", 0, "per_question", "q1"], 1, r"baselines\[0\].per_question.q1 应是对象"),
        (["baselines", 0, "means", "nDCG@3"], "1", r"baselines\[0\].means.nDCG@3 应是有限的数"),
        (["baselines", 0, "means", "nDCG@3"], 0.5, r"baselines\[0\] 不成立：指标 nDCG@3 的均值是 0.5"),
        (["baselines", 0, "means", "nDCG@3"], None, r"baselines\[0\] 不成立：指标 nDCG@3 的均值"),
        (["baselines", 0, "means", "MRR@3"], 0.0, r"baselines\[0\] 不成立：指标 MRR@3 的均值"),
        (["baselines", 0, "means", "nDCG@3"], -7, r"baselines\[0\].means.nDCG@3 应在 0 与 1 之间"),
        (["baselines", 0, "per_question", "q1", "nDCG@3"], 9.5, r"q1.nDCG@3 应在 0 与 1 之间"),
        (["baselines", 0, "means", "Foo"], 0.5, r"baselines\[0\].means.Foo 不成立：指标 .* 无法识别"),
        (["baselines", 0, "means", "AP"], 0.5, r"baselines\[0\] 不成立：问题 q1 的指标与 means"),
        (["baselines", 0, "per_question"], {}, r"baselines\[0\] 不成立：指标 nDCG@3 的均值"),
        (
            ["baselines", 0, "per_question"],
            {"q1": {"Foo": 1}},
            r"per_question.q1.Foo 不成立：指标 .* 无法识别",
        ),
        (["baselines", 0, "per_question", "q1", "AP"], 1, r"baselines\[0\] 不成立：问题 q1 的指标与 means"),
        (["baselines", 0, "digests", "parameters"], "0" * 64, r"baselines\[0\] 不成立：参数的摘要"),
        (["baselines", 0, "parameters", "k"], 5, r"baselines\[0\] 不成立：参数的摘要"),
        (["parameters", "overlap"], 200, "parameters 不成立：参数无效：overlap=200 应小于 window=200"),
        (["questions", 1, "text"], " ", r"questions\[1\] 不成立：问题"),
        (["name"], "", "name 不成立：实验名称是空的"),
        (["views", "tab"], 1, "views.tab 应是字符串"),
        (["sources", 1, "encoding"], "latin-1", r"sources\[1\].encoding 应是 utf-8、"),
        (["sources", 1, "encoding"], "\0", r"sources\[1\].encoding 应是 utf-8、"),
        (["sources", 1, "origin"], "", r"sources\[1\].origin 不能为空"),
        (["sources", 1, "origin"], None, r"sources\[1\].origin 应是字符串"),
    ],
)
def test_what_contradicts_the_rest_is_refused_with_its_place(path, value, message, experiment):
    with pytest.raises(JsonInputError, match=message):
        read(changed(experiment, path, value))


@pytest.mark.parametrize("number", ["NaN", "Infinity", "1e999", "9007199254740992"])
def test_number_that_json_or_its_readers_do_not_hold_is_refused(number, experiment):
    with pytest.raises(JsonInputError):
        read(changed(experiment, ["baselines", 0, "means", "nDCG@3"], "HERE").replace('"HERE"', number))


@pytest.mark.parametrize(
    "data", [b"", b"[]", b"null", b"{", b"\xff", b'{"schema": "\\ud800"}', b'{"a": 1, "a": 1}', b"[" * 99999]
)
def test_what_is_no_experiment_is_refused(data):
    with pytest.raises(JsonInputError, match=r"^x\.json 无法读取"):
        experiment_from_json(data, "x.json")


def test_file_above_the_limit_is_refused_before_it_is_read():
    with pytest.raises(ExperimentError, match=r"1500001.*1500000"):
        experiment_from_json(b"{" * 1_500_001, "x.json", PROFILES["seed"])


UNREAL = Baseline("b", "2026-11-30", Parameters(), {}, {"MRR@3": float("nan")}, {})


@pytest.mark.parametrize(
    ("part", "message"),
    [({"views": {"a": "\ud800"}}, "代理项"), ({"baselines": (UNREAL,)}, "不是有限数")],
)
def test_experiment_that_no_json_holds_is_not_exported(part, message, experiment):
    with pytest.raises(ExperimentError, match=message):
        experiment_to_json(replace(experiment, **part))
