"""`evidence experiment import`: sources from files, folders, stdin, the command line or a SQuAD-form set."""

from __future__ import annotations

import sys
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from evidence_kit.commands.chinese import ChineseCommand
from evidence_kit.commands.console import emit_note, read_bytes
from evidence_kit.commands.decodings import encoding_option
from evidence_kit.commands.experiment_options import db_option, emit_result, json_option, open_store

if TYPE_CHECKING:
    from evidence_kit.experiments.store import ExperimentStore
    from evidence_kit.sources.documents import Reading

_HELP = """导入资料，给每篇分配新标识（S001 起，删除后也不再使用）。

SOURCE 是 .txt、.md（每个文件一篇）、.json（文档数组）、.csv（title/标题 与 text/内容/正文 列）、文件夹，
或 -（从标准输入读一篇，另需 --title）。编码自动识别；不是 UTF-8 的会说明，可用 --encoding 指定。

--squad 读 SQuAD 写法的阅读理解集：每段作一篇资料，问题一并加入，有答案的问题把所在的段判为 3，别的段未判断。
标识重新分配。答案位置与原文不符的会计数并报告；判断只到整段，不受影响。

正文与已有资料相同的不再导入，并说明是哪几篇；写明了状态或有效期、又与已有的不同，则仍是新资料。
--squad 里的问题，文字相同、又已在同样的资料上判断过的，也不再加入。加上 --again 就全部照样导入。

\b
例：
  evidence experiment import 资料/ --db 实验.db
  evidence experiment import 旧手册.txt --encoding gb18030 --title 旧手册 --db 实验.db
  evidence experiment import --title 通知 --text "周一闭馆。" --db 实验.db
  evidence experiment import - --title 通知 --db 实验.db < 通知.txt
  evidence experiment import --squad 阅读理解集.json --db 实验.db
"""


@click.command(cls=ChineseCommand, name="import", help=_HELP)
@click.argument("sources", metavar="[SOURCE]...", nargs=-1)
@db_option
@encoding_option
@click.option("--title", metavar="文字", help="标题，只用于恰好一篇资料；标题不参加检索。")
@click.option("--text", metavar="文字", help="直接给出一篇资料的正文，另需 --title。")
@click.option("--squad", metavar="JSON", help="SQuAD 写法的集：段落、问题与判断一次导入。")
@click.option("--again", is_flag=True, help="正文与已有资料相同的也导入。")
@json_option
def import_sources(
    sources: tuple[str, ...], db: str, encoding: str | None, title: str | None, text: str | None,
    squad: str | None, again: bool, as_json: bool,
) -> None:  # fmt: skip
    from evidence_kit.experiments.model import ExperimentError

    if bool(sources) + (text is not None) + (squad is not None) != 1:
        raise ExperimentError("请给出 SOURCE、--text、--squad 中的恰好一种。")
    store = open_store(db)
    if squad is not None:
        if title is not None or encoding is not None:
            raise ExperimentError("--title 与 --encoding 不用于 --squad：标题在集里，编码是 UTF-8。")
        _import_squad(store, squad, again, as_json)
    else:
        _import_documents(store, _reading(sources, encoding, title, text), again, as_json)


def _reading(sources: tuple[str, ...], encoding: str | None, title: str | None, text: str | None) -> Reading:
    from evidence_kit.experiments.model import ExperimentError
    from evidence_kit.sources.readers import read_pasted, read_sources

    if text is not None or "-" in sources:
        if len(sources) > 1:
            raise ExperimentError("标准输入（-）只能单独导入：请分几次。")
        if title is None:
            raise ExperimentError("请用 --title 给出这篇资料的标题。")
        if text is not None:
            return read_pasted(text.encode("utf-8"), "--text", title, "utf-8")
        return read_pasted(sys.stdin.buffer.read(), "标准输入", title, encoding)
    reading = read_sources(sources, encoding=encoding)
    if title is None:
        return reading
    if len(reading.documents) != 1:
        raise ExperimentError(f"--title 只用于恰好一篇资料，这里有 {len(reading.documents)} 篇。")
    return replace(reading, documents=(replace(reading.documents[0], title=title),))


