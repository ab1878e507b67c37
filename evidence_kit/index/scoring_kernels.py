"""Compiled loops that find a question's terms, weigh them and score one passage exactly.

The formulas are those of weighting.py, operation by operation; sums are kept to twice the precision of a
float64 and rounded once, as `math.fsum` does.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from evidence_kit.index.arrays import Passages, Postings, Statistics, Vocabulary
from evidence_kit.index.compiled import inlined, kernel, loop
from evidence_kit.index.views import BM25, COURSE, LOG, Formula, Scratch

Array = Any

UNKNOWN = 0xFFFFFFFF  # a symbol of the question that the index does not have
TOGETHER = 32  # passages scored term by term, so that their lookups overlap


class Query(NamedTuple):
    """The distinct terms of one question that the index has."""

    row: Array  # int64 [m] row in `dense_start`, or -1
    packed_start: Array  # int64 [m] its packed postings
    packed_end: Array  # int64 [m]
    idf: Array  # float64 [m]
    part: Array  # float64 [m] value in the question's vector; 1.0 for bm25
    weight: Array  # float64 [m] part * idf, rounded up for bounds
    parts: Array  # float64 [TOGETHER, m] room for the parts of exact scores
    filled: Array  # int64 [TOGETHER] room for their numbers
    formula: Formula


@inlined
def part_end(values: Array, begin: int, end: int, value: int) -> int:
    """Return the index after the last of the sorted values[begin:end] that are at most `value`."""
    size = end - begin
    while size > 1:  # halves without a branch that could be guessed wrong
        half = size >> 1
        begin += half if np.int64(values[begin + half - 1]) <= value else 0
        size -= half
    if size == 1 and np.int64(values[begin]) <= value:
        begin += 1
    return begin


@inlined
def fsum(values: Array, n: int) -> float:
    """Return the sum of the first n, rounded once: what additions lose (Knuth) is kept and added last."""
    high = 0.0
    rest = 0.0
    for i in range(n):
        after = high + values[i]
        part = after - high
        rest += (high - (after - part)) + (values[i] - part)
        high = after
    return high + rest


@loop
def count_grams(stream: Array, smaller: int) -> int:
    """Return the number of grams of sizes `smaller` and `smaller` + 1, unknown symbols included."""
    total = 0
    run = 0
    for symbol in stream:
        run = run + 1 if symbol != 0 else 0
        total += np.int64(run >= smaller) + np.int64(run > smaller)
    return total


@kernel
def find_terms(stream: Array, vocabulary: Vocabulary) -> tuple[Array, Array]:
    """Return the distinct terms of a question that the index has, sorted, and how often each stands in it."""
    found = np.empty(3 * stream.size, np.int64)
    pairs = np.empty(stream.size, np.int64)
    n = _find_terms(stream, vocabulary, found, pairs)
    found = np.sort(found[:n])
    counts = np.ones(n, np.int64)
    distinct = 0
    for i in range(n):
        if distinct > 0 and found[i] == found[distinct - 1]:
            counts[distinct - 1] += 1
        else:
            found[distinct] = found[i]
            distinct += 1
    return found[:distinct], counts[:distinct]


@loop
def _find_terms(stream: Array, vocabulary: Vocabulary, found: Array, pairs: Array) -> int:
    """Write the terms where they end; returns how many.

    All of one size before the next: the processor then looks several up at the same time.
    """
    n = 0
    if vocabulary.singles > 0:
        for symbol in stream:
            found[n] = np.int64(symbol) - 1
            n += np.int64(symbol != 0 and symbol != UNKNOWN)
    pairs[0] = -1
    for i in range(1, stream.size):
        before, symbol = np.int64(stream[i - 1]), np.int64(stream[i])
        pairs[i] = -1
        if before != 0 and before != UNKNOWN and symbol != 0 and symbol != UNKNOWN:
            pairs[i] = _child(vocabulary.second, vocabulary.pair_start, before, symbol)
            found[n] = vocabulary.singles + pairs[i]
            n += np.int64(pairs[i] >= 0)
    if vocabulary.triple_start.size > 1:
        for i in range(2, stream.size):
            if pairs[i - 1] >= 0 and stream[i] != 0 and stream[i] != UNKNOWN:
                triple = _child(vocabulary.third, vocabulary.triple_start, pairs[i - 1], np.int64(stream[i]))
                found[n] = vocabulary.singles + vocabulary.second.size + triple
                n += np.int64(triple >= 0)
    return n


@loop
def _child(symbols: Array, start: Array, parent: int, symbol: int) -> int:
    """Return where `symbol` stands among the sorted children of `parent`, or -1."""
    begin = np.int64(start[parent])
    place = part_end(symbols, begin, np.int64(start[parent + 1]), symbol)
    if place > begin and symbols[place - 1] == symbol:
        return place - 1
    return -1


@inlined
def bound_margin(terms: int) -> float:
    """Return by how much bounds are rounded up: more than float32 sums of so many terms can lose."""
    return (2.0 * terms + 16.0) * 1.2e-7


@kernel
def weigh_terms(
    terms: Array, counts: Array, total: int, postings: Postings, statistics: Statistics, formula: Formula
) -> Query:
    """Return the question; `total` counts all of its terms, those that the index does not have included."""
    m = terms.size
    row = np.empty(m, np.int64)
    packed_start = np.empty(m, np.int64)
    packed_end = np.empty(m, np.int64)
    idf = np.empty(m)
    part = np.ones(m)
    for i in range(m):
        term = terms[i]
        packed_start[i] = postings.start[term]
        packed_end[i] = postings.start[term + 1]
        df = packed_end[i] - packed_start[i]
        at = part_end(postings.dense_terms, 0, postings.dense_terms.size, term) - 1
        row[i] = at if at >= 0 and postings.dense_terms[at] == term else -1
        if row[i] >= 0:
            borders = postings.dense_start[row[i]]
            df = np.int64(borders[borders.size - 1]) - np.int64(borders[0])
        idf[i] = statistics.idf[part_end(statistics.df, 0, statistics.df.size, df) - 1]
        if formula.kind == COURSE:
            part[i] = np.float64(counts[i]) / np.float64(total) * idf[i]
        elif formula.kind == LOG:
            part[i] = formula.tf_weight[counts[i]] * idf[i]
    if formula.kind != BM25:
        length = np.sqrt(fsum(part * part, m))
        part = part / (length if length > 0.0 else 1.0)
    weight = part * idf * (1.0 + bound_margin(m))
    parts, filled = np.empty((TOGETHER, m)), np.empty(TOGETHER, np.int64)
    return Query(row, packed_start, packed_end, idf, part, weight, parts, filled, formula)


@loop
def score_found(
    query: Query, postings: Postings, passages: Passages, begin: int, end: int, scratch: Scratch
) -> None:
    """Write the exact scores of the passages `found[begin:end]`."""
    parts = query.parts
    filled = query.filled
    for first in range(begin, end, TOGETHER):
        found = scratch.found[first : min(end, first + TOGETHER)]
        filled[:] = 0
        for i in range(query.row.size):
            for c in range(found.size):
                tf, heavy = _count(query, postings, i, found[c])
                if tf > 0:
                    parts[c, filled[c]] = _part(query, passages, i, found[c], tf, heavy)
                    filled[c] += 1
        for c in range(found.size):
            scratch.scores[first + c] = fsum(parts[c], filled[c])


@inlined
def _part(query: Query, passages: Passages, i: int, passage: int, tf: int, heavy: int) -> Any:
    """Return the part of term `i` in the score of a passage where it stands `tf` times."""
    formula = query.formula
    length = np.float64(passages.length[passage])
    if formula.kind == BM25:
        size = formula.k1 * (1.0 - formula.b + formula.b * length / formula.mean)
        value = query.idf[i] * (tf * (formula.k1 + 1.0) / (tf + size))
    elif formula.kind == COURSE:
        value = query.part[i] * (tf / length * query.idf[i] / passages.norm[passage])
    else:
        tf_weight = formula.tf_weight[tf] if heavy < 0 else formula.heavy_weight[heavy]
        value = query.part[i] * (tf_weight * query.idf[i] / passages.norm[passage])
    return value


@inlined
def _count(query: Query, postings: Postings, i: int, passage: int) -> tuple[int, int]:
    """Return (how often term `i` stands in the passage, its index in `heavy_tf` or -1)."""
    row = query.row[i]
    tf = np.int64(1)
    heavy = np.int64(-1)
    if row >= 0:
        bits = query.formula.window_bits
        window = passage >> bits
        begin = np.int64(postings.dense_start[row, window])
        end = np.int64(postings.dense_start[row, window + 1])
        inside = passage - (window << bits)
        place = part_end(postings.low, begin, end, inside)
        tf = np.int64(place > begin and np.int64(postings.low[place - 1]) == inside)
    if tf > 0:
        first = query.packed_start[i]
        place = part_end(postings.packed, first, query.packed_end[i], passage << 8 | 255) - 1
        if place >= first and np.int64(postings.packed[place] >> 8) == passage:
            tf = np.int64(postings.packed[place] & 255)
            if tf == 255:
                heavy = part_end(postings.heavy_at, 0, postings.heavy_at.size, place) - 1
                tf = np.int64(postings.heavy_tf[heavy])
        elif row < 0:
            tf = np.int64(0)
    return tf, heavy
