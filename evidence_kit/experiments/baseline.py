"""Baselines: a run frozen with the digests of all it rests on, and what may be said when another differs.

A difference can come from parameters alone only where sources, questions, judgments and code are the same and
a parameter that acts on rankings is not.
"""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import date
from functools import lru_cache
from importlib.resources import files
from typing import Literal

from evidence_kit.experiments.model import Baseline, Experiment, ExperimentError, Parameters, Run, digest_of
from evidence_kit.experiments.parameters import parameter_changes
from evidence_kit.experiments.run import (
    Search,
    evaluate_search,
    measured,
    measures_at,
    qrels_in_force,
    search,
)
from evidence_kit.measures.intervals import SEED, PairedComparison, Progress
from evidence_kit.measures.intervals import compare as compare_runs
from evidence_kit.measures.ranking import Evaluation, parse_measure
from evidence_kit.sources.days import parse_day
from evidence_kit.sources.store import Standing, standing, validity_body
from evidence_kit.sources.unicode_rules import unicode_version

Condition = Literal["sources", "questions", "judgments", "parameters", "code"]
CONDITIONS: tuple[Condition, ...] = ("sources", "questions", "judgments", "parameters", "code")

# What decides a ranking or a measure.
_DECIDING = ("text", "index", "measures", "sources/validity.py", "experiments/model.py", "experiments/run.py")


@dataclass(frozen=True)
class Comparison:
    """An experiment on a day against a baseline.

    `differing` are the conditions that are not the baseline's; `parameters` goes from a parameter to its
    values (baseline, now); `differences` are now less baseline, in the baseline's measures; `missing` are the
    questions that have no hit now, which score 0 where they have a relevant judgment.
    """

    baseline: Baseline
    as_of: str
    differing: tuple[Condition, ...]
    parameters: Mapping[str, tuple[object, object]]
    differences: tuple[PairedComparison, ...]
    missing: tuple[str, ...]

    @property
    def idle(self) -> tuple[str, ...]:
        """Return the differing parameters that cannot move these measures.

        The budget is the prompt's, k cuts measures and these have the baseline's own; k1 and b are BM25's.
        """
        method = self.parameters.get("method", (None, self.baseline.parameters.method))[1]
        idle = {"budget", "k"} if method == "bm25" else {"budget", "k", "k1", "b"}
        return tuple(name for name in self.parameters if name in idle)

    @property
    def attributable(self) -> bool:
        """Return whether a difference can only come from parameters: nothing else differs, and one acts."""
        return self.differing == ("parameters",) and len(self.idle) < len(self.parameters)


def freeze(experiment: Experiment, as_of: date, name: str, *, found: Search | None = None) -> Baseline:
    """Return the baseline that a run on a day makes; `found` is that day's search, where it was made already.

    Raises ExperimentError on an empty name.
    """
    return baseline_of(experiment, measured(experiment, found or search(experiment, as_of)), name)


def baseline_of(experiment: Experiment, made: Run, name: str) -> Baseline:
    """Return a run of an experiment as its baseline. Raises ExperimentError on no name and an empty one."""
    if not name.strip():
        raise ExperimentError("基线名称是空的：请起一个名字。")
    in_force = standing(experiment.sources, parse_day(made.as_of))
    _refuse_empty(experiment, in_force)
    return Baseline(
        name=name,
        as_of=made.as_of,
        parameters=made.parameters,
        digests=digests(experiment, in_force),
        means=made.means,
        per_question={result.question.question_id: result.measures for result in made.results},
    )


def _refuse_empty(experiment: Experiment, in_force: Standing) -> None:
    """Raise ExperimentError where there is nothing to find, nothing to ask, or nothing to measure by."""
    lacking = None
    if not experiment.sources:
        lacking = "实验里还没有资料：请先导入资料，提出问题并判断"
    elif not in_force.sources:
        lacking = f"{in_force.as_of} 没有有效的资料：请换一个截至日期，或修改资料的有效期"
    elif not experiment.questions:
        lacking = "实验里还没有问题：请先提问并判断"
    elif not any(qrels_in_force(experiment, in_force).values()):
        lacking = f"{in_force.as_of} 有效的资料还没有有效的判断：请先判断，或确认待复核的判断"
    if lacking is not None:
        raise ExperimentError(f"不能冻结，{lacking}。")


