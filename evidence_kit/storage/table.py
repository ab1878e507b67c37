"""What the table of revisions says: what stands or stood, what was done, and what could be undone.

Every function reads within the transaction of the connection that it is given.
"""

from __future__ import annotations

import json
import sqlite3
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timezone
from typing import Any

from evidence_kit.storage.errors import DamagedDatabaseError, StaleError, StorageError

Body = Mapping[str, Any]


@dataclass(frozen=True)
class Revision:
    """One record as one change left it; `body` is None where it was removed."""

    number: int
    change: int
    kind: str
    record_id: str
    body: Body | None


@dataclass(frozen=True)
class Change:
    """One action: what it did, when, to which records (kind, id), and which change it undoes or redoes."""

    number: int
    label: str
    recorded_at: datetime
    undoable: bool
    undoes: int | None
    redoes: int | None
    records: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Turns:
    """Whether an undo, and a redo, would find a change."""

    undo: bool
    redo: bool


def instant_text(instant: datetime) -> str:
    """Return an instant as it is stored: texts of this form are in the order of time.

    Raises StorageError on an instant without a time zone, or of no year from 1 to 9999 in UTC.
    """
    if instant.utcoffset() is None:
        raise StorageError(
            f"时刻 {instant.isoformat()} 没有时区：请写明，例如 2026-11-30T12:00:00+08:00。", http_status=400
        )
    try:
        # Not strftime, whose %Y writes the year 999 as three digits: that text would stand after 2026.
        utc = instant.astimezone(timezone.utc).replace(tzinfo=None)
    except OverflowError:
        raise StorageError(
            f"时刻 {instant.isoformat()} 换算到 UTC 后超出 1 至 9999 年：请换一个时刻。", http_status=400
        ) from None
    return utc.isoformat(timespec="microseconds") + "Z"


def body_text(body: Body | None) -> str | None:
    """Return a body as it is stored: equal bodies give the same text."""
    if body is None:
        return None
    return json.dumps(body, ensure_ascii=False, sort_keys=True, separators=(",", ":"), allow_nan=False)


def _revision(row: tuple[int, int, str, str, str | None]) -> Revision:
    number, change, kind, record_id, text = row
    try:
        body = None if text is None else json.loads(text)
    except ValueError:
        body = text
    if text is not None and not isinstance(body, dict):
        raise DamagedDatabaseError(f"第 {number} 条记录（{record_id}）已损坏：请换用备份。")
    return Revision(number, change, kind, record_id, body)


def latest(connection: sqlite3.Connection, kind: str, record_id: str) -> Revision | None:
    """Return the last revision of a record, None where there never was one."""
    row = connection.execute(
        "SELECT number, change, kind, record_id, body FROM revision"
        " WHERE kind = ? AND record_id = ? ORDER BY number DESC LIMIT 1",
        (kind, record_id),
    ).fetchone()
    return None if row is None else _revision(row)


def state(
    connection: sqlite3.Connection, known_at: datetime | None, change: int | None = None
) -> list[Revision]:
    """Return the records that stand, or stood at an instant or after a change, in order of kind, then id."""
    last = sys.maxsize if change is None else change
    if known_at is not None:
        query = "SELECT coalesce(max(number), 0) FROM change WHERE recorded_at <= ?"
        (last,) = connection.execute(query, (instant_text(known_at),)).fetchone()
    rows = connection.execute(
        """SELECT number, change, kind, record_id, body FROM revision
        WHERE body IS NOT NULL AND number IN
            (SELECT max(number) FROM revision WHERE change <= ? GROUP BY kind, record_id)
        ORDER BY kind, record_id""",
        (last,),
    )
    return [_revision(row) for row in rows]


def since(connection: sqlite3.Connection, number: int) -> list[Revision]:
    """Return the last revision of each record that has one after `number`."""
    rows = connection.execute(
        # NOT INDEXED: by number, so that what is older is not gone through.
        """SELECT number, change, kind, record_id, body FROM revision WHERE number IN
            (SELECT max(number) FROM revision NOT INDEXED WHERE number > ? GROUP BY kind, record_id)
        ORDER BY kind, record_id""",
        (number,),
    )
    return [_revision(row) for row in rows]


