"""What a person sees of one question in order to judge: every source that can be judged, in one list.

First the sources that were found, by rank; then those in force that were not found, by id; last those that
were judged and are not in force.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice

from evidence_kit.experiments.model import (
    Experiment,
    ExperimentSource,
    JudgmentState,
    Parameters,
    PassageHit,
    Question,
)
from evidence_kit.experiments.naming import unknown_id
from evidence_kit.experiments.records import JUDGMENT, judgment_id
from evidence_kit.experiments.run import Search
from evidence_kit.experiments.standing import Standing
from evidence_kit.finder.explanation import MatchedTerm, is_single, is_weak
from evidence_kit.finder.passages import Span
from evidence_kit.finder.shining import Piece, shine
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
    ids = (question.question_id for question in experiment.questions)
    raise unknown_id("问题", question_id, ids, http_status=404)


def source_named(experiment: Experiment, source_id: str) -> ExperimentSource:
    """Return the source of that id. Raises ExperimentError, HTTP status 404."""
    for source in experiment.sources:
        if source.source_id == source_id:
            return source
    raise unknown_id("资料", source_id, (source.source_id for source in experiment.sources), http_status=404)


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
    asked = dict.fromkeys(parse_analyzer(analyzer_name).texts(question))
    places = _places_in(quote, analyzer_name)
    return shine(
        quote, (MatchedTerm(term, places[term], 1.0, is_single(term)) for term in asked if term in places)
    )


def _places_in(quote: str, analyzer_name: str) -> Mapping[str, tuple[Span, ...]]:
    return (_places_again if len(quote) <= _REMEMBERED else _places)(quote, analyzer_name)


def _places(quote: str, analyzer_name: str) -> Mapping[str, tuple[Span, ...]]:
    """Return where each term stands in a quote."""
    found: dict[str, list[Span]] = {}
    for term in parse_analyzer(analyzer_name).terms(quote):
        found.setdefault(term.text, []).append(Span(term.start, term.end))
    return {term: tuple(spans) for term, spans in found.items()}


# Each judgment shows its page again, and other questions show the same quotes: what was analysed is kept.
_REMEMBERED = 2000  # code points
_shine_again = lru_cache(maxsize=1024)(_shine)
_places_again = lru_cache(maxsize=128)(_places)


def is_weak_hit(hit: PassageHit, question: Question, parameters: Parameters) -> bool:
    """Return whether a passage was found by single characters only, as `find` tells it."""
    asked = parse_analyzer(parameters.analyzer).texts(question.text)
    places = _places_in(hit.quote, parameters.analyzer)
    return is_weak(term for term in asked if term in places)


def tallies(experiment: Experiment, found: Search) -> Iterator[Tally]:
    """Yield how far each question is judged."""
    judged = Counter(judgment.question_id for judgment in experiment.judgments)
    qrels = experiment.qrels()
    for question in experiment.questions:
        current = qrels[question.question_id]
        top = islice(found.scores.get(question.question_id, {}), experiment.parameters.k)
        yield Tally(
            question,
            len(current),
            judged[question.question_id] - len(current),
            sum(source_id not in current for source_id in top),
        )
