"""`evidence experiment list`: what an experiment holds."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from evidence_kit.commands.chinese import ChineseCommand
from evidence_kit.commands.experiment_options import (
    as_of_option,
    db_option,
    emit_result,
    json_option,
    known_at_option,
    moment_of,
    open_store,
)

if TYPE_CHECKING:
    from evidence_kit.experiments.limits import Limits
    from evidence_kit.experiments.model import Experiment, ExperimentSource
    from evidence_kit.sources.store import Standing

_HELP = """列出限额、全部资料（那天是否有效）、问题、判断和基线；哪些判断待复核，逐条列出。

有效的判断只在 JSON 里逐条列出。

\b
例：
  evidence experiment list --db 实验.db
  evidence experiment list --db 实验.db --as-of 2026-01-01 --json
"""

LIMIT_WORDS = {
    "sources": "资料篇数",
    "source_characters": "每篇字符",
    "characters": "合计字符",
    "questions": "问题数",
    "question_characters": "每个问题字符",
    "passages": "资料块数",
    "restore_bytes": "还原字节",
}


@click.command(cls=ChineseCommand, name="list", help=_HELP)
@db_option
@as_of_option
@known_at_option
@json_option
def list_all(db: str, as_of: str | None, known_at: str | None, as_json: bool) -> None:
    from evidence_kit.sources.store import standing

    moment = moment_of(as_of, known_at)
    store = open_store(db)
    experiment = store.snapshot(moment.known_at)
    in_force = standing(experiment.sources, moment.as_of)
    record = {
        **moment.record(),
        "name": experiment.name,
        "limits": {"profile": store.profile, **asdict(store.limits)},
        "parameters": asdict(experiment.parameters),
        "sources": [_source_record(source, in_force) for source in experiment.sources],
        "questions": [
            {"question_id": question.question_id, "question": question.text}
            for question in experiment.questions
        ],
        "judgments": [
            {
                "question_id": judgment.question_id,
                "source_id": judgment.source_id,
                "grade": judgment.grade,
                "state": experiment.state(judgment),
            }
            for judgment in experiment.judgments
        ],
        "baselines": [{"name": each.name, "as_of": each.as_of} for each in experiment.baselines],
    }
    emit_result(as_json, record, _lines(experiment, in_force, store.profile, store.limits))


def _source_record(source: ExperimentSource, in_force: Standing) -> dict[str, Any]:
    from evidence_kit.sources.store import validity_body

    return {
        "source_id": source.source_id,
        "title": source.title,
        "file": source.origin or None,
        "characters": len(source.text),
        **validity_body(source.validity),
        "absence": in_force.left_out.get(source.source_id),
    }


def _lines(experiment: Experiment, in_force: Standing, profile: str, limits: Limits) -> Iterator[str]:
    from evidence_kit.formats.words import ABSENCE_WORDS
    from evidence_kit.sources.visible import visible

    most = "，".join(f"{LIMIT_WORDS[name]} {count}" for name, count in asdict(limits).items())
    yield f"实验「{visible(experiment.name)}」，限额 {profile}：{most}。"
    yield f"资料 {len(experiment.sources)} 篇，{in_force.as_of} 有效 {len(in_force.sources)} 篇："
    for source in experiment.sources:
        absence = in_force.left_out.get(source.source_id)
        why = f"  {ABSENCE_WORDS[absence]}" if absence else ""
        file = f"  {visible(source.origin)}" if source.origin not in ("", source.title) else ""
        yield f"  {visible(source.source_id)}  {visible(source.title)}{file}  {len(source.text)} 字符{why}"
    judged = Counter(judgment.question_id for judgment in experiment.judgments)
    yield f"问题 {len(experiment.questions)} 个，判断 {len(experiment.judgments)} 条："
    for question in experiment.questions:
        name = question.question_id
        yield f"  {visible(name)}  {visible(question.text)}  判断 {judged[name]} 条"
    yield from _stale_lines(experiment)
    for baseline in experiment.baselines:
        yield f"基线「{visible(baseline.name)}」，资料截至 {baseline.as_of}。"


def _stale_lines(experiment: Experiment) -> Iterator[str]:
    from evidence_kit.formats.words import GRADE_WORDS
    from evidence_kit.sources.visible import visible

    stale = [each for each in experiment.judgments if experiment.state(each) == "stale"]
    if stale:
        yield f"待复核的判断 {len(stale)} 条："
    for each in stale:
        pair = f"{visible(each.question_id)} 与 {visible(each.source_id)}"
        yield f"  {pair}  原判 {each.grade} {GRADE_WORDS[each.grade]}"
