"""`evidence experiment export|restore`: an experiment as files, and back."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import click

from evidence_kit.commands.chinese import ChineseCommand
from evidence_kit.commands.console import emit_note, read_bytes
from evidence_kit.commands.experiment_options import (
    as_of_option,
    db_option,
    emit_result,
    json_option,
    known_at_option,
    moment_of,
    open_store,
)

if TYPE_CHECKING:
    from evidence_kit.experiments.model import Experiment, Run
    from evidence_kit.experiments.prompt import Prompt
    from evidence_kit.reports.figures import Format

_EXPORT_HELP = """导出一种或几种文件；有一种不能生成，就一个也不写。

已有的文件不会被覆盖，除非给出 --overwrite。

\b
例：
  evidence experiment export --db 实验.db --measures 指标.csv --hits 命中.csv
  evidence experiment export --db 实验.db --figure 指标.png --html 报告.html
  evidence experiment export --db 实验.db --prompt 提示词.txt --question Q001
  evidence experiment export --db 实验.db --experiment 实验.json
"""

_RESTORE_HELP = """从完整实验 JSON 还原资料、问题、判断、参数、基线与视图，标识不变。

实验文件不存在就新建，还原的内容就是起点，不能撤销；限额不在 JSON 里，用 --limits 选。
已有内容的实验不会被换掉，除非给出 --overwrite：那样就整个换成文件里的内容，并说明换掉了什么。
这算作一次改动，可以撤销；限额仍是实验文件自己的。撤销时，之后冻结的基线会留下。

\b
例：
  evidence experiment restore 实验.json --db 新实验.db
  evidence experiment restore 实验.json --db 实验.db --overwrite
