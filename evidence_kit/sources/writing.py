"""Writing files whole or not at all."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from evidence_kit.errors import EvidenceError, os_reason
from evidence_kit.sources.visible import visible
from evidence_kit.storage.temporary import give_name, sweep, temporary_beside


class WritingError(EvidenceError):
    """A file was not written, and what stood in its place still stands there."""


def write_whole(path: Path, content: str | bytes, *, replace: bool = False) -> None:
    """Write text (as UTF-8, line ends as they are) or bytes, see `new_file`."""
    write_together({path: content}, replace=replace)


def write_together(contents: Mapping[Path, str | bytes], *, replace: bool = False) -> None:
    """Write several files as `new_file` writes one: none gets its name before all are on the disk."""
    with contextlib.ExitStack() as stack:
        begun = [stack.enter_context(_begun(path, replace=replace)) for path in contents]
        for file, content in zip(begun, contents.values(), strict=True):
            file.fill(content)
        for file in begun:
            file.give_name()


@contextlib.contextmanager
def new_file(path: Path, *, replace: bool = False) -> Iterator[Callable[[str | bytes], None]]:
    """Give a function that writes text (as UTF-8, line ends as they are) or bytes to a file; call it once.

    Raises WritingError and leaves nothing behind: at once where nothing can be written there, so that the
    work for the content need not be done in vain. The content is complete on the disk before it gets its
    name. Unless `replace`, the name is never taken from another file.
    """
    with _begun(path, replace=replace) as file:

        def write(content: str | bytes) -> None:
            file.fill(content)
            file.give_name()

        yield write


class _Begun:
    """A file that has no name yet: its temporary file stands beside the place that it will take."""

    def __init__(self, path: Path, *, replace: bool) -> None:
        self._path, self._replace = path, replace
        self._temporary = temporary_beside(path)
        self.remove()  # of a process that had this one's number
        with _explained(path):
            self._file = self._temporary.open("xb")

    def fill(self, content: str | bytes) -> None:
        """Write the content to the disk."""
        data = _encoded(content, self._path)
        with _explained(self._path):
            self._file.write(data)
            self._file.flush()
            os.fsync(self._file.fileno())
            self._file.close()  # Windows gives no name to an open file

    def give_name(self) -> None:
        """Let the file take its place."""
        with _explained(self._path):
            if self._replace:
                self._temporary.replace(self._path)
            else:
                give_name(self._temporary, self._path)

    def close(self) -> None:
        """Leave no temporary file behind."""
        with contextlib.suppress(OSError):
            self._file.close()
        self.remove()

    def remove(self) -> None:
        """Remove the temporary file, if there is one."""
        with contextlib.suppress(OSError):
            self._temporary.unlink()


@contextlib.contextmanager
def _begun(path: Path, *, replace: bool) -> Iterator[_Begun]:
    _check_place(path, replace=replace)
    sweep(path.parent)
    file = _Begun(path, replace=replace)
    try:
        yield file
    finally:
        file.close()


def _check_place(path: Path, *, replace: bool) -> None:
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
