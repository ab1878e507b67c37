"""The engine over arrays: which of its two searches answers, and what is checked before."""

from __future__ import annotations

import importlib.util
import time
from collections.abc import Iterator
from itertools import combinations, pairwise
from typing import TYPE_CHECKING

import numpy as np

from evidence_kit.index.arrays import Array, IndexArrays
from evidence_kit.index.filters import Columns, Where, bitmap
from evidence_kit.index.lookup import NumpyEngine, Reader, nothing
from evidence_kit.index.plain import Scored
from evidence_kit.index.question import QuestionReader
from evidence_kit.index.splitting import Splitter
from evidence_kit.index.statistics import IndexStatistics
from evidence_kit.index.weighting import Weighting
from evidence_kit.index.weights import bm25_mean

if TYPE_CHECKING:
    from evidence_kit.index.blocks import BlockFile
    from evidence_kit.index.engine import CompiledEngine

# Loading numba and the kernels costs about this many seconds; a process that has spent as much on searches in
# numpy will go on to spend more. Both give the same results.
LOADING = 0.5
_EVERYTHING = np.empty(0, np.uint8)


class ArrayEngine:
    """Searches an index by its arrays, in memory or in a file."""

    def __init__(
        self, arrays: IndexArrays, splitter: Splitter, weighting: Weighting, columns: Columns,
        blocks: BlockFile | None = None,
    ) -> None:  # fmt: skip
        self._columns = columns
        self._arrays, self._splitter, self._weighting, self._blocks = arrays, splitter, weighting, blocks
        self._touch = blocks.touch if blocks else nothing
        if blocks:
            blocks.touch_all("symbols.chars", *(f"statistics.{name}" for name in arrays.statistics._fields))
            names = ("dense_terms", "dense_tf", "heavy_at", "heavy_tf")
            blocks.touch_all(*(f"postings.{name}" for name in names))
        self._reader = QuestionReader(splitter, arrays.symbols)
        self._numpy = NumpyEngine(arrays, weighting, splitter.sizes[0], self._touch)
        self._compiled: CompiledEngine | None = None
        self._can_compile = importlib.util.find_spec("numba") is not None
        self._spent = 0.0

    def compile(self) -> None:
        """Load the kernels now."""
        from evidence_kit.index.engine import CompiledEngine

        self._compiled = CompiledEngine(self._arrays, self._weighting, self._splitter.sizes[0])

    @property
    def statistics(self) -> IndexStatistics:
        """Return the statistics that scores depend on, looked up in the arrays."""
        length = self._arrays.passages.length
        self._touch("passages.length", 0, length.size)
        return IndexStatistics(length.size, bm25_mean(length), self._df)

    def _df(self, term: str) -> int:
        """Return the df of a term, however it is cut into symbols: the index has one such term at most."""
        self._touch_words()
        cuts = (cut for size in self._splitter.sizes for cut in _cuts(term, size))
        symbols = (list(map(self._reader.symbol, cut)) for cut in cuts)
        reader = Reader(self._arrays, self._touch)
        return next((df for cut in symbols if (df := reader.df(cut))), 0)

    def search(self, question: str, k: int, where: Where | None) -> list[Scored]:
        """Return (position, score) of every passage that may be among the best `k`, in no order."""
        allowed = _EVERYTHING if where is None else self._bitmap(where)
        self._touch_words()
        stream = self._reader.read(question)
        if self._compiled is None and self._can_compile and self._spent > LOADING:
            self.compile()
        if self._compiled is None:
            started = time.perf_counter()
            scored = self._numpy.search(stream, k, allowed)
            self._spent += time.perf_counter() - started
            return scored
        if self._blocks and not self._blocks.is_checked:
            self._check(self._blocks, stream)
        return self._compiled.search(stream, k, allowed)

    def _touch_words(self) -> None:
        if self._blocks and self._arrays.symbols.word_start.size > 1:
            self._blocks.touch_all("symbols.word_start", "symbols.word_bytes")

    def _bitmap(self, where: Where) -> Array:
        order = self._arrays.passages.order
        if self._blocks:
            self._blocks.touch_all("passages.order", *(f"columns.{n}" for n in range(len(self._columns))))
        allowed: Array = bitmap(self._columns, where, order)
        return allowed

    def _check(self, blocks: BlockFile, stream: Array) -> None:
        """Check all that the kernels will read for a question."""
        reader = Reader(self._arrays, blocks.touch)
        for term in reader.terms(stream):
            reader.touch_entry(term)
        blocks.touch_all(*(f"passages.{name}" for name in self._arrays.passages._fields))


def _cuts(term: str, pieces: int) -> Iterator[list[str]]:
    """Yield every way to cut a term into so many pieces."""
    for borders in combinations(range(1, len(term)), pieces - 1):
        yield [term[start:end] for start, end in pairwise((0, *borders, len(term)))]
