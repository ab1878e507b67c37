"""`evidence experiment edit`: one source or one question, changed or removed."""

from __future__ import annotations

from datetime import date
from typing import TYPE_CHECKING, Any, cast

import click

from evidence_kit.commands.chinese import ChineseCommand
from evidence_kit.commands.console import read_text
from evidence_kit.commands.experiment_options import db_option, emit_result, json_option, open_store

if TYPE_CHECKING:
    from evidence_kit.experiments.store import ExperimentStore
    from evidence_kit.sources.validity import Status, Validity

_HELP = """修改或删除一篇资料（--source）或一个问题（--question）；只改给出的各项。

正文或问题改变后，旧判断保留但待复核，确认之前不参与指标。删除时一并删除它的判断，可以撤销。

\b
例：
  evidence experiment edit --source S001 --text-file 新正文.txt --db 实验.db
  evidence experiment edit --source S002 --from 2026-01-01 --until 2026-12-31 --supersedes S001 --db 实验.db
  evidence experiment edit --question Q001 --text "怎么预约？" --db 实验.db
  evidence experiment edit --source S003 --remove --db 实验.db
"""


@click.command(cls=ChineseCommand, name="edit", help=_HELP)
@click.option("--source", "source_id", metavar="标识", help="要改的资料。")
@click.option("--question", "question_id", metavar="标识", help="要改的问题。")
@click.option("--text", metavar="文字", help="新的正文或问题。")
@click.option("--text-file", metavar="文件", help="新的正文或问题，从 UTF-8 文件读入。")
@click.option("--title", metavar="文字", help="资料的新标题；标题不参加检索。")
@click.option("--status", metavar="状态", help="资料的状态：active 或 expired。")
@click.option("--from", "first", metavar="日期", help="资料生效的第一天；给空文字则不限。")
@click.option("--until", "last", metavar="日期", help="资料有效的最后一天；给空文字则不限。")
@click.option("--supersedes", multiple=True, metavar="标识", help="它取代的资料，可给多次；给空文字则没有。")
@click.option("--remove", is_flag=True, help="删除。")
@db_option
@json_option
def edit(
    source_id: str | None, question_id: str | None, text: str | None, text_file: str | None, remove: bool,
    db: str, as_json: bool, **of_source: Any,
) -> None:  # fmt: skip
    from evidence_kit.experiments.model import ExperimentError
    from evidence_kit.sources.visible import visible

    wanted = {name: value for name, value in of_source.items() if value is not None and value != ()}
    if (source_id is None) == (question_id is None):
        raise ExperimentError("请用 --source 或 --question 给出一篇资料或一个问题，恰好一个。")
    if text is not None and text_file is not None:
        raise ExperimentError("--text 与 --text-file 请只给一个。")
    if remove == bool(wanted or text is not None or text_file is not None):
        raise ExperimentError("请给出要改的内容，或只给 --remove。")
    store = open_store(db)
    if text_file is not None:
        text = read_text(text_file).text
    if source_id is not None:
        _change_source(store, source_id, text, wanted, remove)
    elif question_id is not None:
        _change_question(store, question_id, text, wanted, remove)
    name = cast(str, source_id or question_id)
    stale = _stale(store, source_id, question_id)
    record = {"id": name, "removed": remove, "stale": stale}
    lines = [f"已{'删除' if remove else '修改'} {visible(name)}。"]
    emit_result(as_json, record, lines + ([f"它有 {stale} 条判断待复核。"] if stale else []))


def _change_question(
    store: ExperimentStore, question_id: str, text: str | None, wanted: dict[str, Any], remove: bool
) -> None:
    from evidence_kit.experiments.model import ExperimentError

    if wanted:
        raise ExperimentError("标题、状态、有效期和取代关系只属于资料：问题只有文字可改。")
    if remove:
        store.remove_question(question_id)
    else:
        store.edit_question(question_id, text or "")


def _change_source(
    store: ExperimentStore, source_id: str, text: str | None, wanted: dict[str, Any], remove: bool
) -> None:
    from evidence_kit.experiments.model import ExperimentError

    seen = store.revision("source", source_id)  # before the source is read: what changes after it is noticed
    held = {source.source_id: source for source in store.snapshot().sources}
    if source_id not in held:
        raise ExperimentError(f"没有资料 {source_id}：请检查标识。")
    if remove:
        store.remove_source(source_id, expected=seen)
        return
    validity = _validity(held[source_id].validity, wanted)
    store.edit_source(source_id, title=wanted.get("title"), text=text, validity=validity, expected=seen)


def _validity(before: Validity, wanted: dict[str, Any]) -> Validity:
    from evidence_kit.sources.validity import Validity

    supersedes = tuple(name for name in wanted.get("supersedes", before.supersedes) if name)
    return Validity(
        cast("Status", wanted.get("status", before.status)),
        _day(wanted.get("first"), before.effective_from),
        _day(wanted.get("last"), before.effective_until),
        supersedes,
    )


def _day(text: str | None, before: date | None) -> date | None:
    from evidence_kit.sources.days import parse_day

    if text is None:
        return before
    return parse_day(text) if text else None


def _stale(store: ExperimentStore, source_id: str | None, question_id: str | None) -> int:
    experiment = store.snapshot()
    return sum(
        experiment.state(judgment) == "stale"
        for judgment in experiment.judgments
        if judgment.source_id == source_id or judgment.question_id == question_id
    )
