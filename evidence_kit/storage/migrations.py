"""The tables, as numbered steps: step n takes a file from version n - 1 to version n."""

from __future__ import annotations

import sqlite3

# A change is one action of a person; its revisions are the records that it wrote. Nothing is ever updated
# or deleted. The triggers before INSERT also stop INSERT OR REPLACE, which deletes without a DELETE trigger.
_REVISIONS = (
    """CREATE TABLE change (
        number INTEGER PRIMARY KEY,
        label TEXT NOT NULL,
        recorded_at TEXT NOT NULL,  -- UTC, microseconds: 2026-11-30T04:57:58.123456Z
        undoable INTEGER NOT NULL CHECK (undoable IN (0, 1)),
        undoes INTEGER REFERENCES change (number),
        redoes INTEGER REFERENCES change (number)
    )""",
    """CREATE TABLE revision (
        number INTEGER PRIMARY KEY,
        change INTEGER NOT NULL REFERENCES change (number),
        kind TEXT NOT NULL,
        record_id TEXT NOT NULL,
        body TEXT  -- JSON; NULL: removed
    )""",
    "CREATE INDEX revision_of_record ON revision (kind, record_id, number)",
    "CREATE INDEX revision_of_change ON revision (change)",
    "CREATE INDEX change_by_time ON change (recorded_at)",
    *(
        f"""CREATE TRIGGER {table}_keeps_on_{action} BEFORE {action} ON {table}
        BEGIN SELECT RAISE(ABORT, '{table} is append-only'); END"""
        for table in ("change", "revision")
        for action in ("UPDATE", "DELETE")
    ),
    """CREATE TRIGGER change_grows BEFORE INSERT ON change
        WHEN NEW.number <= (SELECT max(number) FROM change)
        OR NEW.recorded_at < (SELECT max(recorded_at) FROM change)
        BEGIN SELECT RAISE(ABORT, 'change is append-only'); END""",
    """CREATE TRIGGER revision_grows BEFORE INSERT ON revision
        WHEN NEW.number <= (SELECT max(number) FROM revision)
        OR NEW.change <> (SELECT max(number) FROM change)
        BEGIN SELECT RAISE(ABORT, 'revision is append-only'); END""",
)

MIGRATIONS: tuple[tuple[str, ...], ...] = (_REVISIONS,)
VERSION = len(MIGRATIONS)


def version_of(connection: sqlite3.Connection) -> int:
    """Return the number of the last step that the file has taken, 0 for an empty one."""
    return int(connection.execute("PRAGMA user_version").fetchone()[0])


def migrate(connection: sqlite3.Connection) -> None:
    """Take the steps that the file lacks, each in a transaction of its own."""
    while version_of(connection) < VERSION:
        connection.execute("BEGIN IMMEDIATE")
        try:
            # Asked again inside: another process may have taken the step while this one waited.
            version = version_of(connection)
            for statement in MIGRATIONS[version] if version < VERSION else ():
                connection.execute(statement)
            connection.execute(f"PRAGMA user_version = {min(version + 1, VERSION)}")
        except BaseException:
            connection.execute("ROLLBACK")
            raise
        connection.execute("COMMIT")
