"""The compiled build: texts to arrays, in one pass over the characters and one sort of their grams."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from evidence_kit.index import build_kernels, norm_kernels, sort_kernels
from evidence_kit.index.arrays import Array, IndexArrays, Limits, Postings, Statistics, Vocabulary
from evidence_kit.index.errors import IndexInputError
from evidence_kit.index.splitting import Splitter
from evidence_kit.index.streams import Stream, read_stream
from evidence_kit.index.weighting import Cosine, Weighting
from evidence_kit.index.weights import log_weights, passage_arrays, statistics


def build_arrays(
    texts: Sequence[str], splitter: Splitter, weighting: Weighting, limits: Limits | None = None
) -> IndexArrays:
    """Return the arrays of an index of `texts`, which are at least one."""
    limits = limits or Limits()
    stream = read_stream(texts, splitter)
    writer = _Writer(stream, splitter.sizes, limits)
    vocabulary, postings = writer.write()
    terms_with = np.zeros(len(texts) + 1, np.int64)
    norm_kernels.count_frequencies(postings, terms_with)
    counted = statistics(np.flatnonzero(terms_with), len(texts), weighting)
    norm = np.empty(0)
    if isinstance(weighting, Cosine):
        norm = _norms(postings, counted, writer.length, weighting, limits.window_bits)
    largest = writer.largest_tf
    passages = passage_arrays(stream.order, writer.length, norm, weighting, limits.window_bits, largest)
    return IndexArrays(stream.names, vocabulary, postings, passages, counted, limits.window_bits, largest)


_NONE = (np.empty(0), np.empty(0))


def _norms(
    postings: Postings, counted: Statistics, length: Array, weighting: Cosine, window_bits: int
) -> Array:
    """Return the length of every passage's vector, as `weighting.norm` has it: float64 [N]."""
    idf_of = np.zeros(length.size + 1)
    idf_of[counted.df] = counted.idf
    sums = np.zeros((length.size, 4))
    sums[:, norm_kernels.LENGTH] = length
    sums[:, norm_kernels.ONCE] = np.divide(1.0, length, out=np.zeros(length.size), where=length > 0)
    tf_weight, heavy_weight = log_weights(255, postings.heavy_tf) if weighting.name == "tfidf_log" else _NONE
    norm_kernels.sum_squares(postings, window_bits, idf_of, tf_weight, heavy_weight, sums)
    norm: Array = np.sqrt(sums[:, norm_kernels.SUM] + sums[:, norm_kernels.REST])
    norm[norm == 0.0] = 1.0
    return norm


class _Writer:
    """Sorts the grams of a stream and appends their postings, all terms of one size after the other.

    The arrays are as large as the number of grams allows. Memory that is never written to costs nothing, and
    what was not filled is cut off.
    """

    length: Array  # uint32 [N] number of terms of each passage

    def __init__(self, stream: Stream, sizes: tuple[int, ...], limits: Limits) -> None:
        self._symbols = stream.names.chars.size + stream.names.word_start.size - 1
        self._sizes = sizes
        self._limits = limits
        self._layout = sort_kernels.layout_of(sizes, self._symbols, stream.order.size)
        if self._layout.second + self._layout.symbol_bits > limits.key_bits:
            raise IndexInputError("资料块或字符种类太多，一个索引放不下：请把资料分成几个索引")
        self.length = np.empty(stream.order.size, np.uint32)
        firsts: Array = np.zeros(self._symbols + 2, np.int64)
        emitted = sort_kernels.count_terms(stream.symbols, stream.starts, self._layout, self.length, firsts)
        self._ends = np.zeros(self._symbols + 2, np.int64)
        np.cumsum(firsts[:-1], out=self._ends[1:])
        self._keys = np.empty(int(self._ends[-1]), np.uint64)
        sort_kernels.fill_keys(stream.symbols, stream.starts, self._layout, self._ends, self._keys)
        self._spare = np.empty(int(firsts.max()) + sort_kernels.COUNTERS, np.uint64)
        self._out = _room(emitted, stream.order.size, limits)

    @property
    def largest_tf(self) -> int:
        """Return how often a term stands in a passage at most."""
        return int(self._out.filled[build_kernels.LARGEST])

    def write(self) -> tuple[Vocabulary, Postings]:
        """Return vocabulary and postings of all grams."""
        vocabulary = self._write_terms()
        out = self._out
        terms, packed, dense, low, heavy, _ = out.filled
        out.start[terms] = packed
        return vocabulary, Postings(
            out.start[: terms + 1], out.packed[:packed], out.dense_terms[:dense].copy(),
            out.dense_start[:dense].copy(), out.dense_tf[:dense].copy(), out.low[:low],
            out.heavy_at[:heavy].copy(), out.heavy_tf[:heavy].copy(),
        )  # fmt: skip

    def _write_terms(self) -> Vocabulary:
        keys, ends, layout = self._keys, self._ends, self._layout
        symbol = np.uint16 if self._symbols < 1 << self._limits.symbol_bits else np.uint32
        if 1 in self._sizes:
            build_kernels.write_singles(keys, ends, layout, self._out)
        pair_start, triple_start = np.zeros(self._symbols + 2, np.uint32), np.zeros(1, np.uint32)
        second, third = np.empty(keys.size, symbol), np.empty(keys.size, symbol)
        pairs = triples = 0
        if 2 in self._sizes:
            pairs = build_kernels.write_pairs(keys, ends, layout, self._spare, self._out, pair_start, second)
        if 3 in self._sizes:
            every = np.zeros(pairs + 1, np.uint32)
            triples = build_kernels.write_triples(keys, ends, layout, self._spare, self._out, every, third)
            triple_start = every if triples else triple_start
        singles = self._symbols if 1 in self._sizes else 0
        return Vocabulary(pair_start, second[:pairs], triple_start, third[:triples], singles)


def _room(emitted: int, passages: int, limits: Limits) -> build_kernels.Unfinished:
    """Return room for the postings of so many terms in texts, repeats counted."""
    windows = -(-passages // (1 << limits.window_bits))
    pointer = np.uint32 if emitted < 1 << 32 else np.uint64
    packed = np.uint64 if passages >= 1 << (limits.packed_bits - 8) else np.uint32
    dense, heavy = emitted // limits.dense_min + 1, emitted // 255 + 1
    filled = np.zeros(6, np.int64)
    filled[build_kernels.LARGEST] = 1
    return build_kernels.Unfinished(
        np.empty(emitted + 1, pointer), np.empty(emitted, packed), np.empty(dense, np.uint32),
        np.empty((dense, windows + 1), pointer), np.empty(dense, np.uint8), np.empty(emitted, np.uint16),
        np.empty(heavy, np.uint64), np.empty(heavy, np.uint32), filled, limits.dense_min, limits.window_bits,
    )  # fmt: skip
