"""Exact conversion of positions between code points, UTF-16 units, UTF-8 bytes and graphemes.

A `TextIndex` keeps, for each block of code points, where the block begins in UTF-16 units and in UTF-8
bytes. A conversion finds its block (division, or bisection over the block starts) and encodes or decodes
only inside it, so it costs O(log n) and the index is built at the speed of the codec. Pure ASCII needs no
table, a text inside the BMP none for UTF-16. Grapheme borders are found when first asked for, and only what
is no border is stored.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from typing import TYPE_CHECKING

from evidence_kit.errors import EvidenceError
from evidence_kit.text.graphemes import cluster_around, grapheme_rules, inner_positions
from evidence_kit.text.units import UNITS, Unit, UnitError, parse_unit

if TYPE_CHECKING:
    from evidence_kit.text.bulk import BulkTables, Int64Array

__all__ = [
    "UNITS",
    "LoneSurrogateError",
    "PositionError",
    "Positions",
    "TextIndex",
    "Unit",
    "UnitError",
    "grapheme_rules",
    "parse_unit",
]

_BLOCK = 512


class LoneSurrogateError(EvidenceError):
    """A text holds half a surrogate pair, which no encoding can carry; `offset` is its code point."""

    def __init__(self, text: str, offset: int) -> None:
        super().__init__(
            f"文本在码点 {offset} 处有孤立的代理项 U+{ord(text[offset]):04X}，无法编码：请先修正来源文本"
        )
        self.offset = offset


class PositionError(EvidenceError):
    """A position is no border of its unit; `before` and `after` are the nearest that are."""

    def __init__(self, position: object, unit: str, reason: str, before: int, after: int) -> None:
        nearest = f"{before}" if before == after else f"{before} 或 {after}"
        super().__init__(
            f"{unit} 位置 {position} {reason}：最近的合法边界是 {nearest}，请核对坐标单位和文本版本"
        )
        self.before = before
        self.after = after


@dataclass(frozen=True)
class Positions:
    """One place in all four units; inside a grapheme, `grapheme` is the cluster that contains it."""

    codepoint: int
    utf16: int
    utf8: int
    grapheme: int
    splits_grapheme: bool


class TextIndex:
    """Positions of one immutable text. Raises LoneSurrogateError where the text cannot be encoded."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._ascii = text.isascii()
        self._lengths = {"codepoint": len(text), "utf16": len(text), "utf8": len(text)}
        self._starts: dict[str, list[int]] = {}
        if self._ascii:
            return
        try:
            self._lengths["utf16"] = len(text.encode("utf-16-le")) // 2
        except UnicodeEncodeError as error:
            raise LoneSurrogateError(text, error.start) from None
        blocks = [text[i : i + _BLOCK] for i in range(0, len(text), _BLOCK)]
        self._starts["utf8"] = _running_total(len(block.encode()) for block in blocks)
        self._lengths["utf8"] = self._starts["utf8"][-1]
        if self._lengths["utf16"] > len(text):
            self._starts["utf16"] = _running_total(len(block.encode("utf-16-le")) // 2 for block in blocks)

    @cached_property
    def _inner(self) -> array[int]:
        return inner_positions(self.text)

    @cached_property
    def _bulk(self) -> BulkTables:
        from evidence_kit.text.bulk import BulkTables

        return BulkTables(self.text, lambda: self._inner)

    def length(self, unit: str | Unit) -> int:
        """Return the length of the text in `unit`."""
        name = parse_unit(unit).name
        return len(self.text) - len(self._inner) if name == "grapheme" else self._lengths[name]

    def convert(self, position: int, source_unit: str | Unit, target_unit: str | Unit) -> int:
        """Return `position` of `source_unit` counted in `target_unit`; PositionError where it is no border.

        A code point inside a grapheme gives the index of the cluster that contains it (see
        `splits_grapheme`).
        """
        source, target = parse_unit(source_unit).name, parse_unit(target_unit).name
        codepoint = self._to_codepoint(position, source)
        return position if source == target else self._from_codepoint(codepoint, target)

    def convert_many(
        self, positions: Iterable[int] | Int64Array, source_unit: str | Unit, target_unit: str | Unit
    ) -> Int64Array:
        """Return `positions` converted as by `convert`, as a numpy int64 array of the same shape.

        Keeps 4 bytes of table for each position of the units it was asked about (8 in texts beyond 2**31).
        The first bad position raises the PositionError that `convert` raises; needs numpy.
        """
        source, target = parse_unit(source_unit).name, parse_unit(target_unit).name
        given = self._bulk.as_array(positions)
        if given.dtype.kind not in "iu":  # empty, or holding what no position can be
            for position in given.ravel().tolist():
                self._to_codepoint(position, source)
            given = given.astype("int64")
        converted, bad = self._bulk.convert(given, source, target)
        if bad is not None:
            self._to_codepoint(bad, source)
        return converted

    def positions(self, position: int, unit: str | Unit) -> Positions:
        """Return the place of `position` in all four units; PositionError where it is no border of `unit`."""
        codepoint = self._to_codepoint(position, parse_unit(unit).name)
        utf16, utf8, grapheme = (self._from_codepoint(codepoint, name) for name in UNITS[1:])
        return Positions(codepoint, utf16, utf8, grapheme, self.splits_grapheme(codepoint))

    def is_border(self, position: int, unit: str | Unit) -> bool:
        """Return whether `position` exists in `unit` and splits no surrogate pair or UTF-8 sequence."""
        try:
            self._to_codepoint(position, parse_unit(unit).name)
        except PositionError:
            return False
        return True

    def splits_grapheme(self, codepoint_position: int) -> bool:
        """Return whether a code-point position lies inside a grapheme; PositionError out of range."""
        return self.grapheme_floor(codepoint_position) != codepoint_position

    def grapheme_floor(self, codepoint_position: int) -> int:
        """Return the nearest grapheme border at or before a code-point position, as a code point."""
        return self._cluster(codepoint_position)[0]

    def grapheme_ceil(self, codepoint_position: int) -> int:
        """Return the nearest grapheme border at or after a code-point position, as a code point."""
        start, end = self._cluster(codepoint_position)
        return start if start == codepoint_position else end

    def _cluster(self, position: int) -> tuple[int, int]:
        self._check_range(position, "codepoint")
        if position == len(self.text):
            return position, position
        if "_inner" in self.__dict__:  # every border is known already
            cluster = self._from_codepoint(position, "grapheme")
            return self._to_codepoint(cluster, "grapheme"), self._to_codepoint(cluster + 1, "grapheme")
        if self._ascii:
            if self.text[position - 1 : position + 1] == "\r\n":
                return position - 1, position + 1
            return position, position + 1
        return cluster_around(self.text, position)

    def _check_range(self, position: int, unit: str) -> None:
        length = self.length(unit)
        if not isinstance(position, int) or isinstance(position, bool):
            raise PositionError(repr(position), unit, "不是整数", 0, length)
        if not 0 <= position <= length:
            nearest = 0 if position < 0 else length
            raise PositionError(position, unit, f"超出范围（全长 {length}）", nearest, nearest)

    def _to_codepoint(self, position: int, unit: str) -> int:
        self._check_range(position, unit)
        if unit == "grapheme":
            # Border number g has inner[i] before it exactly where inner[i] - (i + 1), the borders up to it,
            # is below g.
            inner = self._inner
            return position + bisect_left(range(len(inner)), position, key=lambda i: inner[i] - i - 1)
        starts = self._starts.get(unit)
        if starts is None:
            return position
        block = bisect_right(starts, position, hi=len(starts) - 1) - 1  # the end belongs to the last block
        first = block * _BLOCK
        return first + _UNITS_TO_CODEPOINTS[unit](self.text[first : first + _BLOCK], position, starts[block])

    def _from_codepoint(self, codepoint: int, unit: str) -> int:
        if unit == "grapheme":
            return codepoint - bisect_right(self._inner, codepoint)
        starts = self._starts.get(unit)
        if starts is None:
            return codepoint
        block = codepoint // _BLOCK
        head = self.text[block * _BLOCK : codepoint]
        return starts[block] + (len(head.encode()) if unit == "utf8" else len(head.encode("utf-16-le")) // 2)


def _running_total(sizes: Iterable[int]) -> list[int]:
    return list(accumulate(sizes, initial=0))


def _utf16_to_codepoints(block: str, position: int, start: int) -> int:
    """Return how many code points of `block`, which begins at UTF-16 `start`, lie before `position`."""
    data = block.encode("utf-16-le")
    offset = 2 * (position - start)
    if offset < len(data) and 0xDC <= data[offset + 1] <= 0xDF:
        raise PositionError(position, "utf16", "落在一个代理对中间", position - 1, position + 1)
    return len(data[:offset].decode("utf-16-le"))


def _utf8_to_codepoints(block: str, position: int, start: int) -> int:
    """Return how many code points of `block`, which begins at byte `start`, lie before `position`."""
    data = block.encode()
    before = after = position - start
    while before < len(data) and data[before] & 0xC0 == 0x80:
        before -= 1
    while after < len(data) and data[after] & 0xC0 == 0x80:
        after += 1
    if before != after:
        raise PositionError(position, "utf8", "落在一个字符的字节序列中间", start + before, start + after)
    return len(data[:before].decode())


_UNITS_TO_CODEPOINTS: dict[str, Callable[[str, int, int], int]] = {
    "utf16": _utf16_to_codepoints,
    "utf8": _utf8_to_codepoints,
}
