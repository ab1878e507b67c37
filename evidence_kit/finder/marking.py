"""A quote with its matched terms marked, for a reader without colours."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from evidence_kit.finder.passages import Span
from evidence_kit.sources.visible import visible

OPEN, CLOSE = "⟦", "⟧"
# A mark that stands in the text itself is shown as its escape, so that every mark seen is one of ours.
_ESCAPED = {ord(mark): f"\\u{ord(mark):04x}" for mark in (OPEN, CLOSE)}


def mark(quote: str, spans: Iterable[Span]) -> str:
    """Return `quote`, made visible, with marks around its matched parts; parts that overlap are one."""
    pieces = []
    at = 0
    for start, end in _united(spans):
        pieces += [_shown(quote[at:start]), OPEN, _shown(quote[start:end]), CLOSE]
        at = end
    return "".join([*pieces, _shown(quote[at:])])


def _shown(text: str) -> str:
    return visible(text).translate(_ESCAPED)


def _united(spans: Iterable[Span]) -> Iterator[Span]:
    start = end = 0
    for span in sorted(spans):
        if span.start >= end:
            if end > start:
                yield Span(start, end)
            start, end = span
        end = max(end, span.end)
    if end > start:
        yield Span(start, end)
