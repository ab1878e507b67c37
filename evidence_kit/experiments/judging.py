"""What a person sees of one question in order to judge: every source that can be judged, in one list.

First the sources that were found, by rank; then those in force that were not found, by id; last those that
were judged and are not in force.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import islice

from evidence_kit.experiments.model import (
    Experiment,
    ExperimentError,
    ExperimentSource,
    Judgment,
    JudgmentState,
    Parameters,
    PassageHit,
    Question,
)
from evidence_kit.experiments.records import JUDGMENT, judgment_id
from evidence_kit.experiments.run import Search
from evidence_kit.experiments.standing import Standing
from evidence_kit.finder.explanation import explain
from evidence_kit.finder.shining import Piece, shine
from evidence_kit.index import Bm25
from evidence_kit.index.statistics import IndexStatistics
from evidence_kit.text.analysis import parse_analyzer

CONTEXT = 24  # code points on either side of a quote


@dataclass(frozen=True)
class Row:
    """A source beside a question. `rank` and `best` are None where it was not found, `absence` says why.

    `grade` is that of the judgment, also where it is stale; `revision` is what `expected` asks for.
    """

    source: ExperimentSource
    rank: int | None
    best: PassageHit | None
    absence: str | None
    grade: int | None
    state: JudgmentState
    revision: int


@dataclass(frozen=True)
class Excerpt:
    """A row's quote in pieces that shine where they share terms with the question, and what is around it."""

    before: str
    pieces: tuple[Piece, ...]
    after: str


@dataclass(frozen=True)
class Tally:
    """How far a question is judged: current and stale judgments, and unjudged sources in the first k."""

    question: Question
    current: int
    stale: int
    unjudged: int


def question_named(experiment: Experiment, question_id: str) -> Question:
    """Return the question of that id. Raises ExperimentError, HTTP status 404."""
    for question in experiment.questions:
        if question.question_id == question_id:
            return question
    raise ExperimentError(f"没有问题 {question_id}：请检查标识。", http_status=404)


def source_named(experiment: Experiment, source_id: str) -> ExperimentSource:
    """Return the source of that id. Raises ExperimentError, HTTP status 404."""
    for source in experiment.sources:
        if source.source_id == source_id:
            return source
    raise ExperimentError(f"没有资料 {source_id}：请检查标识。", http_status=404)


def rows(standing: Standing, found: Search, question: Question) -> tuple[Row, ...]:
    """Return every source that can be judged for a question, and those that were."""
    experiment = standing.experiment
    sources = {source.source_id: source for source in experiment.sources}
    judged = {
        judgment.source_id: judgment
        for judgment in experiment.judgments
        if judgment.question_id == question.question_id
    }
    best: dict[str, PassageHit] = {}
    for hit in found.hits(question.question_id):
        best.setdefault(hit.source_id, hit)
    in_force = [source.source_id for source in found.standing.sources if source.source_id not in best]
    gone = [source_id for source_id in judged if source_id in found.standing.left_out]

    def row(source_id: str, rank: int | None) -> Row:
        judgment = judged.get(source_id)
        return Row(
            source=sources[source_id],
            rank=rank,
            best=best.get(source_id),
            absence=found.standing.left_out.get(source_id),
            grade=judgment.grade if judgment else None,
            state=experiment.state(judgment) if judgment else "unjudged",
            revision=standing.revision(JUDGMENT, judgment_id(question.question_id, source_id)),
        )

    ranked = [row(source_id, rank) for rank, source_id in enumerate(best, 1)]
    return (*ranked, *(row(source_id, None) for source_id in [*in_force, *gone]))


def excerpt(row: Row, question: Question, parameters: Parameters) -> Excerpt:
    """Return what to read of a row: its best passage, or how its text begins where it was not found."""
    source = row.source
    if row.best is None:
        start = source.body_start
        text = source.text[start : start + parameters.window]
        return Excerpt(
            "", (Piece(text, 0),) if text else (), source.text[start + parameters.window :][:1] and "…"
        )
    before = source.text[max(row.best.start - CONTEXT, source.body_start) : row.best.start]
    after = source.text[row.best.end : row.best.end + CONTEXT]
    light = _shine_again if len(row.best.quote) <= _REMEMBERED else _shine
    return Excerpt(before, light(row.best.quote, question.text, parameters.analyzer), after)


def _shine(quote: str, question: str, analyzer_name: str) -> tuple[Piece, ...]:
    """Return the quote in pieces that shine where they share terms with the question, all terms alike."""
    analyzer = parse_analyzer(analyzer_name)
    terms = explain(analyzer.texts(question), quote, analyzer, Bm25(), _NOT_COUNTED)
    return shine(quote, (replace(term, share=1.0) for term in terms))


_NOT_COUNTED = IndexStatistics(passages=1, mean_length=1.0, df=lambda term: 1)
# Each judgment shows its page again; the same excerpts need not be analysed each time.
_REMEMBERED = 2000  # code points
_shine_again = lru_cache(maxsize=1024)(_shine)


def tallies(experiment: Experiment, found: Search) -> Iterator[Tally]:
    """Yield how far each question is judged."""
    by_question: dict[str, list[Judgment]] = {question.question_id: [] for question in experiment.questions}
    for judgment in experiment.judgments:
        by_question[judgment.question_id].append(judgment)
    for question in experiment.questions:
        judged = by_question[question.question_id]
        current = {j.source_id for j in judged if experiment.state(j) == "current"}
        top = islice(found.scores.get(question.question_id, {}), experiment.parameters.k)
        yield Tally(
            question,
            len(current),
            len(judged) - len(current),
            sum(source_id not in current for source_id in top),
        )