"""


@click.command(cls=ChineseCommand, name="export", help=_EXPORT_HELP)
@db_option
@click.option("--measures", metavar="CSV", help="每个问题的指标与均值。")
@click.option("--hits", metavar="CSV", help="全部命中的资料块，不只前 k 篇。")
@click.option("--figure", metavar="PNG|SVG", help="指标图，格式看扩展名。")
@click.option("--html", metavar="HTML", help="完整报告：全部原文、判断与摘录，可离线打开。")
@click.option("--experiment", metavar="JSON", help="完整实验，可用 restore 还原。")
@click.option("--trec-qrels", metavar="文件", help="当天有效资料的有效判断，TREC 写法；没有判断的问题不写。")
@click.option("--trec-run", metavar="文件", help="全部命中的资料与分数，TREC 写法。")
@click.option("--squad", metavar="JSON", help="SQuAD 写法：每个问题放在判得最高的一篇下，答案写作全文。")
@click.option("--prompt", metavar="TXT", help="给下游模型的提示词，另需 --question。")
@click.option("--question", "question_id", metavar="标识", help="提示词的问题；只有一个问题时可省略。")
@click.option("--overwrite", is_flag=True, help="覆盖已有的文件。")
@as_of_option
@known_at_option
@json_option
def export(
    db: str, question_id: str | None, overwrite: bool, as_of: str | None, known_at: str | None, as_json: bool,
    **targets: str | None,
) -> None:  # fmt: skip
    from evidence_kit.experiments.model import ExperimentError
    from evidence_kit.experiments.run import run
    from evidence_kit.reports.exports import prompt_for
    from evidence_kit.sources.visible import visible
    from evidence_kit.sources.writing import write_together

    wanted = {kind: Path(path) for kind, path in targets.items() if path is not None}
    if not wanted:
        raise ExperimentError("没有要导出的内容：请至少给出一种，如 --measures 指标.csv。")
    _check_targets(list(wanted.values()), db)
    for path in wanted.values():
        if path.exists() and not overwrite:
            raise ExperimentError(f"{path} 已经存在，什么也没有写：请换一个文件名，或给出 --overwrite。")
    moment = moment_of(as_of, known_at)
    experiment = open_store(db).snapshot(moment.known_at)
    made = run(experiment, moment.as_of)
    prompt = prompt_for(experiment, made, question_id) if "prompt" in wanted else None
    contents = {
        path: prompt.text if prompt and kind == "prompt" else _content(kind, experiment, made, path)
        for kind, path in wanted.items()
    }
    write_together(contents, replace=overwrite)
    record = {**moment.record(), "written": {kind: str(path) for kind, path in wanted.items()}}
    lines = [f"已写出 {visible(str(path))}" for path in wanted.values()]
    if prompt is not None:
        record["prompt"] = _prompt_record(prompt)
        lines.append(_prompt_line(prompt, made.parameters.budget))
    emit_result(as_json, record, lines)


@click.command(cls=ChineseCommand, name="restore", help=_RESTORE_HELP)
@click.argument("file", metavar="FILE")
@db_option
@click.option("--limits", metavar="方案", help="新建时的限额方案：default（默认）或 seed。")
@click.option("--overwrite", is_flag=True, help="换掉实验文件里已有的内容。")
@json_option
def restore(file: str, db: str, limits: str | None, overwrite: bool, as_json: bool) -> None:
    from evidence_kit.experiments.limits import check_restore, limits_of
    from evidence_kit.experiments.model import ExperimentError
    from evidence_kit.experiments.store import ExperimentStore
    from evidence_kit.formats.experiment_json import experiment_from_json
    from evidence_kit.sources.visible import visible

    store = open_store(db) if Path(db).exists() else None
    if store is not None and limits is not None:
        raise ExperimentError(f"{db} 已有限额 {store.profile}，不能改：--limits 只用于新建。")
    profile = limits or "default"
    allowed = limits_of(profile) if store is None else store.limits
    check_restore(Path(file).stat().st_size, allowed)  # before all of it is read
    data = read_bytes(file)
    experiment = experiment_from_json(data, file, allowed)
    before = store.snapshot() if store else None
    replaced = before if before and _holds(before) else None
    if replaced and not overwrite:
        raise ExperimentError(
            f"{db} 里已有{_summary(replaced)}，没有改动它：请换一个文件名，或给出 --overwrite。"
        )
    if store is None:
        ExperimentStore.create(db, experiment.name, limits=profile, holding=experiment).close()
    else:
        store.restore(experiment)
    record = {**_counts(experiment), "replaced": replaced and _counts(replaced)}
    lines = [f"已还原{_summary(experiment)}。"]
    if replaced:
        lines.append(f"换掉了{_summary(replaced)}；undo 换回来。")
    emit_result(as_json, record, map(visible, lines))


def _holds(experiment: Experiment) -> bool:
    return bool(experiment.sources or experiment.questions or experiment.baselines)


def _counts(experiment: Experiment) -> dict[str, Any]:
    return {
        "name": experiment.name,
        "sources": len(experiment.sources),
        "questions": len(experiment.questions),
        "judgments": len(experiment.judgments),
        "baselines": len(experiment.baselines),
    }


def _summary(experiment: Experiment) -> str:
    line = "「{name}」：资料 {sources} 篇，问题 {questions} 个，判断 {judgments} 条，基线 {baselines} 个"
    return line.format(**_counts(experiment))


def _check_targets(targets: list[Path], db: str) -> None:
    """Refuse one file for two contents, under whatever names, and the experiment itself as a target."""
    from evidence_kit.experiments.model import ExperimentError

    real = [path.parent.resolve() / path.name for path in targets]
    if len(set(real)) < len(real):
        raise ExperimentError("两种内容要写进同一个文件：请给出不同的文件名。")
    held = Path(db).resolve()
    beside = [held.with_name(held.name + end) for end in ("", "-wal", "-shm", "-journal")]
    for path in real:
        if path.resolve() in beside or (path.exists() and held.exists() and path.samefile(held)):
            raise ExperimentError(f"{path} 是实验文件本身，没有改动它：请给出别的文件名。")


def _content(kind: str, experiment: Experiment, run: Run, path: Path) -> str | bytes:
    from evidence_kit.reports.exports import EXPORTS
    from evidence_kit.reports.figures import draw_measures

    if kind == "figure":
        return draw_measures(run, cast("Format", path.suffix.lower().removeprefix(".")))
    if kind == "squad":
        return _squad(experiment, run)
    return EXPORTS[_NAMES[kind]].make(experiment, run, None)


def _squad(experiment: Experiment, run: Run) -> str:
    from evidence_kit.experiments.model import ExperimentError
    from evidence_kit.formats.squad import squad_to_json
    from evidence_kit.formats.squad_experiment import experiment_to_squad
    from evidence_kit.sources.days import parse_day
    from evidence_kit.sources.store import standing

    made = experiment_to_squad(experiment, standing(experiment.sources, parse_day(run.as_of)))
    if not made.squad.paragraphs:
        raise ExperimentError("当天有效的资料里没有正文，不能写成 SQuAD：请先导入资料。")
    if made.unanswered or made.further or made.blank:
        emit_note(
            f"SQuAD 写法装不下的：没有相关判断的问题 {len(made.unanswered)} 个，"
            f"另外的相关判断 {made.further} 条，空资料 {len(made.blank)} 篇。"
        )
    return squad_to_json(made.squad)


def _prompt_record(prompt: Prompt) -> dict[str, Any]:
    return {
        "characters": prompt.characters,
        "left_out": prompt.left_out,
        "citations": [
            {
                "cite": citation.number,
                "source_id": citation.source_id,
                "unit": "codepoint",
                "start": citation.start,
                "end": citation.end,
                "cut": citation.cut,
            }
            for citation in prompt.citations
        ],
    }


def _prompt_line(prompt: Prompt, budget: int) -> str:
    cut = sum(citation.cut for citation in prompt.citations)
    said = f"提示词 {prompt.characters} 个字符（预算 {budget}），摘录 {len(prompt.citations)} 条"
    short = (
        f"；预算不够，截短 {cut} 条，略去 {prompt.left_out} 条" if cut or prompt.left_out else "，全部完整"
    )
    return f"{said}{short}。"


_NAMES = {
    "measures": "measures.csv",
    "hits": "hits.csv",
    "html": "report.html",
    "experiment": "experiment.json",
    "trec_qrels": "qrels.txt",
    "trec_run": "run.txt",
}