def _import_documents(store: ExperimentStore, reading: Reading, again: bool, as_json: bool) -> None:
    from evidence_kit.commands.decodings import note_reading
    from evidence_kit.commands.find import show_left_out
    from evidence_kit.experiments.importing import told_apart
    from evidence_kit.finder.finding_json import decoding_record
    from evidence_kit.formats.notes import already_there
    from evidence_kit.sources.visible import first_few, visible

    held = {source.source_id for source in store.snapshot().sources}
    ids = store.import_documents(reading.documents, once=not again)
    added, there = told_apart(ids, reading.documents, held)
    record = {
        "sources": [
            {
                "source_id": name,
                "from": document.source_id,
                "title": document.title,
                "encoding": document.encoding,
            }
            for name, document in added
        ],
        "already_there": [{"source_id": name, "from": document.source_id} for name, document in there],
        "left_out": dict(reading.left_out),
        "skipped": list(map(asdict, reading.skipped)),
        "unused": [{"file": each.file, "names": list(each.names)} for each in reading.unused],
        "decodings": [decoding_record(found) for found in reading.decodings],
    }
    lines = [f"已导入 {len(added)} 篇资料。" if added else "没有新资料。"]
    lines += [
        f"  {name}  {visible(document.title)}  {visible(document.source_id)}" for name, document in added
    ]
    if there:
        lines.append(f"{already_there(there)}要照样导入，加上 --again。")
    note_reading(reading)
    blank = [name for name, document in added if not document.text[document.body_start :].strip()]
    if blank:
        emit_note(f"正文是空的、检索不到的资料 {len(blank)} 篇：{first_few(blank)}")
    emit_result(as_json, record, [*lines, *show_left_out(reading)])


def _import_squad(store: ExperimentStore, file: str, again: bool, as_json: bool) -> None:
    from evidence_kit.experiments.importing import told_apart
    from evidence_kit.formats.squad import parse_squad
    from evidence_kit.formats.squad_experiment import squad_documents, squad_judgments
    from evidence_kit.sources.visible import first_few

    squad = parse_squad(read_bytes(file), file)
    judged = squad_judgments(squad)
    before = store.snapshot()
    documents = [replace(document, origin=Path(file).name) for document in squad_documents(squad)]
    sources, questions = store.import_judged(documents, judged, once=not again)
    paragraphs, old_paragraphs = told_apart(
        sources, squad.paragraphs, (source.source_id for source in before.sources)
    )
    asked, old_questions = told_apart(
        questions, zip(squad.questions, judged, strict=True), (each.question_id for each in before.questions)
    )
    count = sum(len(grades) for _, (_, (_, grades)) in asked)
    faulty = [answer.question_id for answer in squad.faulty]
    if faulty:
        emit_note(
            f"有 {len(faulty)} 处答案的位置与原文不符，问题：{first_few(list(dict.fromkeys(faulty)))}；"
            "判断只到整段，不受影响。"
        )
    record = {
        "sources": [
            {"source_id": name, "from": paragraph.passage_id, "title": paragraph.title}
            for name, paragraph in paragraphs
        ],
        "questions": [{"question_id": name, "from": question.question_id} for name, (question, _) in asked],
        "already_there": [
            *({"source_id": name, "from": paragraph.passage_id} for name, paragraph in old_paragraphs),
            *({"question_id": name, "from": question.question_id} for name, (question, _) in old_questions),
        ],
        "judgments": count,
        "faulty_answers": [
            {"question_id": answer.question_id, "number": answer.number} for answer in squad.faulty
        ],
    }
    lines = [f"已导入 {len(paragraphs)} 篇资料、{len(asked)} 个问题、{count} 条判断。"]
    if old_paragraphs or old_questions:
        lines.append(
            f"已经在实验里、没有再导入的：资料 {len(old_paragraphs)} 篇，问题 {len(old_questions)} 个。"
            "要照样导入，加上 --again。"
        )
    emit_result(as_json, record, lines)