def baseline_named(experiment: Experiment, name: str) -> Baseline:
    """Return the experiment's baseline of that name; ExperimentError names those there are."""
    for baseline in experiment.baselines:
        if baseline.name == name:
            return baseline
    names = "、".join(baseline.name for baseline in experiment.baselines)
    there = f"已有的是 {names}" if names else "还没有基线，请先冻结一个"
    raise ExperimentError(f"没有基线 {name}：{there}。", http_status=404)


def compare(
    baseline: Baseline, experiment: Experiment, as_of: date, *, seed: int = SEED,
    found: Search | None = None, progress: Progress = lambda done, whole: None,
) -> Comparison:  # fmt: skip
    """Return how the experiment on a day differs from a baseline, question by question.

    Questions count where a measure is defined in both; see `measures.intervals.compare`. `found` is that
    day's search, where it was made already; `progress` is told how much of the sampling is done, and what it
    raises ends the comparison.
    """
    found = found or search(experiment, as_of)
    now = digests(experiment, found.standing)
    measures = [parse_measure(name) for name in means_in_order(baseline)]
    evaluation = evaluate_search(qrels_in_force(experiment, found.standing), found, measures)
    frozen = _evaluation(baseline)

    def difference(number: int) -> PairedComparison:
        def told(done: int, whole: int) -> None:
            progress(number * whole + done, len(measures) * whole)

        return compare_runs(frozen, evaluation, measures[number], seed=seed, progress=told)

    return Comparison(
        baseline=baseline,
        as_of=as_of.isoformat(),
        differing=tuple(name for name in CONDITIONS if now[name] != baseline.digests.get(name)),
        parameters=parameter_changes(baseline.parameters, experiment.parameters),
        differences=tuple(map(difference, range(len(measures)))),
        missing=evaluation.missing,
    )


def means_in_order(baseline: Baseline) -> dict[str, float | None]:
    """Return a baseline's means in the order of a run's, which its stored form does not keep; others last."""
    usual = [repr(measure) for measure in measures_at(baseline.parameters.k)]
    names = [*(name for name in usual if name in baseline.means), *sorted(baseline.means.keys() - set(usual))]
    return {name: baseline.means[name] for name in names}


def digests(experiment: Experiment, in_force: Standing) -> dict[str, str]:
    """Return the digest of each condition: of the sources in force, and of the judgments that count.

    Titles are left out, since they are not searched.
    """
    sources = [
        [source.source_id, source.text_sha256, source.body_start, validity_body(source.validity)]
        for source in in_force.sources
    ]
    questions = [[question.question_id, question.text_sha256] for question in experiment.questions]
    judgments = [
        [question_id, source_id, grade]  # a question without judgments adds nothing
        for question_id, grades in qrels_in_force(experiment, in_force).items()
        for source_id, grade in sorted(grades.items())
    ]
    return {
        "sources": _digest(sources),
        "questions": _digest(questions),
        "judgments": _digest(judgments),
        "parameters": parameters_digest(experiment.parameters),
        "code": code_digest(),
    }


def parameters_digest(parameters: Parameters) -> str:
    """Return the digest of all parameters, those of the prompt included."""
    return _digest(asdict(parameters))


@lru_cache(maxsize=1)
def code_digest() -> str:
    """Return the digest of the modules that decide a ranking or a measure, and of both Unicode versions.

    `regex` has its own, by which graphemes and so passages are cut; Python's decides what is a term.
    """
    modules = dict(module for name in _DECIDING for module in _modules(name))
    return _digest([unicode_version(), unicodedata.unidata_version, modules])


def _modules(name: str) -> list[tuple[str, str]]:
    """Return (path, digest) of a module, or of all modules in a folder, whatever their line ends."""
    found = files("evidence_kit").joinpath(name)
    if found.is_dir():
        inner = [f"{name}/{item.name}" for item in found.iterdir() if item.name.endswith(".py")]
        return [module for path in sorted(inner) for module in _modules(path)]
    return [(name, digest_of(found.read_text(encoding="utf-8")))]  # reads any line end as \n


def _digest(value: object) -> str:
    return digest_of(json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":")))


def _evaluation(baseline: Baseline) -> Evaluation:
    return Evaluation(
        questions=len(baseline.per_question),
        means=baseline.means,
        undefined={},
        missing=(),
        ignored=(),
        per_question=baseline.per_question,
    )
