"""The search in numpy: for a process that asks too little to load the kernels, and where numba is missing.

Also what a question will touch in a stored index, so that it can be checked before.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np

from evidence_kit.index.arrays import Array, IndexArrays
from evidence_kit.index.plain import Scored
from evidence_kit.index.question import UNKNOWN
from evidence_kit.index.weighting import Bm25, Cosine, Weighting, norm
from evidence_kit.index.weights import bm25_mean

Touch = Callable[[str, int, int], None]  # array, first element, element after the last


class Entry(NamedTuple):
    """One term's passages, ascending, and how often it stands in each."""

    passages: Array  # int64
    tf: Array  # int64


def nothing(name: str, begin: int, end: int) -> None:
    """Touch nothing: the arrays are in memory and need no check."""


class Reader:
    """Reads terms and postings from the arrays, calling `touch` before each stretch is read."""

    def __init__(self, arrays: IndexArrays, touch: Touch = nothing) -> None:
        self._arrays, self._touch = arrays, touch

    def terms(self, stream: Array) -> Counter[int]:
        """Return the terms of a question that the index has, with their counts."""
        return Counter(self._terms(stream.tolist()))

    def _terms(self, stream: list[int]) -> Iterator[int]:
        vocabulary = self._arrays.vocabulary
        before, pair = 0, -1
        for symbol in stream:
            if symbol in (0, UNKNOWN):
                before, pair = 0, -1
                continue
            if vocabulary.singles:
                yield symbol - 1
            if pair >= 0 and vocabulary.triple_start.size > 1:
                triple = self._child("vocabulary.triple_start", "vocabulary.third", pair, symbol)
                if triple >= 0:
                    yield vocabulary.singles + vocabulary.second.size + triple
            pair = self._child("vocabulary.pair_start", "vocabulary.second", before, symbol) if before else -1
            if pair >= 0:
                yield vocabulary.singles + pair
            before = symbol

    def _child(self, starts: str, children: str, parent: int, symbol: int) -> int:
        start = getattr(self._arrays.vocabulary, starts.partition(".")[2])
        child = getattr(self._arrays.vocabulary, children.partition(".")[2])
        self._touch(starts, parent, parent + 2)
        begin, end = int(start[parent]), int(start[parent + 1])
        self._touch(children, begin, end)
        place = begin + int(np.searchsorted(child[begin:end], symbol))
        return place if place < end and child[place] == symbol else -1

    def df(self, symbols: list[int]) -> int:
        """Return how many passages hold the term of just these one to three symbols; 0 where none does."""
        vocabulary, postings = self._arrays.vocabulary, self._arrays.postings
        term = max(self._terms(symbols), default=-1)  # the longest has the largest number
        if term < (0, vocabulary.singles, vocabulary.singles + vocabulary.second.size)[len(symbols) - 1]:
            return 0
        row = self.touch_entry(term)
        if row < 0:
            return int(postings.start[term + 1]) - int(postings.start[term])
        return int(postings.dense_start[row, -1]) - int(postings.dense_start[row, 0])

    def touch_entry(self, term: int) -> int:
        """Touch the postings of one term; returns its row among the dense terms, or -1."""
        postings = self._arrays.postings
        self._touch("postings.start", term, term + 2)
        self._touch("postings.packed", int(postings.start[term]), int(postings.start[term + 1]))
        row = int(np.searchsorted(postings.dense_terms, term))
        if row == postings.dense_terms.size or postings.dense_terms[row] != term:
            return -1
        windows = postings.dense_start.shape[1]
        self._touch("postings.dense_start", row * windows, (row + 1) * windows)
        self._touch("postings.low", int(postings.dense_start[row, 0]), int(postings.dense_start[row, -1]))
        return row

    def entry(self, term: int) -> Entry:
        """Return the postings of one term."""
        postings, bits = self._arrays.postings, self._arrays.window_bits
        row = self.touch_entry(term)
        begin, end = int(postings.start[term]), int(postings.start[term + 1])
        packed = postings.packed[begin:end].astype(np.int64)
        passages, tf = packed >> 8, packed & 255
        if (tf == 255).any():
            heavy = np.searchsorted(postings.heavy_at, begin + np.flatnonzero(tf == 255))
            tf[tf == 255] = postings.heavy_tf[heavy]
        if row < 0:
            return Entry(passages, tf)
        borders = postings.dense_start[row].astype(np.int64)
        base = np.repeat(np.arange(borders.size - 1) << bits, np.diff(borders))
        every = base + postings.low[borders[0] : borders[-1]]
        counts = np.ones(every.size, np.int64)
        counts[np.searchsorted(every, passages)] = tf
        return Entry(every, counts)


