"""The records of an experiment as the store keeps them: kinds, ids and JSON bodies, there and back."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict
from operator import attrgetter, itemgetter
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
    return assembled(
        {
            (revision.kind, revision.record_id): part_of(revision.kind, revision.record_id, revision.body)
            for revision in state
            if revision.body is not None
        }
    )


def part_of(kind: str, record_id: str, body: Body) -> object:
    """Return what a stored body makes of an experiment; of settings the name, of a view its value.

    Raises DamagedDatabaseError.
    """
    with intact():
        return _PARTS[kind](record_id, body)


def assembled(parts: Mapping[tuple[str, str], Any]) -> Experiment:
    """Return the experiment that parts make, by kind and id. Raises DamagedDatabaseError."""
    found: dict[str, dict[str, Any]] = {kind: {} for kind in _PARTS}
    for (kind, record_id), part in sorted(parts.items(), key=itemgetter(0)):
        found[kind][record_id] = part
    with intact():
        return Experiment(
            name=found[SETTINGS][THE_ONE],
            sources=tuple(found[SOURCE].values()),
            questions=tuple(found[QUESTION].values()),
            judgments=tuple(sorted(found[JUDGMENT].values(), key=attrgetter("question_id", "source_id"))),
            parameters=found[PARAMETERS][THE_ONE],
            baselines=tuple(found[BASELINE].values()),
            views=found[VIEW],
        )


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


_PARTS: Mapping[str, Callable[[str, Body], object]] = {
    SOURCE: source_of,
    QUESTION: lambda name, body: Question(name, body["text"]),
    JUDGMENT: lambda _, body: Judgment(**body),
    PARAMETERS: lambda _, body: Parameters(**body),
    BASELINE: _baseline,
    VIEW: lambda _, body: body["value"],
    SETTINGS: lambda _, body: body["name"],
}
