"""The earlier state of an experiment that an address asks for: after a change, or at an instant."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timezone

from evidence_kit.experiments.model import ExperimentError
from evidence_kit.sources.days import parse_day, parse_instant, today


@dataclass(frozen=True)
class Past:
    """What was recorded after the change of a number, or at an instant; `fields` keep it in links.

    Several changes may share an instant, where a clock was ahead: the number alone tells them apart.
    """

    change: int | None
    known_at: datetime | None
    fields: Mapping[str, str]

    @property
    def day(self) -> str | None:
        """Return the day that was asked for as a day, None for an instant or a change."""
        known = self.fields.get("known", "")
        return known if len(known) == 10 else None


def past_of(fields: Mapping[str, object]) -> Past | None:
    """Return the past in the fields `change` (a number) or `known` (an instant, or a day for its end); None
    for now. Raises ExperimentError where it is both, no number, or still to come, SourceError on a bad one.
    """
    change, known = fields.get("change"), fields.get("known")
    if change and known:
        raise ExperimentError("change 与 known 只能给出一个：请从“历史”里选择，或只给出日期。")
    if isinstance(change, str) and change:
        if not (change.isascii() and change.isdecimal() and len(change) < 19):
            raise ExperimentError("change 应是改动的序号：请从“历史”里选择。")
        return Past(int(change), None, {"change": change})
    if isinstance(known, str) and known:
        return Past(None, _instant(known), {"known": known})
    return None


def _instant(known: str) -> datetime:
    instant = parse_instant(known)
    # A day is its end, and today's is still to come.
    future = parse_day(known) > today() if len(known) == 10 else instant > datetime.now(timezone.utc)
    if future:
        raise ExperimentError(f"{known} 还没有到，不知道那时会记录什么：请给出过去的时刻，或今天。")
    return instant
