"""One append-only table of revisions: what a record is now, what it was, and the way back.

A record is (kind, id) with a JSON body. A change groups the revisions of one action. Undo and redo append
changes of their own, so the past is never lost; a new change ends what could be redone. Changes that are
not undoable stand outside of this.
"""

from __future__ import annotations

import json
import sqlite3
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timezone
from typing import Any

from evidence_kit.storage.connection import Database
from evidence_kit.storage.errors import DamagedDatabaseError, NothingToUndoError, StaleError, StorageError

Body = Mapping[str, Any]
Clock = Callable[[], datetime]


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


def utc_now() -> datetime:
    """Return the instant now, in UTC."""
    return datetime.now(timezone.utc)


def instant_text(instant: datetime) -> str:
    """Return an instant as it is stored: texts of this form are in the order of time.

    Raises StorageError on an instant without a time zone, or of no year from 1 to 9999 in UTC.
    """
    if instant.utcoffset() is None:
        raise StorageError(f"时刻 {instant.isoformat()} 没有时区：请写明，例如 2026-11-30T12:00:00+08:00。")
    try:
        # Not strftime, whose %Y writes the year 999 as three digits: that text would stand after 2026.
        utc = instant.astimezone(timezone.utc).replace(tzinfo=None)
    except OverflowError:
        raise StorageError(
            f"时刻 {instant.isoformat()} 换算到 UTC 后超出 1 至 9999 年：请换一个时刻。"
        ) from None
    return utc.isoformat(timespec="microseconds") + "Z"


class Revisions:
    """The table in a database. `clock` tells the recorded times, which never go back even if it does."""

    def __init__(self, database: Database, clock: Clock = utc_now) -> None:
        self._database, self._clock = database, clock

    @contextmanager
    def changing(self, label: str, *, undoable: bool = True) -> Iterator[Changing]:
        """Yield one change in the making; it is on the disk when the block ends, whole or not at all."""
        with self._database.writing() as connection:
            yield Changing(connection, label, instant_text(self._clock()), undoable=undoable)

    def latest(self, kind: str, record_id: str) -> Revision | None:
        """Return the last revision of a record, None where there never was one."""
        with self._database.reading() as connection:
            return _latest(connection, kind, record_id)

    def since(self, number: int) -> list[Revision]:
        """Return the last revision of each record that has one after `number`, removals too; 0 for all."""
        with self._database.reading() as connection:
            return _since(connection, number)

    def state(self, known_at: datetime | None = None) -> list[Revision]:
        """Return the records that stand, or stood at an instant (changes of that instant included).

        They are in order of kind, then id.
        """
        with self._database.reading() as connection:
            return _state(connection, known_at)

    def history(self) -> tuple[Change, ...]:
        """Return all changes, the first one first."""
        with self._database.reading() as connection:
            return _history(connection)

    def last_change(self) -> Change | None:
        """Return the last change, None where there is none."""
        with self._database.reading() as connection:
            (last,) = connection.execute("SELECT coalesce(max(number), 0) FROM change").fetchone()
            return next(iter(_history(connection, last)), None)

    def undo(self, *, expected: int | None = None) -> Change:
        """Take back the last change that stands, by a change of its own, and return that.

        A record that a change outside undo has altered since is left as it is. `expected` is the last
        revision of all that the person looked at. Raises NothingToUndoError and StaleError.
        """
        return self._turn("撤销", "没有可以撤销的改动。", back=True, expected=expected)

    def redo(self, *, expected: int | None = None) -> Change:
        """Do again the last change that was undone. Raises NothingToUndoError and StaleError."""
        return self._turn("重做", "没有可以重做的改动。", back=False, expected=expected)

    def _turn(self, verb: str, nothing: str, *, back: bool, expected: int | None) -> Change:
        with self._database.writing() as connection:
            if expected is not None:
                _refuse_newer(connection, expected)
            done, undone = _stacks(connection)
            waiting = done if back else undone
            if not waiting:
                raise NothingToUndoError(nothing)
            number = waiting[-1]
            (label,) = connection.execute("SELECT label FROM change WHERE number = ?", (number,)).fetchone()
            at = instant_text(self._clock())
            turning = Changing(
                connection, f"{verb}：{label}", at, undoes=number if back else None,
                redoes=None if back else number,
            )  # fmt: skip
            for kind, record_id, before, after in _effects(connection, number):
                here, there = (after, before) if back else (before, after)
                turning._replace(kind, record_id, here, there)
            return _history(connection, turning.number)[0]


