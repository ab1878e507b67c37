"""The compiled engine over the arrays of an index."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np

from evidence_kit.index import scoring_kernels as scoring
from evidence_kit.index import search_kernels as kernels
from evidence_kit.index.arrays import Array, IndexArrays
from evidence_kit.index.plain import Scored
from evidence_kit.index.views import view_of
from evidence_kit.index.weighting import Bm25, Weighting
from evidence_kit.index.weights import bm25_mean, log_weights
from evidence_kit.index.window_kernels import Scratch

_KINDS = {"tfidf_course": scoring.COURSE, "tfidf_log": scoring.LOG}


class CompiledEngine:
    """Searches with the kernels; may be used from many threads at once."""

    def __init__(self, arrays: IndexArrays, weighting: Weighting, smaller: int) -> None:
        self._arrays = arrays
        self._slack = 1e-6 if weighting.name == "tfidf_course" else 0.0
        self._smaller = smaller
        self._view = view_of(arrays)
        self._formula = _formula(arrays, weighting)
        self._local = threading.local()

    def search(self, stream: Array, k: int, allowed: Array) -> list[Scored]:
        """Return (position, score) of every passage that may be among the best `k`, in no order."""
        arrays, formula, scratch = self._arrays, self._formula, self._scratch()
        if stream.size >= formula.tf_weight.size:
            formula = formula._replace(tf_weight=log_weights(stream.size + 1, np.empty(0))[0])
        k = min(k, arrays.passages.order.size)
        n = kernels.answer(self._view, formula, stream, self._smaller, k, self._slack, allowed, scratch)
        positions = arrays.passages.order[scratch.found[:n]]
        return list(zip(positions.tolist(), scratch.scores[:n].tolist(), strict=True))

    def _scratch(self) -> Scratch:
        found: Scratch | None = getattr(self._local, "scratch", None)
        if found is None:
            window, passages = 1 << self._arrays.window_bits, self._arrays.passages.order.size
            found = self._local.scratch = Scratch(
                np.zeros(window, np.float32), np.empty(window + 1, np.uint16), np.empty(window, np.float32),
                np.empty(window, np.int64), np.empty(window, np.float32), np.empty(passages, np.int64),
                np.empty(passages),
            )  # fmt: skip
        return found


def _formula(arrays: IndexArrays, weighting: Weighting) -> Any:
    small, heavy = log_weights(256, arrays.postings.heavy_tf)
    if not isinstance(weighting, Bm25):
        return scoring.Formula(_KINDS[weighting.name], 0.0, 0.0, 1.0, small, heavy)
    mean = bm25_mean(arrays.passages.length)
    return scoring.Formula(scoring.BM25, weighting.k1, weighting.b, mean, small, heavy)
