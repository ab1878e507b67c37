"""The index as its users see it: built from texts or opened from a folder, then asked."""

from __future__ import annotations

import importlib.util
import math
from collections.abc import Mapping, Sequence
from functools import cached_property
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from evidence_kit.index.errors import IndexInputError, MissingPackageError
from evidence_kit.index.filters import Columns, Where, allows, columns_of
from evidence_kit.index.generations import Generation, Record, read_generation, replace_generation
from evidence_kit.index.identity import checked_ids
from evidence_kit.index.plain import PlainEngine, Scored
from evidence_kit.index.splitting import splitter_of
from evidence_kit.index.statistics import IndexStatistics
from evidence_kit.index.weighting import Weighting, default_analyzer, parse_weighting, rank_score
from evidence_kit.text.analysis import Analyzer, parse_analyzer

if TYPE_CHECKING:
    from evidence_kit.index.array_engine import ArrayEngine
    from evidence_kit.index.arrays import IndexArrays
    from evidence_kit.index.blocks import BlockFile

# Up to so many characters and passages the plain engine answers: sooner than numpy is imported.
PLAIN_CHARACTERS, PLAIN_PASSAGES = 100_000, 2_000
_APART = 2e-6  # scores further apart than this differ at six digits, too
_score = itemgetter(1)


class Hit(NamedTuple):
    """A passage that shares terms with a question; a tuple, for ten of them are made with each answer.

    `id` is the id given, or the position where none were; `score` is not rounded. Scores depend on the whole
    index, also where `narrowed` says that `where=` let only some of its passages through.
    """

    id: str | int
    score: float
    position: int
    narrowed: bool = False


class Index:
    """One set of passages in force, under one analyzer and one weighting. `build` and `open` make it."""

    def __init__(
        self, analyzer: Analyzer, weighting: Weighting, ids: Sequence[str | int], columns: Columns,
        texts: Sequence[str] = (), arrays: IndexArrays | None = None, engine: ArrayEngine | None = None,
    ) -> None:  # fmt: skip
        self.analyzer, self.weighting = analyzer, weighting
        self._ids, self._columns = ids, columns
        self._texts, self._arrays = texts, arrays
        self._engine = engine or PlainEngine(texts, analyzer, weighting)

    def __len__(self) -> int:
        return len(self._ids)

    @classmethod
    def build(
        cls,
        texts: Sequence[str],
        *,
        ids: Sequence[str] | None = None,
        weighting: str | Weighting = "bm25",
        analyzer: str | Analyzer | None = None,
        attributes: Sequence[Mapping[str, str]] | None = None,
    ) -> Index:
        """Return an index of `texts`; IndexInputError where the arguments do not fit together.

        `weighting` is tfidf_course, tfidf_log, bm25 or a `Bm25(k1, b)`; `analyzer`, or its name, is
        char_ngrams(2,3) for tfidf_course and words_han for the others where none is given; `attributes` has
        one mapping a passage, for `where=`.
        """
        texts = _checked_texts(texts)
        weighting = parse_weighting(weighting)
        analyzer = _checked_analyzer(analyzer, weighting)
        names = checked_ids(ids, len(texts))
        columns = columns_of(attributes, len(texts))
        small = len(texts) <= PLAIN_PASSAGES and sum(map(len, texts)) <= PLAIN_CHARACTERS
        if small or not _is_installed("numpy"):
            return cls(analyzer, weighting, names, columns, texts)
        arrays = _build(texts, analyzer, weighting, compiled=_is_installed("numba"))
        index = cls(
            analyzer, weighting, names, columns, (), arrays, _engine(arrays, analyzer, weighting, columns)
        )
        index.load_kernels()
        return index

    def search(self, query: str, k: int = 10, where: Where | None = None) -> list[Hit]:
        """Return the best `k` passages with a positive score, best first; ties go by id, or by position.

        `where` maps attributes to the value, or the values, that a passage must have.
        """
        if not isinstance(query, str):
            raise IndexInputError("问题应为字符串")
        if isinstance(k, bool) or not isinstance(k, int) or k < 1:
            raise IndexInputError(f"k 为 {k!r}：请给出不小于 1 的整数")
        ranked = self._ranked(self._scored(query, k, where))
        ids, narrowed = self._ids, where is not None
        return [Hit(ids[at], score, at, narrowed) for at, score in ranked[:k]]

    def search_many(self, queries: Sequence[str], k: int = 10) -> list[list[Hit]]:
        """Return the hits of each query, as `search` does."""
        return [self.search(query, k) for query in queries]

    def save(self, folder: str | Path) -> None:
        """Write the index into `folder`, whole or not at all; what stood there is replaced."""
        replace_generation(Path(folder), self.write_files, wait=True)

    def write_files(self, folder: Path) -> Record:
        """Write the files of the index into an empty folder; returns what a manifest must say of them."""
        _require_numpy()
        from evidence_kit.index.storage import write_parts

        arrays = self._arrays or _build(self._texts, self.analyzer, self.weighting, compiled=False)
        return write_parts(folder, self.analyzer.name, self.weighting.name, arrays, self._ids, self._columns)

    @classmethod
    def open(cls, folder: str | Path) -> Index:
        """Return the index in `folder`; IndexFormatError where there is none, DamagedIndexError if changed.

        It keeps the files it was opened from, whatever is saved into the folder later.
        """
        return read_generation(Path(folder), cls.of_generation)

    @classmethod
    def of_generation(cls, generation: Generation) -> Index:
        """Return the index that a generation holds; errors as `open`."""
        _require_numpy()
        from evidence_kit.index.storage import open_parts

        parts = open_parts(generation)
        analyzer, weighting = parse_analyzer(parts.analyzer), parse_weighting(parts.weighting)
        engine = _engine(parts.arrays, analyzer, weighting, parts.columns, parts.blocks)
        return cls(analyzer, weighting, parts.ids, parts.columns, (), parts.arrays, engine)

    @cached_property
    def statistics(self) -> IndexStatistics:
        """Return what scores depend on beside a passage: the number of passages, their mean length, df."""
        return self._engine.statistics

    def load_kernels(self) -> None:
        """Load the compiled search now, where there is one, instead of when it pays."""
        if not isinstance(self._engine, PlainEngine) and _is_installed("numba"):
            self._engine.compile()

    def _ranked(self, scored: list[Scored]) -> list[Scored]:
        """Return what was scored, best first; what is rounded and named is only what could be a tie."""
        scored.sort(key=_score, reverse=True)
        above = math.inf
        for _, score in scored:
            if above - score <= _APART:
                break
            above = score
        else:
            return scored
        return sorted(scored, key=lambda hit: (-rank_score(self.weighting, hit[1]), self._ids[hit[0]]))

    def _scored(self, query: str, k: int, where: Where | None) -> list[Scored]:
        if isinstance(self._engine, PlainEngine):
            return self._engine.search(query, None if where is None else allows(self._columns, where))
        return self._engine.search(query, k, where)


