"""One run: the sources in force on a day are cut, indexed and asked every question, and the answers measured.

Only `text[body_start:]` of a source is cut, so titles are never searched; offsets are of the stored text. A
source stands at the rank of its best passage, so that overlapping passages do not crowd the list.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import date
from functools import cached_property, lru_cache
from itertools import islice
from typing import NamedTuple

from evidence_kit.experiments.model import (
    DocumentHit,
    Experiment,
    ExperimentSource,
    Gaps,
    JudgmentState,
    Parameters,
    PassageHit,
    Question,
    QuestionResult,
    Run,
    digest_of,
)
from evidence_kit.index import Bm25, Index
from evidence_kit.index.weighting import Weighting, parse_weighting, rank_score
from evidence_kit.measures.intervals import Progress
from evidence_kit.measures.ranking import (
    AP,
    MRR,
    Evaluation,
    Judged,
    Measure,
    P,
    Recall,
    evaluate_question,
    gathered,
    nDCG,
)
from evidence_kit.sources.store import Standing, standing
from evidence_kit.text.analysis import parse_analyzer
from evidence_kit.text.passages import cut_windows


class Cut(NamedTuple):
    """A passage of a source: [start, end) of its stored text in code points."""

    source_id: str
    start: int
    end: int
    quote: str


class _Measured(NamedTuple):
    """A question's measures, and what they rest on beside what was found for it."""

    judgments: Mapping[str, int]
    measures: tuple[Measure, ...]
    values: Mapping[str, float | None]


@dataclass(frozen=True)
class Search:
    """What was searched, and what was found: question id -> (position in `passages`, score), best first."""

    standing: Standing
    passages: tuple[Cut, ...]
    ranked: Mapping[str, Sequence[tuple[int, float]]]
    _measured: dict[str, _Measured] = field(default_factory=dict, compare=False, repr=False)

    def on(self, in_force: Standing) -> Search:
        """Return what was found, as of a day with the same sources in force: the day, the titles and the
        reasons why the others are left out may be others.
        """
        if in_force == self.standing:
            return self
        there = replace(self, standing=in_force)
        there.__dict__["scores"] = self.scores  # as a cached property keeps them: the same for both
        return there

    @cached_property
    def scores(self) -> dict[str, dict[str, float]]:
        """Return question id -> source id -> the score of its best passage."""
        found: dict[str, dict[str, float]] = {}
        for question_id, ranked in self.ranked.items():
            best = found[question_id] = {}
            for at, score in ranked:
                best.setdefault(self.passages[at].source_id, score)
        return found

    def hits(self, question_id: str) -> tuple[PassageHit, ...]:
        """Return the passages found for a question, best first."""
        return tuple(
            PassageHit(cut.source_id, score, cut.start, cut.end, cut.quote)
            for cut, score in ((self.passages[at], score) for at, score in self.ranked[question_id])
        )

    def values(
        self, question_id: str, judgments: Mapping[str, int], measures: tuple[Measure, ...]
    ) -> Mapping[str, float | None]:
        """Return a question's measures; those of last time where judgments and measures are the same.

        Nothing else decides them: what was found for the question is the same as long as the search is.
        """
        before = self._measured.get(question_id)
        if before is not None and before.judgments == judgments and before.measures == measures:
            return before.values
        values = evaluate_question(judgments, self.scores.get(question_id, {}), measures)
        self._measured[question_id] = _Measured(dict(judgments), measures, values)
        return values


def run(experiment: Experiment, as_of: date) -> Run:
    """Return what the experiment's parameters find on a day, measured at their k."""
    return measured(experiment, search(experiment, as_of))


def measured(experiment: Experiment, found: Search) -> Run:
    """Return a search of an experiment, measured by its judgments at its k.

    A current judgment of a source that is not in force on the day takes no part, since the source cannot be
    found; it is counted in `judged_out_of_force`.
    """
    qrels = qrels_in_force(experiment, found.standing)
    evaluation = evaluate_search(qrels, found, measures_at(experiment.parameters.k))
    judged = _judged(experiment)
    results = tuple(
        _result(question, found.hits(question.question_id), judged, evaluation.per_question)
        for question in experiment.questions
    )
    left = gaps(experiment, found, evaluation)
    return Run(
        parameters=experiment.parameters,
        as_of=found.standing.as_of.isoformat(),
        passages=len(found.passages),
        left_out=found.standing.left_out,
        results=results,
        means=evaluation.means,
        undefined=left.undefined,
        missing=left.missing,
        unjudged_in_top_k=left.unjudged_in_top_k,
        stale_in_top_k=left.stale_in_top_k,
        stale_pairs=left.stale_pairs,
        judged_out_of_force=left.judged_out_of_force,
    )


def gaps(experiment: Experiment, found: Search, evaluation: Evaluation) -> Gaps:
    """Return what the measures of a search leave out, or take as 0."""
    judged = _judged(experiment)
    k = experiment.parameters.k
    top = [
        judged.get((question.question_id, source_id), (None, "unjudged"))[1]
        for question in experiment.questions
        for source_id in islice(found.scores.get(question.question_id, {}), k)
    ]
    current = sum(state == "current" for _, state in judged.values())
    counted = sum(map(len, qrels_in_force(experiment, found.standing).values()))
    return Gaps(
        parameters=experiment.parameters,
        undefined=evaluation.undefined,
        missing=evaluation.missing,
        unjudged_in_top_k=top.count("unjudged"),
        stale_in_top_k=top.count("stale"),
        stale_pairs=tuple(pair for pair, (_, state) in judged.items() if state == "stale"),
        judged_out_of_force=current - counted,
    )


