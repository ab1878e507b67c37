"""A folder that is replaced as a whole: `gen-<digest>/` folders, and `CURRENT`, which names the one in use.

A generation holds files and `manifest.json`, which has the size and the SHA-256 of each; its own digest is
the folder's name. It is written in a temporary folder, through to the disk, before it gets that name and
`CURRENT` is switched: whoever opens the folder finds the old generation or the new one, whole. The old one is
then removed. Who has opened it keeps its files; who has only read its name looks again.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import json
import os
import re
import shutil
import stat
import sys
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple, TypeVar

from evidence_kit.errors import os_reason
from evidence_kit.index.errors import DamagedIndexError, IndexFormatError, IndexWriteError
from evidence_kit.sources.strict_json import Fields, JsonInputError
from evidence_kit.sources.visible import visible

CURRENT, MANIFEST, LOCK = "CURRENT", "manifest.json", ".lock"
# This file's blocks are checked one by one when they are touched, not all of it when it is opened.
BLOCKS_CHECKED = "arrays.bin"
_NAME, _TEMPORARY = re.compile(r"gen-[0-9a-f]{32}"), re.compile(r"\.tmp-[0-9a-f]{32}")

Record = dict[str, object]
T = TypeVar("T")


class Generation(NamedTuple):
    """An opened generation: its folder, and what its manifest says."""

    folder: Path
    manifest: dict[str, Any]

    @property
    def shown(self) -> str:
        """Return the folder as it may stand in a message."""
        return visible(str(self.folder))

    def fields(self) -> Fields:
        """Return the manifest, to be read by name and type."""
        return Fields(self.manifest, MANIFEST)

    def damaged(self, path: str) -> DamagedIndexError:
        """Return the error to raise where the file `path` is not what was written."""
        return _damaged(self.folder / path)


def is_name_of_ours(name: str) -> bool:
    """Return whether a generation, or one that was being written, may have this name."""
    return bool(_NAME.fullmatch(name) or _TEMPORARY.fullmatch(name))


def replace_generation(folder: Path, write: Callable[[Path], Record], *, wait: bool) -> str:
    """Return the name of the new generation, in use from now on; a failure leaves what was in use.

    `write` fills an empty folder and returns what its manifest says beside its files. Where another process
    is writing, this waits for it, or raises IndexWriteError without `wait`; so it does where the disk does
    not take the files. Nothing that is not ours is touched, no link is written through.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with _locked(folder, wait):
            _remove(folder, lambda name: _TEMPORARY.fullmatch(name) is not None)  # left by a killed build
            temporary = folder / f".tmp-{uuid.uuid4().hex}"
            try:
                name = _install(folder, temporary, write)
            finally:
                shutil.rmtree(temporary, ignore_errors=True)
            _remove(folder, lambda other: _NAME.fullmatch(other) is not None and other != name)
            return name
    except OSError as error:
        raise IndexWriteError(
            f"{visible(str(folder))} 无法写入（{os_reason(error)}），原有的索引没有改变："
            "请检查路径、权限和磁盘空间。"
        ) from error


def read_generation(folder: Path, read: Callable[[Generation], T]) -> T:
    """Return what `read` makes of the generation in use, whose files are all there in their full size.

    All but `arrays.bin` are unchanged, too. Raises IndexFormatError where there is no index,
    DamagedIndexError where it is not what was written.
    """
    name = _current(folder)
    while True:
        try:
            return read(_opened(folder, name))
        except (DamagedIndexError, JsonInputError, OSError) as error:
            before, name = name, _current(folder)
            if name != before:  # a build has replaced it meanwhile
                continue
            if isinstance(error, DamagedIndexError):
                raise
            where = error.filename if isinstance(error, OSError) else None
            raise _damaged(Path(where or folder / name / MANIFEST)) from None


def verify_generation(folder: Path) -> Generation:
    """Return the generation in use after every byte of it was checked."""

    def check(generation: Generation) -> Generation:
        expected = {path: digest for path, _, digest in _files(generation)}
        found = {file.relative_to(generation.folder).as_posix() for file in _regular(generation.folder)}
        for path in sorted(found - expected.keys()):  # those that are missing were missed on opening
            raise generation.damaged(path)
        for path, digest in expected.items():
            if _digest(generation.folder / path) != digest:
                raise generation.damaged(path)
        return generation

    return read_generation(folder, check)


def _install(folder: Path, temporary: Path, write: Callable[[Path], Record]) -> str:
    """Write a generation below `temporary`, move it to its place and point `CURRENT` to it."""
    building = temporary / "generation"
    building.mkdir(parents=True)
    record = write(building)
    files = [_described(building, path) for path in _regular(building)]
    manifest = json.dumps({**record, "files": files}, sort_keys=True, indent=1).encode()
    (building / MANIFEST).write_bytes(manifest)
    name = _name_of(manifest)
    (temporary / CURRENT).write_bytes(f"{name}\n".encode())
    _sync(temporary)
    if not _is_whole(folder / name, files):
        shutil.rmtree(folder / name, ignore_errors=True)  # of the same content, damaged since
        building.rename(folder / name)
    (temporary / CURRENT).replace(folder / CURRENT)
    _sync_one(folder)
    return name


