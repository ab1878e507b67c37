"""Two ways to cut a stored text into passages, neither of which ever cuts a grapheme."""

from __future__ import annotations

import re
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
    index = _segmented(text)
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
    _check_size("window", window)
    if not _is_whole(overlap) or not 0 <= overlap < window:
        raise PassageError(f"overlap={overlap!r} 无效：重叠应为不小于 0、小于 window={window} 的整数")
    index = _segmented(text)
    passages: list[Passage] = []
    start = 0
    while start < len(text):
        passage = _passage(index, start, min(start + window, len(text)))
        passages.append(passage)
        if passage.end == len(text):
            break
        back = max(passage.end - overlap, 0)
        start = index.grapheme_floor(back)
        if start <= passage.start:
            start = index.grapheme_ceil(max(back, passage.start + 1))
    return passages


def _segmented(text: str) -> TextIndex:
    """Return an index that knows every grapheme border: finding them once beats looking around every cut."""
    index = TextIndex(text)
    index.length("grapheme")
    return index


def _passage(index: TextIndex, start: int, end: int) -> Passage:
    """Return the passage from `start` to the last grapheme border up to `end`, or one whole grapheme."""
    border = index.grapheme_floor(end)
    oversized = border <= start
    if oversized:
        border = index.grapheme_ceil(start + 1)
    return Passage(start, border, index.text[start:border], oversized)


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
