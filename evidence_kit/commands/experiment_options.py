"""What the commands of an experiment share: the file, the two times, and how they print."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import date, datetime
from typing import TYPE_CHECKING, Any, TypeVar

import click

from evidence_kit.commands.console import emit
from evidence_kit.commands.decodings import as_of_option as as_of_option

if TYPE_CHECKING:
    from evidence_kit.experiments.store import ExperimentStore

F = TypeVar("F", bound=Callable[..., Any])

db_option = click.option("--db", required=True, metavar="文件", help="实验文件。")
json_option = click.option("--json", "as_json", is_flag=True, help="输出 JSON。")
known_at_option = click.option(
    "--known-at",
    metavar="时刻",
    help="按哪个时刻已记录的内容：2026-11-30T12:00:00+08:00，或日期，指那一天结束时；默认现在。",
)


@dataclass(frozen=True)
class Moment:
    """The day that sources are in force on, and the instant up to which is known; None is now."""

    as_of: date
    known_at: datetime | None

    def record(self) -> dict[str, Any]:
        """Return both as JSON has them."""
        return {"as_of": self.as_of.isoformat(), "known_at": self.known_at and self.known_at.isoformat()}


def moment_of(as_of: str | None, known_at: str | None = None) -> Moment:
    """Return what the two options say. Raises SourceError."""
    from evidence_kit.sources.days import parse_day, parse_instant, today

    return Moment(
        today() if as_of is None else parse_day(as_of), None if known_at is None else parse_instant(known_at)
    )


def open_store(db: str) -> ExperimentStore:
    """Return the experiment in the file that `--db` names; it is closed when the command ends.

    Closing leaves one file, without SQLite's log beside it, so that a copy of the file is a whole copy.
    """
    from evidence_kit.experiments.store import ExperimentStore

    store = ExperimentStore.open(db)
    click.get_current_context().call_on_close(store.close)
    return store


def emit_result(as_json: bool, record: Any, lines: Iterable[str]) -> None:
    """Print a result as JSON or as lines, whose own text must be visible already."""
    from evidence_kit.sources.visible import visible_json

    if as_json:
        emit(visible_json(json.dumps(record, ensure_ascii=False, indent=2, allow_nan=False)) + "\n")
    else:
        emit("".join(f"{line}\n" for line in lines))
