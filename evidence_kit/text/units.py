"""The four units in which a position can be counted, and the names other systems give them."""

from __future__ import annotations

from dataclasses import dataclass

from evidence_kit.errors import EvidenceError

UNITS = ("codepoint", "utf16", "utf8", "grapheme")


class UnitError(EvidenceError):
    """The name of a unit is not one of those known."""


@dataclass(frozen=True)
class Unit:
    """A parsed unit: canonical `name`, the name as it was given, and whether the two only roughly agree.

    An `approximate` position was counted by rules of another Unicode version: whoever uses it must compare
    the text it selects with the quote before calling it exact.
    """

    name: str
    original: str
    approximate: bool = False


# Azure Document Intelligence (API 2024-11-30, StringIndexType) names three of them its own way. Its text
# elements follow the Unicode version of that service, not ours, hence only an approximation of our
# graphemes.
_KNOWN = {
    **{name: Unit(name, name) for name in UNITS},
    "unicodeCodePoint": Unit("codepoint", "unicodeCodePoint"),
    "utf16CodeUnit": Unit("utf16", "utf16CodeUnit"),
    "textElements": Unit("grapheme", "textElements", approximate=True),
}


def parse_unit(name: str | Unit) -> Unit:
    """Return the `Unit` behind `name` (a `Unit` comes back as it is); UnitError names the allowed ones."""
    if isinstance(name, Unit):
        return name
    unit = _KNOWN.get(name) if isinstance(name, str) else None
    if unit is None:
        raise UnitError(f"坐标单位 {name!r} 无法识别：请改用 {'、'.join(_KNOWN)} 之一")
    return unit