def refuse_stale(connection: sqlite3.Connection, kind: str, record_id: str, expected: int | None) -> None:
    """Raise StaleError, naming the change that wrote it last, where a record's revision is not `expected`."""
    current = latest(connection, kind, record_id)
    if expected is not None and expected != (current.number if current else 0):
        raise stale(connection, kind, record_id)


def stale(connection: sqlite3.Connection, kind: str, record_id: str) -> StaleError:
    """Return the error that says which change a record was last written by."""
    current = latest(connection, kind, record_id)
    if current is None:
        return StaleError(0, "没有这条记录", "")
    query = "SELECT label, recorded_at FROM change WHERE number = ?"
    label, recorded_at = connection.execute(query, (current.change,)).fetchone()
    return StaleError(current.number, label, recorded_at)


def refuse_newer(connection: sqlite3.Connection, number: int) -> None:
    """Raise StaleError where anything was written after a revision."""
    row = connection.execute(
        "SELECT revision.number, label, recorded_at FROM revision JOIN change ON change.number = change"
        " ORDER BY revision.number DESC LIMIT 1"
    ).fetchone()
    if row is not None and row[0] != number:
        raise StaleError(*row)


def history(connection: sqlite3.Connection, first: int = 1) -> tuple[Change, ...]:
    """Return the changes from the one numbered `first` on."""
    records: dict[int, list[tuple[str, str]]] = {}
    query = "SELECT change, kind, record_id FROM revision WHERE change >= ? ORDER BY change, number"
    for change, kind, record_id in connection.execute(query, (first,)):
        records.setdefault(change, []).append((kind, record_id))
    rows = connection.execute(
        "SELECT number, label, recorded_at, undoable, undoes, redoes FROM change"
        " WHERE number >= ? ORDER BY number",
        (first,),
    )
    return tuple(
        Change(
            number, label, _instant(at), bool(undoable), undoes, redoes, tuple(records.get(number, ()))
        )
        for number, label, at, undoable, undoes, redoes in rows
    )  # fmt: skip


def _instant(text: str) -> datetime:
    return datetime.strptime(text, "%Y-%m-%dT%H:%M:%S.%fZ").replace(tzinfo=timezone.utc)


def stacks(connection: sqlite3.Connection) -> tuple[list[int], list[int]]:
    """Return the changes that could be undone and those that could be redone, each with the next one last."""
    done: list[int] = []
    undone: list[int] = []
    query = "SELECT number, undoes, redoes FROM change WHERE undoable ORDER BY number"
    for number, undoes, redoes in connection.execute(query):
        if undoes is not None:
            undone.append(done.pop())
        elif redoes is not None:
            done.append(undone.pop())
        else:
            done.append(number)
            undone.clear()
    return done, undone


def turns(connection: sqlite3.Connection) -> Turns:
    """Return what can be turned.

    Most changes, judgments above all, end what could be redone: then the ones before are not gone through.
    """
    query = "SELECT undoable, undoes, redoes FROM change ORDER BY number DESC LIMIT 1"
    if connection.execute(query).fetchone() == (True, None, None):
        return Turns(undo=True, redo=False)
    done, undone = stacks(connection)
    return Turns(bool(done), bool(undone))


def effects(connection: sqlite3.Connection, change: int) -> list[tuple[str, str, str | None, str | None]]:
    """Return (kind, id, body before, body after) of each record that a change wrote."""
    return connection.execute(
        """SELECT kind, record_id,
            (SELECT body FROM revision AS earlier WHERE earlier.kind = ours.kind
                AND earlier.record_id = ours.record_id AND earlier.change < ours.change
                ORDER BY number DESC LIMIT 1),
            body
        FROM revision AS ours WHERE number IN
            (SELECT max(number) FROM revision WHERE change = ? GROUP BY kind, record_id)
        ORDER BY number""",
        (change,),
    ).fetchall()
