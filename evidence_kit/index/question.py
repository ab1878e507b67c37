"""From a question to a stream of the index's symbols."""

from __future__ import annotations

from array import array
from bisect import bisect_left
from typing import Any

import numpy as np

from evidence_kit.index.arrays import Array, Symbols
from evidence_kit.index.splitting import Splitter

UNKNOWN = 0xFFFFFFFF


class _Words:
    """The stored words as a sequence of bytes objects, sorted by code point (which UTF-8 keeps)."""

    def __init__(self, names: Symbols) -> None:
        self._start, self._bytes = names.word_start, names.word_bytes

    def __len__(self) -> int:
        return len(self._start) - 1

    def __getitem__(self, number: int) -> bytes:
        word: Any = self._bytes[int(self._start[number]) : int(self._start[number + 1])]
        return bytes(word)


class _Steps(dict[str, int]):
    """What a code point of a question is by itself: its symbol, 0 for none, -1: the splitter must look."""

    def __init__(self, splitter: Splitter, chars: Array) -> None:
        super().__init__()
        self._splitter, self._chars = splitter, chars

    def __missing__(self, char: str) -> int:
        kind, lower = self._splitter.classify(char)
        step = 0 if kind == "none" else -1
        if kind == "char":
            step = char_symbol(self._chars, lower) or UNKNOWN
        self[char] = step
        return step


def char_symbol(chars: Array, piece: str) -> int:
    """Return the symbol of a piece of one code point among the sorted `chars`, or 0."""
    if len(piece) != 1:
        return 0
    number = bisect_left(chars, ord(piece))
    return number + 1 if number < len(chars) and chars[number] == ord(piece) else 0


class QuestionReader:
    """Names the pieces of questions as the index names them."""

    def __init__(self, splitter: Splitter, names: Symbols) -> None:
        self._splitter = splitter
        self._chars = names.chars
        self._steps = _Steps(splitter, names.chars)
        self._words = _Words(names)

    def read(self, question: str) -> Array:
        """Return the symbols of the question, 0 after each run: uint32."""
        stream = [*map(self._steps.__getitem__, question)]
        if -1 in stream:
            stream = []
            for run in self._splitter.runs(question):
                stream.extend(map(self.symbol, run))
                stream.append(0)
        elif self._splitter.bridges:
            stream = [*filter(None, stream)]
        return np.frombuffer(array("I", stream), np.uint32)

    def symbol(self, piece: str) -> int:
        """Return the symbol of a piece, UNKNOWN where the index has none."""
        return char_symbol(self._chars, piece) or self._word(piece)

    def _word(self, piece: str) -> int:
        if not len(self._words):
            return UNKNOWN
        wanted = piece.encode("utf-8", "surrogatepass")
        number = bisect_left(self._words, wanted)
        if number < len(self._words) and self._words[number] == wanted:
            return len(self._chars) + 1 + number
        return UNKNOWN
