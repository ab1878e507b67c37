"""A database file: made whole or not at all, opened by its own only, shared by threads and processes."""

import errno
import os
import sqlite3
import threading
from pathlib import Path

import pytest

from evidence_kit.storage import connection as connection_module
from evidence_kit.storage.connection import new_database, open_database
from evidence_kit.storage.errors import DamagedDatabaseError, StorageError
from evidence_kit.storage.revisions import Revisions


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "a b?#%.db"  # what a URI would take apart
    with new_database(path):
        pass
    return path


def put(revisions, record_id, body, label="写"):
    with revisions.changing(label) as change:
        change.put("note", record_id, body)


def test_file_is_in_wal_mode_with_foreign_keys_and_full_sync(path):
    with open_database(path).reading() as connection:

        def pragma(name):
            return connection.execute(f"PRAGMA {name}").fetchone()[0]

        assert pragma("journal_mode") == "wal"
        assert (pragma("foreign_keys"), pragma("synchronous")) == (1, 2)
        assert (pragma("busy_timeout"), pragma("user_version")) == (10_000, 1)


def test_foreign_keys_are_enforced(path):
    with (
        pytest.raises(StorageError, match="FOREIGN KEY"),
        open_database(path).writing() as connection,
    ):
        connection.execute(
            "INSERT INTO change (number, label, recorded_at, undoable, undoes) VALUES (1, 'x', 't', 1, 99)"
        )


def test_new_file_is_closed_whole_and_leaves_nothing_beside_it(path):
    assert [file.name for file in path.parent.iterdir()] == [path.name]


def test_new_file_that_fails_leaves_nothing(tmp_path):
    with pytest.raises(ZeroDivisionError), new_database(tmp_path / "x.db"):
        raise ZeroDivisionError
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "make", [lambda p: p.write_bytes(b"mine"), lambda p: p.mkdir(), lambda p: p.symlink_to("z")]
)
def test_new_file_never_takes_a_name(tmp_path, make):
    make(tmp_path / "x.db")
    with pytest.raises(StorageError, match="已经存在"), new_database(tmp_path / "x.db"):
        pass
    assert [file.name for file in tmp_path.iterdir()] == ["x.db"]


def test_new_file_does_not_replace_one_that_appears_meanwhile(tmp_path):
    path = tmp_path / "x.db"
    with pytest.raises(StorageError, match="已经存在"), new_database(path):
        path.write_bytes(b"theirs")
    assert path.read_bytes() == b"theirs"
    assert [file.name for file in tmp_path.iterdir()] == ["x.db"]


@pytest.mark.parametrize("suffix", ["-wal", "-shm", "-journal"])
def test_new_file_is_refused_where_the_log_of_a_lost_one_would_be_taken_for_its_own(tmp_path, suffix):
    left = tmp_path / f"x.db{suffix}"
    left.write_bytes(b"old")
    with pytest.raises(StorageError, match="移走"), new_database(tmp_path / "x.db"):
        pass
    assert [(file.name, file.read_bytes()) for file in tmp_path.iterdir()] == [(left.name, b"old")]


def test_new_file_in_a_folder_that_is_not_there_is_refused(tmp_path):
    with pytest.raises(StorageError, match="不存在"), new_database(tmp_path / "no" / "x.db"):
        pass


def test_file_that_is_not_there_is_not_made(tmp_path):
    with pytest.raises(StorageError, match="不存在"):
        open_database(tmp_path / "x.db")
    assert list(tmp_path.iterdir()) == []


def test_folder_is_no_database(tmp_path):
    with pytest.raises(StorageError, match="文件夹"):
        open_database(tmp_path)


@pytest.mark.parametrize(
    "content", [b"not a database, but long enough to hold a header" * 30, b"", b"SQLite format 3\0"]
)
def test_foreign_bytes_are_refused_and_left_as_they_are(tmp_path, content):
    path = tmp_path / "x.db"
    path.write_bytes(content)
    with pytest.raises(StorageError, match="没有改动它"):
        open_database(path)
    assert path.read_bytes() == content


def test_database_of_another_program_is_refused_and_left_as_it_is(tmp_path):
    path = tmp_path / "x.db"
    with sqlite3.connect(path) as theirs:
        theirs.execute("CREATE TABLE t (x)")
    theirs.close()
    before = path.read_bytes()
    with pytest.raises(StorageError, match="别的程序"):
        open_database(path)
    assert path.read_bytes() == before


def test_database_of_a_newer_version_is_refused(path):
    with sqlite3.connect(path) as newer:
        newer.execute("PRAGMA user_version = 99")
    newer.close()
    with pytest.raises(StorageError, match="升级"):
        open_database(path)


def test_damaged_file_is_a_failed_check(path):
    database = open_database(path)
    revisions = Revisions(database)
    for number in range(200):
        put(revisions, f"r{number}", {"text": "字" * 200})
    database.close()
    data = bytearray(path.read_bytes())
    for at in range(4096, len(data), 4096):
        data[at : at + 64] = b"\xff" * 64
    path.write_bytes(data)
    with pytest.raises(DamagedDatabaseError) as caught:
        Revisions(open_database(path)).state()
    assert caught.value.exit_code == 1


