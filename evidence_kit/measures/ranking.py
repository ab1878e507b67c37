"""Measures of a ranking against graded judgments, each a declaration whose repr parses back: `nDCG@3`.

Grades from 1 up are relevant. A document that nobody judged counts as not relevant. Formulas, their sources
and every difference to trec_eval, ir_measures and ranx: docs/formulas.md.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from numbers import Real

from evidence_kit.errors import EvidenceError
from evidence_kit.sources.visible import visible

# The gain 2^grade - 1 of the highest grade stays far inside what a float holds exactly.
MAX_GRADE = 30

Qrels = Mapping[str, Mapping[str, int]]
Scores = Mapping[str, Mapping[str, float]]  # a run: question id -> document id -> score


class MeasureError(EvidenceError):
    """A measure that does not exist, or judgments and scores that nothing can be measured with."""


@dataclass(frozen=True)
class GradedRanking:
    """One question's ranking, best first, as grades (None: nobody judged it), and all grades given.

    `judged` is sorted, highest first.
    """

    ranked: tuple[int | None, ...]
    judged: tuple[int, ...]

    def relevant(self, k: int) -> int:
        """Return how many of the first `k` documents are relevant."""
        return sum(map(_is_relevant, self.ranked[:k]))

    @property
    def all_relevant(self) -> int:
        """Return how many documents are known to be relevant, found or not."""
        return sum(map(_is_relevant, self.judged))


def _is_relevant(grade: int | None) -> bool:
    return grade is not None and grade >= 1


def _recall(graded: GradedRanking, k: int) -> float:
    """Relevant documents in the first k over all known relevant ones (Manning et al., IIR, 8.3)."""
    return graded.relevant(k) / graded.all_relevant


def _precision(graded: GradedRanking, k: int) -> float:
    """Relevant documents in the first k over k, also where fewer than k came back (IIR, 8.4)."""
    return graded.relevant(k) / k


def _reciprocal_rank(graded: GradedRanking, k: int) -> float:
    """One over the rank of the first relevant document within the first k, else 0 (Voorhees 1999)."""
    ranks = (rank for rank, grade in enumerate(graded.ranked[:k], 1) if _is_relevant(grade))
    return 1.0 / next(ranks, math.inf)


def _ndcg(graded: GradedRanking, k: int) -> float:
    """DCG of the first k over DCG of the best k of all judged documents (Järvelin & Kekäläinen 2002)."""
    return _dcg(graded.ranked[:k]) / _dcg(graded.judged[:k])


def _dcg(grades: Sequence[int | None]) -> float:
    """Sum of (2^grade - 1) / log2(rank + 1) (Burges et al. 2005)."""
    return math.fsum(
        (2**grade - 1) / math.log2(rank + 1)
        for rank, grade in enumerate(grades, 1)
        if grade is not None and grade >= 1
    )


def _average_precision(graded: GradedRanking, k: int) -> float:
    """Mean over all known relevant documents of the precision at their rank, 0 where not found (IIR, 8.4)."""
    ranks = [rank for rank, grade in enumerate(graded.ranked[:k], 1) if _is_relevant(grade)]
    return math.fsum(found / rank for found, rank in enumerate(ranks, 1)) / graded.all_relevant


def _judged(graded: GradedRanking, k: int) -> float:
    """Judged documents among the first k over how many those are: fewer than k where fewer came back."""
    first = graded.ranked[:k]
    return sum(grade is not None for grade in first) / len(first) if first else 0.0


_FORMULAS: dict[str, Callable[[GradedRanking, int], float]] = {
    "Recall": _recall,
    "MRR": _reciprocal_rank,
    "nDCG": _ndcg,
    "P": _precision,
    "AP": _average_precision,
    "Judged": _judged,
}
_FORMS = "Recall@k、MRR@k、nDCG@k、P@k、AP、Judged@k（k 为 1 到 999999 的整数）"


@dataclass(frozen=True, repr=False)
class Measure:
    """A measure: `nDCG@3` makes it, its repr `nDCG@3` is its identity. AP has no `k`: the whole ranking.

    Raises MeasureError where there is no such measure.
    """

    name: str
    k: int | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or self.name not in _FORMULAS:
            raise MeasureError(f"指标 {visible(repr(self.name))} 无法识别：请改用 {_FORMS}")
        if self.name == "AP":
            if self.k is not None:
                raise MeasureError("AP 看整份排名，没有 k：请写成 AP")
        elif isinstance(self.k, bool) or not isinstance(self.k, int) or not 1 <= self.k <= 999_999:
            raise MeasureError(f"{self.name}@k 的 k 不对：请给出 1 到 999999 的整数")

    def __repr__(self) -> str:
        return self.name if self.k is None else f"{self.name}@{self.k}"

    def value(self, graded: GradedRanking) -> float | None:
        """Return the measure of one question, 0 to 1; None where it is undefined: nothing is relevant.

        Judged@k speaks of the judgments alone and is never undefined.
        """
        if self.name != "Judged" and not graded.all_relevant:
            return None
        return _FORMULAS[self.name](graded, len(graded.ranked) if self.k is None else self.k)


@dataclass(frozen=True)
class MeasureFamily:
    """Measures that differ in k alone: `nDCG @ 3` is one of them."""

    name: str

    def __matmul__(self, k: int) -> Measure:
        return Measure(self.name, k)


Recall, MRR, nDCG, P, Judged = map(MeasureFamily, ("Recall", "MRR", "nDCG", "P", "Judged"))  # noqa: N816
AP = Measure("AP")


def parse_measure(declaration: str) -> Measure:
    """Return the measure whose repr this is; MeasureError names the known forms."""
    if declaration == repr(AP):
        return AP
    if match := re.fullmatch(r"(Recall|MRR|nDCG|P|Judged)@([1-9][0-9]{0,5})", declaration):
        return Measure(match[1], int(match[2]))
    raise MeasureError(f"指标 {visible(repr(declaration))} 无法识别：请改用 {_FORMS}")


@dataclass(frozen=True)
class Evaluation:
    """What a run is worth: per question and in the mean, None where a measure is undefined.

    All keys are reprs of measures and ids; ids are in ascending order. `undefined` are the questions out of a
    measure's mean, `missing` those of the judgments that the run has no document for (they score 0),
    `ignored` those of the run that have no judgments (they count nowhere).
    """

    questions: int
    means: Mapping[str, float | None]
    undefined: Mapping[str, tuple[str, ...]]
    missing: tuple[str, ...]
    ignored: tuple[str, ...]
    per_question: Mapping[str, Mapping[str, float | None]]  # question id -> measure -> value


def evaluate(qrels: Qrels, run: Scores, measures: Iterable[Measure]) -> Evaluation:
    """Return the measures of `run` (question id -> document id -> score) over the questions of `qrels`.

    Documents rank as in `rank`. A grade below 1 is not relevant and has no gain. Raises MeasureError where a
    grade is no integer up to 30 or a score no finite number.
    """
    wanted = tuple(dict.fromkeys(measures))
    _check(qrels, _grade_problem)
    _check(run, _score_problem)
    per_question = {
        question_id: evaluate_question(qrels[question_id], run.get(question_id, {}), wanted)
        for question_id in sorted(qrels)
    }
    return gathered(per_question, run, wanted)


def evaluate_question(
    judgments: Mapping[str, int], scores: Mapping[str, float], measures: Iterable[Measure]
) -> dict[str, float | None]:
    """Return one question's part of `evaluate`, which checks grades and scores before."""
    graded = rank_grades(judgments, scores)
    return {repr(measure): measure.value(graded) for measure in measures}


