"""Days and instants: today where the sources are in force, and both as people write them."""

from __future__ import annotations

import os
from datetime import date, datetime, timedelta, timezone, tzinfo

from evidence_kit.sources.model import SourceError

ZONE_SETTING = "EVIDENCE_TIMEZONE"
DEFAULT_ZONE = "Asia/Shanghai"
# Without a time zone database: the default zone has had this offset, and no summer time, since 1991.
_DEFAULT_OFFSET = timezone(timedelta(hours=8), DEFAULT_ZONE)


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
    try:
        if len(text) == len("2026-11-30"):
            day = parse_day(text)
            instant = datetime(day.year, day.month, day.day, 23, 59, 59, 999999)
        else:
            instant = datetime.fromisoformat(text.replace("Z", "+00:00"))
    except (ValueError, SourceError):
        raise SourceError(
            f"时刻 {text!r} 无效：请写成 2026-11-30 或 2026-11-30T12:00:00+08:00 这样。"
        ) from None
    return instant if instant.utcoffset() is not None else instant.replace(tzinfo=zone())
