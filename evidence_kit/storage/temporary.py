"""Temporary files beside a file in the making: how they are called, and what a killed process left of them.

The name is short whatever the file is called, and tells which process writes it. One that is no longer there
left its file for ever: the next who writes into that folder takes it away.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import threading
from pathlib import Path

_NAME = re.compile(r"\.evidence-[0-9a-f]{12}\.([1-9][0-9]{0,9})\.[0-9]+\.tmp(-wal|-shm|-journal)?")


def temporary_beside(path: Path) -> Path:
    """Return the name under which this thread makes the file `path`, in the same folder."""
    digest = hashlib.sha256(os.fsencode(path.name)).hexdigest()[:12]
    return path.with_name(f".evidence-{digest}.{os.getpid()}.{threading.get_ident()}.tmp")


def give_name(temporary: Path, path: Path) -> None:
    """Let a finished temporary file take a name. Raises FileExistsError where the name is taken.

    Where the file system knows no hard links, the name is taken by an empty file first, which only one writer
    can make; a machine that stops just then leaves it empty.
    """
    try:
        os.link(temporary, path)  # unlike a rename this fails where the name is taken
    except FileExistsError:
        raise
    except OSError:
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666))
        try:
            temporary.replace(path)
        except OSError:
            path.unlink()
            raise


def sweep(folder: Path) -> None:
    """Remove the temporary files in a folder whose process has ended; what cannot be removed stays."""
    if os.name != "posix":  # asking for a process would end it on Windows
        return
    with contextlib.suppress(OSError):
        for entry in list(os.scandir(folder)):
            found = _NAME.fullmatch(entry.name)
            if found and not _is_running(int(found[1])):
                with contextlib.suppress(OSError):
                    Path(entry.path).unlink()


def _is_running(process: int) -> bool:
    try:
        os.kill(process, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except OSError:  # of another user
        return True
    return True
