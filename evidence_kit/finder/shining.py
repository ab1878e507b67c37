"""A quote cut into pieces that shine by their terms' share of the score."""

from __future__ import annotations

import math
from collections.abc import Iterable
from itertools import groupby
from typing import NamedTuple

from evidence_kit.finder.explanation import MatchedTerm

LEVELS = 4


class Piece(NamedTuple):
    """A part of a quote; `level` goes from 0, no shared term, to LEVELS, where most of the score stands."""

    text: str
    level: int


def shine(quote: str, terms: Iterable[MatchedTerm]) -> tuple[Piece, ...]:
    """Return the quote in pieces, in order: joined they are the quote again.

    A code point weighs the sum of the shares of the terms that stand over it (each term once); its level is
    its weight against the greatest of the quote, in LEVELS equal steps.
    """
    weights = [0.0] * len(quote)
    for term in terms:
        covered = {point for span in term.spans for point in range(span.start, span.end)}
        for point in covered:
            weights[point] += term.share
    greatest = max(weights, default=0.0)
    # Six digits: two sums that differ in their last bit are one level.
    levels = [math.ceil(round(LEVELS * weight / greatest, 6)) if greatest else 0 for weight in weights]
    runs = groupby(zip(quote, levels, strict=True), key=lambda pair: pair[1])
    return tuple(Piece("".join(char for char, _ in run), level) for level, run in runs)
