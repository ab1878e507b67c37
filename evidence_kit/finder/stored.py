"""The finder's index in a folder: the engine's files and the passages that its positions stand for."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from evidence_kit.finder.errors import FinderError
from evidence_kit.finder.finder import Finder, check_method
from evidence_kit.finder.passage_files import StoredPassages, write_passages
from evidence_kit.finder.passages import MemoryPassages
from evidence_kit.index.errors import IndexFormatError
from evidence_kit.index.generations import (
    CURRENT,
    LOCK,
    Generation,
    Record,
    is_name_of_ours,
    read_generation,
    replace_generation,
    verify_generation,
)
from evidence_kit.index.weighting import default_analyzer
from evidence_kit.sources.documents import REASONS, Document
from evidence_kit.sources.visible import visible

SCHEMA = "evidence-finder-index/2"
_PASSAGES = "passages"

Progress = Callable[[int, int], None]  # (passages done, passages in all)


@dataclass(frozen=True)
class StoredIndex:
    """What a folder holds: its method, and how much is in it and was left out."""

    method: str
    sources: int
    passages: int
    left_out: Mapping[str, int]


def build_stored(
    documents: Iterable[Document], left_out: Mapping[str, int], folder: Path, method: str, progress: Progress
) -> StoredIndex:
    """Return what `folder` holds after the documents were indexed there, whole or not at all.

    Raises FinderError where there is nothing to index or the folder holds other things, IndexWriteError
    where it cannot be written.
    """
    from evidence_kit.index import Index

    analyzer = default_analyzer(check_method(method))
    passages = MemoryPassages(documents)
    _check_folder(folder)

    def write(generation: Path) -> Record:
        (generation / _PASSAGES).mkdir()
        write_passages(generation / _PASSAGES, passages, lambda done: progress(done, len(passages)))
        index = Index.build(passages.texts(), weighting=method, analyzer=analyzer)
        held = {
            "schema": SCHEMA,
            "method": method,
            "sources": passages.sources,
            "passages": len(passages),
            "left_out": dict(sorted(left_out.items())),
        }
        return {**index.write_files(generation), _PASSAGES: held}

    replace_generation(folder, write, wait=False)
    return StoredIndex(method, passages.sources, len(passages), left_out)


def open_stored(folder: Path) -> tuple[Finder, StoredIndex]:
    """Return a finder over the generation in use, and what it holds; its text is checked by digest.

    Raises FinderError where there are no passages, DamagedIndexError where a file is missing or changed.
    """
    from evidence_kit.index import Index

    def read(generation: Generation) -> tuple[Finder, StoredIndex]:
        held = _held(generation)
        if held is None:
            where = visible(str(folder))
            raise FinderError(f"{where} 只有引擎的索引，没有原文可以显示：请用 evidence index build 建立。")
        passages = StoredPassages(generation.folder / _PASSAGES)
        return Finder(passages, Index.of_generation(generation), held.method), held

    return read_generation(folder, read)


def verify_stored(folder: Path) -> StoredIndex | None:
    """Return what `folder` holds after every byte was checked by its digest, every passage by its text.

    None where it is whole but holds no passages. Raises DamagedIndexError at the first file that is not what
    was written.
    """
    from evidence_kit.index import Index

    generation = verify_generation(folder)
    held = _held(generation)
    if held is not None:
        StoredPassages(generation.folder / _PASSAGES).verify()
    Index.of_generation(generation)
    return held


def _check_folder(folder: Path) -> None:
    """Raise FinderError where the folder stands in no folder, or holds what no build has put there."""
    if not folder.parent.is_dir():
        where = visible(str(folder))
        raise FinderError(f"{where} 无法写入：文件夹 {visible(str(folder.parent))} 不存在，请先建立。")
    names = {path.name for path in folder.iterdir()} if folder.is_dir() else set()
    foreign = {name for name in names if name not in (LOCK, CURRENT) and not is_name_of_ours(name)}
    # Whatever a build leaves behind stands beside its lock.
    if foreign or (names and not (folder / LOCK).is_file()):
        raise FinderError(f"{visible(str(folder))} 里有别的文件，没有改动它：请给出一个新文件夹或空文件夹。")


def _held(generation: Generation) -> StoredIndex | None:
    if _PASSAGES not in generation.manifest:
        return None
    held = generation.fields().record(_PASSAGES)
    if held.string("schema") != SCHEMA:
        raise IndexFormatError(
            f"{generation.shown} 的格式不是 {SCHEMA}：请用相应版本的工具打开，或重新建立索引。"
        )
    left_out = held.record("left_out")
    return StoredIndex(
        method=check_method(held.string("method")),
        sources=held.integer("sources"),
        passages=held.integer("passages"),
        left_out={reason: left_out.integer(reason) for reason in REASONS if left_out.has(reason)},
    )
