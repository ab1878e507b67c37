"""The table of revisions: only appended to, undone and redone by appending, asked about the past."""

from datetime import datetime, timedelta, timezone

import pytest

from evidence_kit.storage.connection import new_database, open_database
from evidence_kit.storage.errors import DamagedDatabaseError, NothingToUndoError, StaleError, StorageError
from evidence_kit.storage.revisions import Revisions

NOON = datetime(2026, 11, 30, 12, tzinfo=timezone.utc)


class Clock:
    def __init__(self):
        self.now = NOON

    def __call__(self):
        return self.now


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def database(tmp_path):
    with new_database(tmp_path / "x.db"):
        pass
    return open_database(tmp_path / "x.db")


@pytest.fixture
def revisions(database, clock):
    return Revisions(database, clock)


def put(revisions, record_id, body, label="写", **options):
    undoable = options.pop("undoable", True)
    with revisions.changing(label, undoable=undoable) as change:
        return change.put("note", record_id, body, **options)


def bodies(revisions, known_at=None):
    return {revision.record_id: revision.body for revision in revisions.state(known_at)}


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE revision SET body = '{}'",
        "DELETE FROM revision",
        "UPDATE change SET label = 'x'",
        "DELETE FROM change",
        "INSERT OR REPLACE INTO revision VALUES (1, 1, 'note', 'a', '{}')",
        "INSERT OR REPLACE INTO change (number, label, recorded_at, undoable) VALUES (1, 'x', '9', 1)",
        "INSERT INTO change (number, label, recorded_at, undoable) VALUES (9, 'x', '2020', 1)",
        "INSERT INTO change (number, label, recorded_at, undoable) VALUES (0, 'x', '9', 1)",
        "INSERT INTO revision VALUES (9, 1, 'note', 'a', '{}')",
    ],
)
def test_nothing_is_updated_deleted_replaced_or_put_into_the_past(database, revisions, statement):
    put(revisions, "a", {"n": 1})
    put(revisions, "a", {"n": 2})
    with pytest.raises(StorageError, match="append-only"), database.writing() as connection:
        connection.execute(statement)
    assert bodies(revisions) == {"a": {"n": 2}}


def test_latest_state_and_removed_records(revisions):
    put(revisions, "b", {"n": 1})
    put(revisions, "a", {"n": 2})
    put(revisions, "b", {"n": 3})
    assert bodies(revisions) == {"a": {"n": 2}, "b": {"n": 3}}
    assert put(revisions, "b", None)
    assert bodies(revisions) == {"a": {"n": 2}}
    assert revisions.latest("note", "b").body is None
    assert revisions.latest("note", "c") is None


def test_what_is_the_same_is_not_written_and_makes_no_change(revisions):
    assert put(revisions, "a", {"n": 1, "m": [1.5, None, "字\0"]})
    assert not put(revisions, "a", {"m": [1.5, None, "字\0"], "n": 1})
    assert not put(revisions, "never", None)
    assert len(revisions.history()) == 1
    assert bodies(revisions) == {"a": {"n": 1, "m": [1.5, None, "字\0"]}}


def test_change_groups_the_records_of_one_action(revisions):
    with revisions.changing("两条") as change:
        change.put("note", "a", {})
        change.put("other", "b", {})
        change.put("note", "a", {"again": True})
    (made,) = revisions.history()
    assert (made.label, made.records) == ("两条", (("note", "a"), ("other", "b"), ("note", "a")))
    revisions.undo()
    assert revisions.state() == []
    revisions.redo()
    assert bodies(revisions) == {"a": {"again": True}, "b": {}}


def test_recorded_time_never_goes_back_though_the_clock_does(revisions, clock):
    put(revisions, "a", {"n": 1})
    clock.now = NOON - timedelta(days=400)
    put(revisions, "a", {"n": 2})
    clock.now = NOON + timedelta(seconds=1)
    put(revisions, "a", {"n": 3})
    assert [change.recorded_at for change in revisions.history()] == [NOON, NOON, NOON + timedelta(seconds=1)]


