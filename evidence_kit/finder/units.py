"""The units in which positions of findings are given: those that every program can slice by."""

from __future__ import annotations

from evidence_kit.finder.errors import FinderError
from evidence_kit.text.units import parse_unit

CODE_UNITS = ("codepoint", "utf16", "utf8")


def code_unit(name: str) -> str:
    """Return the canonical name of a code unit; FinderError on graphemes, UnitError on what is no unit."""
    unit = parse_unit(name).name
    if unit not in CODE_UNITS:
        raise FinderError(f"命中的位置不能用单位 {name} 给出：请改用 {'、'.join(CODE_UNITS)} 之一。")
    return unit
