"""The interval and the paired test, against values worked out by hand."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest

from evaluate import exact_paired_test, wilson_interval


def test_interval_of_eleven_in_twelve_matches_hand_computation() -> None:
    """p = 0.916667, z^2 = 3.841459: (1.076727 -+ 0.223773) / 1.320122."""
    low, high = wilson_interval(11, 12)
    assert low == pytest.approx(0.646120, abs=1e-6)
    assert high == pytest.approx(0.985135, abs=1e-6)


@pytest.mark.parametrize(("passed", "total"), [(0, 12), (1, 7), (6, 12), (11, 12), (12, 12), (18, 30)])
def test_bounds_are_the_two_roots_of_the_score_equation(passed: int, total: int) -> None:
    """Wilson's bounds are the rates r with (p - r)^2 = z^2 r (1 - r) / n."""
    z = 1.959963984540054
    for bound in wilson_interval(passed, total):
        gap = passed / total - bound
        assert gap * gap == pytest.approx(z * z * bound * (1 - bound) / total, abs=1e-12)


def test_bounds_are_rates_also_where_none_or_all_pass() -> None:
    for total in range(1, 61):
        for passed in range(total + 1):
            low, high = wilson_interval(passed, total)
            assert 0 <= low < high <= 1, (passed, total)
            assert f"{low:.3f}"[0] != "-", (passed, total)


def test_interval_is_symmetric_and_narrows() -> None:
    low, high = wilson_interval(3, 12)
    assert wilson_interval(9, 12) == pytest.approx((1 - high, 1 - low))
    wide, narrow = (wilson_interval(*score) for score in ((11, 12), (110, 120)))
    assert narrow[1] - narrow[0] < wide[1] - wide[0]


@pytest.mark.parametrize(
    ("only_first", "only_second", "p"),
    [
        (0, 0, 1),
        (1, 1, 1),
        (0, 1, 1),
        (0, 5, Fraction(2, 32)),
        (0, 6, Fraction(2, 64)),
        (1, 7, Fraction(2 * 9, 256)),
        (1, 9, Fraction(2 * 11, 1024)),
        (2, 8, Fraction(2 * 56, 1024)),
        (5, 5, 1),
    ],
)
def test_paired_test_matches_hand_values(only_first: int, only_second: int, p: Fraction) -> None:
    assert exact_paired_test(only_first, only_second) == float(p)
    assert exact_paired_test(only_second, only_first) == float(p)


def test_paired_test_is_the_two_sided_sum_of_a_fair_coin() -> None:
    for n in range(1, 15):
        for k in range(n + 1):
            sequences = sum(
                math.comb(n, i) for i in range(n + 1) if math.comb(n, i) <= math.comb(n, k)
            )  # outcomes no likelier than this one
            assert exact_paired_test(k, n - k) == pytest.approx(sequences / 2**n)
