"""Why a passage was found: which terms of the question stand in it, where, and their shares of the score."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from evidence_kit.finder.passages import Span
from evidence_kit.index.statistics import IndexStatistics
from evidence_kit.index.weighting import Bm25, Weighting
from evidence_kit.text.analysis import Analyzer


@dataclass(frozen=True)
class MatchedTerm:
    """A term of the question, where it stands in the quote (code points), and its share of the score.

    `single` says that the term is one character of East Asian script, which nearly any text may hold by
    chance.
    """

    text: str
    spans: tuple[Span, ...]
    share: float
    single: bool


def explain(
    query: Counter[str], quote: str, analyzer: Analyzer, weighting: Weighting, statistics: IndexStatistics
) -> tuple[MatchedTerm, ...]:
    """Return the terms of `query`, counted, that stand in `quote`, by falling share, then by place.

    A share is the term's part of the sum that the score is, so the shares add up to 1. (The lengths of both
    vectors divide every part of a cosine and leave the shares as they are.)
    """
    spans: defaultdict[str, list[Span]] = defaultdict(list)
    emitted = analyzer.terms(quote)
    for term in emitted:
        spans[term.text].append(Span(term.start, term.end))
    length = sum(query.values())
    parts = {
        term: _part(query[term], length, len(found), len(emitted), weighting, statistics, term)
        for term, found in spans.items()
        if term in query
    }
    whole = math.fsum(parts.values())
    ranked = sorted(parts, key=lambda term: (-parts[term], spans[term][0], term))
    return tuple(MatchedTerm(t, tuple(spans[t]), parts[t] / whole, is_single(t)) for t in ranked)


def _part(
    asked: int,
    question: int,
    tf: int,
    length: int,
    weighting: Weighting,
    statistics: IndexStatistics,
    term: str,
) -> float:
    """Return a term's part in the sum; `question` and `length` count the terms of question and passage."""
    idf = weighting.idf(statistics.passages, statistics.df(term))
    if isinstance(weighting, Bm25):
        return weighting.part(tf, weighting.size(length, statistics.mean_length), idf)
    return weighting.value(asked, question, idf) * weighting.value(tf, length, idf)


def is_weak(terms: Iterable[str]) -> bool:
    """Return whether what a question and a passage share is single characters only."""
    return all(map(is_single, terms))


def is_single(term: str) -> bool:
    """Return whether a term is a single character of Han, Hiragana, Katakana or Hangul script."""
    return _single().fullmatch(term) is not None


@lru_cache(maxsize=1)
def _single() -> Any:
    import regex

    names = ("Han", "Hiragana", "Katakana", "Hangul")
    scripts = "".join(rf"\p{{Script_Extensions={name}}}" for name in names)
    return regex.compile(rf"(?=[{scripts}])\X")
