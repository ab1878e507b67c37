"""Changes of a text that keep the way back: canonical composition and lowercase, each with its offset map."""

from __future__ import annotations

import unicodedata
from itertools import pairwise

from evidence_kit.text.graphemes import inner_positions
from evidence_kit.text.offset_map import OffsetMap, Piece, replaced, verbatim


def lowercased(text: str) -> tuple[str, OffsetMap]:
    """Return (`text.lower()`, its offset map).

    Lowercase is taken of the whole text, not letter by letter: a final sigma depends on its neighbours.
    Only what grows (U+0130 becomes two code points) is a replacement.
    """
    lower = text.lower()
    if len(lower) == len(text):
        return lower, OffsetMap([verbatim(len(text))])
    sizes = (len(char.lower()) for char in text)
    return lower, OffsetMap(verbatim(1) if size == 1 else replaced(size, 1) for size in sizes)


def composed(text: str) -> tuple[str, OffsetMap]:
    """Return (the NFC form of `text`, its offset map).

    Composition never reaches across a grapheme border, so each grapheme that changes is one replacement.
    """
    if unicodedata.is_normalized("NFC", text):
        return text, OffsetMap([verbatim(len(text))])
    inner = set(inner_positions(text))
    borders = [position for position in range(len(text) + 1) if position not in inner]
    parts: list[str] = []
    pieces: list[Piece] = []
    for start, end in pairwise(borders):
        parts.append(unicodedata.normalize("NFC", text[start:end]))
        same = parts[-1] == text[start:end]
        pieces.append(verbatim(end - start) if same else replaced(len(parts[-1]), end - start))
    return "".join(parts), OffsetMap(pieces)
