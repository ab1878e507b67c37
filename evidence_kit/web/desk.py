"""The experiment that the Evaluate pages work on: its file, its searches, and what was said of imports."""

from __future__ import annotations

import secrets
import tempfile
import threading
from collections import OrderedDict
from dataclasses import dataclass
from datetime import date
from pathlib import Path

from evidence_kit.course import DATA
from evidence_kit.experiments.baseline import Comparison, baseline_named, compare, freeze
from evidence_kit.experiments.demo import read_demo
from evidence_kit.experiments.importing import told_apart
from evidence_kit.experiments.model import Experiment, Parameters, Question
from evidence_kit.experiments.prompt import Prompt
from evidence_kit.experiments.run import (
    Search,
    evaluate_search,
    measured,
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
from evidence_kit.reports.exports import Export, prompt_of
from evidence_kit.sources.documents import Document, Reading
from evidence_kit.sources.store import Standing as InForce
from evidence_kit.sources.store import standing as sources_in_force
from evidence_kit.storage.revisions import Turns
from evidence_kit.web.jobs import Job, Jobs
from evidence_kit.web.past import Past

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


@dataclass(frozen=True)
class Searching:
    """The job of a search, and the sources that are in force on the day it was asked for."""

    job: Job
    in_force: InForce

    def found(self, result: Search) -> Search:
        """Return what the job found, as of that day: it may have been begun for another one."""
        return result.on(self.in_force)


class Desk:
    """One experiment for all who use the server: the file at `path`, or the demo in one that is not kept."""

    def __init__(self, path: Path | None = None) -> None:
        self.saved = path is not None
        self.jobs = Jobs()
        self.files = Jobs(keep=2, workers=1)  # apart: large files shall not push the searches out
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
        self.files.close()
        with self._lock:
            if self._store is not None:
                self._store.close()
            if self._folder is not None:
                self._folder.cleanup()
                self._folder = self._store = None

    def look(self, past: Past | None = None) -> Standing:
        """Return the experiment as it stands, or as it was recorded: that has no revisions, as nothing can be
        written to it. Raises ExperimentError where there was none yet.
        """
        if past is not None:
            nothing = Turns(undo=False, redo=False)
            return Standing(self.store.snapshot(past.known_at, past.change), 0, {}, None, nothing)
        return self.store.look()

    def search(self, standing: Standing, day: date) -> Searching:
        """Return the search of what stands on a day; judging needs no new one. Raises BusyError."""
        experiment, in_force = standing.experiment, sources_in_force(standing.experiment.sources, day)
        job = self.jobs.start(
            ("search", search_key(experiment, in_force)),
            "检索",
            lambda progress: search(experiment, day, progress=progress),
        )
        return Searching(job, in_force)

    def compare(self, standing: Standing, found: Search, name: str) -> Job:
        """Return the job that compares what stands with a baseline; its `as_of` is a day with the same
        sources in force. ExperimentError where there is no such baseline.
        """
        experiment, day = standing.experiment, found.standing.as_of
        baseline = baseline_named(experiment, name)

        def work(progress: Progress) -> Comparison:
            return compare(baseline, experiment, day, found=found, progress=progress)

        key = ("compare", standing.last, name, search_key(experiment, found.standing))
        return self.jobs.start(key, "比较", work)

    def freeze(self, name: str, day: date, expected: int) -> Job:
        """Return the job that freezes what stands on a day as a baseline and keeps it; ending it keeps none.

        Raises StaleError where anything has changed since the revision `expected`.
        """
        standing = self.look()
        self.store.refuse_newer(expected)
        experiment, searching = standing.experiment, self.search(standing, day)

        def work(progress: Progress) -> None:
            found = searching.found(searching.job.result_within(progress))
            frozen = freeze(experiment, day, name, found=found)
            progress(1, 1)  # the last moment to end it
            self.store.add_baseline(frozen, expected=expected)

        return self.jobs.start(("freeze", name, day, expected), "冻结基线", work)

    def export(self, standing: Standing, found: Search, export: Export, past: Past | None) -> Job:
        """Return the job that makes a file; it has no steps, and is ended only before it begins."""
        experiment = standing.experiment

        def work(progress: Progress) -> str | bytes:
            return export.make(experiment, measured(experiment, found), None)

        of = standing.last if past is None else tuple(past.fields.items())
        return self.files.start((export.name, of, found.standing.as_of), "生成文件", work)

    def job(self, job_id: str) -> Job | None:
        """Return the job of that id, None where there is none any more."""
        return self.jobs.find(job_id) or self.files.find(job_id)

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
