"""What was in force on a day, by what was known at an instant."""

from datetime import date, datetime, timedelta, timezone

import pytest

from evidence_kit.sources.held import HeldSource
from evidence_kit.sources.model import SourceError
from evidence_kit.sources.store import KIND, put_sources, sources_of, standing
from evidence_kit.sources.validity import Validity
from evidence_kit.storage.connection import new_database, open_database
from evidence_kit.storage.revisions import Revisions


class Clock:
    now = datetime(2026, 1, 15, 4, tzinfo=timezone.utc)

    def __call__(self):
        return self.now


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def revisions(tmp_path, clock):
    with new_database(tmp_path / "x.db"):
        pass
    return Revisions(open_database(tmp_path / "x.db"), clock)


def put(revisions, name, first=None, last=None, supersedes=(), status="active"):
    validity = Validity(
        status, first and date.fromisoformat(first), last and date.fromisoformat(last), supersedes
    )
    with revisions.changing(f"写 {name}") as change:
        put_sources(change, [HeldSource(name, "标题", f"{name} 的正文", 0, validity, "big5", ("x",))])


def read(revisions, known_at=None):
    return sources_of(revisions.state(known_at))


def ids(revisions, day, known_at=None):
    found = standing(read(revisions, known_at), date.fromisoformat(day))
    return [source.source_id for source in found.sources]


def test_source_comes_back_as_it_was_put(revisions):
    put(revisions, "旧")
    put(revisions, "新", "2026-01-01", "2026-12-31", ("旧",))
    held = read(revisions)
    validity = Validity("active", date(2026, 1, 1), date(2026, 12, 31), ("旧",))
    assert held == (
        HeldSource("新", "标题", "新 的正文", 0, validity, "big5", ("x",)),
        HeldSource("旧", "标题", "旧 的正文", 0, Validity(), "big5", ("x",)),
    )


def test_both_boundary_days_belong_to_a_source(revisions):
    put(revisions, "a", "2026-03-01", "2026-03-31")
    days = ("2026-02-28", "2026-03-01", "2026-03-31", "2026-04-01")
    assert [ids(revisions, day) for day in days] == [[], ["a"], ["a"], []]
    reasons = [standing(read(revisions), date.fromisoformat(day)).left_out.get("a") for day in days]
    assert reasons == ["not_yet", None, None, "ended"]


def test_successor_ends_a_source_the_day_before_it_begins(revisions):
    put(revisions, "a")
    put(revisions, "b", "2026-07-01", supersedes=("a",))
    assert (ids(revisions, "2026-06-30"), ids(revisions, "2026-07-01")) == (["a"], ["b"])


def test_back_dated_correction_changes_the_past_as_known_now_and_not_as_known_then(revisions, clock):
    put(revisions, "rule", "2026-01-01")
    january = clock.now
    clock.now = datetime(2026, 3, 10, 4, tzinfo=timezone.utc)
    put(revisions, "rule", "2026-02-15")  # in March we learn: it began only in mid-February
    assert ids(revisions, "2026-02-01", january) == ["rule"]
    assert ids(revisions, "2026-02-01", clock.now - timedelta(microseconds=1)) == ["rule"]
    assert ids(revisions, "2026-02-01", clock.now) == []
    assert ids(revisions, "2026-02-01") == []
    assert (ids(revisions, "2026-02-14"), ids(revisions, "2026-02-15")) == ([], ["rule"])
    assert ids(revisions, "2026-02-01", january - timedelta(microseconds=1)) == []  # not yet recorded at all


def test_withdrawal_of_today_leaves_what_was_known_before(revisions, clock):
    put(revisions, "a")
    before = clock.now
    clock.now += timedelta(days=30)
    put(revisions, "a", status="expired")
    assert (ids(revisions, "2026-01-20", before), ids(revisions, "2026-01-20")) == (["a"], [])


def test_source_that_supersedes_itself_or_one_not_there_is_refused(revisions):
    put(revisions, "a")
    for other in ("a", "nobody"):
        with pytest.raises(SourceError):
            put(revisions, "a", supersedes=(other,))
    with revisions.changing("删") as change:
        change.put(KIND, "a", None)
    with pytest.raises(SourceError, match="不存在"):
        put(revisions, "b", supersedes=("a",))


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"source_id": " "}, "标识是空的"),
        ({"source_id": "\ud800"}, "标识"),
        ({"title": "\ud800"}, "标题"),
        ({"text": "a\ud800"}, "第 1 个码点"),
        ({"origin": "a\ud800.txt"}, "文件名在第 1 个码点"),
        ({"body_start": -1}, "正文起点"),
        ({"body_start": 3}, "正文起点"),
    ],
)
def test_source_that_cannot_be_held_is_refused(fields, said):
    with pytest.raises(SourceError, match=said):
        HeldSource(**{"source_id": "a", "title": "t", "text": "正文", **fields})