def gathered(
    per_question: Mapping[str, Mapping[str, float | None]], run: Scores, measures: Iterable[Measure]
) -> Evaluation:
    """Return the evaluation that questions measured one by one make, in order of their ids."""
    columns = {
        name: {question: values[name] for question, values in per_question.items()}
        for name in map(repr, measures)
    }
    return Evaluation(
        questions=len(per_question),
        means={name: mean(values.values()) for name, values in columns.items()},
        undefined={
            name: tuple(question for question, value in values.items() if value is None)
            for name, values in columns.items()
        },
        missing=tuple(question for question in per_question if not run.get(question)),
        ignored=tuple(sorted(question for question in run if question not in per_question)),
        per_question=per_question,
    )


def rank_grades(judgments: Mapping[str, int], scores: Mapping[str, float]) -> GradedRanking:
    """Return one question's ranking as grades."""
    best = tuple(sorted(judgments.values(), reverse=True))
    return GradedRanking(tuple(map(judgments.get, rank(scores))), best)


def rank(scores: Mapping[str, float]) -> list[str]:
    """Return documents by score, highest first; equal scores by ascending id, in code points."""
    return sorted(scores, key=lambda document: (-scores[document], document))


def mean(values: Iterable[float | None]) -> float | None:
    """Return the mean of the values that are defined, summed exactly; None where none is."""
    defined = [value for value in values if value is not None]
    return math.fsum(defined) / len(defined) if defined else None


def _check(table: Mapping[str, Mapping[str, object]], problem: Callable[[object], str | None]) -> None:
    for question_id, row in table.items():
        for document_id, value in row.items():
            if not isinstance(question_id, str) or not isinstance(document_id, str):
                raise MeasureError(f"标识 {question_id!r}、{document_id!r} 应都是字符串：请先转换")
            if what := problem(value):
                where = f"问题 {visible(question_id)} 的文档 {visible(document_id)}"
                raise MeasureError(f"{where}：{what}")


def _grade_problem(value: object) -> str | None:
    if isinstance(value, bool) or not isinstance(value, int):
        return f"等级的类型是 {type(value).__name__}，应是整数；请改正"
    return f"等级太大，最高 {MAX_GRADE}；请改正" if value > MAX_GRADE else None


def _score_problem(value: object) -> str | None:
    if isinstance(value, bool) or not isinstance(value, Real):
        return f"分数的类型是 {type(value).__name__}，应是数；请改正"
    try:
        finite = math.isfinite(value)
    except OverflowError:  # an integer beyond every float
        finite = False
    return None if finite else "分数应是有限的数；请检查产生它的检索器"
