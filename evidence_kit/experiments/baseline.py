"""Baselines: a run frozen with the digests of all it rests on, and what may be said when another differs.

A difference is attributed to parameters only where sources, questions, judgments and code are the same and
the parameters are not.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import date
from functools import lru_cache
from importlib.resources import files
from typing import Literal

from evidence_kit.experiments.model import Baseline, Experiment, ExperimentError, digest_of
from evidence_kit.experiments.parameters import parameter_changes
from evidence_kit.experiments.run import evaluate_search, measures_at, qrels_in_force, search
from evidence_kit.measures.intervals import Comparison as Difference
from evidence_kit.measures.intervals import compare as compare_runs
from evidence_kit.measures.ranking import Evaluation, Measure, parse_measure
from evidence_kit.sources.model import text_digest
from evidence_kit.sources.store import Standing, validity_body
from evidence_kit.sources.unicode_rules import unicode_version

Condition = Literal["sources", "questions", "judgments", "parameters", "code"]
CONDITIONS: tuple[Condition, ...] = ("sources", "questions", "judgments", "parameters", "code")
SEED = 20261130

# What decides a ranking or a measure.
_DECIDING = ("text", "index", "measures", "sources/validity.py", "experiments/model.py", "experiments/run.py")


@dataclass(frozen=True)
class Comparison:
    """An experiment on a day against a baseline.

    `differing` are the conditions that are not the baseline's; `parameters` goes from a parameter to its
    values (baseline, now); `differences` are now less baseline, in the baseline's measures.
    """

    baseline: Baseline
    as_of: str
    differing: tuple[Condition, ...]
    parameters: Mapping[str, tuple[object, object]]
    differences: tuple[Difference, ...]

    @property
    def attributable(self) -> bool:
        """Return whether nothing but parameters differs, and they do."""
        return self.differing == ("parameters",)


def freeze(experiment: Experiment, as_of: date, name: str) -> Baseline:
    """Return the baseline that a run on a day makes. Raises ExperimentError on an empty name."""
    if not name.strip():
        raise ExperimentError("基线名称是空的：请起一个名字。")
    found = search(experiment, as_of)
    qrels = qrels_in_force(experiment, found.standing)
    evaluation = evaluate_search(qrels, found, measures_at(experiment.parameters.k))
    return Baseline(
        name=name,
        as_of=as_of.isoformat(),
        parameters=experiment.parameters,
        digests=digests(experiment, found.standing),
        means=evaluation.means,
        per_question=evaluation.per_question,
    )


def baseline_named(experiment: Experiment, name: str) -> Baseline:
    """Return the experiment's baseline of that name; ExperimentError names those there are."""
    for baseline in experiment.baselines:
        if baseline.name == name:
            return baseline
    there = "、".join(baseline.name for baseline in experiment.baselines) or "还没有基线，请先冻结一个"
    raise ExperimentError(f"没有基线 {name}：已有的是 {there}。")


def compare(baseline: Baseline, experiment: Experiment, as_of: date, *, seed: int = SEED) -> Comparison:
    """Return how the experiment on a day differs from a baseline, question by question.

    Questions count where a measure is defined in both; see `measures.intervals.compare`.
    """
    found = search(experiment, as_of)
    now = digests(experiment, found.standing)
    measures = _measures(baseline)
    evaluation = evaluate_search(qrels_in_force(experiment, found.standing), found, measures)
    frozen = _evaluation(baseline)
    return Comparison(
        baseline=baseline,
        as_of=as_of.isoformat(),
        differing=tuple(name for name in CONDITIONS if now[name] != baseline.digests.get(name)),
        parameters=parameter_changes(baseline.parameters, experiment.parameters),
        differences=tuple(compare_runs(frozen, evaluation, measure, seed=seed) for measure in measures),
    )


def _measures(baseline: Baseline) -> list[Measure]:
    """Return what the baseline measured: what a run of its k measures first, in that order."""
    found = sorted(map(parse_measure, baseline.means), key=repr)
    usual = [measure for measure in measures_at(baseline.parameters.k) if measure in found]
    return [*usual, *(measure for measure in found if measure not in usual)]


def digests(experiment: Experiment, in_force: Standing) -> dict[str, str]:
    """Return the digest of each condition: of the sources in force, and of the judgments that count.

    Titles are left out, since they are not searched.
    """
    sources = [
        [source.source_id, source.text_sha256, source.body_start, validity_body(source.validity)]
        for source in in_force.sources
    ]
    questions = [[question.question_id, text_digest(question.text)] for question in experiment.questions]
    return {
        "sources": _digest(sources),
        "questions": _digest(questions),
        "judgments": _digest(qrels_in_force(experiment, in_force)),
        "parameters": _digest(asdict(experiment.parameters)),
        "code": code_digest(),
    }


@lru_cache(maxsize=1)
def code_digest() -> str:
    """Return the digest of the modules that decide a ranking or a measure, and of their Unicode version."""
    modules = dict(module for name in _DECIDING for module in _modules(name))
    return _digest([unicode_version(), modules])


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
