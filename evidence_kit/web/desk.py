"""The experiment that the Evaluate pages work on: its file, its searches, and what was said of imports."""

from __future__ import annotations

import secrets
import tempfile
import threading
from collections import OrderedDict
from dataclasses import dataclass
from datetime import date, datetime
from pathlib import Path

from evidence_kit.course import DATA
from evidence_kit.experiments.baseline import Comparison, baseline_named, compare
from evidence_kit.experiments.demo import read_demo
from evidence_kit.experiments.importing import told_apart
from evidence_kit.experiments.model import Experiment, Parameters, Question
from evidence_kit.experiments.prompt import Prompt
from evidence_kit.experiments.run import (
    Search,
    evaluate_search,
    measured_question,
    measures_at,
    qrels_in_force,
    search,
    search_key,
)
from evidence_kit.experiments.standing import Standing
from evidence_kit.experiments.store import ExperimentStore
from evidence_kit.measures.intervals import Progress
from evidence_kit.measures.ranking import Evaluation
from evidence_kit.reports.exports import prompt_of
from evidence_kit.sources.documents import Document, Reading
from evidence_kit.storage.revisions import Turns
from evidence_kit.web.jobs import Job, Jobs

_KEPT_IMPORTS = 20


@dataclass(frozen=True)
class Import:
    """What is to be said of an import: the ids of the sources that are new, the documents that were left out
    with the source that has their text, and what was read.
    """

    name: str
    added: tuple[str, ...]
    there: tuple[tuple[str, Document], ...]
    reading: Reading


class Desk:
    """One experiment for all who use the server: the file at `path`, or the demo in one that is not kept."""

    def __init__(self, path: Path | None = None) -> None:
        self.saved = path is not None
        self.jobs = Jobs()
        self._store = ExperimentStore.open(path) if path is not None else None
        self._folder: tempfile.TemporaryDirectory[str] | None = None
        self._lock = threading.Lock()
        self._imports: OrderedDict[str, Import] = OrderedDict()
        self._evaluated: tuple[Experiment, date, Evaluation] | None = None

    @property
    def store(self) -> ExperimentStore:
        """Return the experiment's store; the demo is made when it is first asked for."""
        with self._lock:
            if self._store is None:
                self._folder = tempfile.TemporaryDirectory(prefix="evidence-")
                demo = read_demo(DATA / "demo_experiment", Parameters())
                path = Path(self._folder.name) / "demo.db"
                ExperimentStore.create(path, demo.name, holding=demo).close()
                self._store = ExperimentStore.open(path)
            return self._store

    def close(self) -> None:
        """End all work and close the file; the demo's is removed."""
        self.jobs.close()
        with self._lock:
            if self._store is not None:
                self._store.close()
            if self._folder is not None:
                self._folder.cleanup()
                self._folder = self._store = None

    def look(self, known_at: datetime | None = None) -> Standing:
        """Return the experiment as it stands, or as it was recorded at an instant: that has no revisions, as
        nothing can be written to it. Raises ExperimentError where there was none yet.
        """
        if known_at is not None:
            nothing = Turns(undo=False, redo=False)
            return Standing(self.store.snapshot(known_at), 0, {}, None, nothing)
        return self.store.look()

    def search(self, standing: Standing, day: date) -> Job:
        """Return the job that searches what stands on a day; judging needs no new one."""
        experiment = standing.experiment
        return self.jobs.start(
            ("search", search_key(experiment, day)),
            "检索",
            lambda progress: search(experiment, day, progress=progress),
        )

    def compare(self, standing: Standing, found: Search, name: str) -> Job:
        """Return the job that compares what stands with a baseline. ExperimentError where there is none."""
        experiment, day = standing.experiment, found.standing.as_of
        baseline = baseline_named(experiment, name)

        def work(progress: Progress) -> Comparison:
            return compare(baseline, experiment, day, found=found, progress=progress)

        return self.jobs.start(("compare", standing.last, name, day), "比较", work)

    def evaluate(self, standing: Standing, found: Search) -> Evaluation:
        """Return the measures of what was found."""
        experiment, day = standing.experiment, found.standing.as_of
        before = self._evaluated
        if before is not None and before[0] is experiment and before[1] == day:
            return before[2]
        measures = measures_at(experiment.parameters.k)
        made = evaluate_search(qrels_in_force(experiment, found.standing), found, measures)
        self._evaluated = (experiment, day, made)
        return made

    def prompt(self, standing: Standing, found: Search, question: Question) -> Prompt:
        """Return the prompt for one question, the others left alone. Raises PromptError."""
        evaluation = self.evaluate(standing, found)
        return prompt_of(
            standing.experiment, measured_question(standing.experiment, found, question, evaluation)
        )

    def import_reading(self, reading: Reading, *, again: bool) -> Import:
        """Import what was read, what has the text of a source already only with `again`; the name of what is
        returned finds it for some time.
        """
        held = [source.source_id for source in self.store.look().experiment.sources]
        ids = self.store.import_documents(reading.documents, once=not again)
        added, there = told_apart(ids, reading.documents, held)
        made = Import(secrets.token_hex(6), tuple(name for name, _ in added), tuple(there), reading)
        with self._lock:
            self._imports[made.name] = made
            while len(self._imports) > _KEPT_IMPORTS:
                self._imports.popitem(last=False)
        return made

    def imported(self, name: str) -> Import | None:
        """Return the import of that name, None where it is kept no more."""
        with self._lock:
            return self._imports.get(name)
