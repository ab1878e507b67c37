"""What is kept of a search's measures is what measuring from nothing gives, whatever was done in between."""

import contextlib
import random
from datetime import date

from made_up import document

from evidence_kit.experiments.model import ExperimentError
from evidence_kit.experiments.run import evaluate_search, measures_at, qrels_in_force, search, search_key
from evidence_kit.experiments.store import ExperimentStore
from evidence_kit.measures.ranking import evaluate
from evidence_kit.sources.store import standing as in_force
from evidence_kit.sources.validity import Validity
from evidence_kit.storage.errors import NothingToUndoError

DAY = date(2026, 11, 30)
WORDS = ("退款", "闭馆", "讲解", "预约", "运费")


def evaluated(experiment, found):
    return evaluate_search(
        qrels_in_force(experiment, found.standing), found, measures_at(experiment.parameters.k)
    )


def from_nothing(experiment):
    """The measures of an experiment, searched anew and measured by `evaluate`, which keeps nothing."""
    found = search(experiment, DAY)
    qrels = qrels_in_force(experiment, found.standing)
    return evaluate(qrels, found.scores, measures_at(experiment.parameters.k))


def act(store, chooser):
    """Do one thing, which may be refused."""
    question, source = (f"{letter}{chooser.randint(1, 5):03}" for letter in "QS")
    text = "，".join(chooser.sample(WORDS, 2))
    judge = (lambda: store.judge(question, source, chooser.choice((0, 1, 2, 3, None))),) * 6
    others = (
        lambda: store.confirm(question, source),
        lambda: store.edit_source(source, text=text),
        lambda: store.edit_source(source, validity=Validity(chooser.choice(("active", "expired")))),
        lambda: store.edit_question(question, text),
        lambda: store.set_parameters({"k": chooser.randint(1, 4)}),
        lambda: store.set_parameters({"method": chooser.choice(("bm25", "tfidf_log"))}),
        lambda: store.remove_source(source),
        lambda: store.import_documents([document("d", text)]),
        store.undo, store.undo, store.redo,
    )  # fmt: skip
    with contextlib.suppress(ExperimentError, NothingToUndoError):
        chooser.choice((*judge, *others))()


def test_measures_that_are_kept_equal_those_from_nothing_after_any_edit_undo_and_redo(filled):
    chooser, searches = random.Random(20261130), {}
    filled.import_documents([document("d", "讲解要预约"), document("e", "退款要预约")])
    filled.add_questions(["怎么预约讲解", "运费谁付", "退款 闭馆"])
    other = ExperimentStore.open(filled._database.path)  # looks without having written
    for _ in range(80):
        act(filled, chooser)
        standing = other.look()
        assert standing.experiment == filled.snapshot()
        key = search_key(standing.experiment, in_force(standing.experiment.sources, DAY))
        found = searches.setdefault(key, search(standing.experiment, DAY))
        assert evaluated(standing.experiment, found) == from_nothing(filled.snapshot())
    other.close()
    assert len(searches) < 50  # searches were met again, with judgments that had changed


def test_judging_measures_the_question_that_was_judged_and_no_other(filled):
    experiment = filled.look().experiment
    found = search(experiment, DAY)
    before = evaluated(experiment, found).per_question
    filled.judge("Q001", "S003", 2)
    after = evaluated(filled.look().experiment, found).per_question
    assert after["Q001"]["Judged@3"] == before["Q001"]["Judged@3"] == 1.0
    assert after["Q001"]["Recall@3"] == 1 / 3 and before["Q001"]["Recall@3"] == 1 / 2
    assert after["Q002"] is before["Q002"] and after["Q001"] is not before["Q001"]


def test_looking_after_a_change_keeps_the_records_that_it_left_alone(filled):
    before = filled.look().experiment
    filled.edit_source("S001", text="退款八天内受理")
    after = filled.look().experiment
    assert [new is old for new, old in zip(after.sources, before.sources, strict=True)] == [False, True, True]
    assert all(new is old for new, old in zip(after.judgments, before.judgments, strict=True))