def measured_question(
    experiment: Experiment, found: Search, question: Question, evaluation: Evaluation
) -> QuestionResult:
    """Return one question's part of `measured`, with what `evaluation` says of it."""
    return _result(question, found.hits(question.question_id), _judged(experiment), evaluation.per_question)


def search_key(experiment: Experiment, in_force: Standing) -> str:
    """Return a digest that is another one wherever `search` may find something else.

    Judgments, titles, k and budget are not in it: they do not decide what is found. Of the day only the
    sources in force are: two days that have the same are one search.
    """
    parameters = asdict(experiment.parameters)
    deciding = {name: value for name, value in parameters.items() if name not in ("k", "budget")}
    sources = [[source.source_id, source.text_sha256, source.body_start] for source in in_force.sources]
    questions = [[question.question_id, question.text_sha256] for question in experiment.questions]
    return digest_of(json.dumps([deciding, sources, questions], sort_keys=True))


def _silent(done: int, whole: int) -> None:
    pass


def search(experiment: Experiment, as_of: date, *, progress: Progress = _silent) -> Search:
    """Return every passage with a positive score for every question: score, then source id, then start.

    `progress` is told how many questions are done, of how many; what it raises ends the search.
    """
    in_force = standing(experiment.sources, as_of)
    parameters = experiment.parameters
    whole = len(experiment.questions)
    progress(0, whole)
    cut = tuple(passage for source in in_force.sources for passage in _cut(source, parameters))
    if not cut:
        return Search(in_force, cut, {question.question_id: () for question in experiment.questions})
    weighting = weighting_of(parameters)
    # Without ids ties go by position, and positions go by source id, then by start.
    index = Index.build(
        [passage.quote for passage in cut], weighting=weighting, analyzer=parse_analyzer(parameters.analyzer)
    )
    ranked: dict[str, list[tuple[int, float]]] = {}
    for done, question in enumerate(experiment.questions):
        progress(done, whole)
        ranked[question.question_id] = [
            (hit.position, rank_score(weighting, hit.score)) for hit in index.search(question.text, len(cut))
        ]
    return Search(in_force, cut, ranked)


def weighting_of(parameters: Parameters) -> Weighting:
    """Return the weighting that the parameters name; k1 and b are for BM25 alone."""
    if parameters.method == "bm25":
        return Bm25(parameters.k1, parameters.b)
    return parse_weighting(parameters.method)


@lru_cache(maxsize=64)
def measures_at(k: int) -> tuple[Measure, ...]:
    """Return the measures of a run that shows `k` sources."""
    return (Recall @ k, MRR @ k, nDCG @ k, P @ k, AP, Judged @ k)


def qrels_in_force(experiment: Experiment, in_force: Standing) -> dict[str, dict[str, int]]:
    """Return the current judgments of the sources in force: question id -> source id -> grade."""
    ids = {source.source_id for source in in_force.sources}
    return {
        question_id: {source_id: grade for source_id, grade in grades.items() if source_id in ids}
        for question_id, grades in experiment.qrels().items()
    }


def evaluate_search(
    qrels: Mapping[str, Mapping[str, int]], found: Search, measures: Sequence[Measure]
) -> Evaluation:
    """Return what was found as measured: each source has the score of its best passage.

    A question of which no judgment has changed since the last time is not measured again.
    """
    wanted = tuple(measures)
    per_question = {
        question_id: found.values(question_id, qrels[question_id], wanted) for question_id in sorted(qrels)
    }
    return gathered(per_question, found.scores, wanted)


def _cut(source: ExperimentSource, parameters: Parameters) -> Iterator[Cut]:
    for passage in cut_windows(source.text[source.body_start :], parameters.window, parameters.overlap):
        start, end = passage.start + source.body_start, passage.end + source.body_start
        yield Cut(source.source_id, start, end, passage.text)


_Judged = Mapping[tuple[str, str], tuple[int | None, JudgmentState]]


def _judged(experiment: Experiment) -> _Judged:
    """Return (question id, source id) -> (grade, state) of every judgment; a stale one gives no grade."""
    found: dict[tuple[str, str], tuple[int | None, JudgmentState]] = {}
    for judgment in experiment.judgments:
        state = experiment.state(judgment)
        grade = judgment.grade if state == "current" else None
        found[judgment.question_id, judgment.source_id] = (grade, state)
    return found


def _result(
    question: Question,
    hits: tuple[PassageHit, ...],
    judged: _Judged,
    measures: Mapping[str, Mapping[str, float | None]],
) -> QuestionResult:
    best: dict[str, PassageHit] = {}
    for hit in hits:
        best.setdefault(hit.source_id, hit)
    documents = tuple(
        DocumentHit(rank, hit, *judged.get((question.question_id, hit.source_id), (None, "unjudged")))
        for rank, hit in enumerate(best.values(), start=1)
    )
    return QuestionResult(question, documents, hits, measures[question.question_id])