def test_read_only_file_is_said_to_be_one(path):
    if os.geteuid() == 0:
        database = open_database(path)
        with database.reading() as connection:
            connection.execute("PRAGMA query_only = ON")
        with pytest.raises(StorageError, match="没有写入权限"):
            put(Revisions(database), "r", {})
        return
    path.chmod(0o444)
    with pytest.raises(StorageError):
        put(Revisions(open_database(path)), "r", {})


def test_busy_file_is_said_to_be_busy(path, monkeypatch):
    monkeypatch.setattr(connection_module, "BUSY_SECONDS", 0.0)
    first, second = open_database(path), open_database(path)
    with first.writing(), pytest.raises(StorageError, match="正被别的程序写入"):
        put(Revisions(second), "r", {})
    put(Revisions(second), "r", {})


def test_reader_sees_one_moment_while_another_process_writes(path):
    reader, writer = open_database(path), Revisions(open_database(path))
    count = "SELECT count(*) FROM revision"
    with reader.reading() as connection:
        assert connection.execute(count).fetchone() == (0,)
        put(writer, "r", {})
        assert connection.execute(count).fetchone() == (0,)
    with reader.reading() as connection:
        assert connection.execute(count).fetchone() == (1,)


def test_write_that_fails_is_rolled_back_and_the_next_one_works(path):
    revisions = Revisions(open_database(path))
    with pytest.raises(ZeroDivisionError), revisions.changing("坏") as change:
        change.put("note", "a", {})
        raise ZeroDivisionError
    put(revisions, "b", {})
    assert [revision.record_id for revision in revisions.state()] == ["b"]
    assert [change.number for change in revisions.history()] == [1]


def test_threads_share_one_database(path):
    revisions = Revisions(open_database(path))
    failed = []

    def work(name):
        try:
            for number in range(25):
                put(revisions, f"{name}-{number}", {"n": number})
                assert revisions.latest("note", f"{name}-{number}").body == {"n": number}
        except BaseException as error:
            failed.append(error)

    threads = [threading.Thread(target=work, args=(name,)) for name in "abcdef"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failed == []
    assert len(revisions.state()) == 150
    assert [change.number for change in revisions.history()] == list(range(1, 151))


def test_child_after_a_fork_opens_the_file_anew(path):
    database = open_database(path)
    revisions = Revisions(database)
    put(revisions, "parent", {})
    mine = database._connection
    child = os.fork()
    if child == 0:
        try:
            put(revisions, "child", {})
            os._exit(0 if database._connection is not mine else 3)
        finally:
            os._exit(4)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert database._connection is mine
    put(revisions, "parent again", {})
    assert [revision.record_id for revision in revisions.state()] == ["child", "parent", "parent again"]


def test_fork_while_a_thread_holds_the_lock_does_not_block_the_child(path):
    database = open_database(path)
    held, leave = threading.Event(), threading.Event()

    def hold():
        with database.reading():
            held.set()
            leave.wait()

    thread = threading.Thread(target=hold)
    thread.start()
    held.wait()
    child = os.fork()
    if child == 0:
        try:
            put(Revisions(database), "child", {})
            os._exit(0)
        finally:
            os._exit(4)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    leave.set()
    thread.join()
    assert code == 0


def test_closed_database_opens_again(path):
    database = open_database(path)
    put(Revisions(database), "a", {})
    database.close()
    assert len(Revisions(database).state()) == 1


def no_links(*_args):
    raise OSError(errno.EOPNOTSUPP, "no hard links here")


def test_without_hard_links_a_new_file_is_made_too_and_leaves_nothing_beside_it(tmp_path, monkeypatch):
    monkeypatch.setattr("os.link", no_links)
    with new_database(tmp_path / "x.db"):
        pass
    assert [file.name for file in tmp_path.iterdir()] == ["x.db"]
    put(Revisions(open_database(tmp_path / "x.db")), "a", {})


def test_without_hard_links_a_file_that_came_meanwhile_is_kept(tmp_path, monkeypatch):
    monkeypatch.setattr("os.link", no_links)
    with pytest.raises(StorageError, match="已经存在"), new_database(tmp_path / "x.db"):
        (tmp_path / "x.db").write_bytes(b"mine")
    assert [(file.name, file.read_bytes()) for file in tmp_path.iterdir()] == [("x.db", b"mine")]


def test_without_hard_links_nothing_is_left_where_the_name_cannot_be_given(tmp_path, monkeypatch):
    monkeypatch.setattr("os.link", no_links)
    monkeypatch.setattr(Path, "replace", no_links)
    with pytest.raises(StorageError, match="无法新建"), new_database(tmp_path / "x.db"):
        pass
    assert list(tmp_path.iterdir()) == []


class WithoutWal(sqlite3.Connection):
    """A connection to a disk on which SQLite keeps to its older journal, and says so."""

    def execute(self, sql, *args):
        return super().execute(sql.replace("journal_mode = WAL", "journal_mode = DELETE"), *args)


def test_disk_on_which_sqlite_has_no_wal_is_refused_and_nothing_is_left(tmp_path, monkeypatch):
    plain = sqlite3.connect
    monkeypatch.setattr("sqlite3.connect", lambda *args, **more: plain(*args, **more, factory=WithoutWal))
    with pytest.raises(StorageError, match="WAL"), new_database(tmp_path / "x.db"):
        pass
    assert list(tmp_path.iterdir()) == []
