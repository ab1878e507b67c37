"""How much of its surroundings a quote needs so that it can be told from every other place in its own
version.
"""

from __future__ import annotations

from dataclasses import dataclass

from evidence_kit.text.coordinates import TextIndex

FIRST_SIDE = 32
# A receipt that needs more than this beside the quote would be a copy of its text.
LAST_SIDE = 4096


@dataclass(frozen=True)
class Context:
    """The text beside a quote, and whether the quote stands once in the version with both sides or one."""

    prefix: str
    suffix: str
    unique: bool
    prefix_unique: bool
    suffix_unique: bool


def context_of(text: str, index: TextIndex, start: int, end: int) -> Context:
    """The context of `text[start:end]`: 32 code points a side, doubled until it stands once (overlaps
    counted).

    Sides are cut at grapheme borders, so that a side is at most as long as asked for, unless one cluster
    alone is longer. A side ends at the text's edge. Where 4,096 code points a side do not suffice, the
    context stays at that size and `unique` is false.
    """
    side = FIRST_SIDE
    while True:
        left = _left_edge(index, start, side)
        right = _right_edge(index, end, side, len(text))
        unique = _stands_once(text, left, right)
        if unique or side == LAST_SIDE:
            sides = _stands_once(text, left, end), _stands_once(text, start, right)
            return Context(text[left:start], text[end:right], unique, *sides)
        side *= 2


def _left_edge(index: TextIndex, start: int, side: int) -> int:
    if start <= side:
        return 0
    left = index.grapheme_ceil(start - side)
    # An empty side would claim that the quote begins the text.
    return left if left < start else index.grapheme_floor(start - 1)


def _right_edge(index: TextIndex, end: int, side: int, length: int) -> int:
    if length - end <= side:
        return length
    right = index.grapheme_floor(end + side)
    return right if right > end else index.grapheme_ceil(end + 1)


def _stands_once(text: str, left: int, right: int) -> bool:
    passage = text[left:right]
    first = text.find(passage)
    return first == left and text.find(passage, left + 1) < 0
