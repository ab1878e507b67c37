"""From texts to streams of symbols in bulk; the analyzer itself sees only texts with hard characters."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from evidence_kit.index import stream_kernels as kernels
from evidence_kit.index.arrays import Array, Symbols
from evidence_kit.index.errors import IndexInputError
from evidence_kit.index.naming import inner_order, is_char, name_symbols
from evidence_kit.index.splitting import CharClass, Splitter

CODE_POINTS = 0x110000
TOGETHER = 2048  # texts joined at once


class Stream(NamedTuple):
    """All passages as symbols, in inner order; 0 ends a run."""

    symbols: Array  # uint32
    starts: Array  # int64 [N+1] where each passage begins in `symbols`
    order: Array  # uint32 [N] position of each passage
    names: Symbols


def read_stream(texts: Sequence[str], splitter: Splitter) -> Stream:
    """Return the stream of `texts`."""
    sizes: Array = np.fromiter(map(len, texts), np.int64, len(texts))
    order = inner_order(sizes)
    begin = np.zeros(len(texts) + 1, np.int64)
    np.cumsum(sizes[order], out=begin[1:])
    codes, present = _code_points(texts, sizes, order, begin)
    classes = {char: splitter.classify(char) for char in map(chr, np.flatnonzero(present))}
    hard_chars = [char for char, (kind, _) in classes.items() if kind == "hard"]
    hard = _hard_texts(texts, codes, order, begin, hard_chars, splitter)
    if hard:
        present = _present_elsewhere(codes, begin, list(hard))
        classes = {char: value for char, value in classes.items() if present[ord(char)]}
    pieces = {piece for runs in hard.values() for run in runs for piece in run}
    chars = sorted(
        {lower for kind, lower in classes.values() if kind == "char"}
        | {piece for piece in pieces if is_char(piece, splitter)}
    )
    symbol_of = {char: number for number, char in enumerate(chars, 1)}
    hard_words, hard_begin, ready = _hard_streams(hard, symbol_of, len(texts))
    table = _table(classes, symbol_of)
    # A word takes three places, its own and a 0 on either side. Where there are no words, a character takes
    # one at most: then symbols are written over the code points that were read, and no new memory is touched.
    is_over = splitter.bridges and not hard
    symbols = (
        codes if is_over else np.empty((1 if splitter.bridges else 3) * codes.size + ready.size, np.uint32)
    )
    starts = np.empty(len(texts) + 1, np.int64)
    words = np.empty((1 if splitter.bridges else codes.size, 2), np.int64)
    met = kernels.write_stream(
        codes, begin, table, splitter.bridges, hard_begin, ready, len(hard_words), symbols, starts, words
    )
    symbols = symbols[: starts[-1]]
    names, numbers = _name_words(codes, table, words[:met], hard_words)
    if numbers.size:
        kernels.name_words(symbols, numbers + np.uint32(len(chars) + 1))
    return Stream(symbols, starts, order, name_symbols(chars, names))


def _code_points(texts: Sequence[str], sizes: Array, order: Array, begin: Array) -> tuple[Array, Array]:
    """Return (all code points in inner order: uint32, whether each one occurs: bool [0x110000])."""
    codes = np.empty(int(begin[-1]), np.uint32)
    present = np.zeros(CODE_POINTS, np.bool_)
    place = np.empty(len(texts), np.int64)
    place[order] = begin[:-1]
    for first in range(0, len(texts), TOGETHER):  # few enough that what they are joined in stays near
        part = slice(first, first + TOGETHER)
        joined = "".join(texts[part]).encode("utf-32-le", "surrogatepass")
        kernels.place_codes(np.frombuffer(joined, np.uint32), sizes[part], place[part], codes, present)
    return codes, present


def _table(classes: dict[str, CharClass], symbol_of: dict[str, int]) -> Array:
    """Return what `write_stream` does with each code point: uint32 [0x110000]."""
    table = np.zeros(CODE_POINTS, np.uint32)
    for char, (kind, lower) in classes.items():
        if kind == "char":
            table[ord(char)] = symbol_of[lower]
        elif kind == "word":
            table[ord(char)] = kernels.WORD | ord(lower)
    return table


def _hard_texts(
    texts: Sequence[str], codes: Array, order: Array, begin: Array, chars: Sequence[str], splitter: Splitter
) -> dict[int, list[list[str]]]:
    """Return inner number -> runs of the texts with a hard character."""
    if not chars:
        return {}
    wanted = np.zeros(CODE_POINTS, np.bool_)
    wanted[[ord(char) for char in chars]] = True
    places = np.flatnonzero(wanted[codes])
    numbers = np.unique(np.searchsorted(begin, places, side="right") - 1)
    return {int(number): splitter.runs(texts[order[number]]) for number in numbers}


def _present_elsewhere(codes: Array, begin: Array, hard: list[int]) -> Array:
    """Return which code points stand in texts that are not hard."""
    easy = np.ones(codes.size, np.bool_)
    for text in hard:
        easy[begin[text] : begin[text + 1]] = False
    present = np.zeros(CODE_POINTS, np.bool_)
    present[codes[easy]] = True
    return present


def _hard_streams(
    hard: dict[int, list[list[str]]], symbol_of: dict[str, int], passages: int
) -> tuple[list[str], Array, Array]:
    """Return (the words met, where each text's stream begins, the streams); an empty text has [0]."""
    words: list[str] = []
    stream: list[int] = []
    sizes = np.zeros(passages + 1, np.int64)
    for text, runs in sorted(hard.items()):
        before = len(stream)
        for run in runs or [[]]:
            for piece in run:
                symbol = symbol_of.get(piece)
                if symbol is None:
                    symbol = kernels.WORD | len(words)
                    words.append(piece)
                stream.append(symbol)
            stream.append(0)
        sizes[text + 1] = len(stream) - before
    return words, np.cumsum(sizes), np.array(stream, np.uint32)


def _name_words(codes: Array, table: Array, words: Array, hard_words: list[str]) -> tuple[list[str], Array]:
    """Return (the distinct words sorted, the number in that list of each word met, hard ones first)."""
    if not len(words) and not hard_words:
        return [], np.zeros(0, np.uint32)
    if len(words) + len(hard_words) >= kernels.WORD:
        raise IndexInputError("资料中的词超过 21 亿个，一个索引放不下：请把资料分成几个索引")
    example, group = _distinct(codes, table, words)
    distinct = [_word(codes, table, words[n]) for n in example]
    names = sorted({*distinct, *hard_words})
    number = {name: n for n, name in enumerate(names)}
    ranks = np.array([number[word] for word in distinct], np.uint32)
    hard_ranks = np.array([number[word] for word in hard_words], np.uint32)
    return names, np.concatenate([hard_ranks, ranks[group]])


def _distinct(codes: Array, table: Array, words: Array) -> tuple[Array, Array]:
    """Return (one example of each distinct word, for each word the example's number)."""
    hashes = np.empty(len(words), np.uint64)
    seed = 0
    while True:
        kernels.hash_words(codes, table, words, seed, hashes)
        _, example, group = np.unique(hashes, return_index=True, return_inverse=True)
        if kernels.same_words(codes, table, words, example[group]):
            return example, group
        seed += 1  # two words shared a hash


def _word(codes: Array, table: Array, span: Any) -> str:
    lower = table[codes[span[0] : span[1]]] & np.uint32(kernels.WORD - 1)
    return bytes(lower.astype("<u4").tobytes()).decode("utf-32-le", "surrogatepass")
