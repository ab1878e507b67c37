"""The sort of keys inside the build, against numpy's stable sort."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("numba")

from evidence_kit.index.sort_kernels import COUNTERS, SMALL, count_and_place, layout_of


@pytest.mark.parametrize("count", [0, 1, SMALL, SMALL + 1, 1000])
@pytest.mark.parametrize(("low", "bits"), [(0, 1), (5, 9), (20, 16), (17, 17), (3, 32), (31, 33)])
def test_keys_are_sorted_by_the_bits_named_and_equal_ones_keep_their_order(
    count: int, low: int, bits: int
) -> None:
    draw = np.random.default_rng(count * 100 + bits)
    above = draw.integers(0, 4, count, dtype=np.uint64)[:1].repeat(count)  # the same in all, as in a build
    few = draw.integers(0, min(1 << bits, 50), count, dtype=np.uint64)  # many are equal
    wide = draw.integers(0, 1 << bits, count, dtype=np.uint64)
    for digits in (few, wide):
        below = draw.integers(0, 1 << low, count, dtype=np.uint64)
        top = np.zeros(count, np.uint64) if low + bits > 62 else above << np.uint64(low + bits)
        keys = top | (digits << np.uint64(low)) | below
        expected = keys[np.argsort(digits, kind="stable")]
        count_and_place(keys, np.empty(count + COUNTERS, np.uint64), low, bits)
        assert keys.tolist() == expected.tolist()


def test_a_key_has_room_for_the_symbols_after_the_first_and_the_passage() -> None:
    assert layout_of((2, 3), 10, 50)[:5] == (2, 3, 6 + 4, 6, 4)
    assert layout_of((1, 2), 10, 50)[:5] == (1, 2, 6, 6, 4)
    assert layout_of((1,), 1, 1)[:5] == (1, 1, 1, 1, 1)
