"""One SQLite file, opened once in each process.

A `Database` may be shared by threads: it has one connection, and a lock lets one transaction at a time
through. Processes share the file: one writes while the others read what was committed before; who writes
second waits up to `BUSY_SECONDS`. After a fork the child opens the file anew, since SQLite's locks belong to
the process that took them.
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
import threading
import weakref
from collections.abc import Iterator
from pathlib import Path

from evidence_kit.errors import os_reason
from evidence_kit.storage.errors import DamagedDatabaseError, StorageError
from evidence_kit.storage.migrations import VERSION, migrate, version_of
from evidence_kit.storage.temporary import give_name, sweep, temporary_beside

APPLICATION_ID = 0x45564944  # "EVID", in the file's header
BUSY_SECONDS = 10.0

_OPEN: weakref.WeakSet[Database] = weakref.WeakSet()
_ABANDONED: list[sqlite3.Connection] = []


class Database:
    """A file of ours; `open_database` and `new_database` make it."""

    def __init__(self, path: Path, connection: sqlite3.Connection) -> None:
        self.path = path
        self._connection: sqlite3.Connection | None = connection
        self._lock = threading.RLock()
        _OPEN.add(self)

    @contextlib.contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """Yield the connection within a transaction: committed, on the disk, when the block ends well."""
        with self._transaction("BEGIN IMMEDIATE") as connection:
            yield connection

    @contextlib.contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """Yield the connection within a transaction that sees one moment, whoever else writes."""
        with self._transaction("BEGIN") as connection:
            yield connection

    def close(self) -> None:
        """Close the file; what is used afterwards opens it again."""
        with self._lock:
            if self._connection is not None:
                self._connection.close()
                self._connection = None

    @contextlib.contextmanager
    def _transaction(self, begin: str) -> Iterator[sqlite3.Connection]:
        with self._lock, _explained(self.path):
            if self._connection is None:
                self._connection = _connect(self.path)
            connection = self._connection
            connection.execute(begin)
            try:
                yield connection
                connection.execute("COMMIT")
            except BaseException:
                if connection.in_transaction:  # a full disk makes SQLite roll back by itself
                    connection.execute("ROLLBACK")
                raise

    def _forget(self) -> None:
        """Let go of the parent's connection without closing it, which would drop the parent's locks."""
        if self._connection is not None:
            _ABANDONED.append(self._connection)
        self._connection = None
        self._lock = threading.RLock()


def open_database(path: Path) -> Database:
    """Return the database in a file. Raises StorageError where there is none of ours, or a newer one."""
    with _explained(path):
        if path.is_dir():
            raise StorageError(f"{path} 是文件夹：请给出实验文件。")
        if not path.exists():
            raise StorageError(f"{path} 不存在：请检查路径，或先新建一个实验。")
        if not path.is_file():
            raise StorageError(f"{path} 不是普通文件：请给出实验文件。")
        return Database(path, _connect(path))


@contextlib.contextmanager
def new_database(path: Path) -> Iterator[Database]:
    """Yield an empty database, which gets the name `path` when the block ends well; else nothing is left.

    Raises StorageError where the name is taken, or the log of a file that had it lies there.
    """
    if path.exists() or path.is_symlink():
        raise StorageError(f"{path} 已经存在，没有改动它：请换一个文件名，或直接打开它。")
    if not path.parent.is_dir():
        raise StorageError(f"{path} 无法新建：文件夹 {path.parent} 不存在，请先建立。")
    for suffix in ("-wal", "-shm", "-journal"):  # SQLite would take it for the new file's own
        if Path(f"{path}{suffix}").exists():
            raise StorageError(
                f"{path}{suffix} 是从前一个 {path.name} 留下的，没有改动它：请把它移走，或换一个文件名。"
            )
    sweep(path.parent)
    temporary = temporary_beside(path)
    try:
        with _explained(path):
            connection = _plain_connection(temporary, "rwc")
            connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
            (mode,) = connection.execute("PRAGMA journal_mode = WAL").fetchone()
            if mode != "wal":  # SQLite says so and does not fail
                connection.close()
                raise StorageError(f"{path} 无法新建：这个磁盘不支持 SQLite 的 WAL 日志，请换到本机磁盘上。")
            migrate(connection)
        database = Database(temporary, connection)
        try:
            yield database
        finally:
            database.close()  # the last to close moves the log into the file
        give_name(temporary, path)
        database.path = path
    except FileExistsError:
        raise StorageError(f"{path} 已经存在，没有改动它：请换一个文件名，或直接打开它。") from None
    except OSError as error:
        raise StorageError(f"{path} 无法新建（{os_reason(error)}）：请检查权限与磁盘空间。") from None
    finally:
        for suffix in ("", "-wal", "-shm"):
            with contextlib.suppress(OSError):
                Path(f"{temporary}{suffix}").unlink()


def _connect(path: Path) -> sqlite3.Connection:
    """Return a connection to a file that is ours, brought to this version's tables."""
    connection = _plain_connection(path, "rw")
    try:
        if connection.execute("PRAGMA application_id").fetchone()[0] != APPLICATION_ID:
            raise StorageError(f"{path} 是别的程序的文件，没有改动它：请给出实验文件。")
        version = version_of(connection)
        if version > VERSION:
            raise StorageError(
                f"{path} 由更新的版本写成（{version}，这里只到 {VERSION}）：请先升级 evidence-assistant。"
            )
        migrate(connection)
    except BaseException:
        connection.close()
        raise
    return connection


def _plain_connection(path: Path, mode: str) -> sqlite3.Connection:
    connection = sqlite3.connect(
        f"{path.absolute().as_uri()}?mode={mode}",
        uri=True,
        timeout=BUSY_SECONDS,
        isolation_level=None,  # transactions begin and end where this module says
        check_same_thread=False,  # the lock keeps threads apart
    )
    for pragma in ("foreign_keys = ON", "synchronous = FULL", "recursive_triggers = ON"):
        connection.execute(f"PRAGMA {pragma}")
    return connection


@contextlib.contextmanager
def _explained(path: Path) -> Iterator[None]:
    try:
        yield
    except sqlite3.DatabaseError as error:
        raise _explanation(path, error) from error


def _explanation(path: Path, error: sqlite3.DatabaseError) -> StorageError | DamagedDatabaseError:
    said = str(error)
    if "malformed" in said:
        return DamagedDatabaseError(f"{path} 已损坏：请换用备份，或用导出的完整实验 JSON 重建。")
    reasons = {
        "file is not a database": "不是实验文件，没有改动它：请给出实验文件。",
        "locked": "正被别的程序写入：请稍后再试。",
        "readonly": "没有写入权限：请改变权限，或复制到别处再用。",
        "unable to open": "无法打开：请检查路径和权限（所在的文件夹也要可写）。",
        "full": "写不下了：磁盘空间不足，这次没有写入。",
    }
    for words, reason in reasons.items():
        if words in said:
            return StorageError(f"{path} {reason}", http_status=507 if words == "full" else 503)
    return StorageError(f"{path} 无法使用（{said}）：请检查文件和磁盘。")


def _forget_all() -> None:
    for database in list(_OPEN):
        database._forget()


if hasattr(os, "register_at_fork"):  # not on Windows, which does not fork
    os.register_at_fork(after_in_child=_forget_all)
