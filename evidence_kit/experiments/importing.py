"""What comes into an experiment from outside, within a change in the making: all of it, or what is new of it.

With `once`, a document whose text a source has already is that source. Where the document says when it is in
force, that must be the source's too; a second document with the text of one before it is that one's source.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TypeVar

from evidence_kit.experiments.holding import check_questions_held, check_sources_held
from evidence_kit.experiments.model import Experiment, ExperimentError, ExperimentSource
from evidence_kit.experiments.naming import one_line
from evidence_kit.experiments.records import experiment_of
from evidence_kit.experiments.steps import new_ids, put_judgment, put_questions
from evidence_kit.sources.documents import Document
from evidence_kit.sources.store import KIND as SOURCE
from evidence_kit.sources.store import put_sources, sources_of
from evidence_kit.sources.validity import Validity
from evidence_kit.sources.visible import visible
from evidence_kit.storage.revisions import Changing

Item = TypeVar("Item")
JudgedQuestion = tuple[str, Mapping[str, int]]  # its text, its grades by the documents' own ids


def add_documents(change: Changing, documents: Sequence[Document], once: bool) -> tuple[str, ...]:
    """Write documents as sources and return their ids, in the documents' order."""
    if not documents:
        raise ExperimentError("没有可以导入的资料：请检查文件。")
    places, fresh = _placed(change, documents, once)
    change.label = f"导入 {len(fresh)} 篇资料"
    put_sources(change, fresh)
    check_sources_held(change)
    return tuple(places.values())


def add_judged(
    change: Changing, documents: Sequence[Document], questions: Sequence[JudgedQuestion], once: bool
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Write documents, and questions judged on them; return the ids of both.

    With `once`, a question is there already where one of its text is judged on the same sources, in whatever
    way: its judgments are left alone.
    """
    places, fresh = _placed(change, documents, once)
    judged = [(text, {places[name]: grade for name, grade in grades.items()}) for text, grades in questions]
    before = _Asked(experiment_of(change.state()))
    known = [before.find(text, grades) if once else None for text, grades in judged]
    change.label = f"导入 {len(fresh)} 篇资料和 {known.count(None)} 个问题"
    put_sources(change, fresh)
    new = [each for each, there in zip(judged, known, strict=True) if there is None]
    asked = put_questions(change, [text for text, _ in new])
    check_sources_held(change)
    check_questions_held(change)
    for question_id, (_, grades) in zip(asked, new, strict=True):
        for source_id, grade in grades.items():
            put_judgment(change, question_id, source_id, grade)
    following = iter(asked)
    return tuple(places.values()), tuple(there or next(following) for there in known)


def told_apart(
    ids: Sequence[str], given: Iterable[Item], held: Iterable[str]
) -> tuple[list[tuple[str, Item]], list[tuple[str, Item]]]:
    """Return what was given with its ids: what is new, and what was held or came before under that id."""
    seen = set(held)
    added: list[tuple[str, Item]] = []
    there: list[tuple[str, Item]] = []
    for name, item in zip(ids, given, strict=True):
        (there if name in seen else added).append((name, item))
        seen.add(name)
    return added, there


def _placed(
    change: Changing, documents: Sequence[Document], once: bool
) -> tuple[dict[str, str], list[ExperimentSource]]:
    """Return which source each document is, by the documents' own ids, and the sources that are new.

    Raises ExperimentError where two have one id, for then what a judgment or a successor names is not known.
    With `once` a document is the source that has its text already, or the one before it that has; where it
    says when it is in force, that must be the same too.
    """
    for name, times in Counter(document.source_id for document in documents).items():
        if times > 1:
            raise ExperimentError(
                f"要导入的资料里标识 {visible(name)} 出现了 {times} 次：请改名，或分几次导入。"
            )
    held: dict[str, list[tuple[Validity, str]]] = {}
    for source in sources_of(change.state()) if once else ():
        held.setdefault(source.text, []).append((source.validity, source.source_id))
    ids = iter(new_ids(change, SOURCE, "S", len(documents)))
    places: dict[str, str] = {}
    fresh = []
    for document in documents:
        alike = held.setdefault(document.text, []) if once else []
        there = next((name for validity, name in alike if _agrees(document.validity, validity)), None)
        places[document.source_id] = there or next(ids)
        if there is None:
            fresh.append(document)
            alike.append((document.validity, places[document.source_id]))
    return places, [_held_from(document, places) for document in fresh]


def _agrees(given: Validity, held: Validity) -> bool:
    """Return whether a document says nothing of when it is in force, or what is held already."""
    unnamed = replace(given, supersedes=())
    return unnamed in (Validity(), replace(held, supersedes=()))


class _Asked:
    """The questions that an experiment has, by their text and the sources that each is judged on."""

    def __init__(self, experiment: Experiment) -> None:
        self._sources: dict[str, set[str]] = {
            question.question_id: set() for question in experiment.questions
        }
        self._ids: dict[str, list[str]] = {}
        for judgment in experiment.judgments:
            self._sources[judgment.question_id].add(judgment.source_id)
        for question in experiment.questions:
            self._ids.setdefault(question.text, []).append(question.question_id)

    def find(self, text: str, sources: Iterable[str]) -> str | None:
        """Return the id of a question of that text that is judged on all those sources, or None."""
        wanted = set(sources)
        return next((name for name in self._ids.get(text, ()) if wanted <= self._sources[name]), None)


def _held_from(document: Document, new: Mapping[str, str]) -> ExperimentSource:
    """Return a document as a source; `new` goes from ids that documents had to those they get."""
    validity = document.validity
    supersedes = tuple(new.get(other, other) for other in validity.supersedes)
    return ExperimentSource(
        new[document.source_id],
        one_line(document.title),
        document.text,
        document.body_start,
        replace(validity, supersedes=supersedes),
        document.encoding,
        document.transformations,
        document.origin,
    )
