"""The arrays of an index as one row of addresses, so that a kernel takes one argument instead of thirty.

Handing an array over to compiled code costs most of a microsecond, and a question has only a few dozen.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import carray, types  # type: ignore[attr-defined, unused-ignore]
from numba.extending import intrinsic

from evidence_kit.index.arrays import Array, IndexArrays, Passages, Postings, Statistics, Vocabulary
from evidence_kit.index.compiled import inlined


class Kinds(NamedTuple):
    """Empty arrays of the three types that depend on the size of an index."""

    pointer: Array  # of `start` and `dense_start`
    packed: Array
    symbol: Array  # of `second` and `third`


class View(NamedTuple):
    """What kernels are given; the index must outlive it."""

    table: Array  # int64 [21, 2] address and number of elements of each array, in the order of arrays.py
    kinds: Kinds
    singles: int
    window_bits: int


def view_of(arrays: IndexArrays) -> View:
    """Return the view of `arrays`, whose elements must be contiguous."""
    vocabulary, postings = arrays.vocabulary, arrays.postings
    every = [*vocabulary[:4], *postings, *arrays.passages, *arrays.statistics]
    table = np.array([(array.ctypes.data, array.size) for array in every], np.int64)
    kinds = (np.empty(0, kind.dtype) for kind in (postings.start, postings.packed, vocabulary.second))
    return View(table, Kinds(*kinds), vocabulary.singles, arrays.window_bits)


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
def vocabulary_of(view: View) -> Vocabulary:
    """Return the vocabulary inside a kernel, as do the next ones for the other parts."""
    table = view.table
    return Vocabulary(
        _array(table, 0, np.uint32), _array(table, 1, view.kinds.symbol.dtype), _array(table, 2, np.uint32),
        _array(table, 3, view.kinds.symbol.dtype), view.singles,
    )  # fmt: skip


@inlined
def postings_of(view: View) -> Postings:
    table = view.table
    windows = table[16, 1]
    return Postings(
        _array(table, 4, view.kinds.pointer.dtype), _array(table, 5, view.kinds.packed.dtype),
        _array(table, 6, np.uint32),
        _array(table, 7, view.kinds.pointer.dtype).reshape((table[6, 1], windows + 1)),
        _array(table, 8, np.uint8), _array(table, 9, np.uint16), _array(table, 10, np.uint64),
        _array(table, 11, np.uint32),
    )  # fmt: skip


@inlined
def passages_of(view: View) -> Passages:
    table = view.table
    windows = table[16, 1]
    return Passages(
        _array(table, 12, np.uint32), _array(table, 13, np.uint32), _array(table, 14, np.float64),
        _array(table, 15, np.float32), _array(table, 16, np.float64),
        _array(table, 17, np.float64).reshape((windows, 256)), _array(table, 18, np.float64),
    )  # fmt: skip


@inlined
def statistics_of(view: View) -> Statistics:
    return Statistics(_array(view.table, 19, np.uint32), _array(view.table, 20, np.float64))
