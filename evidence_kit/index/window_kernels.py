"""Compiled loops over postings: the sums of one window of passages."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from evidence_kit.index.arrays import Passages, Postings
from evidence_kit.index.compiled import inlined, kernel, loop
from evidence_kit.index.scoring_kernels import Query, part_end
from evidence_kit.index.views import Scratch

Array = Any


class Window(NamedTuple):
    """A run of passages of like length."""

    number: int
    first: int  # its passages are first : last
    last: int
    gain: Array  # float64 [256] its row of `window_gain`


@kernel
def order_dense(query: Query, postings: Postings, passages: Passages) -> tuple[Array, Array, Array]:
    """Return (dense terms by falling weight, their weights, the most that those from each on can add)."""
    dense = np.empty(query.row.size, np.int64)
    n = 0
    for i in range(query.row.size):
        if query.row[i] >= 0:
            dense[n] = i
            n += 1
    dense = dense[:n]
    dense = dense[np.argsort(-query.weight[dense], kind="mergesort")]
    weights = query.weight[dense].astype(np.float32)
    rest = np.zeros(n + 1)
    for j in range(n - 1, -1, -1):
        tf = postings.dense_tf[query.row[dense[j]]]
        rest[j] = rest[j + 1] + weights[j] * passages.window_gain[:, tf].max()
    return dense, weights, rest


@loop
def load(query: Query, postings: Postings, adds: Array, window: int) -> Any:
    """Return the number of postings to be added in this window, packed ones as if evenly spread."""
    total = 0
    packed = 0
    for i in range(adds.size):
        if not adds[i]:
            continue
        packed += query.packed_end[i] - query.packed_start[i]
        if query.row[i] >= 0:
            total += np.int64(postings.dense_start[query.row[i], window + 1])
            total -= np.int64(postings.dense_start[query.row[i], window])
    return total + packed // (postings.dense_start.shape[1] - 1)


@inlined
def _packed_part(query: Query, postings: Postings, i: Any, cursor: int, here: Window) -> tuple[int, int]:
    """Return the part of term i's packed postings in this window; `cursor` is at it or before."""
    end = query.packed_end[i]
    if cursor < end and np.int64(postings.packed[cursor] >> 8) < here.first:
        cursor = part_end(postings.packed, cursor, end, here.first * 256 - 1)
    return cursor, part_end(postings.packed, cursor, end, here.last * 256 - 1)


@loop
def add_all(
    query: Query,
    postings: Postings,
    dense: Array,
    weights: Array,
    adds: Array,
    cursor: Array,
    here: Window,
    sums: Array,
) -> None:
    """Add the window's postings to `sums`; `cursor` moves on to the next window."""
    for j in range(dense.size):
        row = query.row[dense[j]]
        weight = weights[j]
        for p in range(postings.dense_start[row, here.number], postings.dense_start[row, here.number + 1]):
            sums[postings.low[p]] += weight
    for i in range(adds.size):
        if not adds[i]:
            continue
        weight = query.weight[i]
        counted = 1.0 - 1e-9 if query.row[i] >= 0 else 0.0  # the first occurrence stands in the dense list
        begin, cursor[i] = _packed_part(query, postings, i, cursor[i], here)
        for p in range(begin, cursor[i]):
            gain = here.gain[postings.packed[p] & 255] - counted
            sums[np.int64(postings.packed[p] >> 8) - here.first] += np.float32(weight * gain)


@loop
def add_sparse(
    query: Query,
    postings: Postings,
    dense: Array,
    weights: Array,
    adds: Array,
    cursor: Array,
    here: Window,
    scratch: Scratch,
) -> int:
    """Add the window's postings and list the passages touched; returns how many."""
    sums = scratch.sums
    touched = scratch.touched
    met = 0
    for j in range(dense.size):
        row = query.row[dense[j]]
        weight = weights[j]
        for p in range(postings.dense_start[row, here.number], postings.dense_start[row, here.number + 1]):
            place = postings.low[p]
            touched[met] = place
            met += sums[place] == 0.0
            sums[place] += weight
    for i in range(adds.size):
        if not adds[i]:
            continue
        weight = query.weight[i]
        counted = 1.0 - 1e-9 if query.row[i] >= 0 else 0.0
        begin, cursor[i] = _packed_part(query, postings, i, cursor[i], here)
        for p in range(begin, cursor[i]):
            gain = here.gain[postings.packed[p] & 255] - counted
            place = np.int64(postings.packed[p] >> 8) - here.first
            touched[met] = place
            met += sums[place] == 0.0
            sums[place] += np.float32(weight * gain)
    return met


@loop
def take_touched(scratch: Scratch, met: int) -> int:
    """Move the sums of the touched passages to `values`; `sums` is all zero again. Returns `met`."""
    for i in range(met):
        place = scratch.touched[i]
        scratch.values[i] = scratch.sums[place]
        scratch.sums[place] = 0.0
    return met
