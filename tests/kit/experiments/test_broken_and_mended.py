"""Faults that a person met: an id given twice, a removed predecessor, circles, instants long ago."""

from dataclasses import replace
from datetime import datetime, timedelta, timezone

import pytest
from made_up import document

from evidence_kit.experiments.model import Experiment, ExperimentError, ExperimentSource, Judgment
from evidence_kit.sources.model import SourceError
from evidence_kit.sources.validity import Validity
from evidence_kit.storage.errors import StorageError


def restored(store, *ids):
    store.restore(Experiment("别处来的", tuple(ExperimentSource(name, name, name) for name in sorted(ids))))


def test_import_after_the_highest_id_that_is_counted_replaces_no_source(store):
    """S999999999 is followed by an id of ten digits, which the next import must not give again."""
    restored(store, "S999999999")
    first = store.import_documents([document("a", "甲")])
    second = store.import_documents([document("b", "乙"), document("c", "丙")])
    texts = {source.source_id: source.text for source in store.snapshot().sources}
    assert [texts[name] for name in (*first, *second)] == ["甲", "乙", "丙"]
    assert len(texts) == 4


def test_new_ids_pass_over_those_that_are_taken_further_on(store):
    restored(store, "S999999999", "S1000000001")
    assert store.import_documents([document("a", "甲"), document("b", "乙")]) == (
        "S1000000000",
        "S1000000002",
    )


def test_source_whose_predecessor_was_removed_can_still_be_edited(filled):
    filled.edit_source("S002", validity=Validity(supersedes=("S001",)))
    filled.remove_source("S001")
    assert filled.edit_source("S002", title="新标题").validity.supersedes == ("S001",)
    with pytest.raises(SourceError, match="S009 不存在"):
        filled.edit_source("S002", validity=Validity(supersedes=("S001", "S009")))


def test_predecessor_that_is_named_anew_must_be_there(filled):
    filled.remove_source("S001")
    with pytest.raises(SourceError, match="S001 不存在"):
        filled.edit_source("S002", validity=Validity(supersedes=("S001",)))


def test_experiment_whose_sources_supersede_each_other_in_a_circle_is_none():
    one = ExperimentSource("a", "a", "甲", validity=Validity(supersedes=("b",)))
    two = ExperimentSource("b", "b", "乙", validity=Validity(supersedes=("a",)))
    with pytest.raises(SourceError, match="循环"):
        Experiment("x", (one, two))
    withdrawn = replace(two, validity=Validity("expired", supersedes=("a",)))
    assert Experiment("x", (one, withdrawn)).sources[1] == withdrawn


@pytest.mark.parametrize("year", [1, 99, 999])
def test_nothing_was_known_in_the_first_thousand_years(filled, year):
    with pytest.raises(ExperimentError, match="还没有这个实验"):
        filled.snapshot(datetime(year, 6, 1, tzinfo=timezone.utc))


@pytest.mark.parametrize(
    "instant",
    [
        datetime(9999, 12, 31, 23, tzinfo=timezone(timedelta(hours=-12))),
        datetime(1, 1, 1, tzinfo=timezone(timedelta(hours=8))),
    ],
)
def test_instant_that_utc_has_no_year_for_is_refused(filled, instant):
    with pytest.raises(StorageError, match="超出 1 至 9999 年"):
        filled.snapshot(instant)


def test_wrong_grade_among_many_is_named(filled):
    with pytest.raises(ExperimentError, match="Q002 与 S003 的等级 4 无效"):
        filled.judge_all({("Q001", "S001"): 1, ("Q002", "S003"): 4})
    assert all(
        judgment.grade != 1 or judgment.source_id == "S002" for judgment in filled.snapshot().judgments
    )


def test_all_stale_judgments_are_confirmed_as_one_change(filled):
    before = filled.snapshot()
    filled.edit_question("Q001", "退款要多久")
    filled.edit_source("S003", text="周二闭馆")
    assert filled.snapshot().qrels() == {"Q001": {}, "Q002": {}}
    confirmed = filled.confirm_all()
    assert [(each.question_id, each.source_id, each.grade) for each in confirmed] == [
        ("Q001", "S001", 3), ("Q001", "S002", 1), ("Q002", "S003", 2),
    ]  # fmt: skip
    assert filled.snapshot().qrels() == before.qrels()
    assert "3 条" in filled.history()[-1].label
    filled.undo()
    assert filled.snapshot().qrels() == {"Q001": {}, "Q002": {}}


def test_confirming_when_nothing_is_stale_is_no_change(filled):
    changes = len(filled.history())
    assert filled.confirm_all() == ()
    assert len(filled.history()) == changes


def test_experiment_gets_another_name_and_undo_brings_back_the_old_one(filled):
    limits = filled.limits
    filled.rename("天文馆")
    assert (filled.snapshot().name, filled.limits) == ("天文馆", limits)
    filled.undo()
    assert filled.snapshot().name == "手册"
    for name in ("", "  ", "\ud800"):
        with pytest.raises((ExperimentError, SourceError)):
            filled.rename(name)


def test_documents_and_judged_questions_come_in_as_one_change_or_not_at_all(filled):
    before = filled.snapshot()
    documents = [document("p1", "甲文"), document("p2", "乙文")]
    sources, questions = filled.import_judged(documents, [("甲？", {"p1": 3}), ("丙？", {})])
    assert (sources, questions) == (("S004", "S005"), ("Q003", "Q004"))
    after = filled.snapshot()
    assert after.qrels()["Q003"] == {"S004": 3} and after.qrels()["Q004"] == {}
    filled.undo()
    assert filled.snapshot() == before
    with pytest.raises(ExperimentError, match="等级 9"):
        filled.import_judged(documents, [("甲？", {"p1": 9})])
    assert filled.snapshot() == before


def test_judgment_of_one_text_is_not_confirmed_for_another_pair(filled):
    filled.edit_source("S001", text="退款十天内受理")
    (confirmed,) = filled.confirm_all()
    source = next(each for each in filled.snapshot().sources if each.source_id == "S001")
    question = next(each for each in filled.snapshot().questions if each.question_id == "Q001")
    assert confirmed == Judgment("Q001", "S001", 3, question.text_sha256, source.text_sha256)


def test_undo_that_finds_nothing_left_to_take_back_is_the_last_change_for_who_looks(filled):
    """A restore that only set a view, which was set again since: undoing it writes no revision."""
    filled.set_parameters({"k": 5})
    filled.restore(replace(filled.snapshot(), views={"tab": "runs"}))
    filled.set_view("tab", "prompt")
    before = filled.look()
    filled.undo()
    after = filled.look()
    assert (after.experiment, after.last) == (before.experiment, before.last)
    assert after.change == filled.history()[-1] and after.change.records == ()
    assert after.turns.undo and after.turns.redo
    assert filled.look() is after
    filled.undo()
    assert filled.look().experiment.parameters.k == 3


@pytest.mark.parametrize("once", [False, True])
def test_documents_that_have_one_id_are_refused_and_none_is_written(filled, once):
    before = filled.snapshot(), len(filled.history())
    for act in (
        lambda alike: filled.import_documents(alike, once=once),
        lambda alike: filled.import_judged(alike, [("问", {"a": 1})], once=once),
    ):
        for texts in (("甲", "乙"), ("甲", "甲")):
            with pytest.raises(ExperimentError, match=r"标识 a\\u202e 出现了 2 次：请改名"):
                act([document("b", "丙"), *(document("a\u202e", text) for text in texts)])
    assert (filled.snapshot(), len(filled.history())) == before
