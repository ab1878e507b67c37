"""Randomisation test and bootstrap, by hand, by counting everything, and against numpy's percentiles."""

from __future__ import annotations

import itertools
import math
import random
from pathlib import Path

import numpy as np
import pytest

from evidence_kit.measures.intervals import (
    EXACT_UP_TO,
    LEAST_FOR_INTERVAL,
    Interval,
    bootstrap_interval,
    compare,
    grouped_interval,
    randomisation_test,
)
from evidence_kit.measures.ranking import AP, MRR, MeasureError, Recall, evaluate


@pytest.mark.parametrize(
    ("differences", "p_value"),
    [
        ([], None),
        ([0.0, 0.0], 1.0),
        ([0.5], 1.0),  # +0.5 and -0.5 are as far from 0
        ([0.5, 0.5], 2 / 4),  # of 1, 0, 0, -1 two
        ([0.1, 0.2, 0.3], 2 / 8),
        ([1.0, 1.0, 1.0, -1.0], 10 / 16),  # sum 2: |sum| is 4 twice, 2 eight times, 0 six times
        ([0.5, 0.0, 0.5, 0.0], 2 / 4),  # a difference of 0 changes no share
        ([0.5] * 3 + [0.0] * 1000, 2 / 8),  # nor does it make the test a drawn one
    ],
)
def test_exact_p_value_has_the_value_counted_by_hand(differences, p_value):
    assert randomisation_test(differences, seed=1) == (p_value, True)


def test_exact_p_value_is_the_share_of_all_assignments_of_signs():
    draw = random.Random(7)
    for size in range(1, 10):
        values = [draw.choice([-0.75, -0.25, 0.0, 0.25, 0.5, 1.0]) for _ in range(size)]
        sums = [
            abs(sum(sign * value for sign, value in zip(signs, values, strict=True)))
            for signs in itertools.product((1, -1), repeat=size)
        ]
        share = sum(total >= abs(sum(values)) for total in sums) / len(sums)
        assert randomisation_test(values, seed=1) == (share, True)


def test_sums_that_rounding_alone_tells_apart_are_equal():
    # 0.1 + 0.2 and 0.3 are one number to people: turned, three of the four pairs of signs tie with 0.
    assert 0.1 + 0.2 != 0.3
    assert randomisation_test([0.1 + 0.2, -0.3], seed=1) == (1.0, True)


def test_drawn_p_value_counts_itself_and_is_never_zero():
    p_value, exact = randomisation_test([1.0] * 200, seed=3, rounds=99)
    assert (p_value, exact) == (1 / 100, False)


def test_drawn_p_value_comes_near_the_exact_one():
    draw = random.Random(11)
    values = [draw.choice([-0.5, 0.25, 0.5]) for _ in range(EXACT_UP_TO)]
    exact, is_exact = randomisation_test(values, seed=1)
    # The same with one more difference, too small to matter, is drawn.
    drawn, was_exact = randomisation_test([*values, 1e-15], seed=1)
    assert (is_exact, was_exact) == (True, False)
    assert drawn == pytest.approx(exact, abs=4 * math.sqrt(exact * (1 - exact) / 10_000))


def test_seed_decides_every_draw():
    values = [math.sin(number) for number in range(40)]
    one, same, other = (randomisation_test(values, seed=seed, rounds=500) for seed in (1, 1, 2))
    assert one == same != other
    intervals = [bootstrap_interval(values, seed=seed, rounds=500) for seed in (1, 1, 2)]
    assert intervals[0] == intervals[1] != intervals[2]


def test_interval_is_numpys_percentiles_of_the_same_means():
    values = [math.sin(number) for number in range(30)]
    draw = random.Random(5)
    # Few rounds, so that both ends lie between two means.
    means = [math.fsum(values[int(draw.random() * 30)] for _ in range(30)) / 30 for _ in range(50)]
    low, high = np.percentile(means, [2.5, 97.5])
    interval = bootstrap_interval(values, seed=5, rounds=50)
    assert (interval.low, interval.high) == pytest.approx((low, high), abs=1e-12)


def test_interval_of_equal_values_is_that_value():
    assert bootstrap_interval([0.5] * LEAST_FOR_INTERVAL, seed=1) == Interval(0.5, 0.5)


@pytest.mark.parametrize("count", range(LEAST_FOR_INTERVAL))
def test_interval_of_few_questions_is_withheld(count):
    values = [number / 10 for number in range(count)]
    assert bootstrap_interval(values, seed=1) is None
    assert grouped_interval([[value] * 100 for value in values], seed=1) is None
    assert bootstrap_interval([0.3] * (LEAST_FOR_INTERVAL - count) + values, seed=1) is not None


@pytest.mark.parametrize(("count", "share"), [(LEAST_FOR_INTERVAL, 0.905), (20, 0.928), (50, 0.937)])
def test_interval_covers_the_true_mean_as_often_as_the_page_says(count, share):
    draw = random.Random(17)
    covered = 0
    for trial in range(400):
        interval = bootstrap_interval([draw.gauss(0, 1) for _ in range(count)], seed=trial, rounds=200)
        covered += interval.low <= 0 <= interval.high
    assert covered / 400 == pytest.approx(share, abs=4 * math.sqrt(share * (1 - share) / 400))
    page = (Path(__file__).parents[3] / "docs/formulas.md").read_text(encoding="utf-8")
    assert f"| {count} | {share:.3f} |" in page


