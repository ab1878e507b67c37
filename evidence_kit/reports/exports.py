"""Everything that leaves an experiment, in one table: a name, what it is, and how it is made."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from evidence_kit.experiments.model import Experiment, ExperimentError, QuestionResult, Run
from evidence_kit.experiments.naming import unknown_id

if TYPE_CHECKING:
    from evidence_kit.experiments.prompt import Prompt

Make = Callable[[Experiment, Run, "str | None"], "str | bytes"]


@dataclass(frozen=True)
class Export:
    """`name` is a file's; `make` takes an experiment, its run, and the question of those that are of one."""

    name: str
    title: str
    media_type: str
    make: Make
    of_question: bool = False


def prompt_of(experiment: Experiment, result: QuestionResult) -> Prompt:
    """Return the prompt for a question from the sources in its first k. PromptError on too small a budget."""
    from evidence_kit.experiments.prompt import build_prompt

    parameters = experiment.parameters
    best = [hit.best for hit in result.documents[: parameters.k]]
    return build_prompt(result.question.text, best, _titles(experiment), parameters.budget)


def prompt_for(experiment: Experiment, run: Run, question_id: str | None) -> Prompt:
    """Return the prompt for a question of a run, which may be left out where there is only one."""
    results = {result.question.question_id: result for result in run.results}
    if question_id is None and len(results) != 1:
        raise ExperimentError(f"提示词只写一个问题，实验里有 {len(results)} 个：请用 --question 给出标识。")
    name = next(iter(results)) if question_id is None else question_id
    if name not in results:
        raise unknown_id("问题", name, results)
    return prompt_of(experiment, results[name])


def _prompt(experiment: Experiment, run: Run, question_id: str | None) -> str:
    return prompt_for(experiment, run, question_id).text


def _titles(experiment: Experiment) -> dict[str, str]:
    return {source.source_id: source.title for source in experiment.sources}


def _measures(experiment: Experiment, run: Run, question_id: str | None) -> bytes:
    from evidence_kit.formats.tables import measures_table

    return measures_table(run)


def _hits(experiment: Experiment, run: Run, question_id: str | None) -> bytes:
    from evidence_kit.formats.tables import hits_table

    return hits_table(run, _titles(experiment))


def _png(experiment: Experiment, run: Run, question_id: str | None) -> bytes:
    from evidence_kit.reports.figures import draw_measures

    return draw_measures(run, "png")


def _svg(experiment: Experiment, run: Run, question_id: str | None) -> bytes:
    from evidence_kit.reports.figures import draw_measures

    return draw_measures(run, "svg")


def _html(experiment: Experiment, run: Run, question_id: str | None) -> str:
    from evidence_kit.reports.html import build_report

    return build_report(experiment, run)


def _experiment(experiment: Experiment, run: Run, question_id: str | None) -> str:
    from evidence_kit.formats.experiment_json import experiment_to_json

    return experiment_to_json(experiment)


def _trec_qrels(experiment: Experiment, run: Run, question_id: str | None) -> str:
    from evidence_kit.experiments.run import qrels_in_force
    from evidence_kit.formats.trec import qrels_to_trec
    from evidence_kit.sources.days import parse_day
    from evidence_kit.sources.store import standing

    return qrels_to_trec(qrels_in_force(experiment, standing(experiment.sources, parse_day(run.as_of))))


def _trec_run(experiment: Experiment, run: Run, question_id: str | None) -> str:
    from evidence_kit.formats.trec import run_to_trec

    scores = {
        result.question.question_id: {hit.best.source_id: hit.best.score for hit in result.documents}
        for result in run.results
    }
    return run_to_trec(scores, run.parameters.method)


_CSV, _TEXT = "text/csv; charset=utf-8", "text/plain; charset=utf-8"
_TABLE = (
    Export("measures.csv", "指标表（CSV）：每个问题的指标与均值", _CSV, _measures),
    Export("hits.csv", "命中表（CSV）：全部命中的资料块，不只前 k 篇", _CSV, _hits),
    Export("figure.png", "指标图（PNG）", "image/png", _png),
    Export("figure.svg", "指标图（SVG）", "image/svg+xml", _svg),
    Export(
        "report.html", "完整报告（HTML）：全部原文、判断与摘录，可离线打开", "text/html; charset=utf-8", _html
    ),
    Export("experiment.json", "完整实验（JSON）：可以还原", "application/json", _experiment),
    Export("qrels.txt", "判断（TREC）：当天在用资料的有效判断", _TEXT, _trec_qrels),
    Export("run.txt", "排名（TREC）：全部命中的资料与分数", _TEXT, _trec_run),
    Export("prompt.txt", "提示词（TXT）", _TEXT, _prompt, of_question=True),
)
EXPORTS = {export.name: export for export in _TABLE}
