"""A file of arrays that is checked block by block, each block when it is first touched."""

from __future__ import annotations

import threading
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

import numpy as np

from evidence_kit.index.arrays import Array
from evidence_kit.index.errors import DamagedIndexError

BLOCK = 1 << 16
ALIGNMENT = 64


class Place(NamedTuple):
    """Where an array stands in the file."""

    offset: int
    dtype: str
    shape: tuple[int, ...]


class Sums:
    """The CRC-32 of each block of a stream of bytes."""

    def __init__(self) -> None:
        self._done: list[int] = []
        self._sum = self._size = 0

    def add(self, data: memoryview | bytes) -> None:
        """Take the next bytes."""
        at = 0
        while at < len(data):
            part = data[at : at + BLOCK - self._size]
            self._sum = zlib.crc32(part, self._sum)
            self._size += len(part)
            at += len(part)
            if self._size == BLOCK:
                self._end_block()

    def close(self) -> Array:
        """Return the sums, of the last block as long as it is: uint32."""
        if self._size:
            self._end_block()
        return np.array(self._done, np.uint32)

    def _end_block(self) -> None:
        self._done.append(self._sum)
        self._sum = self._size = 0


class BlockFile:
    """The arrays of an open file, and which of its blocks were found to be what was written."""

    def __init__(self, path: Path, places: Mapping[str, Place], sums: Array) -> None:
        self._path, self._places, self._sums = path, places, sums
        self._data = np.memmap(path, np.uint8, "r") if path.stat().st_size else np.empty(0, np.uint8)
        self._bytes = self._data.data
        self._left = len(sums)
        self._checked = bytearray(len(sums))
        self._lock = threading.Lock()

    @property
    def is_checked(self) -> bool:
        """Return whether every block was checked."""
        return self._left == 0

    def has(self, name: str) -> bool:
        """Return whether the file has an array of this name."""
        return name in self._places

    def array(self, name: str) -> Array:
        """Return an array as it stands in the file, unchecked and read-only."""
        place = self._places[name]
        size = np.dtype(place.dtype).itemsize * int(np.prod(place.shape))
        part: Array = self._data[place.offset : place.offset + size]
        return part.view(np.ndarray).view(place.dtype).reshape(place.shape)

    def touch(self, name: str, begin: int, end: int) -> None:
        """Check the blocks of elements [begin, end); DamagedIndexError where one is not what was written."""
        if begin >= end or self.is_checked:
            return
        place = self._places[name]
        size = np.dtype(place.dtype).itemsize
        first = (place.offset + begin * size) // BLOCK
        last = (place.offset + end * size - 1) // BLOCK
        block = self._checked.find(0, first, last + 1)
        while block >= 0:
            self._check(block)
            block = self._checked.find(0, block + 1, last + 1)

    def touch_all(self, *names: str) -> None:
        """Check all blocks of these arrays."""
        for name in names:
            self.touch(name, 0, int(np.prod(self._places[name].shape)))

    def _check(self, block: int) -> None:
        at = block * BLOCK
        if zlib.crc32(self._bytes[at : at + BLOCK]) != self._sums[block]:
            raise DamagedIndexError(
                f"索引文件 {self._path} 第 {at} 字节起的一段与写入时不同：请用原资料重新建立索引"
            )
        with self._lock:
            if not self._checked[block]:
                self._checked[block] = 1
                self._left -= 1
