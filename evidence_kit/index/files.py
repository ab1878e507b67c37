"""The arrays of an index as files of a generation.

`arrays.bin` holds all arrays, each at a multiple of 64 bytes, and `blocks.bin` the CRC-32 of each 64 KiB of
it: opening checks manifest, sizes and these sums, and each block proves itself when it is first touched.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from evidence_kit.index.arrays import Array
from evidence_kit.index.blocks import ALIGNMENT, BlockFile, Place, Sums
from evidence_kit.index.errors import IndexFormatError
from evidence_kit.index.generations import BLOCKS_CHECKED, MANIFEST, Generation, Record
from evidence_kit.sources.visible import visible

FORMAT, VERSION = "evidence-index", 2
ARRAYS, SUMS = BLOCKS_CHECKED, "blocks.bin"


class Stored(NamedTuple):
    """An opened index: settings as they were saved, and the file of its arrays."""

    settings: dict[str, Any]
    blocks: BlockFile


def write_arrays(folder: Path, settings: Mapping[str, Any], arrays: Mapping[str, Array]) -> Record:
    """Write the two files into `folder`; returns what the manifest must say of them."""
    entries: dict[str, Any] = {}
    sums = Sums()
    offset = 0
    with (folder / ARRAYS).open("xb") as handle:
        for name, array in arrays.items():
            data = np.ascontiguousarray(array).reshape(-1).view(np.uint8).data
            entries[name] = {"offset": offset, "dtype": array.dtype.str, "shape": list(array.shape)}
            for part in (data, bytes(-len(data) % ALIGNMENT)):
                handle.write(part)
                sums.add(part)
                offset += len(part)
    (folder / SUMS).write_bytes(sums.close().tobytes())
    return {
        "format": FORMAT, "version": VERSION, "byteorder": sys.byteorder, "settings": dict(settings),
        "arrays": entries,
    }  # fmt: skip


def open_arrays(generation: Generation) -> Stored:
    """Return the index of a generation; IndexFormatError where it is of another version or machine."""
    manifest, where = generation.fields(), generation.shown
    kind = (manifest.string("format"), manifest.integer("version"))
    if kind != (FORMAT, VERSION):
        raise IndexFormatError(
            f"{where} 的格式是 {visible(kind[0])} 第 {kind[1]} 版，本程序只读 {FORMAT} 第 {VERSION} 版："
            "请重新建立索引。"
        )
    if manifest.string("byteorder") != sys.byteorder:
        raise IndexFormatError(f"{where} 是在字节序不同的机器上建立的：请在本机重新建立索引。")
    sums = np.frombuffer((generation.folder / SUMS).read_bytes(), np.uint32)
    try:
        places = {
            name: Place(entry["offset"], entry["dtype"], tuple(entry["shape"]))
            for name, entry in generation.manifest["arrays"].items()
        }
        return Stored(generation.manifest["settings"], BlockFile(generation.folder / ARRAYS, places, sums))
    except (AttributeError, KeyError, TypeError, ValueError):
        raise generation.damaged(MANIFEST) from None
