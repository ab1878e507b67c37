"""How each analyzer's terms arise from a text: runs of pieces, and grams of neighbouring pieces.

`char_ngrams(2,3)` makes one run of all kept characters, and its terms are the pairs and triples of
neighbours. `words_han` makes a run of each East Asian stretch, whose terms are the single characters and the
pairs, and a run of one piece of each word. Any other analyzer's terms are runs of one piece each. Terms named
in this way can be counted in bulk; that they are the analyzer's own terms is tested.

In bulk a text is read code point by code point, which `classify` allows for *easy* ones only: those that mean
the same wherever they stand. A text with a hard one (a combining mark, a conjoining jamo, a sigma that may be
final) is given to the analyzer itself.
"""

from __future__ import annotations

import unicodedata
from functools import lru_cache
from typing import Literal, NamedTuple, Protocol

from evidence_kit.text.analysis import Analyzer, CharNgrams, Term, WordsHan

Kind = Literal["none", "char", "word", "hard"]


class CharClass(NamedTuple):
    """What one code point does in a run, and its lowercase form."""

    kind: Kind
    lower: str


class Splitter(Protocol):
    """The runs of an analyzer.

    `sizes` are the numbers of neighbouring pieces that make a term; where `bridges`, a code point of kind
    "none" is passed over, else it ends the run.
    """

    bridges: bool

    @property
    def sizes(self) -> tuple[int, ...]:
        """Return the sizes, ascending."""

    def runs(self, text: str) -> list[list[str]]:
        """Return the runs of `text`, each a list of pieces."""

    def classify(self, char: str) -> CharClass:
        """Return the class of one code point of the text as it stands, before lowercasing."""


# Python lowercases a sigma by its neighbours and this dotted capital to two code points.
_LOWERED_BY_CONTEXT = "\u03a3\u0130"


class CharSplitter:
    """One run of all characters that the analyzer keeps."""

    bridges = True

    def __init__(self, analyzer: CharNgrams) -> None:
        self.sizes = analyzer.sizes

    def runs(self, text: str) -> list[list[str]]:
        """Return one run: the kept characters of the lowercase text."""
        return [[char for char in text.lower() if _is_kept(char)]]

    def classify(self, char: str) -> CharClass:
        """Return "char" for a kept character, "none" for a dropped one."""
        if char in _LOWERED_BY_CONTEXT:
            return CharClass("hard", char)
        lower = char.lower()
        return CharClass("char" if _is_kept(lower) else "none", lower)


@lru_cache(maxsize=1 << 16)
def _is_kept(char: str) -> bool:
    return unicodedata.category(char)[0] not in "PSZC"


# Blocks in which every code point is a letter of one of the four scripts that never joins a neighbour.
_PLAIN_EAST_ASIAN = ((0x4E00, 0x9FEF), (0x3400, 0x4DB5), (0x3041, 0x3096), (0x30A1, 0x30FA), (0xAC00, 0xD7A3))


class WordSplitter:
    """Runs of East Asian characters, and words as runs of one piece."""

    sizes = (1, 2)
    bridges = False

    def __init__(self, analyzer: WordsHan) -> None:
        self._analyzer = analyzer
        self._classes: dict[str, CharClass] = {}

    def runs(self, text: str) -> list[list[str]]:
        """Return the runs in order of the text."""
        classes = [self.classify(char) for char in text]
        if any(kind == "hard" for kind, _ in classes):
            return self._hard_runs(text)
        runs: list[list[str]] = []
        previous: Kind = "none"
        for kind, lower in classes:
            if kind == "char" and previous == "char":
                runs[-1].append(lower)
            elif kind == "word" and previous == "word":
                runs[-1][-1] += lower
            elif kind != "none":
                runs.append([lower])
            previous = kind
        return runs

    def _hard_runs(self, text: str) -> list[list[str]]:
        """Return the runs from the analyzer's terms: a pair begins with the piece before it, at its place.

        The place alone would not do: what one original character was composed to shares one span.
        """
        runs: list[list[str]] = []
        previous = Term("", -1, -1)
        continues = False
        for term in self._analyzer.terms(text):
            if previous.text and term.start == previous.start and term.text.startswith(previous.text):
                continues = True
                continue
            if continues:
                runs[-1].append(term.text)
            else:
                runs.append([term.text])
            continues, previous = False, term
        return runs

    def classify(self, char: str) -> CharClass:
        """Return "char" for an East Asian character that stands alone, "word" for a part of words."""
        if char not in self._classes:
            self._classes[char] = self._classified(char)
        return self._classes[char]

    def _classified(self, char: str) -> CharClass:
        point = ord(char)
        for first, last in _PLAIN_EAST_ASIAN:
            if first <= point <= last:
                return CharClass("char", char)
        lower = char.lower()
        category = unicodedata.category(lower[0])
        if char in _LOWERED_BY_CONTEXT or category[0] == "M" or unicodedata.normalize("NFC", char) != char:
            return CharClass("hard", char)
        # What the analyzer does with the character beside itself and beside a Han character settles it:
        # one that joins its neighbours (a conjoining jamo, a half-width voicing mark) is neither.
        twice, beside = self._analyzer.texts(char * 2), self._analyzer.texts(char + "一")
        if not twice:
            return CharClass("none", lower)
        if twice == [lower, lower * 2, lower] and beside == [lower, lower + "一", "一"]:
            return CharClass("char", lower)
        if twice == [lower * 2] and beside == [lower, "一"]:
            return CharClass("word", lower)
        return CharClass("hard", char)


class TermSplitter:
    """Any other analyzer: each term is a run of one piece, and every text is hard."""

    sizes = (1,)
    bridges = False

    def __init__(self, analyzer: Analyzer) -> None:
        self._analyzer = analyzer

    def runs(self, text: str) -> list[list[str]]:
        """Return each term as a run."""
        return [[term] for term in self._analyzer.texts(text)]

    def classify(self, char: str) -> CharClass:
        """Return "hard": only the analyzer knows."""
        return CharClass("hard", char)


def splitter_of(analyzer: Analyzer) -> Splitter:
    """Return how the terms of `analyzer` arise."""
    if isinstance(analyzer, CharNgrams) and analyzer.sizes in ((1, 2), (2, 3)):
        return CharSplitter(analyzer)
    if isinstance(analyzer, WordsHan):
        return WordSplitter(analyzer)
    return TermSplitter(analyzer)
