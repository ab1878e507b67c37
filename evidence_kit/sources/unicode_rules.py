"""Which Unicode version our grapheme rules follow, in the form that receipts and bundles record."""

from __future__ import annotations

from functools import lru_cache

from evidence_kit.text.graphemes import grapheme_rules


@lru_cache(maxsize=1)
def unicode_version() -> str:
    """The Unicode version of the grapheme rules in use, such as `16.0`: the newest one they are known to
    follow.
    """
    return grapheme_rules().rpartition(" ")[2].rstrip("+")
