"""`evidence experiment undo|redo|history`: the past of an experiment."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from evidence_kit.commands.chinese import ChineseCommand
from evidence_kit.commands.experiment_options import db_option, emit_result, json_option, open_store

if TYPE_CHECKING:
    from evidence_kit.storage.revisions import Change

_UNDO_HELP = """撤销上一次对资料、问题、判断或参数的改动；可以一直撤销下去，也可以用 redo 重做。

冻结基线和视图不在撤销之列；撤销一次还原时，换回它换掉的基线，留下之后冻结的。撤销本身也记入历史，不删除任何内容。

\b
例：
  evidence experiment undo --db 实验.db
"""

_REDO_HELP = """重做上一次撤销的改动；撤销之后又有新改动，就没有可以重做的了。

\b
例：
  evidence experiment redo --db 实验.db
"""

_HISTORY_HELP = """列出全部改动，旧的在前。时刻可以直接用于 --known-at。

\b
例：
  evidence experiment history --db 实验.db
"""


@click.command(cls=ChineseCommand, name="undo", help=_UNDO_HELP)
@db_option
@json_option
def undo(db: str, as_json: bool) -> None:
    _emit_change(open_store(db).undo(), as_json)


@click.command(cls=ChineseCommand, name="redo", help=_REDO_HELP)
@db_option
@json_option
def redo(db: str, as_json: bool) -> None:
    _emit_change(open_store(db).redo(), as_json)


@click.command(cls=ChineseCommand, name="history", help=_HISTORY_HELP)
@db_option
@json_option
def history(db: str, as_json: bool) -> None:
    changes = open_store(db).history()
    emit_result(as_json, {"changes": [_record(change) for change in changes]}, map(_line, changes))


def _emit_change(change: Change, as_json: bool) -> None:
    from evidence_kit.sources.visible import visible

    emit_result(as_json, _record(change), [f"已{visible(change.label)}。"])


def _record(change: Change) -> dict[str, Any]:
    return {
        "number": change.number,
        "label": change.label,
        "recorded_at": _time(change),
        "undoable": change.undoable,
        "undoes": change.undoes,
        "redoes": change.redoes,
        "records": [{"kind": kind, "id": record_id} for kind, record_id in change.records],
    }


def _line(change: Change) -> str:
    from evidence_kit.sources.visible import visible

    return f"{change.number:5}  {_time(change)}  {visible(change.label)}"


def _time(change: Change) -> str:
    from evidence_kit.sources.days import zone

    return change.recorded_at.astimezone(zone()).isoformat(timespec="microseconds")
