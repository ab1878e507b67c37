"""Compiled loops of the search, window after window: bounds first, exact scores for the few that may win.

A passage scores factor * sum(weight * gain), see weighting.py. Its *bound* is the same sum in float32, with
weights rounded up by more than all additions can lose. Dense lists are taken by falling weight; as soon as
all that remain could not lift a passage alone over the k-th best exact score, they are no longer added, but
looked up for the candidates that are left (MaxScore: Turtle and Flood 1995).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from evidence_kit.index.arrays import Passages, Postings
from evidence_kit.index.candidate_kernels import (
    accept,
    collect,
    complete,
    drop_losers,
    high_value,
    keep_better,
)
from evidence_kit.index.compiled import inlined, kernel
from evidence_kit.index.scoring_kernels import (
    Query,
    count_grams,
    find_terms,
    score_found,
    weigh_terms,
)
from evidence_kit.index.views import (
    Scratch,
    formula_in,
    passages_of,
    postings_of,
    scratch_in,
    statistics_of,
    vocabulary_of,
)
from evidence_kit.index.window_kernels import (
    Window,
    add_all,
    add_sparse,
    load,
    order_dense,
    take_touched,
)

Array = Any

SPARSE = 8  # a window with fewer than 1/8 of its passages touched keeps a list of them
LEFT_OUT = 0.3  # dense terms are left out while they weigh less than this part of what is needed


@kernel
def answer(table: Array, kinds: Any, stream: Array, k: int, allowed: Array) -> int:
    """Find and score the passages that may be among the best `k` of a question; returns how many."""
    formula = formula_in(table)
    terms, counts = find_terms(stream, vocabulary_of(table, kinds, formula.singles))
    if terms.size == 0:
        return 0
    postings = postings_of(table, kinds)
    passages = passages_of(table)
    scratch = scratch_in(table)
    total = count_grams(stream, formula.smaller)
    query = weigh_terms(terms, counts, total, postings, statistics_of(table), formula)
    n = find(query, postings, passages, k, allowed, scratch)
    score_found(query, postings, passages, 0, n, scratch)
    for i in range(n):
        scratch.found[i] = passages.order[scratch.found[i]]
    return n


@kernel
def find(
    query: Query,
    postings: Postings,
    passages: Passages,
    k: int,
    allowed: Array,  # uint8 [ceil(N/8)] one bit a passage, or [0] for all
    scratch: Scratch,
) -> int:
    """Write every passage that may be among the best `k` to `scratch.found`; returns how many.

    `best` is a heap of the k highest scores that are certain, the lowest on top; 0.0 where there is none yet.
    """
    dense, weights, rest = order_dense(query, postings, passages)
    adds = query.row < 0  # which terms are added, not looked up: all that are not dense, and dense[:added]
    cursor = query.packed_start.copy()
    window_bits, slack = query.formula.window_bits, query.formula.slack
    best = np.zeros(k)
    heap = np.empty(k, np.int32)
    size = 1 << window_bits
    n = 0
    for window in range(passages.window_factor.size):
        first = window << window_bits
        last = min(passages.order.size, first + size)
        needed = _needed(best[0] - slack, passages.window_factor[window])
        added = dense.size
        while added > 0 and rest[added - 1] < needed * LEFT_OUT:
            added -= 1
        for j in range(dense.size):
            adds[dense[j]] = j < added
        here = Window(window, first, last, passages.window_gain[window])
        is_sparse = load(query, postings, adds, window) * SPARSE < size
        if is_sparse:
            met = add_sparse(query, postings, dense[:added], weights, adds, cursor, here, scratch)
            values = scratch.values[: take_touched(scratch, met)]
        else:
            add_all(query, postings, dense[:added], weights, adds, cursor, here, scratch.sums)
            values = scratch.sums[: last - first]
        highest = np.float32(np.inf)
        if best[0] == 0.0:  # nothing to compare with yet: the highest sums first, then what may beat them
            highest = high_value(values, heap)
            left = collect(values, highest, np.float32(np.inf), is_sparse, first, allowed, scratch)
            n = accept(query, postings, passages, window, left, best, scratch, n)
            needed = _needed(best[0] - slack, passages.window_factor[window])
        floor = np.float32((needed - rest[added]) * (1.0 - 1e-6))
        left = collect(values, floor, highest, is_sparse, first, allowed, scratch)
        if not is_sparse:
            scratch.sums[:] = 0.0
        for j in range(added, dense.size):
            complete(query, postings, dense[j], weights[j], here, left, scratch)
            left = keep_better(scratch, left, needed - rest[j + 1])
        n = accept(query, postings, passages, window, left, best, scratch, n)
    return drop_losers(scratch, n, best[0] - slack)


@inlined
def _needed(score: float, factor: float) -> float:
    """Return the sum that a passage of a window needs for `score`, a little less for safety."""
    return score / factor * (1.0 - 1e-9) if factor > 0.0 and score > 0.0 else 0.0
