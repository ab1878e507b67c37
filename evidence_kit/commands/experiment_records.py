"""`evidence experiment new|judge|set`: what writes records."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from evidence_kit.commands.chinese import ChineseCommand
from evidence_kit.commands.console import read_bytes
from evidence_kit.commands.experiment_options import db_option, emit_result, json_option, open_store

if TYPE_CHECKING:
    from evidence_kit.experiments.store import ExperimentStore

_NEW_HELP = """新建一个实验文件；已有的文件不会被覆盖。

限额 default 很宽；seed 是最初版本的限额：24 篇、每篇 6000 字符、合计 60000 字符、
30 个问题、每个 500 字符、1500 个资料块、还原 1.5 MB。

\b
例：
  evidence experiment new --db 实验.db --name 天文馆手册
"""

_JUDGE_HELP = """判断资料对问题的相关性。GRADE 为 0 不相关、1 部分、2 相关、3 关键，
clear 清除（回到未判断），confirm 确认待复核的旧判断仍然成立。

\b
例：
  evidence experiment judge Q001 S002 3 --db 实验.db
  evidence experiment judge Q001 S002 confirm --db 实验.db
  evidence experiment judge --qrels 判断.txt --db 实验.db
  evidence experiment judge --confirm-all --db 实验.db
"""

_SET_HELP = """设置一个或几个参数，全部生效或全部不生效；不给参数就只显示。

\b
method    bm25、tfidf_log 或 tfidf_course
analyzer  words_han 或 char_ngrams(2,3)；换方法时自动换成它常用的
window    窗口，码点       overlap  重叠，码点，小于 window
k         指标的截断位置   budget   提示词字符预算
k1、b     BM25 的参数

\b
例：
  evidence experiment set method=tfidf_log window=100 overlap=20 k=2 --db 实验.db
"""


@click.command(cls=ChineseCommand, name="new", help=_NEW_HELP)
@db_option
@click.option("--name", required=True, metavar="名称", help="实验的名称。")
@click.option("--limits", default="default", metavar="方案", help="限额方案：default（默认）或 seed。")
@json_option
def new(db: str, name: str, limits: str, as_json: bool) -> None:
    from evidence_kit.experiments.store import ExperimentStore
    from evidence_kit.sources.visible import visible

    ExperimentStore.create(db, name, limits=limits).close()
    record = {"db": db, "name": name, "limits": limits}
    emit_result(as_json, record, [f"已新建实验「{visible(name)}」：{visible(db)}，限额 {limits}。"])


@click.command(cls=ChineseCommand, name="judge", help=_JUDGE_HELP)
@click.argument("question_id", metavar="[QUESTION]", required=False)
@click.argument("source_id", metavar="[SOURCE]", required=False)
@click.argument("grade", metavar="[GRADE]", required=False)
@click.option("--qrels", metavar="文件", help="从 TREC 判断文件读入多条，一次全部写入。")
@click.option("--confirm-all", is_flag=True, help="确认全部待复核的判断仍然成立，算作一次改动。")
@db_option
@json_option
def judge(
    question_id: str | None, source_id: str | None, grade: str | None, qrels: str | None,
    confirm_all: bool, db: str, as_json: bool,
) -> None:  # fmt: skip
    from evidence_kit.experiments.model import ExperimentError
    from evidence_kit.sources.visible import visible

    if (question_id is not None) + (qrels is not None) + confirm_all > 1:
        raise ExperimentError("问题与资料、--qrels、--confirm-all 请只给一种。")
    store = open_store(db)
    if confirm_all:
        confirmed = store.confirm_all()
        pairs = [{"question_id": each.question_id, "source_id": each.source_id} for each in confirmed]
        said = f"已确认 {len(pairs)} 条待复核的判断。" if pairs else "没有待复核的判断。"
        emit_result(as_json, {"confirmed": pairs}, [said])
        return
    if qrels is not None:
        count = _judge_file(store, qrels)
        emit_result(as_json, {"judged": count}, [f"已写入 {count} 条判断。"])
        return
    if question_id is None or source_id is None or grade is None:
        raise ExperimentError("请给出问题标识、资料标识和等级，或只给 --qrels 或 --confirm-all。")
    value: int | None
    if grade == "confirm":
        value = store.confirm(question_id, source_id).grade
    else:
        value = _grade(grade)
        store.judge(question_id, source_id, value)
    said = "未判断" if value is None else f"{value}"
    line = f"{visible(question_id)} 与 {visible(source_id)}：{said}。"
    emit_result(as_json, {"question_id": question_id, "source_id": source_id, "grade": value}, [line])


def _judge_file(store: ExperimentStore, file: str) -> int:
    """Judge all that a TREC file holds and return how many. Raises ExperimentError naming the line."""
    from evidence_kit.experiments.model import ExperimentError, JudgmentError
    from evidence_kit.formats.trec import line_of_judgment, parse_qrels

    data = read_bytes(file)
    found = parse_qrels(data, file)
    grades = {(question, source): grade for question, row in found.items() for source, grade in row.items()}
    try:
        store.judge_all(grades)
    except JudgmentError as error:
        pair = (error.question_id, error.source_id)
        where = f"{file} 第 {line_of_judgment(data, file, *pair)} 行（{pair[0]} 0 {pair[1]} {grades[pair]}）"
        raise ExperimentError(f"{where}：{error.reason} 一条也没有写入。") from None
    return len(grades)


def _grade(text: str) -> int | None:
    from evidence_kit.experiments.model import GRADES, ExperimentError

    grades = {**{str(grade): grade for grade in GRADES}, "clear": None}
    if text not in grades:
        raise ExperimentError(f"等级 {text!r} 无效：请改用 0、1、2、3、clear 或 confirm。")
    return grades[text]


@click.command(cls=ChineseCommand, name="set", help=_SET_HELP)
@click.argument("assignments", metavar="[NAME=VALUE]...", nargs=-1)
@db_option
@json_option
def set_parameters(assignments: tuple[str, ...], db: str, as_json: bool) -> None:
    from evidence_kit.experiments.parameters import parse_changes

    store = open_store(db)
    changes = parse_changes(assignments)
    parameters = asdict(store.set_parameters(changes) if changes else store.snapshot().parameters)
    emit_result(as_json, parameters, (f"{name:9} {value}" for name, value in parameters.items()))
