"""What an index is made of, as named arrays and settings, and back."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from evidence_kit.index.arrays import Array, IndexArrays, Passages, Postings, Statistics, Symbols, Vocabulary
from evidence_kit.index.blocks import BlockFile
from evidence_kit.index.files import open_arrays, write_arrays
from evidence_kit.index.filters import Column, Columns
from evidence_kit.index.generations import MANIFEST, Generation, Record
from evidence_kit.index.identity import StoredIds


class Opened(NamedTuple):
    """The parts of an opened index."""

    analyzer: str
    weighting: str
    arrays: IndexArrays
    ids: Sequence[str | int]
    columns: dict[str, Column]
    blocks: BlockFile


def write_parts(
    folder: Path,
    analyzer: str,
    weighting: str,
    arrays: IndexArrays,
    ids: Sequence[str | int],
    columns: Columns,
) -> Record:
    """Write an index into an empty folder; returns what the manifest of its generation must say."""
    named: dict[str, Array] = {f"symbols.{key}": value for key, value in vars(arrays.symbols).items()}
    for part, group in _groups(arrays).items():
        named |= {f"{part}.{key}": value for key, value in group.items()}
    if not isinstance(ids, range):
        encoded = [str(name).encode("utf-8", "surrogatepass") for name in ids]
        named["ids.start"] = np.cumsum([0, *map(len, encoded)], dtype=np.uint64)
        named["ids.content"] = np.frombuffer(b"".join(encoded), np.uint8)
    for number, column in enumerate(columns.values()):
        named[f"columns.{number}"] = np.asarray(column.codes, np.uint32)
    settings = {
        "analyzer": analyzer, "weighting": weighting, "singles": arrays.vocabulary.singles,
        "window_bits": arrays.window_bits, "largest_tf": arrays.largest_tf,
        "columns": [[name, list(column.values)] for name, column in columns.items()],
    }  # fmt: skip
    return write_arrays(folder, settings, named)


def _groups(arrays: IndexArrays) -> dict[str, dict[str, Array]]:
    vocabulary = arrays.vocabulary._asdict()
    del vocabulary["singles"]
    return {
        "vocabulary": vocabulary,
        "postings": arrays.postings._asdict(),
        "passages": arrays.passages._asdict(),
        "statistics": arrays.statistics._asdict(),
    }


def open_parts(generation: Generation) -> Opened:
    """Return the parts of the index in a generation; errors as `files.open_arrays`."""
    settings, blocks = open_arrays(generation)
    array = blocks.array
    try:
        arrays = IndexArrays(
            Symbols(*(array(f"symbols.{name}") for name in ("chars", "word_start", "word_bytes"))),
            _vocabulary(blocks, settings["singles"]),
            Postings(*(array(f"postings.{name}") for name in Postings._fields)),
            Passages(*(array(f"passages.{name}") for name in Passages._fields)),
            Statistics(*(array(f"statistics.{name}") for name in Statistics._fields)),
            settings["window_bits"],
            settings["largest_tf"],
        )
        ids, columns = _ids(blocks, arrays.passages.order.size), _columns(blocks, settings["columns"])
        named = generation.fields().record("settings")
        return Opened(named.string("analyzer"), named.string("weighting"), arrays, ids, columns, blocks)
    except (KeyError, TypeError, ValueError):
        raise generation.damaged(MANIFEST) from None


def _vocabulary(blocks: BlockFile, singles: int) -> Vocabulary:
    pair_start, second, triple_start, third = (
        blocks.array(f"vocabulary.{name}") for name in ("pair_start", "second", "triple_start", "third")
    )
    return Vocabulary(pair_start, second, triple_start, third, singles)


def _ids(blocks: BlockFile, passages: int) -> Sequence[str | int]:
    if not blocks.has("ids.start"):
        return range(passages)
    return StoredIds(blocks)


def _columns(blocks: BlockFile, described: list[Any]) -> dict[str, Column]:
    return {
        name: Column(tuple(values), blocks.array(f"columns.{number}"))
        for number, (name, values) in enumerate(described)
    }
