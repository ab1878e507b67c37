"""Compiled loops that sort grams: by their first symbol at once, then each first symbol's by the second.

A key stands for one gram, and is kept beside those with the same first symbol: the two symbols that follow it
and the passage, in a uint64. Few keys share a first symbol, and fewer a first and a second, so all further
sorting is in a stretch of memory that the processor keeps near.

    third symbol   0 where the run ends, or no term has three    above the passage
    second symbol  0 where the run ends                          above it, `symbol_bits` wide, as is the third
    passage        ascending among equal symbols                 the lowest bits
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from evidence_kit.index.compiled import inlined, loop

Array = Any

COUNTERS = 1 << 8  # room for so many counters follows the keys in `spare`
SMALL = 24  # so many keys are sorted by insertion sooner than by counting


class Layout(NamedTuple):
    """How grams stand in keys."""

    smaller: int  # the sizes of the terms, in symbols
    larger: int
    second: int  # the lowest bit of the second symbol
    third: int  # the lowest bit of the third symbol, which is the width of a passage
    symbol_bits: int


def layout_of(sizes: tuple[int, ...], symbols: int, passages: int) -> Layout:
    """Return the layout of keys for so many symbols and passages; they use `second + symbol_bits` bits."""
    symbol_bits, passage_bits = max(1, symbols.bit_length()), max(1, (passages - 1).bit_length())
    second = passage_bits + (symbol_bits if sizes[-1] == 3 else 0)
    return Layout(sizes[0], sizes[-1], second, passage_bits, symbol_bits)


@loop
def count_terms(stream: Array, starts: Array, layout: Layout, length: Array, firsts: Array) -> int:
    """Write the number of terms of each passage, and of keys with each first symbol; returns all terms."""
    everything = 0
    for passage in range(starts.size - 1):
        run = 0
        total = 0
        for i in range(starts[passage + 1] - 1, starts[passage] - 1, -1):
            run = run + 1 if stream[i] != 0 else 0
            is_key = np.int64(run >= layout.smaller)
            total += is_key + np.int64(run >= layout.larger > layout.smaller)
            firsts[stream[i]] += is_key
        length[passage] = total
        everything += total
    return everything


@loop
def fill_keys(stream: Array, starts: Array, layout: Layout, place: Array, keys: Array) -> None:
    """Write all keys; `place` says where those of each first symbol begin, and then where they end."""
    to_second = np.uint64(layout.second)
    to_third = np.uint64(layout.third)
    for passage in range(starts.size - 1):
        second = np.uint64(0)
        third = np.uint64(0)
        for i in range(starts[passage + 1] - 1, starts[passage] - 1, -1):
            first = stream[i]
            if first == 0:
                second = np.uint64(0)
                continue
            if second == 0:
                third = np.uint64(0)
            if second != 0 or layout.smaller == 1:
                at = place[first]
                key = (second << to_second) | np.uint64(passage)
                keys[at] = key | (third << to_third) if layout.larger == 3 else key
                place[first] = at + 1
            third = second
            second = np.uint64(first)


@inlined
def sort_keys(keys: Array, begin: int, end: int, spare: Array, low: int, bits: int) -> None:
    """Sort keys[begin:end] by their bits from `low` on, of which no more than `bits` differ; stable."""
    if end - begin > SMALL:
        count_and_place(keys[begin:end], spare, low, bits)
    else:
        shift = np.uint64(low)
        for i in range(begin + 1, end):
            key = keys[i]
            at = i
            while at > begin and keys[at - 1] >> shift > key >> shift:
                keys[at] = keys[at - 1]
                at -= 1
            keys[at] = key


@loop
def count_and_place(keys: Array, spare: Array, low: int, bits: int) -> None:
    """Do so by radix, the least significant digit first, in an even number of passes: it ends in `keys`."""
    counts = spare[keys.size :]
    passes = 2 * ((bits + 15) // 16)
    width = np.uint64((bits + passes - 1) // passes)
    mask = (np.uint64(1) << width) - np.uint64(1)
    source = keys
    target = spare[: keys.size]
    shift = np.uint64(low)
    for _ in range(passes):
        counts[: np.int64(mask) + 1] = 0
        for i in range(source.size):
            counts[(source[i] >> shift) & mask] += np.uint64(1)
        total = np.uint64(0)
        for digit in range(np.int64(mask) + 1):
            counts[digit], total = total, total + counts[digit]
        for i in range(source.size):
            digit = (source[i] >> shift) & mask
            target[counts[digit]] = source[i]
            counts[digit] += np.uint64(1)
        source, target = target, source
        shift += width
