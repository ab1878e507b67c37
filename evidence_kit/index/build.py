"""The compiled build: texts to arrays, in one pass over the characters and one sort of their grams."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from evidence_kit.index import build_kernels as kernels
from evidence_kit.index.arrays import Array, IndexArrays, Limits, Postings, Vocabulary
from evidence_kit.index.errors import IndexInputError
from evidence_kit.index.splitting import Splitter
from evidence_kit.index.streams import Stream, read_stream
from evidence_kit.index.weighting import Cosine, Weighting
from evidence_kit.index.weights import document_frequencies, log_weights, passage_arrays, statistics


def build_arrays(
    texts: Sequence[str], splitter: Splitter, weighting: Weighting, limits: Limits | None = None
) -> IndexArrays:
    """Return the arrays of an index of `texts`, which are at least one."""
    limits = limits or Limits()
    stream = read_stream(texts, splitter)
    length = np.empty(len(texts), np.uint32)
    emitted = kernels.count_terms(stream.symbols, stream.starts, splitter.sizes[0], length)
    vocabulary, postings = _Writer(stream, splitter.sizes, emitted, limits).write()
    frequencies = document_frequencies(postings)
    counted = statistics(frequencies, len(texts), weighting)
    largest = _largest_tf(postings)
    norm = np.empty(0)
    if isinstance(weighting, Cosine):
        idf = counted.idf[np.searchsorted(counted.df, frequencies)]
        norm = _norms(postings, idf, length, weighting, limits.window_bits)
    passages = passage_arrays(stream.order, length, norm, weighting, limits.window_bits, largest)
    return IndexArrays(stream.names, vocabulary, postings, passages, counted, limits.window_bits, largest)


_NONE = (np.empty(0), np.empty(0))


def _largest_tf(postings: Postings) -> int:
    if postings.heavy_tf.size:
        return int(postings.heavy_tf.max())
    return max(1, int(np.max(postings.packed & 255))) if postings.packed.size else 1


def _norms(postings: Postings, idf: Array, length: Array, weighting: Cosine, window_bits: int) -> Array:
    """Return the length of every passage's vector, as `weighting.norm` has it: float64 [N]."""
    row_of = np.full(idf.size, -1, np.int64)
    row_of[postings.dense_terms] = np.arange(postings.dense_terms.size)
    tf_weight, heavy_weight = log_weights(255, postings.heavy_tf) if weighting.name == "tfidf_log" else _NONE
    sums = np.zeros((length.size, 2))
    kernels.sum_squares(
        postings.start, postings.packed, row_of, postings.dense_start, postings.low, postings.heavy_tf,
        window_bits, idf, tf_weight, heavy_weight, length.astype(np.float64), sums,
    )  # fmt: skip
    norm: Array = np.sqrt(sums[:, 0] + sums[:, 1])
    norm[norm == 0.0] = 1.0
    return norm


