"""The build without numba: the same arrays from dictionaries, for a stored index of a small corpus."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence

import numpy as np

from evidence_kit.index.arrays import Array, IndexArrays, Limits, Postings, Symbols, Vocabulary
from evidence_kit.index.naming import inner_order, is_char, name_symbols
from evidence_kit.index.splitting import Splitter
from evidence_kit.index.weighting import Cosine, Weighting, norm
from evidence_kit.index.weights import passage_arrays, statistics

Gram = tuple[int, ...]
Lists = dict[Gram, list[tuple[int, int]]]  # (inner passage, tf) of each gram


def build_arrays_plainly(
    texts: Sequence[str], splitter: Splitter, weighting: Weighting, limits: Limits | None = None
) -> IndexArrays:
    """Return the arrays of an index of `texts`, equal to those of `build_arrays`."""
    limits = limits or Limits()
    order = inner_order(np.array([len(text) for text in texts], np.int64))
    runs = [splitter.runs(texts[position]) for position in order]
    names, symbol_of = _symbols(runs, splitter)
    counts = [_grams(passage, splitter.sizes, symbol_of) for passage in runs]
    lists: Lists = defaultdict(list)
    for inner, passage in enumerate(counts):
        for gram, tf in passage.items():
            lists[gram].append((inner, tf))
    grams = sorted(lists, key=lambda gram: (len(gram), gram))
    length = np.array([sum(passage.values()) for passage in counts], np.uint32)
    df = np.unique(np.array([len(lists[gram]) for gram in grams], np.int64))
    counted = statistics(df, len(texts), weighting)
    norms = np.empty(0)
    if isinstance(weighting, Cosine):
        idf = {gram: weighting.idf(len(texts), len(lists[gram])) for gram in grams}
        norms = np.array([_norm(passage, idf, weighting) for passage in counts])
    postings = _postings([lists[gram] for gram in grams], len(texts), limits)
    largest = max((tf for passage in counts for tf in passage.values()), default=1)
    passages = passage_arrays(order, length, norms, weighting, limits.window_bits, largest)
    vocabulary = _vocabulary(grams, len(symbol_of), splitter.sizes, limits)
    return IndexArrays(names, vocabulary, postings, passages, counted, limits.window_bits, largest)


def _symbols(runs: Sequence[list[list[str]]], splitter: Splitter) -> tuple[Symbols, dict[str, int]]:
    pieces = {piece for passage in runs for run in passage for piece in run}
    chars = sorted(piece for piece in pieces if is_char(piece, splitter))
    words = sorted(pieces.difference(chars))
    return name_symbols(chars, words), {piece: symbol for symbol, piece in enumerate([*chars, *words], 1)}


def _grams(runs: list[list[str]], sizes: tuple[int, ...], symbol_of: Mapping[str, int]) -> Counter[Gram]:
    streams = [[symbol_of[piece] for piece in run] for run in runs]
    return Counter(
        tuple(stream[i : i + size])
        for stream in streams
        for size in sizes
        for i in range(len(stream) - size + 1)
    )


def _norm(counts: Counter[Gram], idf: Mapping[Gram, float], weighting: Cosine) -> float:
    total = sum(counts.values())
    return norm(weighting.value(tf, total, idf[gram]) for gram, tf in counts.items())


def _postings(lists: list[list[tuple[int, int]]], passages: int, limits: Limits) -> Postings:
    windows = -(-passages // (1 << limits.window_bits))
    inside = (1 << limits.window_bits) - 1
    start: list[int] = [0]
    packed: list[int] = []
    low: list[int] = []
    dense_terms: list[int] = []
    dense_start: list[Array] = []
    dense_tf: list[int] = []
    heavy_at: list[int] = []
    heavy_tf: list[int] = []
    for term, entries in enumerate(lists):
        dense = len(entries) >= limits.dense_min
        if dense:
            dense_terms.append(term)
            borders = [0] * (windows + 1)
            for inner, _ in entries:
                borders[(inner >> limits.window_bits) + 1] += 1
            dense_start.append(np.cumsum(borders) + len(low))
            dense_tf.append(min(255, max(tf for _, tf in entries)))
            low.extend(inner & inside for inner, _ in entries)
        for inner, tf in entries:
            if dense and tf == 1:
                continue
            if tf >= 255:
                heavy_at.append(len(packed))
                heavy_tf.append(tf)
            packed.append(inner << 8 | min(tf, 255))
        start.append(len(packed))
    wide = passages >= 1 << (limits.packed_bits - 8)
    rows = np.array(dense_start, np.uint32).reshape(len(dense_terms), windows + 1)
    return Postings(
        np.array(start, np.uint32), np.array(packed, np.uint64 if wide else np.uint32),
        np.array(dense_terms, np.uint32), rows, np.array(dense_tf, np.uint8), np.array(low, np.uint16),
        np.array(heavy_at, np.uint64), np.array(heavy_tf, np.uint32),
    )  # fmt: skip


def _vocabulary(grams: list[Gram], symbols: int, sizes: tuple[int, ...], limits: Limits) -> Vocabulary:
    kind = np.uint16 if symbols < 1 << limits.symbol_bits else np.uint32
    pairs = [gram for gram in grams if len(gram) == 2]
    triples = [gram for gram in grams if len(gram) == 3]
    pair_start = _borders([gram[0] for gram in pairs], symbols + 2)
    number = {pair: n for n, pair in enumerate(pairs)}
    triple_start = (
        _borders([number[gram[:2]] for gram in triples], len(pairs) + 1)
        if triples
        else np.zeros(1, np.uint32)
    )
    second = np.array([gram[1] for gram in pairs], kind)
    third = np.array([gram[2] for gram in triples], kind)
    return Vocabulary(pair_start, second, triple_start, third, symbols if sizes[0] == 1 else 0)


def _borders(firsts: list[int], size: int) -> Array:
    """Return where each number 0..size-1 begins in a sorted list: uint32 [size]."""
    return np.searchsorted(np.array(firsts, np.int64), np.arange(size)).astype(np.uint32)
