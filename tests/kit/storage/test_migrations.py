"""Steps from one version of the tables to the next: taken in order, each whole, each once."""

import os
import sqlite3

import pytest

from evidence_kit.storage import connection as connection_module
from evidence_kit.storage import migrations
from evidence_kit.storage.connection import new_database, open_database
from evidence_kit.storage.errors import StorageError
from evidence_kit.storage.revisions import Revisions

SECOND = ("CREATE TABLE extra (x)", "INSERT INTO extra VALUES (1)")
THIRD = ("INSERT INTO extra SELECT x + 1 FROM extra",)


@pytest.fixture
def old(tmp_path):
    """A file of version 1 with one record."""
    path = tmp_path / "x.db"
    with new_database(path) as database, Revisions(database).changing("写") as change:
        change.put("note", "a", {"text": "旧"})
    return path


@pytest.fixture
def later(monkeypatch):
    """The program as it would be with further steps."""

    def add(*steps):
        monkeypatch.setattr(migrations, "MIGRATIONS", (*migrations.MIGRATIONS[:1], *steps))
        for module in (migrations, connection_module):
            monkeypatch.setattr(module, "VERSION", 1 + len(steps))

    return add


def of_file(path, query):
    connection = sqlite3.connect(path)
    try:
        return connection.execute(query).fetchall()
    finally:
        connection.close()


def test_file_of_an_older_version_takes_the_steps_it_lacks_in_order_and_keeps_its_records(old, later):
    later(SECOND, THIRD)
    database = open_database(old)
    (kept,) = Revisions(database).state()
    database.close()
    assert kept.body == {"text": "旧"}
    assert of_file(old, "PRAGMA user_version") == [(3,)]
    assert of_file(old, "SELECT x FROM extra ORDER BY x") == [(1,), (2,)]
    open_database(old).close()  # takes none again
    assert of_file(old, "SELECT x FROM extra ORDER BY x") == [(1,), (2,)]


def test_new_file_takes_all_steps(tmp_path, later):
    later(SECOND)
    with new_database(tmp_path / "y.db"):
        pass
    assert of_file(tmp_path / "y.db", "PRAGMA user_version") == [(2,)]


def test_step_that_fails_leaves_the_version_before_it_whole(old, later):
    later(SECOND, ("INSERT INTO extra VALUES (9)", "INSERT INTO nowhere VALUES (1)"))
    with pytest.raises(StorageError, match="nowhere"):
        open_database(old)
    assert of_file(old, "PRAGMA user_version") == [(2,)]
    assert of_file(old, "SELECT x FROM extra") == [(1,)]
    later(SECOND, THIRD)
    open_database(old).close()
    assert of_file(old, "SELECT x FROM extra ORDER BY x") == [(1,), (2,)]


def test_processes_that_open_an_old_file_at_once_take_a_step_once(old, later, monkeypatch):
    later(SECOND)
    begin, go = os.pipe()
    asked, answer = os.pipe()
    version_of = migrations.version_of

    def told(connection):
        version = version_of(connection)
        os.write(answer, b"%d" % version)
        return version

    monkeypatch.setattr(migrations, "version_of", told)
    children = []
    for _ in range(3):
        child = os.fork()  # before this process opens the file: SQLite's locks are no child's
        if child == 0:
            try:
                os.read(begin, 1)
                open_database(old)
                os._exit(0)
            finally:
                os._exit(1)
        children.append(child)
    holder = sqlite3.connect(old, isolation_level=None)
    holder.execute("BEGIN IMMEDIATE")  # nobody gets past the question which version it is
    os.write(go, b"...")
    assert [os.read(asked, 1) for _ in children] == [b"1"] * 3
    holder.execute("COMMIT")
    holder.close()
    codes = [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children]
    for end in (begin, go, asked, answer):
        os.close(end)
    assert codes == [0, 0, 0]
    assert of_file(old, "SELECT x FROM extra") == [(1,)]
