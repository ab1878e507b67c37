"""What a command reads and writes: files whole, output in UTF-8 with `\\n`, a closed pipe without
complaint.
"""

from __future__ import annotations

import io
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from evidence_kit.errors import EvidenceError, os_reason

if TYPE_CHECKING:
    from evidence_kit.sources.model import StoredText


class OutputError(EvidenceError):
    """Standard output takes no more."""


def use_utf8() -> None:
    """Let both output streams write UTF-8 and `\\n`, whatever the console's own encoding is."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(encoding="utf-8", newline="\n")
    if isinstance(sys.stderr, io.TextIOWrapper):
        sys.stderr.reconfigure(encoding="utf-8", errors="backslashreplace", newline="\n")


def emit(text: str) -> None:
    """Write `text` to stdout as it is; where the reader has gone, write nothing and say nothing.

    Raises OutputError where the output cannot be written.
    """
    if sys.stdout is None:  # the caller closed it
        return
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except OSError as error:
        # What is still buffered would raise again when the interpreter closes stdout.
        with Path(os.devnull).open("w", encoding="utf-8") as nowhere:
            os.dup2(nowhere.fileno(), sys.stdout.fileno())
        if not isinstance(error, BrokenPipeError):
            raise OutputError(f"标准输出无法写入（{os_reason(error)}）：请检查磁盘空间。") from None


def emit_json(text: str) -> None:
    """Write JSON text to stdout, with what a terminal might obey as escapes: the same value."""
    from evidence_kit.sources.visible import visible_json

    emit(visible_json(text))


def emit_note(message: str) -> None:
    """Write one line to stderr that is no error."""
    _say(f"提示：{_one_line(message)}\n")


def emit_error(message: str, exit_code: int) -> int:
    """Write one line to stderr and return the exit code."""
    _say(f"错误：{_one_line(message)}\n")
    return exit_code


def _say(line: str) -> None:
    if sys.stderr is not None:  # the caller may have closed it
        sys.stderr.write(line)


def read_bytes(path: str) -> bytes:
    """The bytes of a file; OSError names it."""
    return Path(path).read_bytes()


def read_text(path: str) -> StoredText:
    """The text of a file, decoded once (see `decode_text`)."""
    from evidence_kit.sources.model import decode_text

    return decode_text(read_bytes(path), path)


def _one_line(message: str) -> str:
    from evidence_kit.sources.visible import visible

    return visible(" ".join(message.splitlines()))
