"""Why a passage was found: which terms of the question stand in it, where, and their shares of the score."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any, Protocol

from evidence_kit.finder.passages import Span
from evidence_kit.index.weighting import Bm25, Weighting
from evidence_kit.text.analysis import Analyzer


@dataclass(frozen=True)
class MatchedTerm:
    """A term of the question, where it stands in the quote (code points), and its share of the score.

    `share` is None where the statistics are not known. `single` says that the term is one character of East
    Asian script, which nearly any text may hold by chance.
    """

    text: str
    spans: tuple[Span, ...]
    share: float | None
    single: bool


class Statistics(Protocol):
    """What a score depends on beside the passage: the whole index."""

    @property
    def passages(self) -> int:
        """Return the number of passages."""

    @property
    def mean_length(self) -> float:
        """Return the mean number of terms of a passage."""

    def df(self, term: str) -> int:
        """Return the number of passages that hold a term."""


class CountedStatistics:
    """Statistics counted from the texts themselves, all at once when first asked for."""

    def __init__(self, texts: Sequence[str], analyzer: Analyzer) -> None:
        self._texts = texts
        self._analyzer = analyzer

    @property
    def passages(self) -> int:
        """Return the number of passages."""
        return len(self._texts)

    @property
    def mean_length(self) -> float:
        """Return the mean number of terms of a passage."""
        return self._counted[0] / len(self._texts)

    def df(self, term: str) -> int:
        """Return the number of passages that hold a term."""
        return self._counted[1][term]

    @cached_property
    def _counted(self) -> tuple[int, Counter[str]]:
        total = 0
        df: Counter[str] = Counter()
        for text in self._texts:
            emitted = self._analyzer.texts(text)
            total += len(emitted)
            df.update(set(emitted))
        return total, df


def explain(
    query: Sequence[str], quote: str, analyzer: Analyzer, weighting: Weighting, statistics: Statistics | None
) -> tuple[MatchedTerm, ...]:
    """Return the terms of `query` that stand in `quote`, by falling share, then by place.

    A share is the term's part of the sum that the score is, so the shares add up to 1. (The lengths of both
    vectors divide every part of a cosine and leave the shares as they are.) Without statistics there are no
    shares, and the terms go by place.
    """
    spans: defaultdict[str, list[Span]] = defaultdict(list)
    emitted = analyzer.terms(quote)
    for term in emitted:
        spans[term.text].append(Span(term.start, term.end))
    asked = Counter(query)
    if statistics is None:
        terms = (
            MatchedTerm(term, tuple(spans[term]), None, is_single(term)) for term in asked if term in spans
        )
        return tuple(sorted(terms, key=lambda term: (term.spans[0], term.text)))
    parts = {
        term: _part(count, len(query), len(spans[term]), len(emitted), weighting, statistics, term)
        for term, count in asked.items()
        if term in spans
    }
    whole = math.fsum(parts.values())
    ranked = sorted(parts, key=lambda term: (-parts[term], spans[term][0], term))
    return tuple(MatchedTerm(t, tuple(spans[t]), parts[t] / whole, is_single(t)) for t in ranked)


def _part(
    asked: int, question: int, tf: int, length: int, weighting: Weighting, statistics: Statistics, term: str
) -> float:
    """Return a term's part in the sum; `question` and `length` count the terms of question and passage."""
    idf = weighting.idf(statistics.passages, statistics.df(term))
    if isinstance(weighting, Bm25):
        return weighting.part(tf, weighting.size(length, statistics.mean_length), idf)
    return weighting.value(asked, question, idf) * weighting.value(tf, length, idf)


def is_single(term: str) -> bool:
    """Return whether a term is a single character of Han, Hiragana, Katakana or Hangul script."""
    return _single().fullmatch(term) is not None


@lru_cache(maxsize=1)
def _single() -> Any:
    import regex

    names = ("Han", "Hiragana", "Katakana", "Hangul")
    scripts = "".join(rf"\p{{Script_Extensions={name}}}" for name in names)
    return regex.compile(rf"(?=[{scripts}])\X")