class NumpyEngine:
    """Scores every passage that a question's terms stand in, then the best ones again, exactly."""

    def __init__(
        self, arrays: IndexArrays, weighting: Weighting, smaller: int, touch: Touch = nothing
    ) -> None:
        self._arrays, self._weighting, self._smaller, self._touch = arrays, weighting, smaller, touch
        self._reader = Reader(arrays, touch)

    def search(self, stream: Array, k: int, allowed: Array) -> list[Scored]:
        """Return (position, score) of every passage that may be among the best `k`, in no order."""
        passages = self._arrays.passages
        counts = self._reader.terms(stream)
        entries = [self._reader.entry(term) for term in counts]
        idf = [self._weighting.idf(passages.order.size, entry.passages.size) for entry in entries]
        scores, exact = self._scorers(stream, list(counts.values()), entries, idf)
        if allowed.size:
            scores[np.unpackbits(allowed, count=scores.size, bitorder="little") == 0] = 0.0
        chosen = np.flatnonzero(scores >= _floor(scores, k))
        self._touch("passages.order", 0, passages.order.size)
        return [(int(passages.order[p]), score) for p in chosen.tolist() if (score := exact(p)) > 0.0]

    def _scorers(
        self, stream: Array, counts: list[int], entries: list[Entry], idf: list[float]
    ) -> tuple[Array, Callable[[int], float]]:
        """Return (nearly the scores of all passages: float64 [N], the function of one exact score)."""
        passages, weighting = self._arrays.passages, self._weighting
        self._touch("passages.length", 0, passages.length.size)
        scores = np.zeros(passages.order.size)
        if isinstance(weighting, Bm25):
            mean = bm25_mean(passages.length)
            for entry, weight in zip(entries, idf, strict=True):
                size = weighting.k1 * (
                    1.0 - weighting.b + weighting.b * passages.length[entry.passages] / mean
                )
                scores[entry.passages] += weight * (entry.tf * (weighting.k1 + 1.0) / (entry.tf + size))

            def bm25(passage: int) -> float:
                size = weighting.size(int(passages.length[passage]), mean)
                return math.fsum(
                    weighting.part(tf, size, weight)
                    for entry, weight in zip(entries, idf, strict=True)
                    if (tf := _tf(entry, passage))
                )

            return scores, bm25
        self._touch("passages.norm", 0, passages.norm.size)
        query = self._query_vector(stream, counts, idf, weighting)
        for entry, weight, part in zip(entries, idf, query, strict=True):
            course = weighting.name == "tfidf_course"
            tf = entry.tf / passages.length[entry.passages] if course else 1.0 + np.log(entry.tf)
            scores[entry.passages] += part * weight * tf / passages.norm[entry.passages]

        def cosine(passage: int) -> float:
            total, length = int(passages.length[passage]), float(passages.norm[passage])
            return math.fsum(
                part * (weighting.value(tf, total, weight) / length)
                for entry, weight, part in zip(entries, idf, query, strict=True)
                if (tf := _tf(entry, passage))
            )

        return scores, cosine

    def _query_vector(
        self, stream: Array, counts: list[int], idf: list[float], weighting: Cosine
    ) -> list[float]:
        total = count_grams(stream, self._smaller)
        values = [weighting.value(tf, total, weight) for tf, weight in zip(counts, idf, strict=True)]
        length = norm(values)
        return [value / length for value in values]


def count_grams(stream: Array, smaller: int) -> int:
    """Return the number of grams of sizes `smaller` and `smaller` + 1, unknown symbols included."""
    runs = np.diff(np.flatnonzero(np.concatenate([[0], stream, [0]]) == 0)) - 1
    return int(np.maximum(runs - smaller + 1, 0).sum() + np.maximum(runs - smaller, 0).sum())


def _tf(entry: Entry, passage: int) -> int:
    place = int(np.searchsorted(entry.passages, passage))
    found = place < entry.passages.size and entry.passages[place] == passage
    return int(entry.tf[place]) if found else 0


def _floor(scores: Array, k: int) -> float:
    """Return the k-th best score, less what six digits and rounding may hide; above zero."""
    k = min(k, scores.size)
    best = float(np.partition(scores, scores.size - k)[scores.size - k])
    return max((best - 1e-6) * (1.0 - 1e-9), 1e-300)
