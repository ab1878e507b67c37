"""The engine over arrays: which of its two searches answers, and what is checked before."""

from __future__ import annotations

import importlib.util
import time
from typing import TYPE_CHECKING

import numpy as np

from evidence_kit.index.arrays import Array, IndexArrays
from evidence_kit.index.filters import Columns, Where, bitmap
from evidence_kit.index.lookup import NumpyEngine, Reader, nothing
from evidence_kit.index.plain import Scored
from evidence_kit.index.question import QuestionReader
from evidence_kit.index.splitting import Splitter
from evidence_kit.index.weighting import Weighting

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
        touch = blocks.touch if blocks else nothing
        if blocks:
            blocks.touch_all("symbols.chars", *(f"statistics.{name}" for name in arrays.statistics._fields))
            blocks.touch_all(
                "postings.dense_terms", "postings.dense_tf", "postings.heavy_at", "postings.heavy_tf"
            )
        self._reader = QuestionReader(splitter, arrays.symbols)
        self._numpy = NumpyEngine(arrays, weighting, splitter.sizes[0], touch)
        self._compiled: CompiledEngine | None = None
        self._can_compile = importlib.util.find_spec("numba") is not None
        self._spent = 0.0

    def compile(self) -> None:
        """Load the kernels now."""
        from evidence_kit.index.engine import CompiledEngine

        self._compiled = CompiledEngine(self._arrays, self._weighting, self._splitter.sizes[0])

    def search(self, question: str, k: int, where: Where | None) -> list[Scored]:
        """Return (position, score) of every passage that may be among the best `k`, in no order."""
        allowed = _EVERYTHING if where is None else self._bitmap(where)
        if self._blocks and self._arrays.symbols.word_start.size > 1:
            self._blocks.touch_all("symbols.word_start", "symbols.word_bytes")
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
