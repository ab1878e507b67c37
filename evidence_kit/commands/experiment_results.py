"""`evidence experiment ask|run|freeze|compare`: what searches and measures."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from evidence_kit.commands.chinese import ChineseCommand
from evidence_kit.commands.experiment_options import (
    as_of_option,
    db_option,
    emit_result,
    json_option,
    known_at_option,
    moment_of,
    open_store,
)
from evidence_kit.commands.numbers import WHOLE

if TYPE_CHECKING:
    from evidence_kit.experiments.model import Experiment

_ASK_HELP = """新增一个问题，显示它的命中；已有相同文字的问题就不再新增。

\b
例：
  evidence experiment ask "怎么预约讲解" --db 实验.db
"""

_RUN_HELP = """用当前参数检索全部问题，先列每个问题的前几篇，再列指标。
判断之前想多看几篇，用 --question 和 --top。

只检索 --as-of 那天有效的资料，标题不参加检索；资料的名次取它最高的资料块。
没有相关判断的问题未定义，不进入均值；未判断的资料按 0 增益计。

\b
例：
  evidence experiment run --db 实验.db
  evidence experiment run --question Q001 --top 20 --db 实验.db
  evidence experiment run --as-of 2026-01-01 --known-at 2026-06-30 --db 实验.db --json
"""

_FREEZE_HELP = """评测一次，把结果连同资料、问题、判断、参数、程序的摘要冻结为基线；冻结后不能改动。

\b
例：
  evidence experiment freeze 起点 --db 实验.db
"""

_COMPARE_HELP = """用基线的指标评测现在的实验，逐题比较，给出配对随机化检验与自助法区间。

只有参数不同时，差异才只能来自参数；资料、问题、判断或程序也变了，就只说明哪些条件不同。

\b
例：
  evidence experiment compare 起点 --db 实验.db
"""


@click.command(cls=ChineseCommand, name="ask", help=_ASK_HELP)
@click.argument("text", metavar="QUESTION")
@db_option
@as_of_option
@json_option
def ask(text: str, db: str, as_of: str | None, as_json: bool) -> None:
    from evidence_kit.commands.experiment_show import left_out_lines, result_lines, result_record, shown_of
    from evidence_kit.experiments.judging import is_weak_hit
    from evidence_kit.experiments.run import run

    moment = moment_of(as_of)
    store = open_store(db)
    known = {question.text: question.question_id for question in store.snapshot().questions}
    question_id = known.get(text) or store.add_questions([text])[0]
    experiment = _of_one_question(store.snapshot(), question_id)
    made = run(experiment, moment.as_of)
    titles = {source.source_id: source.title for source in experiment.sources}
    (result,) = made.results
    record = {**moment.record(), "added": text not in known, **result_record(result, titles)}
    if as_json:
        for document, hit in zip(record["documents"], result.documents, strict=True):
            document["weak"] = is_weak_hit(hit.best, result.question, made.parameters)
    lines = result_lines(result, titles, shown_of(made), made.parameters)
    emit_result(as_json, record, [*lines, *left_out_lines(made)])


@click.command(cls=ChineseCommand, name="run", help=_RUN_HELP)
@db_option
@click.option("--question", "question_id", metavar="标识", help="只检索和评测这一个问题。")
@click.option(
    "--top", type=WHOLE, metavar="整数", help="每个问题列出前几篇，默认 3 与 k 中较大的；JSON 总是全部。"
)
@as_of_option
@known_at_option
@json_option
def run(
    db: str, question_id: str | None, top: int | None, as_of: str | None, known_at: str | None, as_json: bool
) -> None:
    from evidence_kit.commands.experiment_show import run_lines, run_record
    from evidence_kit.experiments.model import ExperimentError
    from evidence_kit.experiments.run import run as run_experiment

    if top is not None and top < 1:
        raise ExperimentError(f"--top {top} 无效：请给出不小于 1 的整数。")
    moment = moment_of(as_of, known_at)
    experiment = open_store(db).snapshot(moment.known_at)
    if question_id is not None:
        experiment = _of_one_question(experiment, question_id)
    made = run_experiment(experiment, moment.as_of)
    titles = {source.source_id: source.title for source in experiment.sources}
    emit_result(as_json, {**moment.record(), **run_record(made, titles)}, run_lines(made, titles, top))


@click.command(cls=ChineseCommand, name="freeze", help=_FREEZE_HELP)
@click.argument("name")
@db_option
@as_of_option
@json_option
def freeze(name: str, db: str, as_of: str | None, as_json: bool) -> None:
    from evidence_kit.commands.experiment_show import means_lines, omissions_record, rounded_values
    from evidence_kit.experiments.baseline import baseline_of
    from evidence_kit.experiments.run import run
    from evidence_kit.sources.visible import visible

    moment = moment_of(as_of)
    store = open_store(db)
    experiment = store.snapshot()
    made = run(experiment, moment.as_of)
    frozen = baseline_of(experiment, made, name)
    store.add_baseline(frozen)
    lines = [f"已冻结基线「{visible(name)}」（资料截至 {frozen.as_of}）。", *means_lines(made)]
    record = {
        "name": name,
        "as_of": frozen.as_of,
        "digests": dict(frozen.digests),
        "means": rounded_values(frozen.means),
        **omissions_record(made),
    }
    emit_result(as_json, record, lines)


@click.command(cls=ChineseCommand, name="compare", help=_COMPARE_HELP)
@click.argument("name")
@db_option
@as_of_option
@known_at_option
@click.option("--seed", type=WHOLE, metavar="整数", help="随机种子，默认 20261130。")
@json_option
def compare(
    name: str, db: str, as_of: str | None, known_at: str | None, seed: int | None, as_json: bool
) -> None:
    from evidence_kit.commands.experiment_show import comparison_lines, comparison_record
    from evidence_kit.commands.progress import progress_bar
    from evidence_kit.experiments import baseline
    from evidence_kit.measures.intervals import SEED

    moment = moment_of(as_of, known_at)
    store = open_store(db)
    frozen = baseline.baseline_named(store.snapshot(), name)
    experiment = store.snapshot(moment.known_at)
    drawn = SEED if seed is None else seed
    with progress_bar("比较") as progress:
        made = baseline.compare(frozen, experiment, moment.as_of, seed=drawn, progress=progress)
    emit_result(as_json, {**moment.record(), **comparison_record(made)}, comparison_lines(made))


def _of_one_question(experiment: Experiment, question_id: str) -> Experiment:
    """Return the experiment with this question alone. Raises ExperimentError where there is none."""
    from dataclasses import replace

    from evidence_kit.experiments.judging import question_named

    question = question_named(experiment, question_id)
    judgments = tuple(each for each in experiment.judgments if each.question_id == question_id)
    return replace(experiment, questions=(question,), judgments=judgments)
