"""Sources in two times: when they are in force (valid time), and when we knew it (recorded time).

`as_of` asks for what is in force on a day, `known_at` for what the store held at an instant. A correction
of today that reaches back to last month changes what is in force last month as known now, and leaves what
was in force last month as known last month.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any

from evidence_kit.sources.days import today
from evidence_kit.sources.held import HeldSource
from evidence_kit.sources.model import SourceError
from evidence_kit.sources.validity import Absence, Validity, absences
from evidence_kit.storage.revisions import Body, Changing, Revision

KIND = "source"


@dataclass(frozen=True)
class Standing:
    """The sources in force on a day, in order of id, and why the others are not."""

    as_of: date
    sources: tuple[HeldSource, ...]
    left_out: Mapping[str, Absence]


def standing(sources: Iterable[HeldSource], as_of: date) -> Standing:
    """Return which of the sources are in force on a day."""
    held = sorted(sources, key=lambda source: source.source_id)
    reasons = absences({source.source_id: source.validity for source in held}, as_of)
    kept = tuple(source for source in held if source.source_id not in reasons)
    return Standing(as_of, kept, reasons)


def put_sources(change: Changing, sources: Sequence[HeldSource], *, expected: int | None = None) -> None:
    """Write sources within a change. Raises StaleError, and SourceError where what one supersedes is wrong.

    That is itself, a source that is not there, or one that supersedes it in turn, however far round. What it
    superseded before may have been removed since.
    """
    before = {source.source_id: change.latest(KIND, source.source_id) for source in sources}
    for source in sources:
        change.put(KIND, source.source_id, source_body(source), expected=expected)
    held = {source.source_id: source.validity for source in sources_of(change.state())}
    for source in sources:
        earlier = before[source.source_id]
        named = earlier.body["supersedes"] if earlier and earlier.body else ()
        for other in source.validity.supersedes:
            if other not in held and other not in named:
                raise SourceError(f"资料 {source.source_id} 要取代的 {other} 不存在：请改正 supersedes。")
    absences(held, today())  # refuses a circle


def sources_of(state: Iterable[Revision]) -> tuple[HeldSource, ...]:
    """Return the sources among revisions, in their order."""
    return tuple(
        source_of(revision.record_id, revision.body)
        for revision in state
        if revision.kind == KIND and revision.body is not None
    )


def source_body(source: HeldSource) -> dict[str, Any]:
    """Return what is stored of a source."""
    return {
        "title": source.title,
        "text": source.text,
        "body_start": source.body_start,
        "encoding": source.encoding,
        "transformations": list(source.transformations),
        **({"origin": source.origin} if source.origin else {}),
        **validity_body(source.validity),
    }


def validity_body(validity: Validity) -> dict[str, Any]:
    """Return a validity in plain values: days as 2026-11-30, None where there is none."""
    first, last = validity.effective_from, validity.effective_until
    return {
        "status": validity.status,
        "effective_from": first and first.isoformat(),
        "effective_until": last and last.isoformat(),
        "supersedes": list(validity.supersedes),
    }


def source_of(source_id: str, body: Body) -> HeldSource:
    """Return the source whose stored body this is."""
    first, last = (
        body[key] and date.fromisoformat(body[key]) for key in ("effective_from", "effective_until")
    )
    return HeldSource(
        source_id,
        body["title"],
        body["text"],
        body["body_start"],
        Validity(body["status"], first, last, tuple(body["supersedes"])),
        body["encoding"],
        tuple(body["transformations"]),
        body.get("origin", ""),
    )