def test_interval_of_groups_is_numpys_percentiles_of_means_of_whole_groups():
    groups = [[math.sin(number)] * (number % 4) + [0.5] for number in range(15)]
    draw = random.Random(5)
    means = []
    for _ in range(50):
        drawn = [value for _ in groups for value in groups[int(draw.random() * 15)]]
        means.append(sum(drawn) / len(drawn))
    low, high = np.percentile(means, [2.5, 97.5])
    interval = grouped_interval([*groups, []], seed=5, rounds=50)
    assert (interval.low, interval.high) == pytest.approx((low, high), abs=1e-12)


def test_questions_that_always_agree_within_their_group_widen_the_interval():
    alone = [float(number % 2) for number in range(40)]
    narrow = bootstrap_interval([value for value in alone for _ in range(9)], seed=1, rounds=500)
    wide = grouped_interval([[value] * 9 for value in alone], seed=1, rounds=500)
    assert wide.high - wide.low > 2 * (narrow.high - narrow.low)
    assert wide == bootstrap_interval(alone, seed=1, rounds=500)


QRELS = {"q1": {"a": 1}, "q2": {"a": 1}, "q3": {"a": 1}, "none": {"a": 0}}
FIRST = {"q1": {"x": 2.0, "a": 1.0}, "q2": {"a": 1.0}, "none": {"a": 1.0}}
SECOND = {"q1": {"a": 2.0}, "q2": {"x": 2.0, "y": 1.5, "a": 1.0}, "q3": {"a": 1.0}, "none": {"a": 1.0}}


def test_two_runs_are_compared_over_questions_where_both_are_defined():
    measures = [MRR @ 3]
    compared = compare(evaluate(QRELS, FIRST, measures), evaluate(QRELS, SECOND, measures), MRR @ 3, seed=9)
    # By question: 1/2 to 1, 1 to 1/3, 0 (missing) to 1.
    assert (compared.measure, compared.questions, compared.left_out) == ("MRR@3", 3, ("none",))
    assert compared.first == pytest.approx(1.5 / 3)
    assert compared.second == pytest.approx((1 + 1 / 3 + 1) / 3)
    assert compared.difference == pytest.approx((0.5 - 2 / 3 + 1) / 3)
    # |±1/2 ± 2/3 ± 1| >= 5/6: all pairs but those of 1/2 + 2/3 - 1 = 1/6, 5/6 itself counts.
    assert (compared.p_value, compared.exact) == (6 / 8, True)
    assert compared.interval is None
    assert (compared.seed, compared.rounds) == (9, 10_000)


def test_question_of_one_evaluation_alone_is_left_out_and_named():
    some = {key: QRELS[key] for key in ("q1", "none")}
    compared = compare(evaluate(QRELS, FIRST, [AP]), evaluate(some, SECOND, [AP]), AP, seed=1)
    assert (compared.questions, compared.left_out) == (1, ("none", "q2", "q3"))
    assert (compared.difference, compared.p_value, compared.interval) == (0.5, 1.0, None)


def test_comparison_of_nothing_is_undefined():
    nothing = evaluate({"none": {"a": 0}}, FIRST, [AP])
    compared = compare(nothing, nothing, AP, seed=1)
    assert (compared.questions, compared.left_out) == (0, ("none",))
    assert compared.first is compared.second is compared.difference is None
    assert compared.p_value is compared.interval is None


def test_run_against_itself_differs_nowhere():
    names = [f"q{number}" for number in range(LEAST_FOR_INTERVAL)]
    one = evaluate({name: {"a": 1} for name in names}, {"q1": {"a": 1.0}}, [Recall @ 1])
    compared = compare(one, one, Recall @ 1, seed=1)
    assert (compared.difference, compared.p_value, compared.interval) == (0.0, 1.0, Interval(0.0, 0.0))


def test_progress_runs_from_the_first_round_to_the_last():
    names = [f"q{number:02}" for number in range(20)]
    qrels = {name: {"a": 1} for name in names}
    found = evaluate(qrels, {name: {"a": 1.0} for name in names}, [AP])
    told = []
    compare(evaluate(qrels, {}, [AP]), found, AP, seed=1, rounds=50, progress=lambda *done: told.append(done))
    assert told == [(done, 100) for done in range(1, 101)]


@pytest.mark.parametrize("seed", [-1, 1.0, None, True, "1"])
def test_seed_that_is_none_is_refused(seed):
    for call in (randomisation_test, bootstrap_interval):
        with pytest.raises(MeasureError, match="种子"):
            call([0.1, 0.2], seed=seed)


@pytest.mark.parametrize("rounds", [0, 1, -5, 2.0, True])
def test_number_of_rounds_that_is_none_is_refused(rounds):
    with pytest.raises(MeasureError, match="抽样次数"):
        bootstrap_interval([0.1, 0.2], seed=1, rounds=rounds)
