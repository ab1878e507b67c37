"""Analyzers: the terms of one passage, each with its half-open code-point span in the original text.

An analyzer sees one passage and nothing around it, so that what a term is (a final sigma, a composed
letter) never depends on a neighbouring passage. Index and query share one analyzer object.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Protocol, runtime_checkable

from evidence_kit.errors import EvidenceError
from evidence_kit.text.graphemes import inner_positions
from evidence_kit.text.normalization import composed, lowercased
from evidence_kit.text.offset_map import OffsetMap


class AnalyzerError(EvidenceError):
    """An analyzer that does not exist, or parameters that make none."""


@dataclass(frozen=True)
class Term:
    """A normalised term and the span [start, end) of the original text it was made from."""

    text: str
    start: int
    end: int


@runtime_checkable
class Analyzer(Protocol):
    """What turns a passage, or a question, into terms."""

    @property
    def name(self) -> str:
        """Return the identity, from which `parse_analyzer` makes the same analyzer again."""

    def texts(self, text: str) -> list[str]:
        """Return the terms alone, in the order of `terms`."""

    def terms(self, text: str) -> list[Term]:
        """Return the terms with their spans in `text`."""


@dataclass(frozen=True)
class CharNgrams:
    """All n-grams of the lowercase text without punctuation, symbols, separators and controls."""

    sizes: tuple[int, ...]

    def __post_init__(self) -> None:
        whole = all(isinstance(n, int) and not isinstance(n, bool) and n > 0 for n in self.sizes)
        if not self.sizes or not whole or list(self.sizes) != sorted(set(self.sizes)):
            raise AnalyzerError(f"char_ngrams 的长度 {self.sizes} 无效：请给出从小到大、互不相同的正整数")

    @property
    def name(self) -> str:
        """Return `char_ngrams(2,3)` for sizes 2 and 3."""
        return f"char_ngrams({','.join(map(str, self.sizes))})"

    def texts(self, text: str) -> list[str]:
        """Return the n-grams in order: all of the first size, then all of the next."""
        clean = "".join(char for char in text.lower() if _is_kept(char))
        return [clean[i : i + n] for n in self.sizes for i in range(len(clean) - n + 1)]

    def terms(self, text: str) -> list[Term]:
        """Return the n-grams with their spans, which reach over the characters dropped inside them."""
        lower, offsets = lowercased(text)
        kept = [i for i, char in enumerate(lower) if _is_kept(char)]
        clean = "".join(lower[i] for i in kept)
        return [
            _term(clean[i : i + n], kept[i], kept[i + n - 1] + 1, offsets)
            for n in self.sizes
            for i in range(len(clean) - n + 1)
        ]


def char_ngrams(*sizes: int) -> CharNgrams:
    """Return the analyzer of all character n-grams of these sizes; AnalyzerError where they are no sizes."""
    return CharNgrams(sizes)


def _is_kept(char: str) -> bool:
    return unicodedata.category(char)[0] not in "PSZC"


def _term(text: str, start: int, end: int, offsets: OffsetMap) -> Term:
    if offsets.is_identity:
        return Term(text, start, end)
    span = offsets.to_original(start, end)
    return Term(text, span.start, span.end)


@dataclass(frozen=True)
class WordsHan:
    """Words of letters, marks, numbers and underscore; East Asian runs give each character and adjacent pair.

    The text is composed (NFC), then lowercased; full-width and half-width forms stay as they are.

    - East Asian is what has the script Han, Hiragana, Katakana or Hangul, whatever its category: 〇 (number),
      々 (a modifier letter) and the radicals (symbols) are characters of a run.
    - Letters and numbers that several scripts share belong to it when their script extensions name one of the
      four: so do the prolonged sound mark ー and the half-width voicing marks.
    - A character is a grapheme: a voicing mark, a variation selector or a conjoining jamo stays with it.
    - A combining mark never begins a run; after a Latin letter it is part of that word.
    - Order: each character, followed by the pair that begins with it. A run never pairs across anything else.
    """

    name: str = "words_han"

    def texts(self, text: str) -> list[str]:
        """Return the terms alone, in the order of `terms`."""
        clean = composed(text)[0].lower()
        return [clean[start:end] for start, end in _word_spans(clean)]

    def terms(self, text: str) -> list[Term]:
        """Return words, characters and pairs with their spans in `text`."""
        clean, offsets = composed(text)
        lower, growth = lowercased(clean)
        offsets = growth.compose(offsets)
        return [_term(lower[start:end], start, end, offsets) for start, end in _word_spans(lower)]


words_han = WordsHan()

_SCRIPTS = ("Han", "Hiragana", "Katakana", "Hangul")


@lru_cache(maxsize=1)
def _words() -> Any:
    import regex

    scripts = "".join(rf"\p{{Script={name}}}" for name in _SCRIPTS)
    shared = "".join(rf"\p{{Script_Extensions={name}}}" for name in _SCRIPTS)
    east_asian = rf"[[{scripts}[[{shared}]&&[\p{{L}}\p{{N}}]]]--\p{{M}}]"
    word = rf"[[\p{{L}}\p{{M}}\p{{N}}_]--{east_asian}]+"
    return regex.compile(rf"(?P<run>{east_asian}[{east_asian}\p{{M}}]*)|{word}", flags=regex.V1)


def _word_spans(text: str) -> Iterator[tuple[int, int]]:
    for match in _words().finditer(text):
        start, end = match.span()
        if match["run"] is None:
            yield start, end
            continue
        inner = set(inner_positions(match["run"]))
        borders = [start + i for i in range(end - start + 1) if i not in inner]
        for i in range(len(borders) - 1):
            yield borders[i], borders[i + 1]
            if i + 2 < len(borders):
                yield borders[i], borders[i + 2]


def parse_analyzer(name: str) -> Analyzer:
    """Return the analyzer whose `name` this is; AnalyzerError names the known forms."""
    if name == words_han.name:
        return words_han
    if match := re.fullmatch(r"char_ngrams\(([1-9][0-9]?(?:,[1-9][0-9]?)*)\)", name):
        return CharNgrams(tuple(map(int, match[1].split(","))))
    raise AnalyzerError(f"分析器 {name!r} 无法识别：请改用 words_han 或 char_ngrams(2,3) 这样的写法")
