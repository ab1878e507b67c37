"""`evidence measure`: a run against judgments, alone or beside another run."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

import click

from evidence_kit.commands.chinese import ChineseCommand
from evidence_kit.commands.console import emit, emit_note, read_bytes
from evidence_kit.commands.numbers import WHOLE
from evidence_kit.commands.paired import paired_lines, paired_record
from evidence_kit.measures.digits import rounded, six_digits

if TYPE_CHECKING:
    from evidence_kit.measures.intervals import PairedComparison
    from evidence_kit.measures.ranking import Evaluation, Measure

_HELP = """按相关性判断计算一份检索排名的指标。两个文件都是 TREC 写法，UTF-8，每行一条：

\b
  判断文件：问题 0 文档 等级
  排名文件：问题 Q0 文档 名次 分数 系统名

等级 1 起为相关，0 与负数为不相关。排名只看分数，同分时文档标识小的在前；名次一列不用。
指标：Recall@k、MRR@k、nDCG@k、P@k、AP、Judged@k。公式与各工具的差别见 docs/formulas.md。
没有相关判断的问题未定义，不进入均值；排名里缺的问题按 0 分计。

\b
例：
  evidence measure --qrels 判断.txt --run 排名.txt -m nDCG@3 -m MRR@10
  evidence measure --qrels 判断.txt --run 排名.txt -m nDCG@3 --against 新排名.txt --seed 1 --json
"""

_SHOWN_IDS = 20
# What stands in a column of six-digit numbers; a Chinese character is two columns wide.
_UNDEFINED = "未定义  "


@click.command(cls=ChineseCommand, name="measure", help=_HELP)
@click.option("--qrels", "qrels_file", required=True, metavar="文件", help="相关性判断，TREC 写法。")
@click.option("--run", "run_file", required=True, metavar="文件", help="检索排名，TREC 写法。")
@click.option(
    "-m", "declarations", multiple=True, required=True, metavar="指标", help="如 nDCG@3，可给多次。"
)
@click.option("--per-question", is_flag=True, help="另列出每个问题的值。")
@click.option("--against", "other_file", metavar="文件", help="与另一份排名比较：差值、区间与检验。")
@click.option("--seed", type=WHOLE, metavar="整数", help="比较时抽样的种子，默认 20261130。")
@click.option("--json", "as_json", is_flag=True, help="输出 JSON。")
def measure(
    qrels_file: str,
    run_file: str,
    declarations: tuple[str, ...],
    per_question: bool,
    other_file: str | None,
    seed: int | None,
    as_json: bool,
) -> None:
    from evidence_kit.formats.trec import parse_qrels, parse_run
    from evidence_kit.measures.ranking import evaluate, parse_measure

    measures = list(dict.fromkeys(map(parse_measure, declarations)))
    qrels = parse_qrels(read_bytes(qrels_file), qrels_file)
    evaluation = evaluate(qrels, parse_run(read_bytes(run_file), run_file), measures)
    against = None
    if other_file is not None:
        other = evaluate(qrels, parse_run(read_bytes(other_file), other_file), measures)
        against = _Against(other, _compare(evaluation, other, measures, seed))
        _note_ignored(other, "--against 的排名")
    _note_ignored(evaluation, "排名")
    if as_json:
        emit(_to_json(evaluation, against, per_question=per_question))
    else:
        emit("\n".join(_lines(evaluation, against, per_question=per_question)) + "\n")


class _Against(NamedTuple):
    """Another run over the same judgments, and how it differs."""

    evaluation: Evaluation
    comparisons: list[PairedComparison]


def _compare(
    first: Evaluation, second: Evaluation, measures: Sequence[Measure], seed: int | None
) -> list[PairedComparison]:
    from evidence_kit.commands.progress import progress_bar
    from evidence_kit.measures.intervals import SEED, compare

    drawn = SEED if seed is None else seed
    compared = []
    for declared in measures:
        with progress_bar(f"比较 {declared!r}") as progress:
            compared.append(compare(first, second, declared, seed=drawn, progress=progress))
    return compared


def _note_ignored(evaluation: Evaluation, what: str) -> None:
    if evaluation.ignored:
        emit_note(f"{what}里有 {len(evaluation.ignored)} 个问题没有判断，未计入：{_ids(evaluation.ignored)}")


def _to_json(evaluation: Evaluation, against: _Against | None, *, per_question: bool) -> str:
    from evidence_kit.sources.visible import visible_json

    record: dict[str, object] = {
        "questions": evaluation.questions,
        "means": {name: rounded(value) for name, value in evaluation.means.items()},
        "undefined": {name: list(questions) for name, questions in evaluation.undefined.items()},
        "missing": list(evaluation.missing),
        "ignored": list(evaluation.ignored),
    }
    if per_question:
        record["per_question"] = {
            question: {name: rounded(value) for name, value in values.items()}
            for question, values in evaluation.per_question.items()
        }
    if against is not None:
        record["against"] = {
            "missing": list(against.evaluation.missing),
            "ignored": list(against.evaluation.ignored),
            "measures": {compared.measure: paired_record(compared) for compared in against.comparisons},
        }
    return visible_json(json.dumps(record, ensure_ascii=False, indent=2, allow_nan=False)) + "\n"


def _lines(evaluation: Evaluation, against: _Against | None, *, per_question: bool) -> Iterator[str]:
    yield f"共 {evaluation.questions} 个有判断的问题。"
    width = max(map(len, evaluation.means))
    for name, value in evaluation.means.items():
        undefined = len(evaluation.undefined[name])
        counted = f"计入 {evaluation.questions - undefined} 个问题，未定义 {undefined} 个"
        yield f"  {name:{width}}  {_shown(value)}  {counted}"
    named: dict[tuple[str, ...], list[str]] = {}
    for name, questions in evaluation.undefined.items():
        named.setdefault(questions, []).append(name)
    for questions, names in named.items():
        if questions:
            yield f"没有相关判断，{'、'.join(names)} 未定义，不进入均值：{_ids(questions)}"
    if evaluation.missing:
        yield f"排名里缺 {len(evaluation.missing)} 个问题，按 0 分计：{_ids(evaluation.missing)}"
    yield "没有判断过的文档按 0 增益计，指标只描述已知的相关文档；用 Judged@k 看判断覆盖了多少。"
    if against is not None:
        yield ""
        yield "这份排名 → 另一份排名："
        yield from paired_lines(against.comparisons)
        if missing := against.evaluation.missing:
            yield f"另一份排名里缺 {len(missing)} 个问题，按 0 分计：{_ids(missing)}"
    if per_question:
        yield ""
        yield from _question_lines(evaluation)


def _question_lines(evaluation: Evaluation) -> Iterator[str]:
    from evidence_kit.sources.visible import visible

    widths = {name: max(len(name), 8) for name in evaluation.means}
    yield "  ".join([*(f"{name:{width}}" for name, width in widths.items()), "问题"])
    for question, values in evaluation.per_question.items():
        cells = [_shown(values[name]) + " " * (width - 8) for name, width in widths.items()]
        yield "  ".join([*cells, visible(question)])


def _ids(questions: Sequence[str]) -> str:
    from evidence_kit.sources.visible import visible

    shown = "、".join(map(visible, questions[:_SHOWN_IDS]))
    rest = len(questions) - _SHOWN_IDS
    return f"{shown} 等（另有 {rest} 个，--json 全部列出）" if rest > 0 else shown


def _shown(value: float | None) -> str:
    return _UNDEFINED if value is None else six_digits(value)
