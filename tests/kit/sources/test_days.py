"""Days and instants: today in Shanghai unless set, one spelling, clear refusals."""

import zoneinfo
from datetime import date, datetime, timedelta, timezone

import pytest

from evidence_kit.sources import days
from evidence_kit.sources.days import parse_day, parse_instant, today, zone
from evidence_kit.sources.model import SourceError

EVENING = datetime(2026, 11, 30, 16, 0, tzinfo=timezone.utc)  # midnight in Shanghai


@pytest.fixture(autouse=True)
def unset(monkeypatch):
    monkeypatch.delenv(days.ZONE_SETTING, raising=False)


def test_day_begins_at_midnight_in_shanghai():
    assert today(EVENING) == date(2026, 12, 1)
    assert today(EVENING - timedelta(microseconds=1)) == date(2026, 11, 30)


def test_zone_can_be_set(monkeypatch):
    monkeypatch.setenv(days.ZONE_SETTING, "America/New_York")
    assert today(EVENING) == date(2026, 11, 30)


def test_without_a_time_zone_database_shanghai_is_eight_hours_ahead(monkeypatch):
    def none(_name):
        raise zoneinfo.ZoneInfoNotFoundError

    monkeypatch.setattr(zoneinfo, "ZoneInfo", none)
    assert zone().utcoffset(None) == timedelta(hours=8)
    assert today(EVENING) == date(2026, 12, 1)
    monkeypatch.setenv(days.ZONE_SETTING, "America/New_York")
    with pytest.raises(SourceError, match="tzdata"):
        zone()


@pytest.mark.parametrize("name", ["Nowhere/City", "../etc/passwd", "a\0b"])
def test_zone_that_does_not_exist_is_refused(monkeypatch, name):
    monkeypatch.setattr(days.os, "environ", {days.ZONE_SETTING: name})
    with pytest.raises(SourceError, match=days.ZONE_SETTING):
        zone()


@pytest.mark.parametrize("text", ["2024-02-29", "0001-01-01", "9999-12-31"])
def test_day_is_read(text):
    assert parse_day(text).isoformat() == text


@pytest.mark.parametrize(
    "text",
    ["", "2026-02-29", "20261130", "2026-W49-1", "2026-11-30T00:00", " 2026-11-30", "２０２６-11-30", "今天"],
)
def test_other_spellings_of_a_day_are_refused(text):
    with pytest.raises(SourceError, match="2026-11-30"):
        parse_day(text)


def test_instant_has_its_own_zone_or_ours():
    assert parse_instant("2026-11-30T12:00:00Z") == datetime(2026, 11, 30, 12, tzinfo=timezone.utc)
    assert parse_instant("2026-11-30T12:00:00+09:00") == datetime(2026, 11, 30, 3, tzinfo=timezone.utc)
    assert parse_instant("2026-11-30T12:00:00.000001") == datetime(
        2026, 11, 30, 4, 0, 0, 1, tzinfo=timezone.utc
    )


@pytest.mark.parametrize(
    ("text", "at"),
    [
        ("2026-11-30T12:00", (12, 0, 0, 0)),
        ("2026-11-30T23:59:59", (23, 59, 59, 0)),
        ("2026-11-30T12:00:00.5", (12, 0, 0, 500_000)),
        ("2026-11-30T12:00:00.1234", (12, 0, 0, 123_400)),
    ],
)
def test_parts_of_an_instant_may_be_left_out_on_every_python(text, at):
    for written, offset in (("", 8), ("Z", 0), ("+08:00", 8), ("-05:30", -5.5), ("+00:00", 0)):
        there = timezone(timedelta(hours=offset))
        assert parse_instant(text + written) == datetime(2026, 11, 30, *at, tzinfo=there)


def test_day_as_an_instant_is_its_end():
    assert parse_instant("2026-11-30") == EVENING - timedelta(microseconds=1)


@pytest.mark.parametrize(
    "text",
    [
        "", "昨天", "2026-13-01", "2026-11-30T25:00:00", "12:00", "2026-11-30T12:00:00+99:00",
        # What one Python's `fromisoformat` reads and another's does not.
        "20261130", "20261130T12", "20261130T120000", "2026-W49-1", "2026-W49-1T12:00", "2026-11-30T12",
        "2026-11-30T1200", "2026-11-30T12:00:00,5", "2026-11-30T12:00:00+08", "2026-11-30T12:00:00+0800",
        "2026-11-30T24:00:00", "2026-11-30T12:00:00.1234567", "2026-11-30 12:00:00", "2026-11-30T12:00:00z",
        "2026-11-30T12:00+08:60", "2026-11-30T12:00+08:00:30", "2026-11-30T12:00:60", "２０２６-11-30T12:00",
        "2026-11-30T12:00:00Z\n", "2026-11-30T", "2026-11-30Z", "2026-11-30\0", "\ud800",
    ],
)  # fmt: skip
def test_instant_that_is_none_is_refused(text):
    with pytest.raises(SourceError, match="时刻"):
        parse_instant(text)