class _Writer:
    """Sorts the grams of a stream, one size after the other, and appends their postings.

    The arrays are as large as the number of grams allows. Memory that is never written to costs nothing, and
    what was not filled is cut off.
    """

    def __init__(self, stream: Stream, sizes: tuple[int, ...], emitted: int, limits: Limits) -> None:
        passages = stream.order.size
        self._stream = stream
        self._sizes = sizes
        self._limits = limits
        self._symbols = stream.names.chars.size + stream.names.word_start.size - 1
        self._symbol_bits = max(1, self._symbols.bit_length())
        self._passage_bits = max(1, (passages - 1).bit_length())
        if 2 * self._symbol_bits + self._passage_bits > limits.key_bits:
            raise IndexInputError("资料块或字符种类太多，一个索引放不下：请把资料分成几个索引")
        windows = -(-passages // (1 << limits.window_bits))
        pointer = np.uint32 if emitted < 1 << 32 else np.uint64
        wide = passages >= 1 << (limits.packed_bits - 8)
        self._grams = np.empty(emitted, np.uint64)
        self._start = np.empty(emitted + 1, pointer)
        self._packed = np.empty(emitted, np.uint64 if wide else np.uint32)
        self._dense_terms = np.empty(emitted // limits.dense_min + 1, np.uint32)
        self._dense_start = np.empty((emitted // limits.dense_min + 1, windows + 1), pointer)
        self._dense_tf = np.empty(emitted // limits.dense_min + 1, np.uint8)
        self._low = np.empty(emitted, np.uint16)
        self._heavy_at = np.empty(emitted // 255 + 1, np.uint64)
        self._heavy_tf = np.empty(emitted // 255 + 1, np.uint32)
        self._filled = np.zeros(5, np.int64)
        self._start[0] = 0
        # Shared by all sizes: memory is slow when it is touched for the first time.
        self._keys = np.empty(stream.symbols.size, np.uint64)
        self._spare = np.empty(stream.symbols.size, np.uint64)

    def write(self) -> tuple[Vocabulary, Postings]:
        """Return vocabulary and postings of all grams."""
        parts = [self._grams[self._write_size(size)] for size in self._sizes]
        terms, packed, dense, low, heavy = self._filled
        postings = Postings(
            self._start[: terms + 1].copy(), self._packed[:packed], self._dense_terms[:dense].copy(),
            self._dense_start[:dense].copy(), self._dense_tf[:dense].copy(), self._low[:low],
            self._heavy_at[:heavy].copy(),
            self._heavy_tf[:heavy].copy(),
        )  # fmt: skip
        return self._vocabulary(parts), postings

    def _write_size(self, size: int) -> slice:
        """Append the grams of one size; returns which terms they became."""
        first = int(self._filled[0])
        for keys, base in self._sorted_keys(size):
            kernels.write_postings(
                keys, base, self._passage_bits, self._limits.window_bits, self._limits.dense_min, self._grams,
                self._start, self._packed, self._dense_terms, self._dense_start, self._dense_tf, self._low,
                self._heavy_at,
                self._heavy_tf, self._filled,
            )  # fmt: skip
        return slice(first, int(self._filled[0]))

    def _sorted_keys(self, size: int) -> Iterator[tuple[Array, int]]:
        """Yield (sorted keys, what to add to their grams).

        All at once, unless gram and passage need more bits than a key has: then for a few first symbols at a
        time, each less the lowest of them.
        """
        spare_bits = self._limits.key_bits - self._passage_bits - self._symbol_bits * (size - 1)
        step = self._symbols if spare_bits >= self._symbol_bits else max(1, (1 << max(spare_bits, 0)) - 1)
        first_bits = self._symbol_bits * (size - 1)
        for lowest in range(1, self._symbols + 1, max(step, 1)):
            whole = step >= self._symbols
            base = 0 if whole else lowest
            highest = self._symbols if whole else lowest + step - 1
            filled = kernels.fill_keys(
                self._stream.symbols, self._stream.starts, size, base, highest, self._symbol_bits,
                self._passage_bits, self._keys,
            )  # fmt: skip
            bits = first_bits + (self._symbol_bits if whole else max(1, (step - 1).bit_length()))
            keys, spare = self._keys[:filled], self._spare[:filled]
            yield kernels.sort_keys(keys, spare, self._passage_bits, bits), base << first_bits

    def _vocabulary(self, parts: list[Array]) -> Vocabulary:
        symbol = np.uint16 if self._symbols < 1 << self._limits.symbol_bits else np.uint32
        bits, mask = np.uint64(self._symbol_bits), np.uint64((1 << self._symbol_bits) - 1)
        singles = self._symbols if self._sizes[0] == 1 else 0
        pairs = parts[self._sizes.index(2)] if 2 in self._sizes else np.empty(0, np.uint64)
        triples = parts[self._sizes.index(3)] if 3 in self._sizes else np.empty(0, np.uint64)
        pair_start = np.searchsorted(pairs >> bits, np.arange(self._symbols + 2, dtype=np.uint64)).astype(
            np.uint32
        )
        triple_start = np.zeros(pairs.size + 1 if triples.size else 1, np.uint32)
        if triples.size:
            kernels.link_triples(pairs, triples, self._symbol_bits, triple_start)
        return Vocabulary(
            pair_start, (pairs & mask).astype(symbol), triple_start, (triples & mask).astype(symbol), singles
        )
