"""Writing one file whole or not at all."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

from evidence_kit.errors import EvidenceError
from evidence_kit.sources.visible import visible


class WritingError(EvidenceError):
    """A file was not written, and what stood in its place still stands there."""


def write_whole(path: Path, content: str | bytes, *, replace: bool = False) -> None:
    """Write text (as UTF-8, line ends as they are) or bytes. Raises WritingError and leaves nothing behind.

    The content is complete on the disk before it gets its name. Unless `replace`, the name is never taken
    from another file.
    """
    name = visible(str(path))
    taken = f"{name} 已经存在，没有改动它：请换一个文件名，或先移走它。"
    if path.is_dir():
        raise WritingError(f"{name} 是文件夹：请给出一个文件的名字。")
    if not replace and (path.exists() or path.is_symlink()):
        raise WritingError(taken)
    if not path.parent.is_dir():
        raise WritingError(f"{name} 无法写入：文件夹 {visible(str(path.parent))} 不存在，请先建立。")
    data = _encoded(content, name)
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        with temporary.open("xb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        if replace:
            temporary.replace(path)
        else:
            _give_name(temporary, path)
    except FileExistsError:
        raise WritingError(taken) from None
    except OSError as error:
        raise WritingError(f"{name} 无法写入（{error.strerror}）：请检查权限与磁盘空间。") from None
    finally:
        with contextlib.suppress(OSError):
            temporary.unlink()


def _encoded(content: str | bytes, name: str) -> bytes:
    if isinstance(content, bytes):
        return content
    try:
        return content.encode("utf-8")
    except UnicodeEncodeError as error:
        raise WritingError(
            f"{name} 没有写入：要写的文字在第 {error.start} 个码点处含有孤立的代理项；请检查它的来源。"
        ) from None


def _give_name(temporary: Path, path: Path) -> None:
    try:
        os.link(temporary, path)  # unlike a rename this fails where the name is taken
    except FileExistsError:
        raise
    except OSError:  # a file system without hard links
        temporary.replace(path)
