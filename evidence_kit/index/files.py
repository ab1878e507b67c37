"""An index on disk: a folder with `gen-<digest>/` and a `CURRENT` that names it, written whole or not at all.

A generation holds `manifest.json`, `arrays.bin` (all arrays, each at a multiple of 64 bytes) and `blocks.bin`
(the CRC-32 of each 64 KiB of `arrays.bin`). The folder's name is the digest of the manifest, which has the
SHA-256 of the other two: so opening checks manifest, sizes and checksums, and each block proves itself later.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
import shutil
import sys
import uuid
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from evidence_kit.index.arrays import Array
from evidence_kit.index.blocks import ALIGNMENT, BlockFile, Place, Sums
from evidence_kit.index.errors import DamagedIndexError, IndexFormatError, IndexWriteError

FORMAT, VERSION = "evidence-index", 1
_KEYS = {"format", "version", "byteorder", "settings", "arrays", "bytes", "sha256", "blocks_sha256"}


class Stored(NamedTuple):
    """An opened index: settings as they were saved, and the file of its arrays."""

    settings: dict[str, Any]
    blocks: BlockFile


def save(folder: Path, settings: Mapping[str, Any], arrays: Mapping[str, Array]) -> None:
    """Write a generation and make it the current one; IndexWriteError leaves what stood there."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with _lock(folder):
            _remove_leftovers(folder)
            temporary = folder / f".tmp-{uuid.uuid4().hex}"
            try:
                temporary.mkdir()
                name = _write_generation(temporary, settings, arrays)
                if (folder / name).exists():
                    shutil.rmtree(folder / name)  # of the same content, perhaps damaged since
                temporary.rename(folder / name)
                _write(folder / ".CURRENT.tmp", name.encode() + b"\n")
                (folder / ".CURRENT.tmp").replace(folder / "CURRENT")
                _sync_folder(folder)
            finally:
                shutil.rmtree(temporary, ignore_errors=True)
            _remove_leftovers(folder, keep=name)
    except OSError as error:
        raise IndexWriteError(
            f"{folder}：索引无法写入（{error.strerror or error}），原有的索引没有改变：请检查磁盘空间和权限"
        ) from error


def open_folder(folder: Path) -> Stored:
    """Return the current generation; IndexFormatError where there is none, DamagedIndexError if changed.

    A store that keeps more than an index has the index's folder as `index/` in its own current generation.
    """
    for last in (False, True):
        try:
            name = _current(folder)
            inner = folder / name / "index"
            return open_folder(inner) if inner.is_dir() else _open_generation(folder, name)
        except FileNotFoundError as error:  # a save may just have replaced it
            if last:
                missing = f"缺少 {error.filename}"
                raise IndexFormatError(f"{folder}：这里没有完整的索引（{missing}）：请先建立索引") from error
        except OSError as error:
            reason = error.strerror or error
            raise IndexFormatError(f"{folder}：索引无法读取（{reason}）：请检查路径和权限") from error
    raise IndexFormatError(f"{folder}：这里没有索引")


def verify(folder: Path) -> int:
    """Check every byte of the current generation; returns how many, DamagedIndexError where one changed."""
    stored = open_folder(folder)
    stored.blocks.touch_all()
    manifest = _manifest(folder, _current(folder))
    path = folder / _current(folder) / "arrays.bin"
    digest = hashlib.sha256()
    with path.open("rb") as handle:
        while chunk := handle.read(1 << 20):
            digest.update(chunk)
    if digest.hexdigest() != manifest["sha256"]:
        raise DamagedIndexError(f"索引文件 {path} 与写入时不同：请用原资料重新建立索引")
    return int(manifest["bytes"])


def _current(folder: Path) -> str:
    name = (folder / "CURRENT").read_bytes().decode("ascii", "replace").strip()
    if not (name.startswith("gen-") and name[4:].isalnum()):
        raise DamagedIndexError(f"{folder / 'CURRENT'}：内容不是一代索引的名字：请重新建立索引")
    return name


