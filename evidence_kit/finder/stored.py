"""The finder's index in a folder: the engine's files and the passages that its positions stand for."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from evidence_kit.finder.errors import FinderError
from evidence_kit.finder.finder import Finder, analyzer_of, check_method
from evidence_kit.finder.generations import (
    CURRENT,
    Record,
    open_generation,
    replace_generation,
    verify_generation,
)
from evidence_kit.finder.passage_files import StoredPassages, write_passages
from evidence_kit.finder.passages import MemoryPassages
from evidence_kit.sources.documents import REASONS, Document
from evidence_kit.sources.strict_json import Fields
from evidence_kit.sources.visible import visible

SCHEMA = "evidence-finder-index/1"
_PASSAGES, _INDEX = "passages", "index"
_ENGINE_FILE = "arrays.bin"

Progress = Callable[[int, int], None]  # (passages done, passages in all)


@dataclass(frozen=True)
class StoredIndex:
    """What a folder holds: the generation in use, its method, and how much is in it and was left out."""

    generation: str
    method: str
    sources: int
    passages: int
    left_out: Mapping[str, int]


def build_stored(
    documents: Iterable[Document], left_out: Mapping[str, int], folder: Path, method: str, progress: Progress
) -> StoredIndex:
    """Return what `folder` holds after the documents were indexed there, whole or not at all.

    Raises FinderError where there is nothing to index or the folder cannot be written.
    """
    from evidence_kit.index import Index

    analyzer = analyzer_of(check_method(method))
    passages = MemoryPassages(documents)

    def write(generation: Path) -> Record:
        (generation / _PASSAGES).mkdir()
        write_passages(generation / _PASSAGES, passages, lambda done: progress(done, len(passages)))
        Index.build(passages.texts(), weighting=method, analyzer=analyzer).save(generation / _INDEX)
        return {
            "schema": SCHEMA,
            "method": method,
            "sources": passages.sources,
            "passages": len(passages),
            "left_out": dict(sorted(left_out.items())),
        }

    generation = replace_generation(folder, write)
    return StoredIndex(generation.name, method, passages.sources, len(passages), left_out)


def open_stored(folder: Path) -> tuple[Finder, StoredIndex]:
    """Return a finder over the generation in use, and what it holds; its text is checked by digest.

    Raises FinderError where there is no index, DamagedStoreError where a file is missing or changed.
    """
    from evidence_kit.index import Index

    if is_engine_only(folder):
        where = visible(str(folder))
        raise FinderError(f"{where} 只有引擎的索引，没有原文可以显示：请用 evidence index build 建立。")
    generation, manifest = open_generation(folder)
    held = _held(generation, manifest)
    passages = StoredPassages(generation / _PASSAGES)
    return Finder(passages, Index.open(generation / _INDEX), held.method, None), held


def verify_stored(folder: Path) -> StoredIndex:
    """Return what `folder` holds after every byte was checked by its digest, every passage by its text.

    Raises DamagedStoreError at the first that is not what was written.
    """
    generation, _ = verify_generation(folder)
    StoredPassages(generation / _PASSAGES).verify()
    return _held(*open_generation(folder))


def is_engine_only(folder: Path) -> bool:
    """Return whether the engine itself saved its index to `folder`: there are no passages to show then."""
    try:
        name = (folder / CURRENT).read_bytes().decode("utf-8", "replace").strip()
    except OSError:
        return False
    return name.replace("-", "").isalnum() and (folder / name / _ENGINE_FILE).is_file()


def _held(generation: Path, manifest: Fields) -> StoredIndex:
    if manifest.string("schema") != SCHEMA:
        raise manifest.wrong("schema", f"应是 {SCHEMA}（别的版本请用相应版本的工具打开）")
    left_out = manifest.record("left_out")
    return StoredIndex(
        generation=generation.name,
        method=manifest.string("method"),
        sources=manifest.integer("sources"),
        passages=manifest.integer("passages"),
        left_out={reason: left_out.integer(reason) for reason in REASONS if left_out.has(reason)},
    )
