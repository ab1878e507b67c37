"""Writing one file whole or not at all."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator
from pathlib import Path

from evidence_kit.errors import EvidenceError, os_reason
from evidence_kit.sources.visible import visible


class WritingError(EvidenceError):
    """A file was not written, and what stood in its place still stands there."""


def write_whole(path: Path, content: str | bytes, *, replace: bool = False) -> None:
    """Write text (as UTF-8, line ends as they are) or bytes, see `new_file`."""
    with new_file(path, replace=replace) as write:
        write(content)


@contextlib.contextmanager
def new_file(path: Path, *, replace: bool = False) -> Iterator[Callable[[str | bytes], None]]:
    """Give a function that writes text (as UTF-8, line ends as they are) or bytes to a file; call it once.

    Raises WritingError and leaves nothing behind: at once where nothing can be written there, so that the
    work for the content need not be done in vain. The content is complete on the disk before it gets its
    name. Unless `replace`, the name is never taken from another file.
    """
    _check(path, replace=replace)
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    with _explained(path):
        file = temporary.open("xb")

    def write(content: str | bytes) -> None:
        data = _encoded(content, path)
        with _explained(path):
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
            if replace:
                temporary.replace(path)
            else:
                _give_name(temporary, path)

    try:
        yield write
    finally:
        with contextlib.suppress(OSError):
            file.close()
        with contextlib.suppress(OSError):
            temporary.unlink()


def _check(path: Path, *, replace: bool) -> None:
    name = visible(str(path))
    if path.is_dir():
        raise WritingError(f"{name} 是文件夹：请给出一个文件的名字。")
    if not replace and (path.exists() or path.is_symlink()):
        raise _taken(path)
    if not path.parent.is_dir():
        raise WritingError(f"{name} 无法写入：文件夹 {visible(str(path.parent))} 不存在，请先建立。")


@contextlib.contextmanager
def _explained(path: Path) -> Iterator[None]:
    try:
        yield
    except FileExistsError:
        raise _taken(path) from None
    except OSError as error:
        where = f"{visible(str(path))} 无法写入（{os_reason(error)}）"
        raise WritingError(f"{where}：请检查权限与磁盘空间。") from None


def _taken(path: Path) -> WritingError:
    return WritingError(f"{visible(str(path))} 已经存在，没有改动它：请换一个文件名，或先移走它。")


def _encoded(content: str | bytes, path: Path) -> bytes:
    if isinstance(content, bytes):
        return content
    try:
        return content.encode("utf-8")
    except UnicodeEncodeError as error:
        raise WritingError(
            f"{visible(str(path))} 没有写入：要写的文字在第 {error.start} 个码点处含有孤立的代理项；"
            "请检查它的来源。"
        ) from None


def _give_name(temporary: Path, path: Path) -> None:
    try:
        os.link(temporary, path)  # unlike a rename this fails where the name is taken
    except FileExistsError:
        raise
    except OSError:  # a file system without hard links
        temporary.replace(path)