def test_past_is_asked_by_instant_which_belongs_to_it(revisions, clock):
    put(revisions, "a", {"n": 1})
    clock.now = NOON + timedelta(hours=1)
    put(revisions, "a", {"n": 2})
    clock.now = NOON + timedelta(hours=2)
    put(revisions, "a", None)
    microsecond = timedelta(microseconds=1)
    assert bodies(revisions, NOON - microsecond) == {}
    assert bodies(revisions, NOON) == {"a": {"n": 1}}
    assert bodies(revisions, NOON + timedelta(hours=1) - microsecond) == {"a": {"n": 1}}
    assert bodies(revisions, NOON + timedelta(hours=1)) == {"a": {"n": 2}}
    assert bodies(revisions, NOON + timedelta(hours=2)) == {}
    shanghai = (NOON + timedelta(hours=1)).astimezone(timezone(timedelta(hours=8)))
    assert bodies(revisions, shanghai) == {"a": {"n": 2}}


def test_past_after_an_undo_is_what_stood_then(revisions, clock):
    put(revisions, "a", {"n": 1})
    clock.now += timedelta(hours=1)
    put(revisions, "a", {"n": 2})
    clock.now += timedelta(hours=1)
    revisions.undo()
    assert bodies(revisions) == {"a": {"n": 1}}
    assert bodies(revisions, NOON + timedelta(hours=1)) == {"a": {"n": 2}}


def test_instant_without_a_time_zone_is_refused(revisions, clock):
    with pytest.raises(StorageError, match="时区"):
        revisions.state(datetime(2026, 1, 1))
    clock.now = datetime(2026, 1, 1)
    with pytest.raises(StorageError, match="时区"):
        put(revisions, "a", {})


def test_undo_and_redo_walk_back_and_forth_by_appending(revisions):
    for n in (1, 2, 3):
        put(revisions, "a", {"n": n}, f"第{n}次")
    assert revisions.undo().label == "撤销：第3次"
    assert revisions.undo().label == "撤销：第2次"
    assert bodies(revisions) == {"a": {"n": 1}}
    assert revisions.redo().label == "重做：第2次"
    assert bodies(revisions) == {"a": {"n": 2}}
    assert revisions.undo().undoes == 2
    assert revisions.undo().undoes == 1
    assert bodies(revisions) == {}
    with pytest.raises(NothingToUndoError):
        revisions.undo()
    for _ in range(3):
        revisions.redo()
    assert bodies(revisions) == {"a": {"n": 3}}
    with pytest.raises(NothingToUndoError) as caught:
        revisions.redo()
    assert caught.value.http_status == 409
    history = revisions.history()
    assert [change.number for change in history] == list(range(1, 12))
    assert [(change.undoes, change.redoes) for change in history[3:6]] == [(3, None), (2, None), (None, 2)]


def test_new_change_ends_what_could_be_redone_and_the_past_keeps_it(revisions):
    put(revisions, "a", {"n": 1})
    put(revisions, "a", {"n": 2})
    revisions.undo()
    put(revisions, "b", {})
    with pytest.raises(NothingToUndoError):
        revisions.redo()
    revisions.undo()
    assert bodies(revisions) == {"a": {"n": 1}}
    assert len(revisions.history()) == 5


def test_change_that_writes_nothing_leaves_the_redo(revisions):
    put(revisions, "a", {"n": 1})
    put(revisions, "a", {"n": 2})
    revisions.undo()
    put(revisions, "a", {"n": 1})
    revisions.redo()
    assert bodies(revisions) == {"a": {"n": 2}}


