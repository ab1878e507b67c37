"""A folder that is replaced as a whole: `gen-<digest>/` folders, and `CURRENT`, which names the one in use.

A generation is written under another name, completely and through to the disk, before it gets its own and
`CURRENT` is switched. So whoever opens the folder finds the old generation or the new one, whole. The
generation that was in use before stays until the next switch, for those who have just read `CURRENT`.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

from evidence_kit.finder.errors import DamagedStoreError, FinderError
from evidence_kit.sources.strict_json import Fields, JsonInputError, parse_json
from evidence_kit.sources.visible import visible

SELF_CHECKING = "index/"
CURRENT, MANIFEST, LOCK = "CURRENT", "manifest.json", ".lock"
_BUILDING = ".building"
_GENERATION = r"gen-[0-9a-f]{16}"

Record = dict[str, object]


def replace_generation(folder: Path, write: Callable[[Path], Record]) -> Path:
    """Return the new generation of `folder`, in use from now on; what was in use is untouched by any failure.

    `write` fills an empty folder and returns what its manifest says beside the sizes and digests of the
    files. Raises FinderError where another process writes there, the folder holds other things, or the disk
    does not take it.
    """
    try:
        folder.mkdir(exist_ok=True)
        _check_ours(folder)
        with _locked(folder):
            return _replace(folder, write)
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise FinderError(f"{_name(folder)} 无法写入（{reason}）：请检查路径、权限与磁盘空间。") from None


def open_generation(folder: Path) -> tuple[Path, Fields]:
    """Return the generation in use and its manifest; every file is there in its full size, unchanged.

    Raises FinderError where there is none, DamagedStoreError where it is not what was written.
    """
    try:
        name, end, rest = (folder / CURRENT).read_bytes().decode("utf-8", "replace").partition("\n")
    except OSError:
        raise FinderError(f"{_name(folder)} 不是索引文件夹：请先用 evidence index build 建立。") from None
    generation = folder / name
    try:
        if (end, rest) != ("\n", "") or not re.fullmatch(_GENERATION, name):
            raise _damaged(folder, CURRENT)
        data = (generation / MANIFEST).read_bytes()
        if name != _generation_name(data):
            raise _damaged(folder, MANIFEST)
        manifest = Fields(parse_json(data, MANIFEST), MANIFEST)
        for path, size, digest in _files(manifest):
            if (generation / path).stat().st_size != size:
                raise _damaged(folder, path)
            # What is quoted must be what was read in; the engine's own files check their blocks themselves.
            if not path.startswith(SELF_CHECKING) and _digest(generation / path) != digest:
                raise _damaged(folder, path)
    except OSError as error:
        missing = Path(error.filename).name if error.filename else MANIFEST
        raise _damaged(folder, missing) from None
    except JsonInputError:
        raise _damaged(folder, MANIFEST) from None
    return generation, manifest


def verify_generation(folder: Path) -> tuple[Path, int]:
    """Return the generation in use and its number of files, after every byte of it was checked."""
    generation, manifest = open_generation(folder)
    expected = {path: digest for path, _, digest in _files(manifest)}
    found = {path for path, _, _ in _measured(generation)}
    for path in sorted(found ^ expected.keys()):
        raise _damaged(folder, path)
    for path, digest in expected.items():
        if _digest(generation / path) != digest:
            raise _damaged(folder, path)
    return generation, len(expected)


def _replace(folder: Path, write: Callable[[Path], Record]) -> Path:
    building = folder / _BUILDING
    shutil.rmtree(building, ignore_errors=True)  # left by a build that was killed: we hold the lock
    building.mkdir()
    try:
        record = write(building)
        files: list[Record] = [
            {"path": path, "bytes": size, "sha256": digest} for path, size, digest in _measured(building)
        ]
        text = json.dumps({**record, "files": files}, ensure_ascii=False, indent=2)
        manifest = f"{text}\n".encode()
        (building / MANIFEST).write_bytes(manifest)
        _sync(building)
        generation = folder / _generation_name(manifest)
        if not _is_whole(generation, files):
            shutil.rmtree(generation, ignore_errors=True)
            building.rename(generation)
        _switch(folder, generation.name)
    finally:
        shutil.rmtree(building, ignore_errors=True)
    return generation


def _is_whole(generation: Path, files: list[Record]) -> bool:
    """Return whether this very generation is there already, undamaged."""
    there = [(file["path"], file["bytes"], file["sha256"]) for file in files]
    return (generation / MANIFEST).is_file() and list(_measured(generation)) == there


def _switch(folder: Path, name: str) -> None:
    current = folder / CURRENT
    previous = current.read_bytes().decode("utf-8", "replace").strip() if current.exists() else ""
    temporary = folder / f".{CURRENT}"
    with temporary.open("w", encoding="utf-8", newline="\n") as file:
        file.write(f"{name}\n")
        file.flush()
        os.fsync(file.fileno())
    temporary.replace(current)
    for other in folder.iterdir():
        ours = re.fullmatch(_GENERATION, other.name) and (other / MANIFEST).is_file()
        if ours and other.name not in (name, previous):
            shutil.rmtree(other, ignore_errors=True)


def _check_ours(folder: Path) -> None:
    names = {path.name for path in folder.iterdir()}
    expected = {LOCK, _BUILDING, CURRENT, f".{CURRENT}"}
    foreign = any(name not in expected and not re.fullmatch(_GENERATION, name) for name in names)
    # Whatever we leave behind stands beside our lock; and a link would have us write into another file.
    unlocked = bool(names) and LOCK not in names
    linked = any((folder / name).is_symlink() for name in names)
    if foreign or unlocked or linked or (names and not (folder / LOCK).is_file()):
        raise FinderError(f"{_name(folder)} 里有别的文件，没有改动它：请给出一个新文件夹或空文件夹。")


@contextlib.contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """Hold the folder's lock, which ends with the process, however that ends."""
    try:
        import fcntl
    except ImportError:  # no such locks on this system
        yield
        return
    with (folder / LOCK).open("a") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise FinderError(f"另一个程序正在写 {_name(folder)}：请等它结束后再试。") from None
        yield


def _sync(folder: Path) -> None:
    for path in [*folder.rglob("*"), folder]:
        if os.name == "nt":  # folders cannot be opened there, nor files that were opened for reading synced
            continue
        descriptor = os.open(path, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def _measured(folder: Path) -> list[tuple[str, int, str]]:
    """Return (path, bytes, SHA-256) of every file below `folder` but its manifest, by path."""
    paths = sorted(path for path in folder.rglob("*") if path.is_file() and path != folder / MANIFEST)
    return [(path.relative_to(folder).as_posix(), path.stat().st_size, _digest(path)) for path in paths]


def _files(manifest: Fields) -> list[tuple[str, int, str]]:
    return [(f.string("path"), f.integer("bytes"), f.string("sha256")) for f in manifest.records("files")]


def _digest(path: Path) -> str:
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while block := file.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()


def _generation_name(manifest: bytes) -> str:
    return f"gen-{hashlib.sha256(manifest).hexdigest()[:16]}"


def _damaged(folder: Path, path: str) -> DamagedStoreError:
    return DamagedStoreError(f"索引 {_name(folder)} 已损坏（{visible(path)}）：请用原来的资料重新建立。")


def _name(folder: Path) -> str:
    return visible(str(folder))
