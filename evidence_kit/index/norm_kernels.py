"""Compiled loops over finished postings: document frequencies, and the lengths of passages' vectors."""

from __future__ import annotations

from typing import Any

import numpy as np

from evidence_kit.index.arrays import Postings
from evidence_kit.index.compiled import inlined, loop

Array = Any

SUM, REST, LENGTH, ONCE = range(4)  # columns of `sums`, side by side as they are needed together


@loop
def count_frequencies(postings: Postings, terms_with: Array) -> None:
    """Count the terms with each document frequency: int64 [N+1]."""
    row = 0
    for term in range(postings.start.size - 1):
        df, row = _frequency(postings, term, row)
        terms_with[df] += 1


@loop
def sum_squares(
    postings: Postings,
    window_bits: int,
    idf_of: Array,  # float64 [N+1] idf of each document frequency
    tf_weight: Array,  # float64 [255] 1 + ln tf; [0] for tf / length
    heavy_weight: Array,  # float64 [H] the same for `heavy_tf`
    sums: Array,  # float64 [N, 4] out: sum of squares, what rounding left of it; in: length, 1 / length
) -> None:
    """Add the square of every term's value to its passage, to twice the precision of a float64."""
    heavy = 0
    row = 0
    for term in range(postings.start.size - 1):
        p = np.int64(postings.start[term])
        end = np.int64(postings.start[term + 1])
        before = row
        df, row = _frequency(postings, term, row)
        idf = idf_of[df]
        if row > before:
            _add_single(p, end, postings, postings.dense_start[before], window_bits, idf, tf_weight, sums)
        while p < end:
            passage = np.int64(postings.packed[p] >> 8)
            tf = np.int64(postings.packed[p] & 255)
            if tf == 255:
                tf = np.int64(postings.heavy_tf[heavy])
                value = heavy_weight[heavy] * idf if tf_weight.size else tf / sums[passage, LENGTH] * idf
                heavy += 1
            else:
                value = _value(tf, passage, idf, tf_weight, sums)
            _add_square(sums, passage, value)
            p += 1


@inlined
def _frequency(postings: Postings, term: int, row: int) -> tuple[int, int]:
    """Return (df of a term, the row of the next dense term); `row` is that of the next from this one on."""
    df = np.int64(postings.start[term + 1]) - np.int64(postings.start[term])
    if row < postings.dense_terms.size and postings.dense_terms[row] == term:
        last = postings.dense_start.shape[1] - 1
        df = np.int64(postings.dense_start[row, last]) - np.int64(postings.dense_start[row, 0])
        row += 1
    return df, row


@loop
def _add_single(
    p: int, end: int, postings: Postings, borders: Array, window_bits: int, idf: float,
    tf_weight: Array, sums: Array,
) -> None:  # fmt: skip
    """Add a dense term's passages where it stands once: those that packed postings p : end do not name."""
    for window in range(borders.size - 1):
        base = window << window_bits
        for q in range(borders[window], borders[window + 1]):
            passage = base + np.int64(postings.low[q])
            if p < end and np.int64(postings.packed[p] >> 8) == passage:
                p += 1
            else:
                _add_square(sums, passage, _value(1, passage, idf, tf_weight, sums))


@inlined
def _value(tf: int, passage: int, idf: float, tf_weight: Array, sums: Array) -> Any:
    """Return `Cosine.value`, operation by operation."""
    if tf_weight.size:
        value = tf_weight[tf] * idf
    elif tf == 1:
        value = sums[passage, ONCE] * idf
    else:
        value = tf / sums[passage, LENGTH] * idf
    return value


@inlined
def _add_square(sums: Array, passage: int, value: float) -> None:
    """Add value**2 (rounded, as in Python) to a sum kept in two parts: Knuth's exact addition."""
    square = value * value
    before = sums[passage, SUM]
    after = before + square
    part = after - before
    sums[passage, REST] += (before - (after - part)) + (square - part)
    sums[passage, SUM] = after
