"""Writing one new file whole or not at all."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

from evidence_kit.finder.errors import FinderError
from evidence_kit.sources.visible import visible


def write_new(path: Path, text: str) -> None:
    """Write `text` as UTF-8 to a file that is not there yet. Raises FinderError and leaves nothing behind.

    The text is complete on the disk before it gets its name, and the name is never taken from another file.
    """
    name = visible(str(path))
    taken = f"{name} 已经存在，没有改动它：请换一个文件名，或先移走它。"
    if path.is_dir():
        raise FinderError(f"{name} 是文件夹：请给出一个新文件的名字。")
    if path.exists() or path.is_symlink():
        raise FinderError(taken)
    if not path.parent.is_dir():
        raise FinderError(f"{name} 无法写入：文件夹 {visible(str(path.parent))} 不存在，请先建立。")
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        with temporary.open("x", encoding="utf-8", newline="\n") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        _give_name(temporary, path)
    except FileExistsError:
        raise FinderError(taken) from None
    except OSError as error:
        raise FinderError(f"{name} 无法写入（{error.strerror}）：请检查权限与磁盘空间。") from None
    finally:
        with contextlib.suppress(OSError):
            temporary.unlink()


def _give_name(temporary: Path, path: Path) -> None:
    try:
        os.link(temporary, path)  # unlike a rename this fails where the name is taken
    except FileExistsError:
        raise
    except OSError:  # a file system without hard links
        temporary.replace(path)
