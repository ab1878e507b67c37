"""Any sequence of actions, undos and redos leaves what a plain model in memory leaves."""

import hashlib
import tempfile
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from made_up import Clock, document

from evidence_kit.experiments.model import ExperimentError
from evidence_kit.experiments.store import ExperimentStore
from evidence_kit.storage.errors import NothingToUndoError

TEXTS = st.sampled_from(["甲", "乙", "丙 x", "丁\0", "😀"])
NUMBERS = st.integers(1, 4)
DEFAULTS = {
    "method": "bm25", "analyzer": "words_han", "window": 200, "overlap": 40, "k": 3, "k1": 1.2, "b": 0.75,
    "budget": 4000,
}  # fmt: skip


def sha256(text):
    return hashlib.sha256(text.encode()).hexdigest()


class Model:
    """What stands, as plain dicts, and whole copies of it for undo and redo."""

    def __init__(self):
        self.now = {"sources": {}, "questions": {}, "judgments": {}, "parameters": DEFAULTS}
        self.before, self.after = [], []

    def change(self, **tables):
        following = {**self.now, **tables}
        if following != self.now:
            self.before.append(self.now)
            self.after = []
            self.now = following


class Actions(RuleBasedStateMachine):
    @initialize()
    def make(self):
        self.folder = tempfile.TemporaryDirectory()
        self.store = ExperimentStore.create(Path(self.folder.name) / "x.db", "手册", clock=Clock())
        self.model = Model()
        self.given = {"S": 0, "Q": 0}

    def teardown(self):
        self.store.close()
        self.folder.cleanup()

    def name(self, letter):
        self.given[letter] += 1
        return f"{letter}{self.given[letter]:03}"

    @rule(texts=st.lists(TEXTS, min_size=1, max_size=2))
    def import_sources(self, texts):
        names = [self.name("S") for _ in texts]
        made = self.store.import_documents([document(f"d{n}", text) for n, text in enumerate(texts)])
        assert made == tuple(names)
        self.model.change(sources={**self.model.now["sources"], **dict(zip(names, texts, strict=True))})

    @rule(text=TEXTS)
    def ask(self, text):
        name = self.name("Q")
        assert self.store.add_questions([text]) == (name,)
        self.model.change(questions={**self.model.now["questions"], name: text})

    @rule(number=NUMBERS, text=TEXTS, letter=st.sampled_from("SQ"))
    def edit(self, number, text, letter):
        name = f"{letter}{number:03}"
        table = "sources" if letter == "S" else "questions"
        act = self.store.edit_source if letter == "S" else self.store.edit_question
        if name not in self.model.now[table]:
            with pytest.raises(ExperimentError):
                act(name, text=text)
            return
        act(name, text=text)
        self.model.change(**{table: {**self.model.now[table], name: text}})

    @rule(number=NUMBERS, letter=st.sampled_from("SQ"))
    def remove(self, number, letter):
        name = f"{letter}{number:03}"
        table = "sources" if letter == "S" else "questions"
        act = self.store.remove_source if letter == "S" else self.store.remove_question
        if name not in self.model.now[table]:
            with pytest.raises(ExperimentError):
                act(name)
            return
        act(name)
        kept = {key: value for key, value in self.model.now[table].items() if key != name}
        judgments = {pair: value for pair, value in self.model.now["judgments"].items() if name not in pair}
        self.model.change(**{table: kept}, judgments=judgments)

    @rule(question=NUMBERS, source=NUMBERS, grade=st.sampled_from([0, 1, 2, 3, None]))
    def judge(self, question, source, grade):
        pair = (f"Q{question:03}", f"S{source:03}")
        now = self.model.now
        if pair[0] not in now["questions"] or pair[1] not in now["sources"]:
            with pytest.raises(ExperimentError):
                self.store.judge(*pair, grade)
            return
        self.store.judge(*pair, grade)
        judgments = {key: value for key, value in now["judgments"].items() if key != pair}
        if grade is not None:
            judgments[pair] = (grade, sha256(now["questions"][pair[0]]), sha256(now["sources"][pair[1]]))
        self.model.change(judgments=judgments)

    @rule(k=st.integers(0, 3), window=st.sampled_from([100, 200]), overlap=st.sampled_from([0, 40, 150]))
    def set_parameters(self, k, window, overlap):
        changes = {"k": k, "window": window, "overlap": overlap}
        if k < 1 or overlap >= window:
            with pytest.raises(ExperimentError):
                self.store.set_parameters(changes)
            return
        self.store.set_parameters(changes)
        self.model.change(parameters={**self.model.now["parameters"], **changes})

    @rule()
    def undo(self):
        if not self.model.before:
            with pytest.raises(NothingToUndoError):
                self.store.undo()
            return
        self.store.undo()
        self.model.after.append(self.model.now)
        self.model.now = self.model.before.pop()

    @rule()
    def redo(self):
        if not self.model.after:
            with pytest.raises(NothingToUndoError):
                self.store.redo()
            return
        self.store.redo()
        self.model.before.append(self.model.now)
        self.model.now = self.model.after.pop()

    @rule()
    def look(self):
        self.store.set_view("looked", str(len(self.store.history())))

    @precondition(lambda self: self.model.now["sources"])
    @rule()
    def restore_without_judgments(self):
        self.store.restore(replace(self.store.snapshot(), judgments=()))
        self.model.change(judgments={})

    @invariant()
    def stands_as_the_model_says(self):
        experiment = self.store.snapshot()
        assert {
            "sources": {source.source_id: source.text for source in experiment.sources},
            "questions": {question.question_id: question.text for question in experiment.questions},
            "judgments": {
                (judged.question_id, judged.source_id): (
                    judged.grade, judged.question_sha256, judged.source_sha256,
                )
                for judged in experiment.judgments
            },
            "parameters": vars(experiment.parameters),
        } == self.model.now  # fmt: skip


TestActions = Actions.TestCase
TestActions.settings = settings(max_examples=25, stateful_step_count=25, deadline=None)