def test_change_outside_undo_is_passed_over_and_keeps_the_redo(revisions):
    put(revisions, "a", {"n": 1})
    put(revisions, "frozen", {}, undoable=False)
    revisions.undo()
    assert bodies(revisions) == {"frozen": {}}
    put(revisions, "frozen too", {}, undoable=False)
    revisions.redo()
    assert bodies(revisions) == {"a": {"n": 1}, "frozen": {}, "frozen too": {}}


def test_undo_leaves_alone_what_a_change_outside_undo_has_written_since(revisions):
    put(revisions, "base", {"n": 1}, undoable=False)
    with revisions.changing("全部换掉") as change:
        change.put("note", "base", None)
        change.put("note", "a", {})
    put(revisions, "base", {"n": 2}, undoable=False)
    revisions.undo()
    assert bodies(revisions) == {"base": {"n": 2}}
    revisions.redo()
    assert bodies(revisions) == {"base": {"n": 2}, "a": {}}


def test_turns_say_what_undo_and_redo_would_find(revisions):
    said = []
    for act in (
        lambda: None,
        lambda: put(revisions, "view", {}, undoable=False),
        lambda: put(revisions, "a", {"n": 1}),
        revisions.undo,
        revisions.redo,
        revisions.undo,
        lambda: put(revisions, "view", {"n": 2}, undoable=False),
        lambda: put(revisions, "a", {"n": 3}),
    ):
        act()
        turns = revisions.turns()
        said.append((turns.undo, turns.redo))
    no, undo, redo = (False, False), (True, False), (False, True)
    assert said == [no, no, undo, redo, undo, redo, redo, undo]


def test_stale_tab_is_told_what_changed_and_nothing_is_written(revisions):
    put(revisions, "a", {"n": 1})
    seen = revisions.latest("note", "a").number
    put(revisions, "a", {"n": 2}, "别人的改动")
    with pytest.raises(StaleError) as caught, revisions.changing("迟到") as change:
        change.put("note", "b", {})
        change.put("note", "a", {"n": 3}, expected=seen)
    error = caught.value
    assert (error.http_status, error.exit_code) == (409, 2)
    assert (error.label, error.recorded_at) == ("别人的改动", "2026-11-30T12:00:00.000000Z")
    assert error.message == (
        "这里的内容在您打开之后已被改动（2026-11-30 12:00:00 UTC 「别人的改动」）："
        "这次没有写入；请先看现在的内容再改。"
    )
    assert error.said("今天中午") == error.message.replace("2026-11-30 12:00:00 UTC", "今天中午")
    assert error.current == revisions.latest("note", "a").number
    assert bodies(revisions) == {"a": {"n": 2}}
    put(revisions, "a", {"n": 3}, expected=error.current)


def test_expecting_none_refuses_a_record_that_came_meanwhile(revisions):
    put(revisions, "a", {"n": 1}, expected=0)
    with pytest.raises(StaleError):
        put(revisions, "a", {"n": 2}, expected=0)
    with pytest.raises(StaleError, match="已被改动（「没有这条记录」）"):
        put(revisions, "b", {"n": 2}, expected=7)


def test_removal_counts_as_a_change_for_a_stale_tab(revisions):
    put(revisions, "a", {"n": 1})
    seen = revisions.latest("note", "a").number
    put(revisions, "a", None)
    with pytest.raises(StaleError):
        put(revisions, "a", {"n": 1}, expected=seen)


def test_body_that_is_no_json_is_damage(database, revisions):
    put(revisions, "a", {})
    with database.writing() as connection:
        connection.execute("DROP TRIGGER revision_keeps_on_UPDATE")
        connection.execute("UPDATE revision SET body = '{'")
    with pytest.raises(DamagedDatabaseError):
        revisions.state()


def test_ids_ever_given_include_the_removed(revisions):
    put(revisions, "b", {})
    put(revisions, "a", {})
    put(revisions, "b", None)
    with revisions.changing("看") as change:
        assert change.ids_ever("note") == ["a", "b"]
        assert change.ids_ever("other") == []
