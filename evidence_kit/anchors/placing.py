"""A receipt resolved in its source, with the text in the three parts that a page shows."""

from __future__ import annotations

from dataclasses import dataclass

from evidence_kit.anchors.anchor import Anchor
from evidence_kit.anchors.resolve import Resolution, resolve
from evidence_kit.text.coordinates import TextIndex
from evidence_kit.text.units import parse_unit


@dataclass(frozen=True)
class Placed:
    """A receipt resolved in its source; `parts` are the text before, at and after its place, if any."""

    resolution: Resolution
    parts: tuple[str, str, str] | None


def place(receipt: Anchor, text: str) -> Placed:
    """Return where a receipt's quote stands in a text today. Raises CorruptAnchor as `resolve` does."""
    resolution = resolve(receipt, text)
    if resolution.span is None:
        return Placed(resolution, None)
    index, unit = TextIndex(text), parse_unit(receipt.unit).name
    start, end = (index.convert(at, unit, "codepoint") for at in (resolution.span.start, resolution.span.end))
    return Placed(resolution, (text[:start], text[start:end], text[end:]))
