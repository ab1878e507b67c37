"""Untrusted text as HTML whose text content is that text, character by character, and nothing else.

HTML cannot hold every text: a parser turns CR LF and CR into LF and drops NUL. A CR is written as a character
reference, which stays; a NUL as an empty element that the report's script fills on opening. Characters that
act or hide (see `sources.visible`) stand in an element of their own, isolated from the text around them, that
shows their number.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from markupsafe import Markup, escape

from evidence_kit.sources.visible import is_hidden, visible

_PIECES = re.compile("\r\n|[\r\n\t\0]|[^\r\n\t\0]+")


def keeping_returns(text: str) -> Markup:
    """Return text, escaped, whose CRs a parser keeps; it would make a line feed of each, and of CR LF."""
    return Markup(str(escape(text)).replace("\r", "&#13;"))  # noqa: S704 - escaped here


def inline(text: str) -> Markup:
    """Return a name or title, what would act or hide as escapes, apart from the direction of its line."""
    return Markup("<bdi>{}</bdi>").format(visible(text))


def exact(text: str) -> Markup:
    """Return markup whose text content is `text`, once the script has filled in each NUL."""
    return Markup("").join(_piece(match.group()) for match in _PIECES.finditer(text))


def marked(text: str, spans: Sequence[tuple[int, int, int]], source: int) -> Markup:
    """Return markup as of `exact` with [start, end) of each (start, end, excerpt) marked.

    Where excerpts overlap a mark holds only the part that the same excerpts share, and names them all: the
    marks that name an excerpt join to its quote. The mark that begins at a start has the id
    `m{source}-{start}`.
    """
    borders = sorted({0, len(text), *(place for start, end, _ in spans for place in (start, end))})
    return Markup("").join(
        _segment(text[start:end], named, f"m{source}-{start}")
        for (start, end), named in zip(pairwise(borders), _named(borders, spans), strict=True)
    )


def _named(borders: Sequence[int], spans: Sequence[tuple[int, int, int]]) -> Iterator[list[int]]:
    """Yield the excerpts that cover each stretch between two neighbouring borders."""
    begins: dict[int, list[int]] = {}
    ends: dict[int, list[int]] = {}
    for start, end, excerpt in spans:
        begins.setdefault(start, []).append(excerpt)
        ends.setdefault(end, []).append(excerpt)
    active: set[int] = set()
    for border in borders[:-1]:
        active.difference_update(ends.get(border, []))
        active.update(begins.get(border, []))
        yield sorted(active)


def _segment(text: str, named: Sequence[int], mark_id: str) -> Markup:
    if not named:
        return exact(text)
    names = " ".join(map(str, named))
    return Markup('<mark id="{}" data-excerpts="{}">{}</mark>').format(mark_id, names, exact(text))


def _piece(piece: str) -> Markup:
    if piece == "\r\n":
        return keeping_returns(piece)
    if piece == "\r":
        return keeping_returns(piece) + Markup("<br>")
    if piece in "\n\t" or visible(piece) == piece:
        return escape(piece)
    return Markup("").join(_hidden(char) if is_hidden(char) else escape(char) for char in piece)


def _hidden(char: str) -> Markup:
    number = f"U+{ord(char):04X}"
    if char == "\0":
        return Markup('<span class="hidden nul" data-number="{}"></span>').format(number)
    return Markup('<span class="hidden" data-number="{}">{}</span>').format(number, char)
