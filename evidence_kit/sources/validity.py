"""When a source is in force: its status and its valid time, and why it is not in force on a day."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date
from graphlib import CycleError, TopologicalSorter
from typing import Literal, cast, get_args

from evidence_kit.sources.days import parse_day
from evidence_kit.sources.model import SourceError

Status = Literal["active", "expired"]
Absence = Literal["expired", "not_yet", "ended", "superseded"]


@dataclass(frozen=True)
class Validity:
    """Status and valid time. Both days belong to it: `effective_until` is the last day in force.

    `supersedes` names the sources that end the day before this one begins (at once, where it has no first
    day).
    """

    status: Status = "active"
    effective_from: date | None = None
    effective_until: date | None = None
    supersedes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.status not in get_args(Status):
            raise SourceError(f"状态 {self.status!r} 无效：请改为 active 或 expired。")
        first, last = self.effective_from, self.effective_until
        if first and last and last < first:
            raise SourceError(f"有效期 {first} 至 {last} 颠倒：末日不能早于首日。")
        if len(set(self.supersedes)) < len(self.supersedes):
            raise SourceError("supersedes 里有重复的资料标识：请各写一次。")


def parse_validity(fields: Mapping[str, str], supersedes: tuple[str, ...] = ()) -> Validity:
    """Return the validity that a file's fields state: `status`, `effective_from`, `effective_until`.

    Each is optional; days are written 2026-11-30. Raises SourceError naming the field.
    """
    status = cast(Status, fields.get("status", "active"))  # checked by Validity
    return Validity(status, _day(fields, "effective_from"), _day(fields, "effective_until"), supersedes)


def _day(fields: Mapping[str, str], key: str) -> date | None:
    if key not in fields:
        return None
    try:
        return parse_day(fields[key])
    except SourceError as error:
        raise SourceError(f"{key} 的{error.message}") from None


def absence(validity: Validity, day: date) -> Absence | None:
    """Return why a source is not in force on `day`, seen by itself; None where it is."""
    if validity.status == "expired":
        return "expired"
    if validity.effective_from and day < validity.effective_from:
        return "not_yet"
    if validity.effective_until and day > validity.effective_until:
        return "ended"
    return None


def absences(validities: Mapping[str, Validity], day: date) -> dict[str, Absence]:
    """Return the reason for each source id that is not in force on `day`.

    A source is superseded from the day that a successor begins, also after the successor has ended; a
    successor that is expired (withdrawn) supersedes nothing, and neither does the id of a source that is not
    there. Raises SourceError where sources supersede each other in a circle: none of them would be left.
    """
    refuse_circle(validities)
    ended = set(_superseded(validities.values(), day))
    found: dict[str, Absence] = {}
    for source_id, validity in validities.items():
        reason = absence(validity, day)
        if reason is None and source_id in ended:
            reason = "superseded"
        if reason is not None:
            found[source_id] = reason
    return found


def _superseded(validities: Iterable[Validity], day: date) -> Iterable[str]:
    for validity in validities:
        begun = validity.effective_from is None or validity.effective_from <= day
        if begun and validity.status == "active":
            yield from validity.supersedes


def refuse_circle(validities: Mapping[str, Validity]) -> None:
    """Raise SourceError where sources supersede each other in a circle, on whatever day."""
    successions = {
        source_id: validity.supersedes
        for source_id, validity in validities.items()
        if validity.status == "active"
    }
    try:
        TopologicalSorter(successions).prepare()
    except CycleError as error:
        circle = "、".join(error.args[1])
        raise SourceError(f"资料互相取代，成了循环（{circle}）：请改正它们的 supersedes。") from None
