"""Texts side by side: which stretches of each stand in all the others too."""

from __future__ import annotations

import re
from collections.abc import Sequence
from difflib import SequenceMatcher
from itertools import groupby
from typing import NamedTuple

# Two texts are compared character by character while the product of their lengths stays below this (about a
# second at worst, where one character is repeated), and clause by clause beyond.
_MOST_PAIRS = 1_000_000
# A shared stretch shorter than this is chance: two rules share 的 and 在 wherever they differ.
_LEAST_SHARED = 2
_CLAUSE = re.compile(r"[^，。；：、！？,.;:!?\r\n]*[，。；：、！？,.;:!?\r\n]*")


class Stretch(NamedTuple):
    """A part of a text; `shared` says that it stands in every other text as well."""

    text: str
    shared: bool


def compare(texts: Sequence[str]) -> list[tuple[Stretch, ...]]:
    """Return each text cut into stretches, in order: joined they are the text again.

    A single text is shared as a whole. Matching is `difflib.SequenceMatcher` (Ratcliff and Obershelp).
    """
    return [_stretches(text, [*texts[:n], *texts[n + 1 :]]) for n, text in enumerate(texts)]


def _stretches(text: str, others: Sequence[str]) -> tuple[Stretch, ...]:
    shared = [True] * len(text)
    for other in others:
        matched = _matched(text, other)
        shared = [a and b for a, b in zip(shared, matched, strict=True)]
    runs = groupby(zip(text, shared, strict=True), key=lambda pair: pair[1])
    return tuple(Stretch("".join(char for char, _ in run), same) for same, run in runs)


def _matched(text: str, other: str) -> list[bool]:
    by_character = len(text) * len(other) < _MOST_PAIRS
    mine, theirs = (list(t) if by_character else _clauses(t) for t in (text, other))
    matched: list[bool] = []
    for tag, start, end, _, _ in SequenceMatcher(None, mine, theirs, autojunk=False).get_opcodes():
        size = sum(map(len, mine[start:end]))
        matched += [tag == "equal" and size >= _LEAST_SHARED] * size
    return matched


def _clauses(text: str) -> list[str]:
    return [clause for clause in _CLAUSE.findall(text) if clause]
