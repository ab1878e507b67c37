"""What an experiment may hold: its limits, asked within a change in the making, and all of it at once."""

from __future__ import annotations

from evidence_kit.experiments.limits import Limits, check_cut, check_questions, check_sources, limits_of
from evidence_kit.experiments.model import Experiment
from evidence_kit.experiments.records import SETTINGS, THE_ONE, experiment_of, records_of
from evidence_kit.experiments.steps import standing_body
from evidence_kit.storage.revisions import Changing


def limits_held(change: Changing) -> Limits:
    """Return the limits that were chosen when the experiment was made."""
    return limits_of(standing_body(change, SETTINGS, THE_ONE)["limits"])


def check_sources_held(change: Changing) -> None:
    """Raise ExperimentError where the sources that stand are too many, too long or too many passages."""
    experiment, limits = experiment_of(change.state()), limits_held(change)
    check_sources(experiment.sources, limits)
    check_cut(experiment.sources, experiment.parameters, limits)


def check_questions_held(change: Changing) -> None:
    """Raise ExperimentError where the questions that stand are too many or too long."""
    check_questions(experiment_of(change.state()).questions, limits_held(change))


def hold(change: Changing, experiment: Experiment) -> None:
    """Let an experiment's file hold exactly this one; its limits stay, and are asked."""
    limits = limits_held(change)
    settings = {**standing_body(change, SETTINGS, THE_ONE), "name": experiment.name}
    records = [(SETTINGS, THE_ONE, settings), *records_of(experiment)]
    kept = {(kind, record_id) for kind, record_id, _ in records}
    for revision in change.state():
        if (revision.kind, revision.record_id) not in kept:
            change.put(revision.kind, revision.record_id, None)
    for kind, record_id, body in records:
        change.put(kind, record_id, body)
    check_sources(experiment.sources, limits)
    check_questions(experiment.questions, limits)
    check_cut(experiment.sources, experiment.parameters, limits)
