"""How sure a mean, or a difference between two runs, is: bootstrap intervals and the randomisation test.

Everything random comes from `random.Random(seed)`: the same seed gives the same figures everywhere.
"""

from __future__ import annotations

import math
import random
import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from evidence_kit.measures.ranking import Evaluation, Measure, MeasureError, mean

ROUNDS = 10_000
SEED = 20261130
# Of fewer values a percentile interval is much too narrow: docs/formulas.md says how often it would hold.
LEAST_FOR_INTERVAL = 10
# Up to so many questions that differ, all 2^n signs are tried; beyond, ROUNDS are drawn.
EXACT_UP_TO = 16
# Sums that differ by rounding alone are equal; values of measures lie between 0 and 1.
_ROUNDING = 1e-9

Progress = Callable[[int, int], None]  # rounds done, all rounds


@dataclass(frozen=True)
class Interval:
    """The middle 95 % of what a bootstrap gave, both ends within it."""

    low: float
    high: float


@dataclass(frozen=True)
class PairedComparison:
    """One measure of two runs over the questions for which it is defined in both.

    `difference` is the second mean less the first; it, `p_value` and both means are None where no question
    counts, `interval` where fewer than `LEAST_FOR_INTERVAL` do. `exact` says that every assignment of signs
    was tried; else the test drew `rounds` of them, by `seed`. The interval always rests on both.
    """

    measure: str
    questions: int
    left_out: tuple[str, ...]
    first: float | None
    second: float | None
    difference: float | None
    p_value: float | None
    exact: bool
    interval: Interval | None
    seed: int
    rounds: int


def compare(
    first: Evaluation,
    second: Evaluation,
    measure: Measure,
    *,
    seed: int,
    rounds: int = ROUNDS,
    progress: Progress = lambda done, whole: None,
) -> PairedComparison:
    """Return how `second` differs from `first` in one measure, question by question.

    `left_out` names the questions of either evaluation for which the measure is not defined in both.
    """
    name = repr(measure)
    pairs: list[tuple[float, float]] = []
    left_out = []
    for question in sorted({*first.per_question, *second.per_question}):
        one = first.per_question.get(question, {}).get(name)
        two = second.per_question.get(question, {}).get(name)
        if one is None or two is None:
            left_out.append(question)
        else:
            pairs.append((one, two))
    differences = [two - one for one, two in pairs]
    p_value, exact = randomisation_test(
        differences, seed=seed, rounds=rounds, progress=lambda done, whole: progress(done, 2 * whole)
    )
    interval = bootstrap_interval(
        differences, seed=seed, rounds=rounds, progress=lambda done, whole: progress(whole + done, 2 * whole)
    )
    return PairedComparison(
        measure=name,
        questions=len(pairs),
        left_out=tuple(left_out),
        first=mean(one for one, _ in pairs),
        second=mean(two for _, two in pairs),
        difference=mean(differences),
        p_value=p_value,
        exact=exact,
        interval=interval,
        seed=seed,
        rounds=rounds,
    )


def randomisation_test(
    differences: Sequence[float],
    *,
    seed: int,
    rounds: int = ROUNDS,
    progress: Progress = lambda done, whole: None,
) -> tuple[float | None, bool]:
    """Return (two-sided p-value, whether it is exact); the p-value is None where there are no differences.

    Were the runs alike, each difference could as well have the other sign (Fisher; Smucker, Allan, Carterette
    2007). Exact: the share of all assignments of signs whose sum is at least as far from 0. Drawn: (b + 1) /
    (rounds + 1) with b of `rounds` draws as far from 0 (Phipson & Smyth 2010), never 0.
    """
    _check(seed, rounds)
    if not differences:
        return None, True
    moved = [difference for difference in differences if difference]  # 0 has no sign to turn
    observed = abs(math.fsum(moved)) - _ROUNDING
    if len(moved) <= EXACT_UP_TO:
        sums = [0.0]
        for difference in moved:
            sums = [total + turned for total in sums for turned in (difference, -difference)]
        return sum(abs(total) >= observed for total in sums) / len(sums), True
    draw = random.Random(seed).random  # noqa: S311
    as_far = 0
    for done in range(1, rounds + 1):
        turned = math.fsum(value if draw() < 0.5 else -value for value in moved)
        as_far += abs(turned) >= observed
        progress(done, rounds)
    return (as_far + 1) / (rounds + 1), False


def bootstrap_interval(
    values: Sequence[float],
    *,
    seed: int,
    rounds: int = ROUNDS,
    progress: Progress = lambda done, whole: None,
) -> Interval | None:
    """Return the 95 % percentile interval of the mean of `values`; None of fewer than `LEAST_FOR_INTERVAL`.

    Means of `rounds` samples with replacement; their 2.5th and 97.5th percentiles, interpolated linearly
    (Efron & Tibshirani 1993, chapter 13).
    """
    return grouped_interval([(value,) for value in values], seed=seed, rounds=rounds, progress=progress)


def grouped_interval(
    groups: Sequence[Sequence[float]],
    *,
    seed: int,
    rounds: int = ROUNDS,
    progress: Progress = lambda done, whole: None,
) -> Interval | None:
    """Return the interval of the mean of all values where those of a group are not independent.

    As `bootstrap_interval`, but whole groups are drawn, such as all questions of a paragraph (Davison &
    Hinkley 1997, section 3.8); None of fewer than `LEAST_FOR_INTERVAL` groups. Empty groups do not count.
    """
    _check(seed, rounds)
    filled = [(math.fsum(group), len(group)) for group in groups if group]
    if len(filled) < LEAST_FOR_INTERVAL:
        return None
    draw = random.Random(seed).random  # noqa: S311
    count = len(filled)
    means = []
    for done in range(1, rounds + 1):
        drawn = [filled[int(draw() * count)] for _ in range(count)]
        means.append(math.fsum(total for total, _ in drawn) / sum(size for _, size in drawn))
        progress(done, rounds)
    cuts = statistics.quantiles(means, n=40, method="inclusive")
    return Interval(cuts[0], cuts[-1])


def _check(seed: int, rounds: int) -> None:
    if isinstance(seed, bool) or not isinstance(seed, int) or seed < 0:
        raise MeasureError(f"种子是 {seed!r}：请给出不小于 0 的整数")
    if isinstance(rounds, bool) or not isinstance(rounds, int) or rounds < 2:
        raise MeasureError(f"抽样次数是 {rounds!r}：请给出不小于 2 的整数")
