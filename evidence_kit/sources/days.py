"""Days and instants: today where the sources are in force, and both as people write them."""

from __future__ import annotations

import os
import re
from datetime import date, datetime, time, timedelta, timezone, tzinfo

from evidence_kit.sources.model import SourceError

ZONE_SETTING = "EVIDENCE_TIMEZONE"
DEFAULT_ZONE = "Asia/Shanghai"
# Without a time zone database: the default zone has had this offset, and no summer time, since 1991.
_DEFAULT_OFFSET = timezone(timedelta(hours=8), DEFAULT_ZONE)
# Not `fromisoformat`: each Python reads other spellings with it.
_INSTANT = re.compile(
    "([0-9]{4}-[0-9]{2}-[0-9]{2})"
    "(?:T([0-9]{2}):([0-9]{2})(?::([0-9]{2})(?:[.]([0-9]{1,6}))?)?(?:(Z)|([+-])([0-9]{2}):([0-9]{2}))?)?"
)


def zone() -> tzinfo:
    """Return the time zone that days are counted in: Asia/Shanghai, unless EVIDENCE_TIMEZONE names another.

    Raises SourceError on a name that the time zone database does not know.
    """
    from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

    name = os.environ.get(ZONE_SETTING) or DEFAULT_ZONE
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        if name == DEFAULT_ZONE:
            return _DEFAULT_OFFSET
        raise SourceError(
            f"{ZONE_SETTING}={name!r} 不是可用的时区：请写 Asia/Shanghai 这样的名字；"
            "系统没有时区数据时先运行 python -m pip install tzdata。"
        ) from None


def today(now: datetime | None = None) -> date:
    """Return the day in `zone()` at an instant, which must have a time zone; now where none is given."""
    return (now or datetime.now(timezone.utc)).astimezone(zone()).date()


def parse_day(text: str) -> date:
    """Return the day that `text` writes as 2026-11-30. Raises SourceError."""
    try:
        day = date.fromisoformat(text)
    except ValueError:
        day = None
    # Python 3.11 also reads 20261130 and 2026-W49-1; one spelling is enough, on every Python.
    if day is None or day.isoformat() != text:
        raise SourceError(f"日期 {text!r} 无效：请写成 2026-11-30 这样。")
    return day


def parse_instant(text: str) -> datetime:
    """Return the instant that `text` writes, with its time zone; without one it is of `zone()`.

    A day alone is its last microsecond: what was known at the end of that day. Raises SourceError.
    """
    match = _INSTANT.fullmatch(text)
    try:
        if match is None:
            raise ValueError
        return _instant(*match.groups())
    except (ValueError, SourceError):
        raise SourceError(
            f"时刻 {text!r} 无效：请写成 2026-11-30 或 2026-11-30T12:00:00+08:00 这样。"
        ) from None


def _instant(
    written: str, hour: str | None, minute: str, second: str | None, part: str | None, utc: str | None,
    sign: str | None, hours: str, minutes: str,
) -> datetime:  # fmt: skip
    day = parse_day(written)
    clock = time(23, 59, 59, 999999)
    if hour is not None:
        clock = time(int(hour), int(minute), int(second or 0), int((part or "").ljust(6, "0")))
    there: tzinfo = zone() if utc is None else timezone.utc
    if sign is not None:
        if int(minutes) > 59:
            raise ValueError
        offset = timedelta(hours=int(hours), minutes=int(minutes))
        there = timezone(-offset if sign == "-" else offset)
    return datetime.combine(day, clock, there)
