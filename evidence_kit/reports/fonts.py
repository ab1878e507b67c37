"""Which letters a figure can show: a Chinese font where the machine has one, and never a box for a letter."""

from __future__ import annotations

import contextlib
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

# Fonts that come with Linux distributions, macOS, Windows and office software; Simplified Chinese first.
_CHINESE = (
    "Noto Sans CJK SC",
    "Noto Sans SC",
    "Source Han Sans SC",
    "Source Han Sans CN",
    "PingFang SC",
    "Hiragino Sans GB",
    "Microsoft YaHei",
    "WenQuanYi Micro Hei",
    "WenQuanYi Zen Hei",
    "Heiti SC",
    "SimHei",
    "Noto Sans CJK TC",
    "Noto Sans CJK JP",
    "Arial Unicode MS",
    "SimSun",
    "Songti SC",
)
_ALWAYS_THERE = "DejaVu Sans"  # matplotlib brings it along
_WITNESS = "问题均值未定义"


@dataclass(frozen=True)
class Letters:
    """The fonts of a figure, the first that has a letter shows it, and the letters they have between them."""

    families: tuple[str, ...]
    known: frozenset[int]
    chinese: bool

    def show(self, text: str) -> bool:
        """Whether every letter of a text can be shown."""
        return all(ord(char) in self.known for char in text)


@lru_cache(maxsize=1)
def find_letters() -> Letters:
    """Return the letters of this machine's first Chinese font with matplotlib's own, or the latter alone."""
    found = _chinese_letters()
    if found is None:
        _look_again()
        found = _chinese_letters()
    return found or plain_letters()


@lru_cache(maxsize=1)
def plain_letters() -> Letters:
    """Return the letters of matplotlib's own font, which every machine has; it has no Chinese."""
    return _letters((_ALWAYS_THERE,))


def label(letters: Letters, candidates: Sequence[str], most: int) -> str:
    """Return the first candidate that can be shown, on one line and cut to `most` columns with an ellipsis.

    A Chinese character takes two columns. The last candidate should be of ASCII alone.
    """
    for candidate in candidates:
        text = " ".join(candidate.split())
        if text and letters.show(text):
            return _cut(text, most)
    return _cut(candidates[-1], most)


def _chinese_letters() -> Letters | None:
    from matplotlib.font_manager import fontManager

    names = {font.name for font in fontManager.ttflist}
    for name in _CHINESE:
        if name in names:
            letters = _letters((name, _ALWAYS_THERE))
            if letters.chinese:
                return letters
    return None


def _look_again() -> None:
    """Let matplotlib, which keeps a list of the fonts it once found, know of those that came since."""
    from matplotlib.font_manager import findSystemFonts, fontManager

    known = {font.fname for font in fontManager.ttflist}
    for path in sorted(set(findSystemFonts()) - known):
        with contextlib.suppress(RuntimeError, OSError):  # a file that is no font, or none that can be read
            fontManager.addfont(path)


def _letters(families: tuple[str, ...]) -> Letters:
    from matplotlib.font_manager import FontProperties, findfont, get_font

    known: set[int] = set()
    for family in families:
        known.update(get_font(findfont(FontProperties(family=[family]))).get_charmap())
    # What a font maps to nothing, or to an empty place, is no letter: controls, bidi marks, joiners.
    shown = frozenset(code for code in known if unicodedata.category(chr(code))[0] != "C")
    return Letters(families, shown, chinese=all(ord(char) in shown for char in _WITNESS))


def _cut(text: str, most: int) -> str:
    if sum(map(_columns, text)) <= most:
        return text
    kept = ""
    for char in text:
        if sum(map(_columns, kept + char)) >= most:
            break
        kept += char
    return kept.rstrip() + "…"


def _columns(char: str) -> int:
    return 2 if unicodedata.east_asian_width(char) in "WF" else 1
