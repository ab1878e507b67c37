"""From a question to findings: ranked passages, each with its place, its quote and why it was found."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from evidence_kit.finder.errors import FinderError
from evidence_kit.finder.explanation import MatchedTerm, explain, is_single, is_weak
from evidence_kit.finder.passages import Located, MemoryPassages, Passages
from evidence_kit.finder.titles import SharingTitle, titles_sharing
from evidence_kit.index.weighting import METHODS, default_analyzer, parse_weighting
from evidence_kit.sources.documents import Document

if TYPE_CHECKING:
    from evidence_kit.index import Hit, Index

MOST_FINDINGS = 20
MOST_QUESTION = 10_000  # characters: each of its terms is looked for in every passage that shares one
_MOST_TITLES = 10_000  # so that finding nothing takes no longer than finding something

CAUTION = (
    "分数只在这批资料、这种方法之内可以比较，资料一变分数就变；它不是可信度。"
    "这里只找字词出现在哪里，不生成回答，也不判断原文是否支持任何说法。"
)


@dataclass(frozen=True)
class Finding:
    """A passage that shares terms with the question."""

    rank: int
    score: float
    passage: Located
    terms: tuple[MatchedTerm, ...]

    @property
    def weak(self) -> bool:
        """Return whether it rests on single East Asian characters only."""
        return is_weak(term.text for term in self.terms)


@dataclass(frozen=True)
class Findings:
    """What was found for one question, and in what.

    `weak_left_out` counts the weak findings that were passed over to fill the list, where this was asked.
    `titled` are the sources whose titles share terms with the question, where nothing was found: titles are
    not searched.
    """

    query: str
    method: str
    analyzer: str
    sources: int
    passages: int
    findings: tuple[Finding, ...]
    weak_left_out: int
    titled: tuple[SharingTitle, ...] = ()


class Finder:
    """Passages and their index under one method."""

    def __init__(self, passages: Passages, index: Index, method: str) -> None:
        self._passages = passages
        self._index = index
        self._method = check_method(method)
        self._analyzer = default_analyzer(method)

    @classmethod
    def of(cls, documents: Iterable[Document], method: str = "bm25") -> Finder:
        """Return a finder in memory. Raises FinderError where the documents hold nothing to find."""
        from evidence_kit.index import Index

        analyzer = default_analyzer(check_method(method))
        passages = MemoryPassages(documents)
        # Without ids ties go by position, and positions go by source id, then by start.
        return cls(passages, Index.build(passages.texts(), weighting=method, analyzer=analyzer), method)

    def find(self, query: str, top: int = 5, *, no_weak: bool = False) -> Findings:
        """Return the best `top` findings; with `no_weak` the best that are not weak, ranked from 1 anew.

        A question without a single term finds nothing. Raises FinderError on a blank one, one of more than
        MOST_QUESTION characters or one that is no Unicode text, and where `top` is not from 1 to 20.
        """
        _check_question(query)
        if isinstance(top, bool) or not isinstance(top, int) or not 1 <= top <= MOST_FINDINGS:
            raise FinderError(f"要显示的条数 {top} 无效：请改为 1 到 {MOST_FINDINGS} 之间的整数。")
        asked = Counter(self._analyzer.texts(query))
        kept, passed_over = self._best(query, asked, top, no_weak) if asked else ([], 0)
        findings = tuple(self._finding(rank, asked, hit) for rank, hit in enumerate(kept, 1))
        return Findings(
            query, self._method, self._analyzer.name, self._passages.sources, len(self._passages), findings,
            passed_over, () if findings else tuple(self._titled(query)),
        )  # fmt: skip

    def _titled(self, query: str) -> Iterable[SharingTitle]:
        if self._passages.sources > _MOST_TITLES:
            return ()
        return titles_sharing(query, self._passages.titles(), self._analyzer)

    def _best(self, query: str, asked: Counter[str], top: int, no_weak: bool) -> tuple[list[Hit], int]:
        """Return the best `top` hits, and with `no_weak` how many weak ones were passed over for them."""
        if not no_weak:
            return self._index.search(query, top), 0
        strong = {term for term in asked if not is_single(term)}
        kept: list[Hit] = []
        seen, depth = 0, top
        while True:
            hits = self._index.search(query, depth)
            for hit in hits[seen:]:
                seen += 1
                # Without the terms' places: there may be very many weak ones.
                if not strong.isdisjoint(self._analyzer.texts(self._passages.text(hit.position))):
                    kept.append(hit)
                if len(kept) == top:
                    return kept, seen - top
            if len(hits) < depth:
                return kept, seen - len(kept)
            depth *= 4

    def _finding(self, rank: int, asked: Counter[str], hit: Hit) -> Finding:
        quote = self._passages.text(hit.position)
        weighting = parse_weighting(self._method)
        terms = explain(asked, quote, self._analyzer, weighting, self._index.statistics)
        return Finding(rank, hit.score, self._passages.locate(hit.position), terms)


def check_method(method: str) -> str:
    """Return the method if it is one; FinderError names the known ones."""
    if method not in METHODS:
        raise FinderError(f"检索方法 {method!r} 无法识别：请改用 {'、'.join(METHODS)} 之一。")
    return method


def _check_question(query: str) -> None:
    try:
        query.encode("utf-8")
    except UnicodeEncodeError as error:
        where = error.start + 1
        raise FinderError(f"问题的第 {where} 个字符不是合法的 Unicode 文本：请改正后重试。") from None
    if not query.strip():
        raise FinderError("问题是空的：请写出要找的字词。")
    if len(query) > MOST_QUESTION:
        raise FinderError(f"问题有 {len(query)} 个字符，最多 {MOST_QUESTION} 个：请只写要找的字词。")
