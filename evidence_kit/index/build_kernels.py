"""Compiled loops over grams: from streams of symbols to sorted keys to postings.

A key is one gram of one passage in a uint64: its symbols from the first to the last, then the passage.
Layouts of the results are described in arrays.py.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from evidence_kit.index.compiled import inlined, kernel

Array = Any


@kernel
def count_terms(stream: Array, starts: Array, smaller: int, length: Array) -> int:
    """Write the number of grams of sizes `smaller` and `smaller` + 1 of each passage; returns their sum."""
    everything = 0
    for passage in range(starts.size - 1):
        run = 0
        total = 0
        for i in range(starts[passage], starts[passage + 1]):
            run = run + 1 if stream[i] != 0 else 0
            total += np.int64(run >= smaller) + np.int64(run > smaller)
        length[passage] = total
        everything += total
    return everything


@kernel
def fill_keys(
    stream: Array,
    starts: Array,
    size: int,
    lowest: int,  # grams whose first symbol is from `lowest` to `highest` only
    highest: int,
    symbol_bits: int,
    passage_bits: int,
    keys: Array,  # uint64 out, passages ascending
) -> int:
    """Write the keys of all grams of one size, the first symbol less `lowest`; returns how many."""
    bits = np.uint64(symbol_bits)
    shift = np.uint64(passage_bits)
    rest = (np.uint64(1) << np.uint64(symbol_bits * (size - 1))) - np.uint64(1)
    first_bits = np.uint64(symbol_bits * (size - 1))
    base = np.uint64(lowest) << first_bits
    low = np.uint64(lowest)
    high = np.uint64(highest)
    n = 0
    for passage in range(starts.size - 1):
        gram = np.uint64(0)
        run = 0
        for i in range(starts[passage], starts[passage + 1]):
            symbol = np.uint64(stream[i])
            if symbol == np.uint64(0):
                run = 0
                continue
            gram = ((gram & rest) << bits) | symbol
            run += 1
            if run >= size:
                first = gram >> first_bits
                if low <= first and first <= high:
                    keys[n] = ((gram - base) << shift) | np.uint64(passage)
                    n += 1
    return n


@kernel
def sort_keys(keys: Array, spare: Array, low: int, bits: int) -> Array:
    """Sort by bits [low, low+bits), stable: least significant digit first, nine bits a digit.

    Returns `keys` or `spare`, whichever holds the result; the other is overwritten.
    """
    passes = (bits + 8) // 9
    width = (bits + passes - 1) // passes
    mask = np.uint64((1 << width) - 1)
    counts = np.zeros((passes, 1 << width), np.int64)
    for i in range(keys.size):
        key = keys[i] >> np.uint64(low)
        for digit in range(passes):
            counts[digit, np.int64(key & mask)] += 1
            key >>= np.uint64(width)
    for digit in range(passes):
        place = counts[digit]
        total = 0
        for value in range(place.size):
            place[value], total = total, total + place[value]
        shift = np.uint64(low + digit * width)
        for i in range(keys.size):
            key = keys[i]
            value = np.int64((key >> shift) & mask)
            spare[place[value]] = key
            place[value] += 1
        keys, spare = spare, keys
    return keys


@kernel
def write_postings(
    keys: Array,  # uint64, sorted
    base: int,  # what `fill_keys` took off the first symbol, in place
    passage_bits: int,
    window_bits: int,
    dense_min: int,
    grams: Array,  # uint64 out: the symbols of each term
    start: Array,  # out, as are the next: see arrays.Postings
    packed: Array,
    dense_terms: Array,
    dense_start: Array,
    dense_tf: Array,
    low: Array,
    heavy_at: Array,
    heavy_tf: Array,
    filled: Array,  # int64 [5] in and out: terms, packed, dense terms, low, heavy written so far
) -> None:
    """Append the terms and postings of sorted keys to the arrays."""
    shift = np.uint64(passage_bits)
    i = 0
    while i < keys.size:
        gram = keys[i] >> shift
        end, df = _extent(keys, i, gram, shift)
        term = filled[0]
        grams[term] = gram + np.uint64(base)
        start[term] = filled[1]
        filled[0] = term + 1
        dense = df >= dense_min
        if dense:
            dense_terms[filled[2]] = term
            _write_low(keys, i, end, shift, window_bits, dense_start[filled[2]], low, filled)
            filled[2] += 1
        largest = _write_packed(keys, i, end, shift, dense, packed, heavy_at, heavy_tf, filled)
        if dense:
            dense_tf[filled[2] - 1] = largest
        i = end
    start[filled[0]] = filled[1]


@kernel
def _extent(keys: Array, i: int, gram: int, shift: int) -> tuple[int, int]:
    """Return where the keys of this gram end, and in how many passages it stands."""
    end = i
    df = 0
    previous = ~keys[i]
    while end < keys.size and keys[end] >> shift == gram:
        df += keys[end] != previous
        previous = keys[end]
        end += 1
    return end, df


@kernel
def _write_low(
    keys: Array, i: int, end: int, shift: int, window_bits: int, borders: Array, low: Array, filled: Array
) -> None:
    passages = (np.uint64(1) << shift) - np.uint64(1)
    inside = np.int64((1 << window_bits) - 1)
    n = filled[3]
    window = 0
    borders[0] = n
    previous = ~keys[i]
    for p in range(i, end):
        if keys[p] == previous:
            continue
        previous = keys[p]
        passage = np.int64(previous & passages)
        while window < passage >> window_bits:
            window += 1
            borders[window] = n
        low[n] = passage & inside
        n += 1
    for later in range(window + 1, borders.size):
        borders[later] = n
    filled[3] = n


@kernel
def _write_packed(
    keys: Array,
    i: int,
    end: int,
    shift: int,
    dense: bool,
    packed: Array,
    heavy_at: Array,
    heavy_tf: Array,
    filled: Array,
) -> int:
    """Append the packed postings of a term; returns the largest tf that stands in them, at least 1."""
    passages = (np.uint64(1) << shift) - np.uint64(1)
    n = filled[1]
    largest = 1
    p = i
    while p < end:
        first = p
        while p < end and keys[p] == keys[first]:
            p += 1
        tf = p - first
        if dense and tf == 1:
            continue
        if tf >= 255:
            heavy_at[filled[4]] = n
            heavy_tf[filled[4]] = tf
            filled[4] += 1
            tf = 255
        largest = max(largest, tf)
        packed[n] = (np.int64(keys[first] & passages) << 8) | tf
        n += 1
    filled[1] = n
    return largest


@kernel
def link_triples(pairs: Array, triples: Array, symbol_bits: int, triple_start: Array) -> None:
    """Write where the triples that begin with each pair start; both sorted, every beginning is a pair."""
    n = 0
    for pair in range(pairs.size):
        triple_start[pair] = n
        while n < triples.size and triples[n] >> np.uint64(symbol_bits) == pairs[pair]:
            n += 1
    triple_start[pairs.size] = n


@kernel
def sum_squares(
    start: Array,
    packed: Array,
    row_of: Array,  # int64 [V] row in `dense_start`, or -1
    dense_start: Array,
    low: Array,
    heavy_tf: Array,
    window_bits: int,
    idf_of: Array,  # float64 [V]
    tf_weight: Array,  # float64 [255] 1 + ln tf; [0] for tf / length
    heavy_weight: Array,  # float64 [H] the same for `heavy_tf`
    length: Array,  # float64 [N]
    sums: Array,  # float64 [N, 2] in and out: sum of squares, and what rounding left of it
) -> None:
    """Add the square of every term's value to its passage, to twice the precision of a float64."""
    heavy = 0
    for term in range(start.size - 1):
        idf = idf_of[term]
        p = np.int64(start[term])
        end = np.int64(start[term + 1])
        if row_of[term] >= 0:
            _add_single(
                p, end, packed, dense_start[row_of[term]], low, window_bits, idf, tf_weight, length, sums
            )
        while p < end:
            passage = np.int64(packed[p] >> 8)
            tf = np.int64(packed[p] & 255)
            if tf == 255:
                tf = np.int64(heavy_tf[heavy])
                value = (
                    heavy_weight[heavy] * idf if tf_weight.size else np.float64(tf) / length[passage] * idf
                )
                heavy += 1
            else:
                value = _value(tf, passage, idf, tf_weight, length)
            _add_square(sums, passage, value)
            p += 1


@kernel
def _add_single(
    p: int, end: int, packed: Array, borders: Array, low: Array, window_bits: int, idf: float,
    tf_weight: Array, length: Array, sums: Array,
) -> None:  # fmt: skip
    """Add a dense term's passages where it stands once: those that packed postings p : end do not name."""
    for window in range(borders.size - 1):
        base = window << window_bits
        for q in range(borders[window], borders[window + 1]):
            passage = base + np.int64(low[q])
            if p < end and np.int64(packed[p] >> 8) == passage:
                p += 1
            else:
                _add_square(sums, passage, _value(1, passage, idf, tf_weight, length))


@inlined
def _value(tf: int, passage: int, idf: float, tf_weight: Array, length: Array) -> Any:
    """Return `Cosine.value`, operation by operation."""
    return tf_weight[tf] * idf if tf_weight.size else np.float64(tf) / length[passage] * idf


@inlined
def _add_square(sums: Array, passage: int, value: float) -> None:
    """Add value**2 (rounded, as in Python) to a sum kept in two parts: Knuth's exact addition."""
    square = value * value
    before = sums[passage, 0]
    after = before + square
    part = after - before
    sums[passage, 1] += (before - (after - part)) + (square - part)
    sums[passage, 0] = after
