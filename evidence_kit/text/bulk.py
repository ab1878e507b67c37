"""Conversion of many positions at once: one table lookup into, and one out of, code points."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from evidence_kit.errors import EvidenceError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Int64Array = NDArray[np.int64]


class MissingNumpyError(EvidenceError):
    """numpy, which only conversion in bulk needs, is not installed."""


def _numpy() -> Any:
    try:
        import numpy
    except ImportError:
        install = 'python -m pip install "evidence-assistant[scale]"'
        raise MissingNumpyError(f"批量换算坐标需要 numpy，当前环境没有：请运行 {install}") from None
    return numpy


class BulkTables:
    """Lookup tables of one text, each built when first needed and kept.

    `forward[c]` is code point c counted in a unit, `backward[u]` the code point at position u of it, or -1
    where u is no border. Both are None for a unit that counts this text as code points do. `inner` gives
    the code-point positions inside graphemes, found only where graphemes are asked for.
    """

    def __init__(self, text: str, inner: Callable[[], array[int]]) -> None:
        self._np = _numpy()
        self._text = text
        self._inner = inner
        self._forward: dict[str, Any] = {}
        self._backward: dict[str, Any] = {}

    def as_array(self, positions: Iterable[int] | Int64Array) -> Any:
        """Return `positions` as a numpy array, of whatever type numpy finds in them."""
        return self._np.asarray(positions if hasattr(positions, "__len__") else list(positions))

    def convert(self, given: Any, source: str, target: str) -> tuple[Int64Array, int | None]:
        """Return (converted positions, None), or (`given`, its first element that is no border)."""
        np = self._np
        forward, backward = self._forward_table(source), self._backward_table(source)
        length = len(self._text) if forward is None else int(forward[-1])
        bad = (given < 0) | (given > length)
        codepoints = given
        if backward is not None:
            codepoints = backward.take(given, mode="clip")
            bad |= codepoints < 0
        if bad.any():
            return given, int(given[bad].ravel()[0])
        if source == target:
            return np.array(given, dtype=np.int64), None
        out = self._forward_table(target)
        return np.array(codepoints if out is None else out.take(codepoints), dtype=np.int64), None

    def _forward_table(self, unit: str) -> Any:
        if unit not in self._forward:
            self._forward[unit] = self._build_forward(unit)
        return self._forward[unit]

    def _build_forward(self, unit: str) -> Any:
        np = self._np
        if unit == "codepoint" or (unit != "grapheme" and self._text.isascii()):
            return None
        codes = np.frombuffer(self._text.encode("utf-32-le"), dtype="<u4")
        steps = np.zeros(len(codes) + 1, dtype=np.int8)
        if unit == "grapheme":
            steps[1:] = 1
            steps[np.frombuffer(self._inner(), dtype=np.int64)] = 0
        elif unit == "utf16":
            steps[1:] = 1 + (codes > 0xFFFF)
        else:
            steps[1:] = 1 + (codes > 0x7F).view(np.int8) + (codes > 0x7FF) + (codes > 0xFFFF)
        if not (steps[1:] != 1).any():
            return None
        return np.cumsum(steps, dtype=np.int32 if 4 * len(codes) < 2**31 else np.int64)

    def _backward_table(self, unit: str) -> Any:
        np = self._np
        if unit not in self._backward:
            forward = self._forward_table(unit)
            backward = None
            if forward is not None:
                backward = np.full(int(forward[-1]) + 1, -1, dtype=forward.dtype)
                # Only where the count grows: a grapheme is reached at the first of its code points.
                borders = np.flatnonzero(np.diff(forward, prepend=-1)).astype(forward.dtype)
                backward[forward[borders]] = borders
            self._backward[unit] = backward
        return self._backward[unit]
