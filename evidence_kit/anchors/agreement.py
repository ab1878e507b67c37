"""Which places of a text agree with a remembered quote and its two sides: the one rule behind every
`moved`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from evidence_kit.anchors.fragment import Fragment
from evidence_kit.text.coordinates import TextIndex

# Both sides need this much context in all; one side alone needs a whole stored side of at least ONE_SIDE.
BOTH_SIDES = 4
ONE_SIDE = 8

Sides = Literal["both", "prefix", "suffix"]


@dataclass(frozen=True)
class Place:
    """The code-point span of one occurrence of the quote, and which stored sides agree there (None: too
    little).
    """

    start: int
    end: int
    sides: Sides | None


@dataclass(frozen=True)
class Remembered:
    """What a receipt remembers of a passage: the quote and the two sides that stood beside it.

    A side `identifies` where the quote with it alone stood once: only then may it vouch for a place alone.
    A side shared by several sections would point to a twin once the quote's own section is deleted.
    """

    quote: Fragment
    before: Fragment
    after: Fragment
    before_identifies: bool = False
    after_identifies: bool = False


def find_places(text: str, index: TextIndex, remembered: Remembered) -> list[Place]:
    """Every occurrence of the quote in `text` on grapheme borders, overlapping ones too, ascending."""
    length = remembered.quote.length
    index.length("grapheme")  # all borders in one pass: the quote may stand often in one long run of flags
    return [
        Place(start, start + length, _agreeing_sides(text, start, start + length, remembered))
        for start in remembered.quote.places(text)
        if not index.splits_grapheme(start) and not index.splits_grapheme(start + length)
    ]


def strongest(places: list[Place]) -> list[Place]:
    """The places that agree, of the greater strength only: those with both sides, or else those with one."""
    both = [place for place in places if place.sides == "both"]
    return both or [place for place in places if place.sides is not None]


def _agreeing_sides(text: str, start: int, end: int, remembered: Remembered) -> Sides | None:
    before, after = remembered.before, remembered.after
    # An empty side was the text's own edge, so it agrees only at an edge.
    left = before.stands_at(text, start - before.length) if before.length else start == 0
    right = after.stands_at(text, end) if after.length else end == len(text)
    if left and right and before.length + after.length >= BOTH_SIDES:
        return "both"
    if left and remembered.before_identifies and before.length >= ONE_SIDE:
        return "prefix"
    if right and remembered.after_identifies and after.length >= ONE_SIDE:
        return "suffix"
    return None


def between_sides(text: str, remembered: Remembered) -> list[tuple[int, int]]:
    """The spans of at most twice the quote's length that both stored sides enclose: lookalikes, never
    positions.
    """
    before, after = remembered.before, remembered.after
    if before.text is None or after.text is None or min(before.length, after.length) < BOTH_SIDES:
        return []
    spans = []
    end = 0
    for left in before.places(text):
        start = left + before.length
        if end <= start:  # else the next place of `after` is known already
            end = text.find(after.text, start + 1)
        if end < 0:
            break
        if end <= start + 2 * remembered.quote.length:
            spans.append((start, end))
    return spans