class Changing:
    """A change in the making, which sees what it has written itself.

    `label` may be set until the first record is written.
    """

    def __init__(
        self, connection: sqlite3.Connection, label: str, at: str, *, undoable: bool = True,
        undoes: int | None = None, redoes: int | None = None,
    ) -> None:  # fmt: skip
        self._connection = connection
        self.label = label
        self._header = (at, undoable, undoes, redoes)
        self._number: int | None = None

    @property
    def number(self) -> int:
        """Return the number of the change, which is entered now if it was not yet."""
        if self._number is None:
            last, time = self._connection.execute(
                "SELECT coalesce(max(number), 0), coalesce(max(recorded_at), '') FROM change"
            ).fetchone()
            self._number = int(last) + 1
            at, undoable, undoes, redoes = self._header
            self._connection.execute(
                "INSERT INTO change (number, label, recorded_at, undoable, undoes, redoes)"
                " VALUES (?, ?, ?, ?, ?, ?)",
                (self._number, self.label, max(at, time), undoable, undoes, redoes),
            )
        return self._number

    def latest(self, kind: str, record_id: str) -> Revision | None:
        """Return the last revision of a record, None where there never was one."""
        return _latest(self._connection, kind, record_id)

    def state(self) -> list[Revision]:
        """Return the records that stand."""
        return _state(self._connection, None)

    def refuse_newer(self, number: int) -> None:
        """Raise StaleError, naming the last change, where anything was written after a revision."""
        _refuse_newer(self._connection, number)

    def ids_ever(self, kind: str) -> list[str]:
        """Return all ids that records of a kind ever had, the removed ones too."""
        rows = self._connection.execute(
            "SELECT DISTINCT record_id FROM revision WHERE kind = ? ORDER BY record_id", (kind,)
        )
        return [record_id for (record_id,) in rows]

    def put(self, kind: str, record_id: str, body: Body | None, *, expected: int | None = None) -> bool:
        """Write a record, or remove it (None); return whether it differs from what stood.

        `expected` is the revision that the writer looked at, 0 for none. Raises StaleError if it is another
        one by now. What is the same is not written again.
        """
        current = _latest(self._connection, kind, record_id)
        if expected is not None and expected != (current.number if current else 0):
            raise self.stale(kind, record_id)
        return self._replace(kind, record_id, _text(current.body if current else None), _text(body))

    def _replace(self, kind: str, record_id: str, here: str | None, there: str | None) -> bool:
        """Write `there` if `here` is what stands and they differ."""
        current = _latest(self._connection, kind, record_id)
        if here == there or _text(current.body if current else None) != here:
            return False
        self._connection.execute(
            "INSERT INTO revision (number, change, kind, record_id, body)"
            " VALUES ((SELECT coalesce(max(number), 0) + 1 FROM revision), ?, ?, ?, ?)",
            (self.number, kind, record_id, there),
        )
        return True

    def stale(self, kind: str, record_id: str) -> StaleError:
        """Return the error that says which change a record was last written by."""
        current = _latest(self._connection, kind, record_id)
        if current is None:
            return StaleError(record_id, 0, "没有这条记录", "")
        query = "SELECT label, recorded_at FROM change WHERE number = ?"
        label, recorded_at = self._connection.execute(query, (current.change,)).fetchone()
        return StaleError(record_id, current.number, label, recorded_at)


def _text(body: Body | None) -> str | None:
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


def _latest(connection: sqlite3.Connection, kind: str, record_id: str) -> Revision | None:
    row = connection.execute(
        "SELECT number, change, kind, record_id, body FROM revision"
        " WHERE kind = ? AND record_id = ? ORDER BY number DESC LIMIT 1",
        (kind, record_id),
    ).fetchone()
    return None if row is None else _revision(row)


def _state(connection: sqlite3.Connection, known_at: datetime | None) -> list[Revision]:
    last = sys.maxsize
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


def _since(connection: sqlite3.Connection, number: int) -> list[Revision]:
    rows = connection.execute(
        """SELECT number, change, kind, record_id, body FROM revision WHERE number IN
            (SELECT max(number) FROM revision WHERE number > ? GROUP BY kind, record_id)
        ORDER BY kind, record_id""",
        (number,),
    )
    return [_revision(row) for row in rows]


def _refuse_newer(connection: sqlite3.Connection, number: int) -> None:
    row = connection.execute(
        "SELECT revision.number, label, recorded_at FROM revision JOIN change ON change.number = change"
        " ORDER BY revision.number DESC LIMIT 1"
    ).fetchone()
    if row is not None and row[0] != number:
        raise StaleError("实验", *row)


def _history(connection: sqlite3.Connection, first: int = 1) -> tuple[Change, ...]:
    records: dict[int, list[tuple[str, str]]] = {}
    query = "SELECT change, kind, record_id FROM revision WHERE change >= ? ORDER BY number"
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


def _stacks(connection: sqlite3.Connection) -> tuple[list[int], list[int]]:
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


def _effects(connection: sqlite3.Connection, change: int) -> list[tuple[str, str, str | None, str | None]]:
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
