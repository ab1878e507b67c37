"""Compiled loops from sorted keys to terms and their postings.

Layouts of the results are described in arrays.py.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from evidence_kit.index.compiled import inlined, loop
from evidence_kit.index.sort_kernels import Layout, sort_keys

Array = Any

TERMS, PACKED, DENSE, LOW, HEAVY, LARGEST = range(6)  # places in `Unfinished.filled`


class Unfinished(NamedTuple):
    """Postings that terms are appended to: the arrays of `arrays.Postings`, as long as there may be need."""

    start: Array
    packed: Array
    dense_terms: Array
    dense_start: Array
    dense_tf: Array
    low: Array
    heavy_at: Array
    heavy_tf: Array
    filled: Array  # int64 [6] how much of each is written; the largest tf so far
    dense_min: int
    window_bits: int


@loop
def write_singles(keys: Array, ends: Array, layout: Layout, out: Unfinished) -> None:
    """Append a term for every first symbol, 1 to the last; `ends` says where the keys of each end."""
    for first in range(1, ends.size - 1):
        append_term(keys, ends[first - 1], ends[first], layout.third, out)


@loop
def write_pairs(
    keys: Array, ends: Array, layout: Layout, spare: Array, out: Unfinished, pair_start: Array, second: Array
) -> int:
    """Sort the keys of each first symbol by the second and append its pairs; returns how many there are."""
    shift = np.uint64(layout.second)
    n = 0
    for first in range(1, ends.size - 1):
        pair_start[first] = n
        i = ends[first - 1]
        end = ends[first]
        sort_keys(keys, i, end, spare, layout.second, layout.symbol_bits)
        while i < end:
            symbol = keys[i] >> shift
            begin = i
            while i < end and keys[i] >> shift == symbol:
                i += 1
            if symbol != 0:
                second[n] = symbol
                n += 1
                append_term(keys, begin, i, layout.third, out)
    pair_start[ends.size - 1] = n
    return n


@loop
def write_triples(
    keys: Array, ends: Array, layout: Layout, spare: Array, out: Unfinished, triple_start: Array, third: Array
) -> int:
    """Sort the keys of each pair by the third symbol and append its triples; returns how many there are."""
    to_second = np.uint64(layout.second)
    to_third = np.uint64(layout.third)
    mask = (np.uint64(1) << np.uint64(layout.symbol_bits)) - np.uint64(1)
    pair = 0
    n = 0
    end = 0
    last = ends[ends.size - 1]
    for first in range(1, ends.size - 1):
        i = ends[first - 1]
        last = ends[first]
        while i < last:
            symbol = keys[i] >> to_second
            end = i + 1
            while end < last and keys[end] >> to_second == symbol:
                end += 1
            triple_start[pair] = n
            pair += 1
            sort_keys(keys, i, end, spare, layout.third, layout.symbol_bits)
            while i < end:
                gram = keys[i] >> to_third
                begin = i
                while i < end and keys[i] >> to_third == gram:
                    i += 1
                if gram & mask != 0:
                    third[n] = gram & mask
                    n += 1
                    append_term(keys, begin, i, layout.third, out)
    triple_start[pair] = n
    return n


@inlined
def append_term(keys: Array, begin: int, end: int, passage_bits: int, out: Unfinished) -> None:
    """Append the term of keys[begin:end], passages ascending."""
    mask = (np.uint64(1) << np.uint64(passage_bits)) - np.uint64(1)
    filled = out.filled
    out.start[filled[TERMS]] = filled[PACKED]
    is_dense = end - begin >= out.dense_min and append_dense(keys[begin:end], mask, out)
    n = filled[PACKED]
    largest = 1
    i = begin
    while i < end:
        passage = keys[i] & mask
        tf = 1
        i += 1
        while i < end and keys[i] & mask == passage:
            tf += 1
            i += 1
        largest = max(largest, tf)
        if is_dense and tf == 1:
            continue
        if tf >= 255:
            out.heavy_at[filled[HEAVY]] = n
            out.heavy_tf[filled[HEAVY]] = tf
            filled[HEAVY] += 1
            tf = 255
        out.packed[n] = (passage << np.uint64(8)) | np.uint64(tf)
        n += 1
    filled[PACKED] = n
    filled[LARGEST] = max(filled[LARGEST], largest)
    filled[TERMS] += 1
    if is_dense:
        out.dense_tf[filled[DENSE] - 1] = min(largest, 255)


@loop
def append_dense(keys: Array, mask: int, out: Unfinished) -> bool:
    """Append the passages as numbers within their windows, if there are enough; returns whether there are."""
    df = 1
    for i in range(1, keys.size):
        df += np.int64(keys[i] & mask != keys[i - 1] & mask)
    if df < out.dense_min:
        return False
    row = out.filled[DENSE]
    borders = out.dense_start[row]
    inside = np.int64((1 << out.window_bits) - 1)
    n = out.filled[LOW]
    window = 0
    borders[0] = n
    for i in range(keys.size):
        if i > 0 and keys[i] & mask == keys[i - 1] & mask:
            continue
        passage = np.int64(keys[i] & mask)
        while window < passage >> out.window_bits:
            window += 1
            borders[window] = n
        out.low[n] = passage & inside
        n += 1
    borders[window + 1 :] = n
    out.dense_terms[row] = out.filled[TERMS]
    out.filled[DENSE] = row + 1
    out.filled[LOW] = n
    return True
