"""Steps of which the changes of an experiment are made, each within a change in the making."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace

from evidence_kit.experiments.model import ExperimentError, ExperimentSource, Judgment, Question
from evidence_kit.experiments.records import JUDGMENT, PARAMETERS, QUESTION, SETTINGS
from evidence_kit.sources.documents import Document
from evidence_kit.sources.store import KIND as SOURCE
from evidence_kit.sources.store import source_of
from evidence_kit.storage.revisions import Body, Changing

_NAMES = {SOURCE: "资料", QUESTION: "问题", PARAMETERS: "参数", SETTINGS: "实验"}


def standing_body(change: Changing, kind: str, record_id: str) -> Body:
    """Return what stands of a record. Raises ExperimentError where there is none."""
    found = change.latest(kind, record_id)
    if found is None or found.body is None:
        raise ExperimentError(f"没有{_NAMES[kind]} {record_id}：请检查标识。")
    return found.body


def new_ids(change: Changing, kind: str, letter: str, count: int) -> tuple[str, ...]:
    """Return ids that were never given, such as S001: they go on after the highest one of that form."""
    taken: Iterable[re.Match[str] | None] = (
        re.fullmatch(f"{letter}([0-9]{{1,9}})", name) for name in change.ids_ever(kind)
    )
    first = 1 + max((int(match[1]) for match in taken if match), default=0)
    return tuple(f"{letter}{number:03}" for number in range(first, first + count))


def held_from(document: Document, new: Mapping[str, str]) -> ExperimentSource:
    """Return a document as a source; `new` goes from ids that documents had to those they get."""
    validity = document.validity
    supersedes = tuple(new.get(other, other) for other in validity.supersedes)
    return ExperimentSource(
        new[document.source_id],
        document.title,
        document.text,
        document.body_start,
        replace(validity, supersedes=supersedes),
        document.encoding,
        document.transformations,
    )


def fresh_judgment(
    change: Changing, question_id: str, source_id: str, grade: int, seen: tuple[str, str] | None
) -> Judgment:
    """Return a judgment of the texts that stand. Raises StaleError where they are not those `seen`."""
    question = Question(question_id, standing_body(change, QUESTION, question_id)["text"])
    source = source_of(source_id, standing_body(change, SOURCE, source_id))
    judgment = Judgment(question_id, source_id, grade, question.text_sha256, source.text_sha256)
    if seen is not None and seen[0] != judgment.question_sha256:
        raise change.stale(QUESTION, question_id)
    if seen is not None and seen[1] != judgment.source_sha256:
        raise change.stale(SOURCE, source_id)
    return judgment


def remove_judgments(change: Changing, key: str, value: str) -> None:
    """Remove the judgments that have `value`, a question's or a source's id, at `key`."""
    for revision in change.state():
        if revision.kind == JUDGMENT and revision.body is not None and revision.body[key] == value:
            change.put(JUDGMENT, revision.record_id, None)
