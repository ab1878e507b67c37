"""An experiment in a file: what can be done to it, each action one change, and its past.

A store may be shared by threads and the file by processes (see `storage.connection`). Every method that
writes returns once the change is on the disk. `expected` is the revision of a record that its writer looked
at: where it is another one by now, StaleError says what changed, and nothing is written.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from datetime import datetime
from functools import cached_property
from pathlib import Path

from evidence_kit.experiments.holding import check_questions_held, check_sources_held, hold, limits_held
from evidence_kit.experiments.importing import JudgedQuestion, add_documents, add_judged
from evidence_kit.experiments.limits import Limits, check_cut, limits_of
from evidence_kit.experiments.model import (
    Baseline,
    Experiment,
    ExperimentError,
    ExperimentSource,
    Judgment,
    JudgmentError,
    Parameters,
    Question,
    digest_of,
)
from evidence_kit.experiments.naming import one_line
from evidence_kit.experiments.parameters import changed, parameter_changes
from evidence_kit.experiments.records import (
    BASELINE,
    JUDGMENT,
    PARAMETERS,
    QUESTION,
    SETTINGS,
    THE_ONE,
    VIEW,
    baseline_body,
    experiment_of,
    judgment_body,
    judgment_id,
)
from evidence_kit.experiments.standing import Held, Standing
from evidence_kit.experiments.steps import (
    fresh_judgment,
    put_judgment,
    put_questions,
    remove_judgments,
    standing_body,
    with_text,
)
from evidence_kit.sources.documents import Document
from evidence_kit.sources.store import KIND as SOURCE
from evidence_kit.sources.store import put_sources, source_of
from evidence_kit.sources.validity import Validity
from evidence_kit.storage.connection import Database, new_database, open_database
from evidence_kit.storage.revisions import Change, Changing, Clock, Revisions, utc_now


class ExperimentStore:
    """One experiment in one file; `create` and `open` make it."""

    def __init__(self, database: Database, clock: Clock = utc_now) -> None:
        self._database = database
        self._revisions = Revisions(database, clock)
        self._held = Held()

    @classmethod
    def create(
        cls, path: str | Path, name: str, *, limits: str = "default", clock: Clock = utc_now,
        holding: Experiment | None = None,
    ) -> ExperimentStore:  # fmt: skip
        """Return a new experiment in a new file, written whole or not at all.

        `holding` is what it holds from the start, its name before `name`: undo does not reach behind that.
        """
        limits_of(limits)
        experiment = holding or Experiment(name)
        with new_database(Path(path)) as database:
            store = cls(database, clock)
            with store._revisions.changing(f"新建实验（限额 {limits}）", undoable=False) as change:
                change.put(SETTINGS, THE_ONE, {"name": experiment.name, "limits": limits})
                hold(change, experiment)
        return store

    @classmethod
    def open(cls, path: str | Path, *, clock: Clock = utc_now) -> ExperimentStore:
        """Return the experiment in a file. Raises StorageError where there is none."""
        return cls(open_database(Path(path)), clock)

    def close(self) -> None:
        """Close the file."""
        self._database.close()

    # What stands, and what stood.

    @property
    def limits(self) -> Limits:
        """Return the limits that were chosen when the experiment was made."""
        return limits_of(self.profile)

    @property
    def profile(self) -> str:
        """Return the name of those limits."""
        settings = self._revisions.latest(SETTINGS, THE_ONE)
        if settings is None or settings.body is None:
            raise ExperimentError("这个文件里没有实验：请先新建。")
        profile: str = settings.body["limits"]
        return profile

    @cached_property
    def identity(self) -> str:
        """Return a word that tells this experiment from others: how it began, which no change touches."""
        first = self._revisions.change(1)
        return digest_of(f"{first.recorded_at.isoformat()} {first.label}" if first else "")[:12]

    def snapshot(self, known_at: datetime | None = None, change: int | None = None) -> Experiment:
        """Return the experiment as it is, as it was recorded at an instant, or after the change of a number.

        Raises ExperimentError where there was none at that instant, or no such change (HTTP status 404).
        """
        if change is not None and self._revisions.change(change) is None:
            raise ExperimentError(f"没有第 {change} 次改动：请从“历史”里选择。", http_status=404)
        state = self._revisions.state(known_at, change)
        if not any(revision.kind == SETTINGS for revision in state):
            raise ExperimentError("那个时刻还没有这个实验：请给出更晚的时刻。")
        return experiment_of(state)

    def look(self) -> Standing:
        """Return the experiment as it is, whoever wrote it, with the revisions that `expected` asks for.

        What has not changed since the last look is not read again.
        """
        return self._held.look(self._revisions)

    def refuse_stale(self, kind: str, record_id: str, expected: int) -> None:
        """Raise StaleError where a record has changed since: a check before what is written is parsed."""
        self._revisions.refuse_stale(kind, record_id, expected)

    def refuse_newer(self, expected: int) -> None:
        """Raise StaleError where anything has changed since the revision `expected`, the last one of all."""
        self._revisions.refuse_newer(expected)

    def revision(self, kind: str, record_id: str) -> int:
        """Return the number of a record's last revision, for `expected`; 0 where there never was one."""
        found = self._revisions.latest(kind, record_id)
        return found.number if found else 0

    def history(self) -> tuple[Change, ...]:
        """Return all changes, the first one first."""
        return self._revisions.history()

    def undo(self, *, expected: int | None = None) -> Change:
        """Take back the last change of sources, questions, judgments or parameters.

        `expected` is the last revision of all, here and in `redo`, `add_baseline` and `restore`.
        """
        return self._revisions.undo(expected=expected)

    def redo(self, *, expected: int | None = None) -> Change:
        """Do again the last change that was undone."""
        return self._revisions.redo(expected=expected)

    def rename(self, name: str) -> None:
        """Give the experiment another name; undo reaches it."""
        experiment = Experiment(name)
        with self._revisions.changing(f"改名为 {name}") as change:
            change.put(
                SETTINGS, THE_ONE, {**standing_body(change, SETTINGS, THE_ONE), "name": experiment.name}
            )

    # Sources.

    def import_documents(self, documents: Sequence[Document], *, once: bool = False) -> tuple[str, ...]:
        """Add documents in their order, as one change, and return their ids: S001 and so on.

        An id is never given twice, also when its source has been removed. What a document supersedes is
        another of these by its own id, or a source of the experiment. With `once`, a document whose text is
        there already is not added, and its id is that source's; see `importing`.
        """
        with self._revisions.changing("导入资料") as change:
            return add_documents(change, documents, once)

    def import_judged(
        self, documents: Sequence[Document], questions: Sequence[JudgedQuestion], *, once: bool = False,
    ) -> tuple[tuple[str, ...], tuple[str, ...]]:  # fmt: skip
        """Add documents, and questions judged on them, as one change; return the ids of both.

        With `once`, what is there already is not added, and its id is returned; see `importing`.
        """
        with self._revisions.changing("导入资料和问题") as change:
            return add_judged(change, documents, questions, once)

    def edit_source(
        self, source_id: str, *, title: str | None = None, text: str | Document | None = None,
        validity: Validity | None = None, expected: int | None = None,
    ) -> ExperimentSource:  # fmt: skip
        """Change what is given of a source and return it. A new text makes its judgments stale.

        A document gives its text, where its body begins and how it was decoded; not its title. A title is one
        line: breaks in it become spaces.
        """
        with self._revisions.changing(f"修改资料 {source_id}") as change:
            change.refuse_stale(SOURCE, source_id, expected)
            source = source_of(source_id, standing_body(change, SOURCE, source_id))
            source = replace(source, title=source.title if title is None else one_line(title))
            if text is not None:
                source = with_text(source, text)
            if validity is not None:
                source = replace(source, validity=validity)
            put_sources(change, [source], expected=expected)
            check_sources_held(change)
        return source

    def remove_source(self, source_id: str, *, expected: int | None = None) -> None:
        """Remove a source with its judgments; undo brings back both."""
        with self._revisions.changing(f"删除资料 {source_id}") as change:
            change.refuse_stale(SOURCE, source_id, expected)
            standing_body(change, SOURCE, source_id)
            change.put(SOURCE, source_id, None, expected=expected)
            remove_judgments(change, "source_id", source_id)

    # Questions.

    def add_questions(self, texts: Sequence[str]) -> tuple[str, ...]:
        """Add questions as one change and return their new ids: Q001 and so on, never given twice."""
        with self._revisions.changing(f"新增 {len(texts)} 个问题") as change:
            ids = put_questions(change, texts)
            check_questions_held(change)
        return ids

    def edit_question(self, question_id: str, text: str, *, expected: int | None = None) -> Question:
        """Change a question's text, which makes its judgments stale, and return the question."""
        with self._revisions.changing(f"修改问题 {question_id}") as change:
            change.refuse_stale(QUESTION, question_id, expected)
            question = Question(question_id, text)
            standing_body(change, QUESTION, question_id)
            change.put(QUESTION, question_id, {"text": text}, expected=expected)
            check_questions_held(change)
        return question

    def remove_question(self, question_id: str, *, expected: int | None = None) -> None:
        """Remove a question with its judgments; undo brings back both."""
        with self._revisions.changing(f"删除问题 {question_id}") as change:
            change.refuse_stale(QUESTION, question_id, expected)
            standing_body(change, QUESTION, question_id)
            change.put(QUESTION, question_id, None, expected=expected)
            remove_judgments(change, "question_id", question_id)

    # Judgments.

    def judge(
        self, question_id: str, source_id: str, grade: int | None, *, expected: int | None = None,
        seen: tuple[str, str] | None = None,
    ) -> Judgment | None:  # fmt: skip
        """Judge a source for a question, on the texts that stand; None clears the judgment.

        `seen` has the digests of the question and the source that were judged: StaleError where a text has
        changed since.
        """
        said = "清除" if grade is None else grade
        with self._revisions.changing(f"判断 {question_id} 与 {source_id}：{said}") as change:
            return put_judgment(change, question_id, source_id, grade, expected=expected, seen=seen)

    def judge_all(self, grades: Mapping[tuple[str, str], int | None]) -> None:
        """Judge several (question id, source id) as one change, all or none, as `judge` does each.

        Raises JudgmentError, which names the one that is refused.
        """
        with self._revisions.changing(f"判断 {len(grades)} 处") as change:
            for (question_id, source_id), grade in grades.items():
                try:
                    put_judgment(change, question_id, source_id, grade)
                except ExperimentError as error:
                    raise JudgmentError(question_id, source_id, error.message) from None

    def confirm(
        self, question_id: str, source_id: str, *, expected: int | None = None,
        seen: tuple[str, str] | None = None,
    ) -> Judgment:  # fmt: skip
        """Let a stale judgment count again, as one of the texts that stand now; `seen` as in `judge`."""
        with self._revisions.changing(f"确认判断 {question_id} 与 {source_id}") as change:
            key = judgment_id(question_id, source_id)
            change.refuse_stale(JUDGMENT, key, expected)
            found = change.latest(JUDGMENT, key)
            if found is None or found.body is None:
                raise ExperimentError(f"{question_id} 与 {source_id} 还没有判断，不能确认：请先判断。")
            fresh = fresh_judgment(change, question_id, source_id, found.body["grade"], seen)
            change.put(JUDGMENT, key, judgment_body(fresh), expected=expected)
        return fresh

    def confirm_all(self) -> tuple[Judgment, ...]:
        """Confirm every stale judgment, as one change, and return them as they stand now."""
        with self._revisions.changing("确认全部待复核的判断") as change:
            experiment = experiment_of(change.state())
            stale = [each for each in experiment.judgments if experiment.state(each) == "stale"]
            change.label = f"确认全部 {len(stale)} 条待复核的判断"
            fresh = [put_judgment(change, each.question_id, each.source_id, each.grade) for each in stale]
        return tuple(judgment for judgment in fresh if judgment is not None)

    # Parameters, baselines, views.

    def set_parameters(self, changes: Mapping[str, object], *, expected: int | None = None) -> Parameters:
        """Set all of the parameters given, or none: one bad value, and nothing changes."""
        with self._revisions.changing("设置参数") as change:
            change.refuse_stale(PARAMETERS, THE_ONE, expected)
            before = Parameters(**standing_body(change, PARAMETERS, THE_ONE))
            after = changed(before, changes)
            check_cut(experiment_of(change.state()).sources, after, limits_held(change))
            differing = parameter_changes(before, after)
            change.label = "设置参数 " + "，".join(f"{name}={new}" for name, (_, new) in differing.items())
            change.put(PARAMETERS, THE_ONE, asdict(after), expected=expected)
        return after

    def add_baseline(self, baseline: Baseline, *, expected: int | None = None) -> None:
        """Keep a frozen baseline; undo does not reach it. Raises ExperimentError where its name is taken."""
        with self._revisions.changing(f"冻结基线 {baseline.name}", undoable=False) as change:
            _refuse_newer(change, expected)
            found = change.latest(BASELINE, baseline.name)
            if found is not None and found.body is not None:
                raise ExperimentError(f"基线 {baseline.name} 已经存在，冻结后不能改动：请换一个名称。")
            change.put(BASELINE, baseline.name, baseline_body(baseline))

    def set_view(self, name: str, value: str | None) -> None:
        """Keep how something is looked at, outside of undo; None forgets it."""
        with self._revisions.changing(f"视图 {name}", undoable=False) as change:
            change.put(VIEW, name, None if value is None else {"value": value})

    def restore(self, experiment: Experiment, *, expected: int | None = None) -> None:
        """Let the store hold exactly this experiment, ids kept, as one change; its limits stay."""
        with self._revisions.changing(f"还原实验 {experiment.name}") as change:
            _refuse_newer(change, expected)
            hold(change, experiment)


def _refuse_newer(change: Changing, expected: int | None) -> None:
    if expected is not None:
        change.refuse_newer(expected)