def _opened(folder: Path, name: str) -> Generation:
    path = folder / name
    try:
        with _open_regular(path / MANIFEST) as file:
            content = file.read()
        if name != _name_of(content):
            raise _damaged(path / MANIFEST)
        generation = Generation(path, json.loads(content))
        for file_path, size, digest in _files(generation):
            with _open_regular(path / file_path) as file:
                if os.fstat(file.fileno()).st_size != size:
                    raise generation.damaged(file_path)
                if file_path != BLOCKS_CHECKED and _digest_of(file) != digest:
                    raise generation.damaged(file_path)
    except OSError as error:
        raise _damaged(Path(error.filename or path)) from None
    except (ValueError, RecursionError, JsonInputError):
        raise _damaged(path / MANIFEST) from None
    return generation


def _current(folder: Path) -> str:
    try:
        with _open_regular(folder / CURRENT) as file:
            content = file.read(100)
    except OSError as error:
        missing = f"{CURRENT} {os_reason(error)}"
        raise IndexFormatError(f"{visible(str(folder))} 里没有索引（{missing}）：请先建立索引。") from None
    name, end, rest = content.decode("ascii", "replace").partition("\n")
    if (end, rest) != ("\n", "") or not _NAME.fullmatch(name):
        raise _damaged(folder / CURRENT)
    return name


def _files(generation: Generation) -> list[tuple[str, int, str]]:
    """Return (path, bytes, SHA-256) of every file of the manifest, none of which leads out of the folder."""
    files = []
    for fields in generation.fields().records("files"):
        path = fields.string("path")
        if Path(path).is_absolute() or ".." in Path(path).parts:
            raise generation.damaged(MANIFEST)
        files.append((path, fields.integer("bytes"), fields.string("sha256")))
    return files


def _described(folder: Path, path: Path) -> Record:
    name = path.relative_to(folder).as_posix()
    return {"path": name, "bytes": path.stat().st_size, "sha256": _digest(path)}


def _is_whole(generation: Path, files: list[Record]) -> bool:
    """Return whether this very generation is there already, undamaged."""
    if not (generation / MANIFEST).is_file() or generation.is_symlink():
        return False
    manifest = (generation / MANIFEST).read_bytes()
    return (
        _name_of(manifest) == generation.name
        and [_described(generation, path) for path in _regular(generation)] == files
    )


def _regular(generation: Path) -> list[Path]:
    """Return every file of a generation but its manifest, sorted."""
    return sorted(path for path in generation.rglob("*") if path.is_file() and path != generation / MANIFEST)


def _remove(folder: Path, is_old: Callable[[str], bool]) -> None:
    """Remove the folders that bear such a name of ours; `rmtree` takes no link and no file for a folder."""
    for path in folder.iterdir():
        if is_old(path.name):
            shutil.rmtree(path, ignore_errors=True)


@contextlib.contextmanager
def _locked(folder: Path, wait: bool) -> Iterator[None]:
    """Hold the folder's lock, which falls with the process, however that ends."""
    with _open_regular(folder / LOCK, os.O_RDWR | os.O_CREAT) as file:
        try:
            _lock(file, wait)
        except (BlockingIOError, PermissionError):
            raise IndexWriteError(f"另一个程序正在写 {visible(str(folder))}：请等它结束后再试。") from None
        yield


def _lock(file: BinaryIO, wait: bool) -> None:
    if sys.platform == "win32":
        import msvcrt

        msvcrt.locking(file.fileno(), msvcrt.LK_LOCK if wait else msvcrt.LK_NBLCK, 1)
    else:
        import fcntl

        fcntl.flock(file, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))


def _open_regular(path: Path, flags: int = os.O_RDONLY) -> BinaryIO:
    """Return a regular file, opened; OSError on a link, and on a pipe, which nobody may ever write to."""
    safe = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    descriptor = os.open(path, flags | safe, 0o666)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise OSError(errno.ENXIO, "not a regular file", str(path))
    return os.fdopen(descriptor, "rb" if flags == os.O_RDONLY else "rb+")


def _sync(folder: Path) -> None:
    for path in [*folder.rglob("*"), folder]:
        _sync_one(path)


def _sync_one(path: Path) -> None:
    if os.name == "nt":  # folders cannot be opened there, nor files that were opened for reading synced
        return
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _digest(path: Path) -> str:
    with _open_regular(path) as file:
        return _digest_of(file)


def _digest_of(file: BinaryIO) -> str:
    digest = hashlib.sha256()
    while block := file.read(1 << 20):
        digest.update(block)
    return digest.hexdigest()


def _name_of(manifest: bytes) -> str:
    return f"gen-{hashlib.sha256(manifest).hexdigest()[:32]}"


def _damaged(path: Path) -> DamagedIndexError:
    return DamagedIndexError(f"索引文件 {visible(str(path))} 已损坏或缺失：请用原来的资料重新建立索引。")
