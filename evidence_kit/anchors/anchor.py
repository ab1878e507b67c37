"""The receipt for one quote: which version it was taken from, where it stood, and what stood beside it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from evidence_kit.anchors.context import context_of
from evidence_kit.anchors.fragment import Fragment
from evidence_kit.errors import EvidenceError
from evidence_kit.sources.model import Representation, Source
from evidence_kit.text.coordinates import PositionError, TextIndex
from evidence_kit.text.units import parse_unit

if TYPE_CHECKING:
    from evidence_kit.text.offset_map import OffsetMap


class SpanError(EvidenceError):
    """A span that no receipt can be made of: empty, reversed, or across a seam of its passage."""


class QuoteMismatchError(EvidenceError):
    """The text at a span is not the quote that the caller says stands there."""

    def __init__(self, message: str) -> None:
        super().__init__(message, exit_code=1, http_status=409)


class CorruptAnchor(EvidenceError):  # noqa: N818 - the name is part of the documented interface
    """A receipt that contradicts itself or the very text whose digest it carries."""

    def __init__(self, source_id: str, detail: str) -> None:
        super().__init__(
            f"资料 {source_id} 的定位凭条已损坏：{detail}；请从原文重新生成凭条。",
            exit_code=1,
            http_status=409,
        )


@dataclass(frozen=True)
class Anchor:
    """A receipt: `[start, end)` counted in `unit` on the text whose digest is `text_sha256` (see
    `text_digest`).

    `unit` keeps the name of an approximate unit as it was given. `unique` says that prefix + quote + suffix
    stood once in that version; `prefix_unique` and `suffix_unique` say it of the quote with that side
    alone. Raises CorruptAnchor when the span is impossible.
    """

    source_id: str
    source_version: str
    representation: Representation
    text_sha256: str
    unit: str
    start: int
    end: int
    quote: Fragment
    before: Fragment
    after: Fragment
    unique: bool
    prefix_unique: bool
    suffix_unique: bool

    def __post_init__(self) -> None:
        if self.start < 0 or self.start >= self.end or self.quote.length < 1:
            raise CorruptAnchor(self.source_id, f"跨度 [{self.start}, {self.end}) 为空、颠倒或为负")
        length = self._quote_length()
        if length is not None and self.end - self.start != length:
            raise CorruptAnchor(
                self.source_id,
                f"跨度 [{self.start}, {self.end}) 与原话的长度 {length} 不符（单位 {self.unit}）",
            )

    @property
    def exact(self) -> str | None:
        """The quote, or None where only its digest is kept."""
        return self.quote.text

    @property
    def prefix(self) -> str | None:
        """What stood before the quote, or None where only its digest is kept."""
        return self.before.text

    @property
    def suffix(self) -> str | None:
        """What stood after the quote, or None where only its digest is kept."""
        return self.after.text

    def _quote_length(self) -> int | None:
        """The quote's length in the anchor's unit, or None where the quote alone cannot tell it."""
        unit = parse_unit(self.unit).name
        if unit == "codepoint":
            return self.quote.length
        # How many clusters a quote counts depends on its neighbours and on the Unicode version.
        if unit == "grapheme" or self.quote.text is None:
            return None
        return TextIndex(self.quote.text).length(unit)


def create_anchor(
    source: Source,
    start: int,
    end: int,
    unit: str = "codepoint",
    *,
    quote: str | None = None,
    withhold: bool = False,
) -> Anchor:
    """The receipt for `[start, end)` of the source's text, counted in `unit`; the span is sliced and
    checked.

    With `quote` the slice must equal it, else QuoteMismatchError: an approximate unit needs this check.
    With `withhold` quote and context are kept as digests only. Raises SpanError on an empty span,
    PositionError on a position that is no position of the unit.
    """
    known = parse_unit(unit)
    if start >= end:
        raise SpanError(f"资料 {source.source_id} 的跨度 [{start}, {end}) 为空或颠倒：终点须大于起点。")
    index = TextIndex(source.text)
    first = index.convert(start, known.name, "codepoint")
    last = index.convert(end, known.name, "codepoint")
    exact = source.text[first:last]
    if quote is not None and exact != quote:
        raise QuoteMismatchError(
            f"资料 {source.source_id} 的 [{start}, {end}) 处不是给出的原话（单位 {unit}）；请核对单位与版本。"
        )
    context = context_of(source.text, index, first, last)
    return Anchor(
        source_id=source.source_id,
        source_version=source.version,
        representation=source.representation,
        text_sha256=source.text_sha256,
        unit=known.original if known.approximate else known.name,
        start=start,
        end=end,
        quote=Fragment.of(exact, withheld=withhold),
        before=Fragment.of(context.prefix, withheld=withhold),
        after=Fragment.of(context.suffix, withheld=withhold),
        unique=context.unique,
        prefix_unique=context.prefix_unique,
        suffix_unique=context.suffix_unique,
    )


def anchor_in_passage(source: Source, passage_map: OffsetMap, start: int, end: int) -> Anchor:
    """The receipt, in code points of the source's version, for `[start, end)` of a passage derived from it.

    The quote is what stands in the version: where the passage decoded an entity, the entity. Raises SpanError
    when the span crosses a seam (what was joined in the passage is not one span of the version) or the map is
    not of this version, OffsetMapError when the span is not in the passage.
    """
    if passage_map.source_length != len(source.text):
        raise SpanError(
            f"资料 {source.source_id} 的正文有 {len(source.text)} 个码点，资料块映射的却是"
            f" {passage_map.source_length} 个：请用生成该资料块的版本。"
        )
    original = passage_map.to_original(start, end)
    if original.crosses_seam:
        raise SpanError(
            f"资料 {source.source_id} 的资料块跨度 [{start}, {end}) 跨过了拼接处，在原文里不是连续的一段；"
            "请分段引用。"
        )
    return create_anchor(source, original.start, original.end)


def own_place(anchor: Anchor, index: TextIndex) -> tuple[int, int] | None:
    """The anchor's span in code points on the text of `index`, or None where its quote does not stand
    there.
    """
    unit = parse_unit(anchor.unit).name
    try:
        start, end = (index.convert(position, unit, "codepoint") for position in (anchor.start, anchor.end))
    except PositionError:
        return None
    stands = end - start == anchor.quote.length and anchor.quote.stands_at(index.text, start)
    return (start, end) if stands else None
