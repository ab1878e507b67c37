"""The arrays of an index as one table of addresses, so that a kernel takes one argument instead of thirty.

Handing an array over to compiled code costs most of a microsecond, and a question has only a few dozen.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numba import carray, types  # type: ignore[attr-defined, unused-ignore]
from numba.extending import intrinsic

from evidence_kit.index.arrays import Array, IndexArrays, Passages, Postings, Statistics, Vocabulary
from evidence_kit.index.compiled import inlined

COURSE, LOG, BM25 = 0, 1, 2


class Formula(NamedTuple):
    """A weighting, and what of an index is one number."""

    kind: int  # COURSE, LOG or BM25
    smaller: int  # the smaller size of grams
    singles: int  # see Vocabulary
    window_bits: int
    k1: float
    b: float
    mean: float  # mean number of terms of a passage
    slack: float  # scores so close below the k-th best are wanted, too
    tf_weight: Array  # float64 [255 or more] 1 + ln tf; only LOG reads it
    heavy_weight: Array  # float64 [H] the same for `heavy_tf`


class Scratch(NamedTuple):
    """The working memory of one thread; `sums` is all zero between searches."""

    sums: Array  # float32 [window]
    touched: Array  # uint16 [window+1] places in the window whose sum is not zero
    values: Array  # float32 [window] their sums
    places: Array  # int64 [window] candidates, as places in the window
    bounds: Array  # float32 [window] their sums
    found: Array  # int64 [N] out: passages, at last as positions
    scores: Array  # float64 [N] out: their bounds, then their exact scores


def scratch_of(passages: int, window_bits: int) -> Scratch:
    """Return new working memory; what is not written to costs nothing."""
    window = 1 << window_bits
    return Scratch(
        np.zeros(window, np.float32), np.empty(window + 1, np.uint16), np.empty(window, np.float32),
        np.empty(window, np.int64), np.empty(window, np.float32), np.empty(passages, np.int64),
        np.empty(passages),
    )  # fmt: skip


# A table is int64 [32, 2], the address and the number of elements of each array: those of Vocabulary from
# row 0, Postings 4, Passages 12, Statistics 19, Scratch 21; from 28 integers, floats and arrays of Formula.
_WINDOW_FACTOR, _DENSE_TERMS = 16, 6


def kinds_of(arrays: IndexArrays) -> tuple[Array, Array, Array]:
    """Return empty arrays of the types that depend on the size of an index: `start`, `packed`, `second`."""
    postings = arrays.postings
    every = (postings.start, postings.packed, arrays.vocabulary.second)
    first, second, third = (np.empty(0, array.dtype) for array in every)
    return first, second, third


def table_of(arrays: IndexArrays, formula: Formula, scratch: Scratch) -> tuple[Array, Sequence[Array]]:
    """Return the table and what must outlive it, beside `arrays` and `scratch`; all arrays are contiguous."""
    numbers = (np.array(formula[:4], np.int64), np.array(formula[4:8], np.float64), *formula[8:])
    parts = (arrays.vocabulary[:4], arrays.postings, arrays.passages, arrays.statistics, scratch, numbers)
    every = [array for part in parts for array in part]
    return np.array([(array.ctypes.data, array.size) for array in every], np.int64), numbers


@intrinsic  # type: ignore[untyped-decorator, unused-ignore]
def _pointer(context: Any, address: Any) -> Any:
    """Return an address as a pointer."""

    def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.inttoptr(arguments[0], context.get_value_type(types.voidptr))

    return types.voidptr(types.int64), code


@inlined
def _array(table: Array, i: int, kind: Any) -> Array:
    return carray(_pointer(table[i, 0]), (table[i, 1],), kind)  # type: ignore[call-arg, unused-ignore]


@inlined
def vocabulary_of(table: Array, kinds: Any, singles: int) -> Vocabulary:
    """Return the vocabulary inside a kernel, as do the next ones for the other parts."""
    return Vocabulary(
        _array(table, 0, np.uint32), _array(table, 1, kinds[2].dtype), _array(table, 2, np.uint32),
        _array(table, 3, kinds[2].dtype), singles,
    )  # fmt: skip


@inlined
def postings_of(table: Array, kinds: Any) -> Postings:
    rows = (table[_DENSE_TERMS, 1], table[_WINDOW_FACTOR, 1] + 1)
    return Postings(
        _array(table, 4, kinds[0].dtype), _array(table, 5, kinds[1].dtype), _array(table, 6, np.uint32),
        _array(table, 7, kinds[0].dtype).reshape(rows), _array(table, 8, np.uint8),
        _array(table, 9, np.uint16), _array(table, 10, np.uint64), _array(table, 11, np.uint32),
    )  # fmt: skip


@inlined
def passages_of(table: Array) -> Passages:
    return Passages(
        _array(table, 12, np.uint32), _array(table, 13, np.uint32), _array(table, 14, np.float64),
        _array(table, 15, np.float32), _array(table, 16, np.float64),
        _array(table, 17, np.float64).reshape((table[_WINDOW_FACTOR, 1], 256)), _array(table, 18, np.float64),
    )  # fmt: skip


@inlined
def statistics_of(table: Array) -> Statistics:
    return Statistics(_array(table, 19, np.uint32), _array(table, 20, np.float64))


@inlined
def scratch_in(table: Array) -> Scratch:
    return Scratch(
        _array(table, 21, np.float32), _array(table, 22, np.uint16), _array(table, 23, np.float32),
        _array(table, 24, np.int64), _array(table, 25, np.float32), _array(table, 26, np.int64),
        _array(table, 27, np.float64),
    )  # fmt: skip


@inlined
def formula_in(table: Array) -> Formula:
    whole = _array(table, 28, np.int64)
    real = _array(table, 29, np.float64)
    return Formula(
        whole[0], whole[1], whole[2], whole[3], real[0], real[1], real[2], real[3],
        _array(table, 30, np.float64), _array(table, 31, np.float64),
    )  # fmt: skip
