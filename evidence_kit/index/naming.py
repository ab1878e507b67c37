"""Numbers for passages and names for symbols, the same however an index is built."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from evidence_kit.index.arrays import Array, Symbols
from evidence_kit.index.splitting import Splitter


def inner_order(sizes: Array) -> Array:
    """Return the positions from the shortest text to the longest, ties in the order given: uint32 [N]."""
    if sizes.max() < 1 << 16:
        sizes = sizes.astype(np.uint16)  # sorted by radix
    return np.argsort(sizes, kind="stable").astype(np.uint32)


def name_symbols(chars: Sequence[str], words: Sequence[str]) -> Symbols:
    """Return the names of symbols, both sequences sorted and free of repeats."""
    encoded = [word.encode("utf-8", "surrogatepass") for word in words]
    borders = np.zeros(len(words) + 1, np.uint64)
    borders[1:] = np.cumsum([len(word) for word in encoded], dtype=np.uint64)
    points = np.array([ord(char) for char in chars], np.uint32)
    return Symbols(points, borders, np.frombuffer(b"".join(encoded), np.uint8))


def is_char(piece: str, splitter: Splitter) -> bool:
    """Return whether a piece is named by its code point; all others are words."""
    return len(piece) == 1 and splitter.classify(piece).kind == "char"
