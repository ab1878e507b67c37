"""`evidence experiment edit`: one source or one question, changed or removed; or the experiment's name."""

from __future__ import annotations

from datetime import date
from typing import TYPE_CHECKING, Any, cast

import click

from evidence_kit.commands.chinese import ChineseCommand
from evidence_kit.commands.experiment_options import db_option, emit_result, json_option, open_store

if TYPE_CHECKING:
    from evidence_kit.experiments.model import Experiment
    from evidence_kit.experiments.store import ExperimentStore
    from evidence_kit.sources.documents import Document
    from evidence_kit.sources.validity import Status, Validity

_HELP = """修改或删除一篇资料（--source）或一个问题（--question），只改给出的各项；或给实验改名（--name）。

--text-file 与 import 一样识别编码、去掉 BOM，.md 的第一行标题不参加检索；资料的标题不变，除非给出 --title。

正文或问题改变后，旧判断保留但待复核，确认之前不参与指标。删除时一并删除它的判断，可以撤销。

\b
例：
  evidence experiment edit --source S001 --text-file 新正文.txt --db 实验.db
  evidence experiment edit --source S002 --from 2026-01-01 --until 2026-12-31 --supersedes S001 --db 实验.db
  evidence experiment edit --question Q001 --text "怎么预约？" --db 实验.db
  evidence experiment edit --source S003 --remove --db 实验.db
  evidence experiment edit --name 新名称 --db 实验.db
"""


@click.command(cls=ChineseCommand, name="edit", help=_HELP)
@click.option("--source", "source_id", metavar="标识", help="要改的资料。")
@click.option("--question", "question_id", metavar="标识", help="要改的问题。")
@click.option("--name", metavar="名称", help="实验的新名称。")
@click.option("--text", metavar="文字", help="新的正文或问题。")
@click.option(
    "--text-file", metavar="文件", help="新的正文或问题，从文件读入；文件与 import 的一样，恰好一篇。"
)
@click.option("--encoding", metavar="编码", help="--text-file 的编码；默认自动识别。")
@click.option("--title", metavar="文字", help="资料的新标题；标题不参加检索。")
@click.option("--status", metavar="状态", help="资料的状态：active 或 expired。")
@click.option("--from", "first", metavar="日期", help="资料生效的第一天；给空文字则不限。")
@click.option("--until", "last", metavar="日期", help="资料有效的最后一天；给空文字则不限。")
@click.option("--supersedes", multiple=True, metavar="标识", help="它取代的资料，可给多次；给空文字则没有。")
@click.option("--remove", is_flag=True, help="删除。")
@db_option
@json_option
def edit(
    source_id: str | None, question_id: str | None, name: str | None, text: str | None,
    text_file: str | None, encoding: str | None, remove: bool, db: str, as_json: bool, **of_source: Any,
) -> None:  # fmt: skip
    from evidence_kit.experiments.model import ExperimentError
    from evidence_kit.sources.visible import visible

    wanted = {name: value for name, value in of_source.items() if value is not None and value != ()}
    if [source_id, question_id, name].count(None) != 2:
        raise ExperimentError(
            "请用 --source、--question 或 --name 给出一篇资料、一个问题或实验的新名称，恰好一个。"
        )
    if text is not None and text_file is not None:
        raise ExperimentError("--text 与 --text-file 请只给一个。")
    if encoding is not None and text_file is None:
        raise ExperimentError("--encoding 只用于 --text-file。")
    given = bool(wanted or text is not None or text_file is not None)
    if name is not None:
        if given or remove:
            raise ExperimentError("--name 只给实验改名：请不要同时给出别的内容。")
        store = open_store(db)
        changed = store.snapshot().name != name
        store.rename(name)
        said = "实验已改名为" if changed else "没有变化，实验的名称就是"
        emit_result(as_json, {"name": name, "changed": changed}, [f"{said}「{visible(name)}」。"])
        return
    if remove == given:
        raise ExperimentError("请给出要改的内容，或只给 --remove。")
    store = open_store(db)
    new = text if text_file is None else _read(text_file, encoding)
    before = store.snapshot()
    if source_id is not None:
        _change_source(store, source_id, new, wanted, remove)
    elif question_id is not None:
        _change_question(store, question_id, new, wanted, remove)
    edited = cast(str, source_id or question_id)
    after = store.snapshot()
    stale = _stale(after, source_id, question_id)
    record = {"id": edited, "removed": remove, "changed": before != after, "stale": stale}
    said = "已删除 " if remove else "已修改 " if before != after else "没有变化："
    stale_line = f"它有 {stale} 条判断待复核；experiment list 逐条列出。"
    emit_result(as_json, record, [f"{said}{visible(edited)}。", *([stale_line] if stale else [])])


def _read(file: str, encoding: str | None) -> Document:
    """Return the one document in a file, as `import` reads it; what is not plain UTF-8 is noted on stderr."""
    from evidence_kit.commands.decodings import note_reading
    from evidence_kit.experiments.model import ExperimentError
    from evidence_kit.sources.readers import read_sources

    reading = read_sources([file], encoding)
    if len(reading.documents) != 1:
        raise ExperimentError(
            f"{file} 里有 {len(reading.documents)} 篇，--text-file 要恰好一篇：请另给文件。"
        )
    note_reading(reading)
    return reading.documents[0]


def _change_question(
    store: ExperimentStore,
    question_id: str,
    text: str | Document | None,
    wanted: dict[str, Any],
    remove: bool,
) -> None:
    from evidence_kit.experiments.model import ExperimentError

    if wanted:
        raise ExperimentError("标题、状态、有效期和取代关系只属于资料：问题只有文字可改。")
    if remove:
        store.remove_question(question_id)
    else:
        store.edit_question(question_id, (text if isinstance(text, str) else text.text) if text else "")


def _change_source(
    store: ExperimentStore, source_id: str, text: str | Document | None, wanted: dict[str, Any], remove: bool
) -> None:
    from evidence_kit.experiments.judging import source_named

    seen = store.revision("source", source_id)  # before the source is read: what changes after it is noticed
    held = source_named(store.snapshot(), source_id)
    if remove:
        store.remove_source(source_id, expected=seen)
        return
    validity = _validity(held.validity, wanted)
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


def _stale(experiment: Experiment, source_id: str | None, question_id: str | None) -> int:
    return sum(
        experiment.state(judgment) == "stale"
        for judgment in experiment.judgments
        if judgment.source_id == source_id or judgment.question_id == question_id
    )
