"""The records of an experiment as the store keeps them: kinds, ids and JSON bodies, there and back."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from typing import Any

from evidence_kit.experiments.limits import limits_of
from evidence_kit.experiments.model import Baseline, Experiment, Judgment, Parameters, Question
from evidence_kit.sources.store import KIND as SOURCE
from evidence_kit.sources.store import source_body, source_of
from evidence_kit.storage.errors import DamagedDatabaseError
from evidence_kit.storage.revisions import Body, Revision

QUESTION, JUDGMENT, PARAMETERS, BASELINE = "question", "judgment", "parameters", "baseline"
VIEW, SETTINGS = "view", "settings"
# Of what there is one only.
THE_ONE = ""

Record = tuple[str, str, dict[str, Any]]  # kind, id, body


def judgment_id(question_id: str, source_id: str) -> str:
    """Return the id of the judgment of a source for a question; no two pairs share one."""
    return json.dumps([question_id, source_id], ensure_ascii=False)


def judgment_body(judgment: Judgment) -> dict[str, Any]:
    """Return what is stored of a judgment."""
    return asdict(judgment)


def records_of(experiment: Experiment) -> list[Record]:
    """Return all records of an experiment, its name excepted."""
    return [
        *((SOURCE, source.source_id, source_body(source)) for source in experiment.sources),
        *((QUESTION, question.question_id, {"text": question.text}) for question in experiment.questions),
        *(
            (JUDGMENT, judgment_id(judgment.question_id, judgment.source_id), judgment_body(judgment))
            for judgment in experiment.judgments
        ),
        (PARAMETERS, THE_ONE, asdict(experiment.parameters)),
        *((BASELINE, baseline.name, baseline_body(baseline)) for baseline in experiment.baselines),
        *((VIEW, name, {"value": value}) for name, value in experiment.views.items()),
    ]


def experiment_of(state: Iterable[Revision]) -> Experiment:
    """Return the experiment that the standing records make. Raises DamagedDatabaseError."""
    found: dict[str, dict[str, Body]] = {}
    for revision in state:
        if revision.body is not None:
            found.setdefault(revision.kind, {})[revision.record_id] = revision.body
    with intact():
        return _experiment(found)


@contextmanager
def intact() -> Iterator[None]:
    """Raise DamagedDatabaseError where a stored body has not the fields that its record is made of."""
    try:
        yield
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise DamagedDatabaseError(f"实验记录残缺（{error!r}）：请换用备份。") from error


def check_body(kind: str, record_id: str, body: Body) -> None:
    """Raise DamagedDatabaseError where a body of a source, question, parameters or settings is not whole."""
    with intact():
        if kind == SOURCE:
            source_of(record_id, body)
        elif kind == QUESTION:
            Question(record_id, body["text"])
        elif kind == PARAMETERS:
            Parameters(**body)
        elif kind == SETTINGS:
            Experiment(body["name"])
            limits_of(body["limits"])


def _experiment(found: dict[str, dict[str, Body]]) -> Experiment:
    def ordered(kind: str) -> list[tuple[str, Body]]:
        return sorted(found.get(kind, {}).items())

    judgments = [Judgment(**body) for _, body in ordered(JUDGMENT)]
    return Experiment(
        name=found[SETTINGS][THE_ONE]["name"],
        sources=tuple(source_of(name, body) for name, body in ordered(SOURCE)),
        questions=tuple(Question(name, body["text"]) for name, body in ordered(QUESTION)),
        judgments=tuple(sorted(judgments, key=lambda judgment: (judgment.question_id, judgment.source_id))),
        parameters=Parameters(**found[PARAMETERS][THE_ONE]),
        baselines=tuple(_baseline(name, body) for name, body in ordered(BASELINE)),
        views={name: body["value"] for name, body in ordered(VIEW)},
    )


def baseline_body(baseline: Baseline) -> dict[str, Any]:
    """Return what is stored of a baseline."""
    return {
        "as_of": baseline.as_of,
        "parameters": asdict(baseline.parameters),
        "digests": dict(baseline.digests),
        "means": dict(baseline.means),
        "per_question": {name: dict(values) for name, values in baseline.per_question.items()},
    }


def _baseline(name: str, body: Body) -> Baseline:
    return Baseline(name=name, **{**body, "parameters": Parameters(**body["parameters"])})
