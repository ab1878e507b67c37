"""Where a receipt's quote stands in a text today, or the honest statement that no position is known."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from evidence_kit.anchors.agreement import Place, Remembered, Sides, between_sides, find_places, strongest
from evidence_kit.anchors.anchor import Anchor, CorruptAnchor, own_place
from evidence_kit.sources.model import text_digest
from evidence_kit.sources.unicode_rules import unicode_version
from evidence_kit.text.coordinates import TextIndex
from evidence_kit.text.units import parse_unit

# A short quote may stand in millions of places, and nobody looks at so many.
MOST_CANDIDATES = 100

Status = Literal["exact", "moved", "ambiguous", "stale", "source_only"]
Reason = Literal["text_changed", "unit_recounted"]

# Asked each time a receipt is resolved: whether this reader may read this receipt's source now.
Access = Callable[[Anchor], bool]


@dataclass(frozen=True)
class Span:
    """A half-open span in the unit of the resolution it belongs to."""

    start: int
    end: int


@dataclass(frozen=True)
class Migration:
    """How a receipt came to another span: from which text and span to which, on the word of which stored
    sides.
    """

    from_sha256: str
    from_version: str
    from_unit: str
    from_span: Span
    to_sha256: str
    to_span: Span
    agreement: Sides
    reason: Reason


@dataclass(frozen=True)
class Resolution:
    """A status, with a span only where it is exact or moved; spans count in `unit`. It holds no text.

    `candidates` are the first of `candidate_count`, 100 at most, in order of the text.
    `exact` and `moved` say where the quote stands, never that it supports a claim.
    """

    status: Status
    unit: str
    span: Span | None = None
    candidates: tuple[Span, ...] = ()
    candidate_count: int = 0
    migration: Migration | None = None

    @property
    def located(self) -> bool:
        """Whether a position is known."""
        return self.span is not None


def anyone_may_read(anchor: Anchor) -> bool:
    """True: the access rule for texts that are open to all."""
    return True


def resolve(
    anchor: Anchor, text: str | None, *, allow_moved: bool = True, access: Access = anyone_may_read
) -> Resolution:
    """Where the anchor's quote stands in `text`, counted in the anchor's unit.

    `text` is None where the source is gone or withdrawn; then, and where `access` says no, the answer is
    `source_only`. With `allow_moved` off a place that agrees in another version is a candidate of `stale`.
    Raises CorruptAnchor when the text is the anchor's own and another text stands at its span.
    """
    unit = parse_unit(anchor.unit).name
    if text is None or not access(anchor):
        return Resolution("source_only", unit)
    index = TextIndex(text)
    digest = text_digest(text)
    reason: Reason = "text_changed"
    if digest == anchor.text_sha256:
        if own_place(anchor, index) is not None:
            return Resolution("exact", unit, Span(anchor.start, anchor.end))
        if not _counted_by_other_rules(anchor):
            raise CorruptAnchor(anchor.source_id, f"原文的 [{anchor.start}, {anchor.end}) 处不是这句原话")
        reason = "unit_recounted"
    remembered = Remembered(
        anchor.quote, anchor.before, anchor.after, anchor.prefix_unique, anchor.suffix_unique
    )
    places = find_places(text, index, remembered)
    agreeing = strongest(places)
    sides = agreeing[0].sides if len(agreeing) == 1 and anchor.unique else None
    if sides is not None:
        span = _span(index, unit, agreeing[0].start, agreeing[0].end)
        if not allow_moved:
            return Resolution("stale", unit, candidates=(span,), candidate_count=1)
        return Resolution("moved", unit, span, migration=_migration(anchor, digest, span, sides, reason))
    return _without_position(text, index, unit, places, agreeing, remembered)


def _without_position(
    text: str, index: TextIndex, unit: str, places: list[Place], agreeing: list[Place], remembered: Remembered
) -> Resolution:
    """`ambiguous` or `stale`, with what a reader may look at as candidates."""
    # A lone place that agrees with a receipt that was never unique is one of several places it may have
    # meant.
    offered = agreeing or places
    status: Status = "ambiguous" if agreeing or len(places) > 1 else "stale"
    spans: Sequence[tuple[int, int]] = [(place.start, place.end) for place in offered]
    if not spans:
        spans = between_sides(text, remembered)
    listed = tuple(_span(index, unit, *span) for span in spans[:MOST_CANDIDATES])
    return Resolution(status, unit, candidates=listed, candidate_count=len(spans))


def _counted_by_other_rules(anchor: Anchor) -> bool:
    """Whether the anchor's clusters were counted by rules of another Unicode version than ours."""
    unit = parse_unit(anchor.unit)
    if unit.name != "grapheme":
        return False
    return unit.approximate or anchor.representation.unicode_version != unicode_version()


def _span(index: TextIndex, unit: str, start: int, end: int) -> Span:
    return Span(index.convert(start, "codepoint", unit), index.convert(end, "codepoint", unit))


def _migration(anchor: Anchor, digest: str, span: Span, sides: Sides, reason: Reason) -> Migration:
    return Migration(
        from_sha256=anchor.text_sha256,
        from_version=anchor.source_version,
        from_unit=anchor.unit,
        from_span=Span(anchor.start, anchor.end),
        to_sha256=digest,
        to_span=span,
        agreement=sides,
        reason=reason,
    )
