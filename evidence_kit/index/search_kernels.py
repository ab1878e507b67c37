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
    Formula,
    Query,
    count_grams,
    exact_score,
    find_terms,
    weigh_terms,
)
from evidence_kit.index.views import View, passages_of, postings_of, statistics_of, vocabulary_of
from evidence_kit.index.window_kernels import (
    Scratch,
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
def answer(
    view: View,
    formula: Formula,
    stream: Array,
    smaller: int,
    k: int,
    slack: float,
    allowed: Array,
    scratch: Scratch,
) -> int:
    """Find the passages that may be among the best `k` of a question and score them; returns how many."""
    terms, counts = find_terms(stream, vocabulary_of(view))
    if terms.size == 0:
        return 0
    postings = postings_of(view)
    passages = passages_of(view)
    query = weigh_terms(terms, counts, count_grams(stream, smaller), postings, statistics_of(view), formula)
    n = find(query, postings, passages, view.window_bits, k, slack, allowed, scratch)
    rescore(query, postings, passages, view.window_bits, n, scratch)
    return n


@kernel
def find(
    query: Query,
    postings: Postings,
    passages: Passages,
    window_bits: int,
    k: int,
    slack: float,  # scores so close below the k-th best are wanted, too
    allowed: Array,  # uint8 [ceil(N/8)] one bit a passage, or [0] for all
    scratch: Scratch,
) -> int:
    """Write every passage that may be among the best `k` to `scratch.found`; returns how many.

    `best` is a heap of the k highest scores that are certain, the lowest on top; 0.0 where there is none yet.
    """
    dense, weights, rest = order_dense(query, postings, passages)
    adds = query.row < 0  # which terms are added, not looked up: all that are not dense, and dense[:added]
    cursor = query.packed_start.copy()
    best = np.zeros(k)
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
            highest = high_value(values, k)
            left = collect(values, highest, np.float32(np.inf), is_sparse, first, allowed, scratch)
            n = accept(query, postings, passages, window_bits, window, left, slack, best, scratch, n)
            needed = _needed(best[0] - slack, passages.window_factor[window])
        floor = np.float32((needed - rest[added]) * (1.0 - 1e-6))
        left = collect(values, floor, highest, is_sparse, first, allowed, scratch)
        if not is_sparse:
            scratch.sums[:] = 0.0
        for j in range(added, dense.size):
            complete(query, postings, dense[j], weights[j], here, left, scratch)
            left = keep_better(scratch, left, needed - rest[j + 1])
        n = accept(query, postings, passages, window_bits, window, left, slack, best, scratch, n)
    return drop_losers(scratch, n, best[0] - slack)


@kernel
def rescore(
    query: Query, postings: Postings, passages: Passages, window_bits: int, n: int, scratch: Scratch
) -> None:
    """Replace the bounds of the first `n` found passages by their exact scores."""
    values = np.empty(query.row.size)
    for i in range(n):
        scratch.scores[i] = exact_score(query, postings, passages, window_bits, scratch.found[i], values)


@inlined
def _needed(score: float, factor: float) -> float:
    """Return the sum that a passage of a window needs for `score`, a little less for safety."""
    return score / factor * (1.0 - 1e-9) if factor > 0.0 and score > 0.0 else 0.0