def _checked_analyzer(analyzer: object, weighting: Weighting) -> Analyzer:
    if analyzer is None:
        return default_analyzer(weighting)
    if isinstance(analyzer, str):
        return parse_analyzer(analyzer)
    if isinstance(analyzer, type) or not isinstance(analyzer, Analyzer):
        raise IndexInputError(f"analyzer 是 {type(analyzer).__name__}：请给出分析器，或 words_han 这样的名字")
    return analyzer


def _checked_texts(texts: Sequence[str]) -> Sequence[str]:
    if isinstance(texts, (str, bytes)):
        raise IndexInputError("texts 应为字符串的列表，给出的是一个字符串：请放进列表里")
    texts = list(texts)
    if not texts:
        raise IndexInputError("没有资料块可以建立索引：请至少给出一块")
    for position, text in enumerate(texts):
        if not isinstance(text, str):
            raise IndexInputError(f"texts 第 {position + 1} 项是 {type(text).__name__}：请给出字符串")
    return texts


def _is_installed(package: str) -> bool:
    return importlib.util.find_spec(package) is not None


def _require_numpy() -> None:
    if not _is_installed("numpy"):
        install = 'python -m pip install "evidence-assistant[scale]"'
        raise MissingPackageError(f"保存和打开索引需要 numpy：请运行 {install}")


def _build(texts: Sequence[str], analyzer: Analyzer, weighting: Weighting, *, compiled: bool) -> IndexArrays:
    splitter = splitter_of(analyzer)
    if compiled:
        from evidence_kit.index.build import build_arrays

        return build_arrays(texts, splitter, weighting)
    from evidence_kit.index.build_plain import build_arrays_plainly

    return build_arrays_plainly(texts, splitter, weighting)


def _engine(
    arrays: IndexArrays,
    analyzer: Analyzer,
    weighting: Weighting,
    columns: Columns,
    blocks: BlockFile | None = None,
) -> ArrayEngine:
    from evidence_kit.index.array_engine import ArrayEngine

    return ArrayEngine(arrays, splitter_of(analyzer), weighting, columns, blocks)
