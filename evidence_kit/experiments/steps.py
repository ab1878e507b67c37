"""Steps of which the changes of an experiment are made, each within a change in the making."""

from __future__ import annotations

import itertools
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

from evidence_kit.experiments.model import ExperimentError, ExperimentSource, Judgment, Question
from evidence_kit.experiments.naming import Named, unknown_id
from evidence_kit.experiments.records import (
    JUDGMENT,
    QUESTION,
    check_body,
    judgment_body,
    judgment_id,
)
from evidence_kit.sources.documents import Document
from evidence_kit.sources.store import KIND as SOURCE
from evidence_kit.sources.store import source_of
from evidence_kit.sources.titles import repeated_title
from evidence_kit.storage.revisions import Body, Changing

_NAMES: Mapping[str, Named] = {SOURCE: "资料", QUESTION: "问题"}


def standing_body(change: Changing, kind: str, record_id: str) -> Body:
    """Return what stands of a record, whole. Raises ExperimentError where there is none."""
    found = change.latest(kind, record_id)
    if found is None or found.body is None:
        raise _not_there(change, kind, record_id)
    check_body(kind, record_id, found.body)
    return found.body


def _not_there(change: Changing, kind: str, record_id: str) -> ExperimentError:
    if kind not in _NAMES:
        return ExperimentError("这个文件里没有实验：请先新建。")
    ids = (revision.record_id for revision in change.state() if revision.kind == kind)
    return unknown_id(_NAMES[kind], record_id, ids)


def new_ids(change: Changing, kind: str, letter: str, count: int) -> tuple[str, ...]:
    """Return ids that were never given, such as S001: they go on after the highest one of that form.

    Of ids that came from elsewhere only those of up to nine digits are gone on from; none is given again.
    """
    taken = set(change.ids_ever(kind))
    numbers = (re.fullmatch(f"{letter}([0-9]{{1,9}})", name) for name in taken)
    first = 1 + max((int(match[1]) for match in numbers if match), default=0)
    fresh = (
        name for name in (f"{letter}{number:03}" for number in itertools.count(first)) if name not in taken
    )
    return tuple(itertools.islice(fresh, count))


def with_text(source: ExperimentSource, text: str | Document) -> ExperimentSource:
    """Return a source with another text; as it was where the text is the same."""
    start, encoding, origin = 0, "utf-8", source.origin
    transformations: tuple[str, ...] = ()
    if isinstance(text, Document):
        start, encoding, transformations = text.body_start, text.encoding, text.transformations
        origin = text.origin or origin
        text = text.text
    if text == source.text:
        return source
    return replace(
        source, text=text, body_start=start or repeated_title(text, source.title), encoding=encoding,
        transformations=transformations, origin=origin,
    )  # fmt: skip


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


def put_questions(change: Changing, texts: Sequence[str]) -> tuple[str, ...]:
    """Write questions under new ids, and return those."""
    ids = new_ids(change, QUESTION, "Q", len(texts))
    for question_id, text in zip(ids, texts, strict=True):
        change.put(QUESTION, question_id, {"text": Question(question_id, text).text})
    return ids


def put_judgment(
    change: Changing, question_id: str, source_id: str, grade: int | None, *, expected: int | None = None,
    seen: tuple[str, str] | None = None,
) -> Judgment | None:  # fmt: skip
    """Write a judgment of the texts that stand, or remove it (None)."""
    change.refuse_stale(JUDGMENT, judgment_id(question_id, source_id), expected)
    judgment = fresh_judgment(change, question_id, source_id, 0 if grade is None else grade, seen)
    body = None if grade is None else judgment_body(judgment)
    change.put(JUDGMENT, judgment_id(question_id, source_id), body, expected=expected)
    return None if grade is None else judgment


def remove_judgments(change: Changing, key: str, value: str) -> None:
    """Remove the judgments that have `value`, a question's or a source's id, at `key`."""
    for revision in change.state():
        if revision.kind == JUDGMENT and revision.body is not None and revision.body[key] == value:
            change.put(JUDGMENT, revision.record_id, None)
