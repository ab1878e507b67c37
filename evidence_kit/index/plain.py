"""The plain engine: every passage is scored for every question, with dictionaries and `math.fsum`.

It is what small corpora are answered by (nothing is imported for it), and the oracle that the compiled
engine must equal in every id, every bit of a score and the order.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence

from evidence_kit.index.statistics import IndexStatistics
from evidence_kit.index.weighting import Bm25, Cosine, Weighting, norm
from evidence_kit.text.analysis import Analyzer

Scored = tuple[int, float]


class PlainEngine:
    """Counts of all passages in memory: `scores` gives each passage with a positive score."""

    def __init__(self, texts: Sequence[str], analyzer: Analyzer, weighting: Weighting) -> None:
        self._analyzer = analyzer
        counts = [Counter(analyzer.texts(text)) for text in texts]
        df = Counter(term for passage in counts for term in passage)
        idf = {term: weighting.idf(len(counts), number) for term, number in df.items()}
        if isinstance(weighting, Cosine):
            self._score = _cosine_scorer(counts, idf, weighting)
        else:
            self._score = _bm25_scorer(counts, idf, weighting)
        self._size = len(counts)
        self.statistics = IndexStatistics(
            len(counts), sum(map(Counter.total, counts)) / len(counts) or 1.0, df.__getitem__
        )

    def search(self, query: str, allowed: Callable[[int], bool] | None) -> list[Scored]:
        """Return (position, score) of every allowed passage whose score is positive, by position."""
        score = self._score(Counter(self._analyzer.texts(query)))
        positions = filter(allowed, range(self._size)) if allowed else range(self._size)
        return [(position, value) for position in positions if (value := score(position)) > 0.0]


Scorer = Callable[["Counter[str]"], Callable[[int], float]]


def _vector(counts: Counter[str], idf: Mapping[str, float], weighting: Cosine) -> dict[str, float]:
    """Return the vector of length 1; terms that the corpus does not have count in the total only."""
    total = sum(counts.values())
    values = {term: weighting.value(tf, total, idf[term]) for term, tf in counts.items() if term in idf}
    length = norm(values.values())
    return {term: value / length for term, value in values.items()}


def _cosine_scorer(counts: Sequence[Counter[str]], idf: Mapping[str, float], weighting: Cosine) -> Scorer:
    vectors = [_vector(passage, idf, weighting) for passage in counts]

    def scorer(query: Counter[str]) -> Callable[[int], float]:
        wanted = _vector(query, idf, weighting)

        def score(position: int) -> float:
            vector = vectors[position]
            return math.fsum(value * vector[term] for term, value in wanted.items() if term in vector)

        return score

    return scorer


def _bm25_scorer(counts: Sequence[Counter[str]], idf: Mapping[str, float], weighting: Bm25) -> Scorer:
    lengths = [sum(passage.values()) for passage in counts]
    mean = sum(lengths) / len(lengths) or 1.0
    sizes = [weighting.size(length, mean) for length in lengths]

    def scorer(query: Counter[str]) -> Callable[[int], float]:
        wanted = [(term, idf[term]) for term in query if term in idf]

        def score(position: int) -> float:
            passage, size = counts[position], sizes[position]
            return math.fsum(
                weighting.part(passage[term], size, weight) for term, weight in wanted if term in passage
            )

        return score

    return scorer
