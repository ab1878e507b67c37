"""What a weighting makes of finished postings: idf of each document frequency, factors, bounds a window."""

from __future__ import annotations

import math

import numpy as np

from evidence_kit.index.arrays import Array, Float64s, Passages, Statistics
from evidence_kit.index.weighting import Bm25, Cosine, Weighting


def statistics(df: Array, passages: int, weighting: Weighting) -> Statistics:
    """Return the idf of every document frequency that occurs; `df` has them sorted, each once."""
    idf = np.array([weighting.idf(passages, int(value)) for value in df], np.float64)
    return Statistics(df.astype(np.uint32), idf)


def log_weights(size: int, heavy_tf: Array) -> tuple[Float64s, Float64s]:
    """Return (1 + ln tf for every tf below `size`, the same for each heavy tf); 0.0 stands at tf 0."""
    small = np.array([0.0, *(1.0 + math.log(tf) for tf in range(1, size))])
    return small, np.array([1.0 + math.log(tf) for tf in heavy_tf.tolist()], np.float64)


def bm25_mean(length: Array) -> float:
    """Return the mean number of terms of a passage, 1.0 where there are none at all."""
    return int(length.sum(dtype=np.int64)) / len(length) or 1.0


def bm25_sizes(length: Array, weighting: Bm25) -> Float64s:
    """Return `Bm25.size` of every passage, the same bits as in Python: float64 [N]."""
    sizes: Float64s = weighting.k1 * (
        1.0 - weighting.b + weighting.b * length.astype(np.float64) / bm25_mean(length)
    )
    return sizes


def passage_arrays(
    order: Array, length: Array, norm: Array, weighting: Weighting, window_bits: int, largest_tf: int
) -> Passages:
    """Return the passages with their factors, and the bounds of each window."""
    if isinstance(weighting, Cosine):
        sizes = norm * length if weighting.name == "tfidf_course" else norm
        exact = np.divide(1.0, sizes, out=np.zeros(len(order)), where=length > 0)
    else:
        sizes = bm25_sizes(length, weighting)
        exact = np.where(length > 0, (weighting.k1 + 1.0) / (1.0 + sizes), 0.0)
    factor = np.nextafter(exact.astype(np.float32), np.float32(np.inf))
    borders = np.arange(0, len(order), 1 << window_bits)
    largest = np.maximum.reduceat(factor, borders).astype(np.float64)
    gain, tightness = _gains(
        np.minimum.reduceat(sizes, borders), np.maximum.reduceat(sizes, borders), weighting, largest_tf
    )
    return Passages(order, length, norm, factor, largest, gain, tightness)


def _gains(shortest: Array, longest: Array, weighting: Weighting, largest_tf: int) -> tuple[Array, Array]:
    """Return `window_gain` and `window_tightness` of windows with these smallest and largest sizes."""
    gain, tightness = np.ones((len(longest), 256)), np.ones(len(longest))
    counts = [*range(1, 255), max(largest_tf, 255)]
    for window in range(len(longest)):
        high = [weighting.gain(tf, float(longest[window])) for tf in counts]
        low = [weighting.gain(tf, float(shortest[window])) for tf in [*range(1, 255), 255]]
        gain[window, 1:] = high
        tightness[window] = min(a / b for a, b in zip(low, high, strict=True)) if largest_tf > 1 else 1.0
    return gain, tightness