def _manifest(folder: Path, name: str) -> dict[str, Any]:
    path = folder / name / "manifest.json"
    content = path.read_bytes()
    try:
        manifest = json.loads(content)
    except ValueError:
        manifest = None
    if not isinstance(manifest, dict) or manifest.get("format") != FORMAT:
        raise DamagedIndexError(f"{path}：不是索引的清单，或已损坏：请重新建立索引")
    if manifest.get("version") != VERSION:
        raise IndexFormatError(
            f"{path}：索引格式为第 {manifest.get('version')} 版，本程序只读第 {VERSION} 版：请重新建立索引"
        )
    if name != _generation_name(content) or set(manifest) != _KEYS:
        raise DamagedIndexError(f"{path}：清单与写入时不同：请重新建立索引")
    if manifest["byteorder"] != sys.byteorder:
        raise IndexFormatError(f"{path}：索引是在字节序不同的机器上建立的：请在本机重新建立索引")
    return manifest


def _open_generation(folder: Path, name: str) -> Stored:
    manifest = _manifest(folder, name)
    path = folder / name / "arrays.bin"
    size = path.stat().st_size
    if size != manifest["bytes"]:
        raise DamagedIndexError(f"{path}：应有 {manifest['bytes']} 字节，实有 {size}：请用原资料重新建立索引")
    sums = (folder / name / "blocks.bin").read_bytes()
    if hashlib.sha256(sums).hexdigest() != manifest["blocks_sha256"]:
        raise DamagedIndexError(f"{folder / name / 'blocks.bin'}：与写入时不同：请重新建立索引")
    places = {
        key: Place(entry["offset"], entry["dtype"], tuple(entry["shape"]))
        for key, entry in manifest["arrays"].items()
    }
    return Stored(manifest["settings"], BlockFile(path, places, np.frombuffer(sums, np.uint32)))


def _generation_name(manifest: bytes) -> str:
    return f"gen-{hashlib.sha256(manifest).hexdigest()[:32]}"


def _write_generation(folder: Path, settings: Mapping[str, Any], arrays: Mapping[str, Array]) -> str:
    """Write the three files into `folder`; returns the name that the generation is to have."""
    entries: dict[str, Any] = {}
    digest = hashlib.sha256()
    sums = Sums()
    offset = 0
    path = folder / "arrays.bin"
    with path.open("wb") as handle:
        for name, array in arrays.items():
            data = np.ascontiguousarray(array).reshape(-1).view(np.uint8).data
            entries[name] = {"offset": offset, "dtype": array.dtype.str, "shape": list(array.shape)}
            for part in (data, bytes(-len(data) % ALIGNMENT)):
                handle.write(part)
                digest.update(part)
                sums.add(part)
                offset += len(part)
        handle.flush()
        os.fsync(handle.fileno())
    blocks = sums.close().tobytes()
    manifest = {
        "format": FORMAT, "version": VERSION, "byteorder": sys.byteorder, "settings": dict(settings),
        "arrays": entries, "bytes": offset, "sha256": digest.hexdigest(),
        "blocks_sha256": hashlib.sha256(blocks).hexdigest(),
    }  # fmt: skip
    content = json.dumps(manifest, ensure_ascii=False, sort_keys=True, indent=1).encode()
    _write(folder / "blocks.bin", blocks)
    _write(folder / "manifest.json", content)
    _sync_folder(folder)
    return _generation_name(content)


def _write(path: Path, content: bytes) -> None:
    with path.open("wb") as handle:
        handle.write(content)
        handle.flush()
        os.fsync(handle.fileno())


def _sync_folder(folder: Path) -> None:
    if os.name == "nt":
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _remove_leftovers(folder: Path, keep: str | None = None) -> None:
    """Remove what a killed save left and, once there is one to keep, older generations; under the lock."""
    for path in folder.iterdir():
        # Only what bears a name of ours: other folders may stand here too.
        ours = re.fullmatch(r"gen-[0-9a-f]{32}", path.name) and (path / "manifest.json").is_file()
        old = keep is not None and ours and path.name != keep
        if path.is_dir() and (old or re.fullmatch(r"\.tmp-[0-9a-f]{32}", path.name)):
            shutil.rmtree(path, ignore_errors=True)


@contextlib.contextmanager
def _lock(folder: Path) -> Iterator[None]:
    """Let one save at a time write into a folder; the lock falls with the process that holds it."""
    with (folder / ".lock").open("a+b") as handle:
        if sys.platform == "win32":
            import msvcrt

            handle.seek(0)
            msvcrt.locking(handle.fileno(), msvcrt.LK_LOCK, 1)
        else:
            import fcntl

            fcntl.flock(handle, fcntl.LOCK_EX)
        yield
