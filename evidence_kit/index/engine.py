"""The compiled engine over the arrays of an index."""

from __future__ import annotations

import threading
from typing import NamedTuple

import numpy as np

from evidence_kit.index import search_kernels as kernels
from evidence_kit.index import views
from evidence_kit.index.arrays import Array, IndexArrays
from evidence_kit.index.plain import Scored
from evidence_kit.index.weighting import Bm25, Weighting
from evidence_kit.index.weights import bm25_mean, log_weights

_KINDS = {"tfidf_course": views.COURSE, "tfidf_log": views.LOG}


class _Working(NamedTuple):
    """What one thread works with, and keeps alive."""

    scratch: views.Scratch
    table: Array
    numbers: object


class CompiledEngine:
    """Searches with the kernels; may be used from many threads at once."""

    def __init__(self, arrays: IndexArrays, weighting: Weighting, smaller: int) -> None:
        self._arrays = arrays
        self._kinds = views.kinds_of(arrays)
        self._formula = _formula(arrays, weighting, smaller)
        self._local = threading.local()

    def search(self, stream: Array, k: int, allowed: Array) -> list[Scored]:
        """Return (position, score) of every passage that may be among the best `k`, in no order."""
        try:
            working: _Working = self._local.working
        except AttributeError:
            working = self._local.working = self._new_working(self._formula)
        if stream.size >= self._formula.tf_weight.size:
            tf_weight = log_weights(stream.size + 1, np.empty(0))[0]
            working = self._new_working(self._formula._replace(tf_weight=tf_weight))
        k = min(k, self._arrays.passages.order.size)
        n = kernels.answer(working.table, self._kinds, stream, k, allowed)
        found, scores = working.scratch.found[:n], working.scratch.scores[:n]
        return list(zip(found.tolist(), scores.tolist(), strict=True))

    def _new_working(self, formula: views.Formula) -> _Working:
        scratch = views.scratch_of(self._arrays.passages.order.size, self._arrays.window_bits)
        return _Working(scratch, *views.table_of(self._arrays, formula, scratch))


def _formula(arrays: IndexArrays, weighting: Weighting, smaller: int) -> views.Formula:
    postings, singles = arrays.postings, arrays.vocabulary.singles
    kind, k1, b, mean, slack = _KINDS.get(weighting.name, views.BM25), 0.0, 0.0, 1.0, 0.0
    if isinstance(weighting, Bm25):
        k1, b, mean = weighting.k1, weighting.b, bm25_mean(arrays.passages.length)
    elif kind == views.COURSE:
        slack = 1e-6  # it ranks by six digits
    weights = log_weights(256, postings.heavy_tf)
    return views.Formula(kind, smaller, singles, arrays.window_bits, k1, b, mean, slack, *weights)
