"""One append-only table of revisions: what a record is now, what it was, and the way back.

A record is (kind, id) with a JSON body. A change groups the revisions of one action. Undo and redo append
changes of their own, so the past is never lost; a new change ends what could be redone. Changes that are
not undoable stand outside of this.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime, timezone

from evidence_kit.storage import table
from evidence_kit.storage.connection import Database
from evidence_kit.storage.errors import NothingToUndoError
from evidence_kit.storage.errors import StaleError as StaleError
from evidence_kit.storage.table import Body as Body
from evidence_kit.storage.table import Change as Change
from evidence_kit.storage.table import Revision as Revision
from evidence_kit.storage.table import Turns as Turns
from evidence_kit.storage.table import body_text, instant_text

Clock = Callable[[], datetime]


def utc_now() -> datetime:
    """Return the instant now, in UTC."""
    return datetime.now(timezone.utc)


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
            return table.latest(connection, kind, record_id)

    def since(self, number: int) -> list[Revision]:
        """Return the last revision of each record that has one after `number`, removals too; 0 for all."""
        with self._database.reading() as connection:
            return table.since(connection, number)

    def state(self, known_at: datetime | None = None, change: int | None = None) -> list[Revision]:
        """Return the records that stand, or stood at an instant (changes of that instant included), or after
        the change of a number; several changes may share an instant.

        They are in order of kind, then id.
        """
        with self._database.reading() as connection:
            return table.state(connection, known_at, change)

    def change(self, number: int) -> Change | None:
        """Return the change of a number, None where there is none."""
        with self._database.reading() as connection:
            return next((each for each in table.history(connection, number) if each.number == number), None)

    def refuse_stale(self, kind: str, record_id: str, expected: int) -> None:
        """Raise StaleError where a record's last revision is another one."""
        with self._database.reading() as connection:
            table.refuse_stale(connection, kind, record_id, expected)

    def refuse_newer(self, number: int) -> None:
        """Raise StaleError where anything was written after a revision."""
        with self._database.reading() as connection:
            table.refuse_newer(connection, number)

    def history(self) -> tuple[Change, ...]:
        """Return all changes, the first one first."""
        with self._database.reading() as connection:
            return table.history(connection)

    def last_change(self, known: Change | None = None) -> Change | None:
        """Return the last change, None where there is none: the one `known`, if that is still the last."""
        with self._database.reading() as connection:
            (last,) = connection.execute("SELECT coalesce(max(number), 0) FROM change").fetchone()
            if known is not None and known.number == last:
                return known
            return next(iter(table.history(connection, last)), None)

    def turns(self) -> Turns:
        """Return whether there is anything to undo, and to redo."""
        with self._database.reading() as connection:
            return table.turns(connection)

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
                table.refuse_newer(connection, expected)
            done, undone = table.stacks(connection)
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
            for kind, record_id, before, after in table.effects(connection, number):
                here, there = (after, before) if back else (before, after)
                turning._replace(kind, record_id, here, there)
            return table.history(connection, turning.number)[0]


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
        return table.latest(self._connection, kind, record_id)

    def state(self) -> list[Revision]:
        """Return the records that stand."""
        return table.state(self._connection, None)

    def refuse_newer(self, number: int) -> None:
        """Raise StaleError, naming the last change, where anything was written after a revision."""
        table.refuse_newer(self._connection, number)

    def refuse_stale(self, kind: str, record_id: str, expected: int | None) -> None:
        """Raise StaleError where a record's last revision is not the one expected, if one is."""
        table.refuse_stale(self._connection, kind, record_id, expected)

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
        self.refuse_stale(kind, record_id, expected)
        current = table.latest(self._connection, kind, record_id)
        return self._replace(kind, record_id, body_text(current.body if current else None), body_text(body))

    def _replace(self, kind: str, record_id: str, here: str | None, there: str | None) -> bool:
        """Write `there` if `here` is what stands and they differ."""
        current = table.latest(self._connection, kind, record_id)
        if here == there or body_text(current.body if current else None) != here:
            return False
        self._connection.execute(
            "INSERT INTO revision (number, change, kind, record_id, body)"
            " VALUES ((SELECT coalesce(max(number), 0) + 1 FROM revision), ?, ?, ?, ?)",
            (self.number, kind, record_id, there),
        )
        return True

    def stale(self, kind: str, record_id: str) -> StaleError:
        """Return the error that says which change a record was last written by."""
        return table.stale(self._connection, kind, record_id)
