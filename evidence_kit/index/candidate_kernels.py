"""Compiled loops over candidates: which passages of a window may win, once its sums are known."""

from __future__ import annotations

from typing import Any

import numpy as np

from evidence_kit.index.arrays import Passages, Postings
from evidence_kit.index.compiled import inlined, loop
from evidence_kit.index.scoring_kernels import Query, bound_margin, part_end, score_found
from evidence_kit.index.views import Scratch
from evidence_kit.index.window_kernels import Window

Array = Any

BLOCK = 32  # sums looked at together
TIGHT = 0.999  # bounds nearer to the scores than this serve as scores
LOOKUP = 8  # looking one passage up costs about as much as adding 8 postings


@inlined
def is_allowed(allowed: Array, passage: int) -> Any:
    return allowed.size == 0 or (allowed[passage >> 3] >> (passage & 7)) & 1 == 1


@inlined
def replace_worst(heap: Array, value: float) -> None:
    """Replace the smallest value of a heap, which stands at 0."""
    i = 0
    while True:
        child = 2 * i + 1
        if child >= heap.size:
            break
        if child + 1 < heap.size and heap[child + 1] < heap[child]:
            child += 1
        if heap[child] >= value:
            break
        heap[i] = heap[child]
        i = child
    heap[i] = value


@loop
def high_value(values: Array, heap: Array) -> Any:
    """Return a value that as many values reach as `heap` holds, int32, and few more; 0 if there are fewer."""
    k = heap.size
    ordered = values.view(np.int32)  # floats that are not negative are ordered as their bits are
    block = max(1, min(BLOCK, values.size // (8 * k)))
    blocks = values.size // block
    if blocks < k:
        return np.float32(0.0)
    heap[:] = 0
    for b in range(blocks):
        largest = np.int32(0)
        for i in range(b * block, (b + 1) * block):
            largest = max(largest, ordered[i])
        if largest > heap[0]:
            replace_worst(heap, largest)
    return heap.view(np.float32)[0]


@loop
def collect(
    values: Array, floor: float, below: float, is_sparse: bool, first: int, allowed: Array, scratch: Scratch
) -> int:
    """List the places with floor <= value < below, zero excepted, that are allowed; returns how many."""
    floor = max(floor, np.float32(1e-37))
    left = 0
    for begin in range(0, values.size, BLOCK):
        end = min(values.size, begin + BLOCK)
        reached = 0
        for i in range(begin, end):
            reached += np.int32(values[i] >= floor)
        if reached == 0:
            continue
        for i in range(begin, end):
            if floor <= values[i] < below:
                place = np.int64(scratch.touched[i]) if is_sparse else i
                if is_allowed(allowed, first + place):
                    scratch.places[left] = place
                    scratch.bounds[left] = values[i]
                    left += 1
    return left


@loop
def complete(
    query: Query, postings: Postings, i: int, weight: float, here: Window, left: int, scratch: Scratch
) -> None:
    """Add dense term `i` to the candidates in which it stands; `sums` is all zero before and after."""
    begin = np.int64(postings.dense_start[query.row[i], here.number])
    end = np.int64(postings.dense_start[query.row[i], here.number + 1])
    is_marked = left * LOOKUP > end - begin
    if is_marked:
        for p in range(begin, end):
            scratch.sums[postings.low[p]] = 1.0
    for c in range(left):
        place = scratch.places[c]
        if is_marked:
            stands = scratch.sums[place] > 0.0
        else:
            p = part_end(postings.low, begin, end, place)
            stands = p > begin and np.int64(postings.low[p - 1]) == place
        if stands:
            scratch.bounds[c] += np.float32(weight * _gain_in(query, postings, i, here, here.first + place))
    if is_marked:
        for p in range(begin, end):
            scratch.sums[postings.low[p]] = 0.0


@inlined
def _gain_in(query: Query, postings: Postings, i: int, here: Window, passage: int) -> Any:
    """Return the gain of a dense term in a passage where it stands."""
    first = query.packed_start[i]
    p = part_end(postings.packed, first, query.packed_end[i], passage << 8 | 255) - 1
    if p >= first and np.int64(postings.packed[p] >> 8) == passage:
        return here.gain[postings.packed[p] & 255]
    return 1.0


@loop
def keep_better(scratch: Scratch, left: int, needed: float) -> int:
    """Keep the candidates whose sum reaches `needed`; returns how many."""
    kept = 0
    for c in range(left):
        if scratch.bounds[c] >= needed:
            scratch.places[kept] = scratch.places[c]
            scratch.bounds[kept] = scratch.bounds[c]
            kept += 1
    return kept


@loop
def accept(
    query: Query,
    postings: Postings,
    passages: Passages,
    window: int,
    left: int,  # so many candidates
    best: Array,
    scratch: Scratch,
    n: int,  # so many passages found before
) -> int:
    """Append the candidates whose bound says that they may win; returns how many passages were found so far.

    What a bound above the best makes certain is that bound less all rounding, or where the passages of the
    window differ too much in length for that, the exact score.
    """
    tight = passages.window_tightness[window] * (1.0 - 2.0 * bound_margin(query.row.size))
    for c in range(left):
        passage = (window << query.formula.window_bits) + scratch.places[c]
        bound = np.float64(scratch.bounds[c]) * np.float64(passages.factor[passage])
        if bound < best[0] - query.formula.slack:
            continue
        scratch.found[n] = passage
        scratch.scores[n] = bound
        n += 1
        if bound > best[0]:
            certain = bound * tight
            if tight < TIGHT:
                score_found(query, postings, passages, n - 1, n, scratch)
                certain = scratch.scores[n - 1]
                scratch.scores[n - 1] = bound
            if certain > best[0]:
                replace_worst(best, certain)
    return n


@loop
def drop_losers(scratch: Scratch, n: int, floor: float) -> int:
    """Keep the passages whose score reaches `floor`; returns how many."""
    kept = 0
    for i in range(n):
        if scratch.scores[i] >= floor:
            scratch.found[kept] = scratch.found[i]
            scratch.scores[kept] = scratch.scores[i]
            kept += 1
    return kept
