"""Where a changed text came from: a piecewise map from a derived text back to the one it was made of.

Both texts are cut into the same number of pieces, side by side: a *verbatim* piece is copied code point by
code point, a *replaced* one stands for its source as a whole (an entity decoded, two code points composed
into one), a *deleted* one has a source and nothing derived from it. All offsets are half-open code points.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import accumulate

from evidence_kit.errors import EvidenceError


class OffsetMapError(EvidenceError):
    """Pieces that do not fit together, or a span that is not in the derived text."""


@dataclass(frozen=True)
class Piece:
    """`length` derived code points made of `source_length` ones; `seam` where source text was left out."""

    length: int
    source_length: int
    verbatim: bool = False
    seam: bool = False

    def __post_init__(self) -> None:
        if min(self.length, self.source_length) < 0 or (self.verbatim and self.length != self.source_length):
            raise OffsetMapError(
                f"映射片段 {self.length} ← {self.source_length} 不成立：长度不能为负，照抄的片段两边要等长"
            )


def verbatim(length: int) -> Piece:
    """Return a piece of `length` code points copied one by one."""
    return Piece(length, length, verbatim=True)


def replaced(length: int, source_length: int) -> Piece:
    """Return a piece that stands for its source as a whole; `source_length` 0 is inserted text."""
    return Piece(length, source_length)


def deleted(source_length: int) -> Piece:
    """Return a piece of source text that was left out: a seam in the derived text."""
    return Piece(0, source_length, seam=True)


@dataclass(frozen=True)
class MappedSpan:
    """A span of the original, and whether text between its ends is missing from the derived text."""

    start: int
    end: int
    crosses_seam: bool


@dataclass(frozen=True)
class OffsetMap:
    """The pieces of one change in order; empty ones are dropped, verbatim neighbours become one."""

    pieces: tuple[Piece, ...]
    _starts: tuple[int, ...] = field(init=False, repr=False, compare=False)
    _source_starts: tuple[int, ...] = field(init=False, repr=False, compare=False)

    def __init__(self, pieces: Iterable[Piece]) -> None:
        merged = tuple(_merge_verbatim(pieces))
        object.__setattr__(self, "pieces", merged)
        object.__setattr__(self, "_starts", tuple(accumulate((p.length for p in merged), initial=0)))
        sources = accumulate((p.source_length for p in merged), initial=0)
        object.__setattr__(self, "_source_starts", tuple(sources))

    @property
    def length(self) -> int:
        """Return the length of the derived text."""
        return self._starts[-1]

    @property
    def source_length(self) -> int:
        """Return the length of the original text."""
        return self._source_starts[-1]

    @property
    def is_identity(self) -> bool:
        """Return whether the derived text is the original."""
        return all(piece.verbatim for piece in self.pieces)

    def to_original(self, start: int, end: int) -> MappedSpan:
        """Return the span of the original behind derived [start, end); OffsetMapError where there is none.

        A replaced piece that the span touches is covered whole. Text left out at either end of the span is
        not covered, and is no seam of it. An empty span gives the empty span before what follows it.
        """
        if not 0 <= start <= end <= self.length:
            raise OffsetMapError(f"区间 [{start}, {end}) 超出文本（全长 {self.length}）：请核对起止位置")
        first = bisect_right(self._starts, start) - 1
        if start == end:
            return self._empty_span(start, first)
        # The last piece that begins before `end` may be empty; the one that holds the last code point is not.
        last = bisect_right(self._starts, end - 1) - 1
        source_start = self._source_starts[first]
        if self.pieces[first].verbatim:
            source_start += start - self._starts[first]
        source_end = self._source_starts[last + 1]
        if self.pieces[last].verbatim:
            source_end -= self._starts[last + 1] - end
        return MappedSpan(source_start, source_end, any(p.seam for p in self.pieces[first : last + 1]))

    def _empty_span(self, position: int, piece: int) -> MappedSpan:
        inside = position - self._starts[piece]
        source = self._source_starts[piece]
        if inside and not self.pieces[piece].verbatim:
            return MappedSpan(source, self._source_starts[piece + 1], self.pieces[piece].seam)
        return MappedSpan(source + inside, source + inside, False)

    def compose(self, earlier: OffsetMap) -> OffsetMap:
        """Return the map from this derived text to the original of the change made before, `earlier`.

        Where a replacement of one change overlaps one of the other, the two become one replacement. Raises
        OffsetMapError where the text between the two has not one length.
        """
        if self.source_length != earlier.length:
            raise OffsetMapError(
                f"两次变换接不上：前一次得到 {earlier.length} 个码点，后一次的原文有 {self.source_length} 个"
            )
        return OffsetMap(_composed(list(reversed(self.pieces)), list(reversed(earlier.pieces))))


def _merge_verbatim(pieces: Iterable[Piece]) -> Iterable[Piece]:
    run = 0
    for piece in pieces:
        if piece.verbatim:
            run += piece.length
        elif piece.length or piece.source_length:
            if run:
                yield verbatim(run)
            run = 0
            yield piece
    if run:
        yield verbatim(run)


def _composed(later: list[Piece], earlier: list[Piece]) -> Iterable[Piece]:
    """Yield the composed pieces; both lists are stacks whose last element comes first in the text."""
    while later or earlier:
        if earlier and earlier[-1].length == 0:
            yield earlier.pop()
        elif later[-1].source_length == 0:
            yield later.pop()
        else:
            size = min(later[-1].source_length, earlier[-1].length)
            if _divisible_later(later[-1]) and earlier[-1].verbatim:
                head = _take_later(later, size)
                _take_earlier(earlier, size)
                yield head
            else:
                yield _joined(later, earlier)


def _joined(later: list[Piece], earlier: list[Piece]) -> Piece:
    """Return one piece for the shortest stretch that both changes can be cut at, at least one being whole."""
    taken: list[Piece] = []  # from `later`
    below: list[Piece] = []  # from `earlier`
    ahead = 0  # how much more of the text between them `later` has taken than `earlier`
    if _divisible_later(later[-1]):
        below.append(earlier.pop())
        ahead = -below[0].length
    else:
        taken.append(later.pop())
        ahead = taken[0].source_length
    while ahead:
        if ahead > 0:
            below.append(_take_earlier(earlier, ahead))
            ahead -= below[-1].length
        else:
            taken.append(_take_later(later, -ahead))
            ahead += taken[-1].source_length
    seam = any(piece.seam for piece in (*taken, *below))
    return Piece(sum(p.length for p in taken), sum(p.source_length for p in below), seam=seam)


def _divisible_later(piece: Piece) -> bool:
    return piece.verbatim or piece.length == 0


def _take_later(pieces: list[Piece], size: int) -> Piece:
    """Take from the top `size` code points of source, or all of a piece that is shorter or cannot be cut."""
    piece = pieces.pop()
    if piece.source_length <= size or not _divisible_later(piece):
        return piece
    rest = piece.source_length - size
    pieces.append(verbatim(rest) if piece.verbatim else deleted(rest))
    return verbatim(size) if piece.verbatim else deleted(size)


def _take_earlier(pieces: list[Piece], size: int) -> Piece:
    """Take from the top `size` derived code points, or all of a piece that is shorter or cannot be cut."""
    piece = pieces.pop()
    if piece.length <= size or not piece.verbatim:
        return piece
    pieces.append(verbatim(piece.length - size))
    return verbatim(size)
