"""Two ways to cut a stored text into passages, neither of which ever cuts a grapheme."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from evidence_kit.errors import EvidenceError
from evidence_kit.text.coordinates import PositionError, TextIndex


class PassageError(EvidenceError):
    """Parameters that cut no passages, or a passage whose text has not the length of its span."""


@dataclass(frozen=True)
class Passage:
    """A stored text's [start, end) in code points; `oversized` where one grapheme exceeds the limit."""

    start: int
    end: int
    text: str
    oversized: bool = False

    def __post_init__(self) -> None:
        if not 0 <= self.start < self.end or len(self.text) != self.end - self.start:
            raise PassageError(
                f"资料块区间 [{self.start}, {self.end}) 与其文本（{len(self.text)} 个码点）不符：请重新切分"
            )


def cut_lines(text: str, limit: int = 500) -> list[Passage]:
    """Return passages of at most `limit` UTF-16 units: lines, the long ones cut at the last border that fits.

    A passage keeps the line ends after it (the first one also those before it), so the passages join to the
    text. A single grapheme longer than the limit is a passage of its own, `oversized`.
    """
    _check_size("limit", limit)
    index = TextIndex(text)
    _find_borders(index)
    passages: list[Passage] = []
    for line in re.finditer(r"\A[\r\n]*[^\r\n]*[\r\n]*|[^\r\n]+[\r\n]*", text):
        start = line.start()
        while start < line.end():
            passages.append(_passage(index, start, _utf16_end(index, start, line.end(), limit)))
            start = passages[-1].end
    return passages


def cut_windows(text: str, window: int, overlap: int = 0) -> list[Passage]:
    """Return passages of at most `window` code points, each sharing `overlap` with the one before.

    Both ends move back to a grapheme border, so a passage may be shorter and an overlap longer by less than
    a grapheme; without overlap the passages join to the text. A single grapheme longer than the window is a
    passage of its own, `oversized`.
    """
    index = TextIndex(text)
    return [
        Passage(start, end, text[start:end], end - start > window)
        for start, end in _windows(index, window, overlap)
    ]


def count_windows(text: str, window: int, overlap: int = 0) -> int:
    """Return how many passages `cut_windows` makes, without making them."""
    return sum(1 for _ in _windows(TextIndex(text), window, overlap))


def _windows(index: TextIndex, window: int, overlap: int) -> Iterator[tuple[int, int]]:
    """Yield [start, end) of each passage that `cut_windows` makes."""
    _check_size("window", window)
    if not _is_whole(overlap) or not 0 <= overlap < window:
        raise PassageError(f"overlap={overlap!r} 无效：重叠应为不小于 0、小于 window={window} 的整数")
    _find_borders(index)
    whole = len(index.text)
    start = end = 0
    while end < whole:
        end = _border(index, start, min(start + window, whole))
        yield start, end
        back = max(end - overlap, 0)
        before, start = start, index.grapheme_floor(back)
        if start <= before:
            start = index.grapheme_ceil(max(back, before + 1))


def _find_borders(index: TextIndex) -> None:
    """Let an index know every grapheme border: finding them once beats looking around every cut."""
    index.length("grapheme")


def _passage(index: TextIndex, start: int, end: int) -> Passage:
    """Return the passage from `start` to the last grapheme border up to `end`, or one whole grapheme."""
    border = _border(index, start, end)
    return Passage(start, border, index.text[start:border], border > end)


def _border(index: TextIndex, start: int, end: int) -> int:
    """Return the last grapheme border up to `end`; where that is not after `start`, the next one after it."""
    border = index.grapheme_floor(end)
    return border if border > start else index.grapheme_ceil(start + 1)


def _utf16_end(index: TextIndex, start: int, line_end: int, limit: int) -> int:
    """Return the last code point, up to `line_end`, that is at most `limit` UTF-16 units after `start`."""
    unit = index.convert(start, "codepoint", "utf16") + limit
    if unit >= index.convert(line_end, "codepoint", "utf16"):
        return line_end
    try:
        return index.convert(unit, "utf16", "codepoint")
    except PositionError as error:
        return index.convert(error.before, "utf16", "codepoint")


def _is_whole(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _check_size(name: str, value: int) -> None:
    if not _is_whole(value) or value <= 0:
        raise PassageError(f"{name}={value!r} 无效：长度应为正整数")
