"""Measures by hand: definitions, ties, what is undefined, missing or ignored, and input that is refused."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evidence_kit.measures.ranking import (
    AP,
    MAX_GRADE,
    MRR,
    Judged,
    Measure,
    MeasureError,
    P,
    Recall,
    evaluate,
    nDCG,
    parse_measure,
)

# a: 3, b: 2, c: 1 are relevant, d is not; x and y were judged by nobody. Ranked: x a d c y.
QRELS = {"q": {"a": 3, "b": 2, "c": 1, "d": 0}}
RUN = {"q": {"c": 2.0, "x": 5.0, "a": 4.0, "y": 1.5, "d": 3.0}}
LOG3, LOG5 = math.log2(3), math.log2(5)

BY_HAND = {
    "Recall@1": 0.0,
    "Recall@2": 1 / 3,
    "Recall@4": 2 / 3,
    "Recall@100": 2 / 3,
    "MRR@1": 0.0,
    "MRR@2": 1 / 2,
    "MRR@10": 1 / 2,
    "nDCG@1": 0.0,
    "nDCG@2": (7 / LOG3) / (7 + 3 / LOG3),
    "nDCG@3": (7 / LOG3) / (7 + 3 / LOG3 + 1 / 2),
    "nDCG@4": (7 / LOG3 + 1 / LOG5) / (7 + 3 / LOG3 + 1 / 2),
    "P@1": 0.0,
    "P@4": 2 / 4,
    "P@10": 2 / 10,
    "AP": (1 / 2 + 2 / 4) / 3,
    "Judged@1": 0.0,
    "Judged@3": 2 / 3,
    "Judged@10": 3 / 5,
}


@pytest.mark.parametrize(("declaration", "value"), BY_HAND.items())
def test_measure_has_the_value_computed_by_hand(declaration, value):
    evaluation = evaluate(QRELS, RUN, [parse_measure(declaration)])
    assert evaluation.means[declaration] == pytest.approx(value, abs=1e-15)
    assert evaluation.per_question == {"q": {declaration: evaluation.means[declaration]}}


def test_ideal_is_over_the_best_of_all_judged_not_of_those_found():
    qrels = {"q": {"a": 1, "b": 3}}
    assert evaluate(qrels, {"q": {"a": 1.0}}, [nDCG @ 1]).means["nDCG@1"] == pytest.approx(1 / 7)


def test_equal_scores_rank_by_ascending_id_whatever_the_order_given():
    for order in ("ab", "ba"):
        scores = dict.fromkeys(order, 1.0)
        assert evaluate({"q": {"a": 1}}, {"q": scores}, [MRR @ 2]).means == {"MRR@2": 1.0}
        assert evaluate({"q": {"b": 1}}, {"q": scores}, [MRR @ 2]).means == {"MRR@2": 0.5}
    # Code points, not a locale: "Z" < "a" < "é" < "中" < "😀"; 0.0 and -0.0 are equal.
    scores = {"😀": -0.0, "中": 0.0, "é": 0.0, "a": 0.0, "Z": 0.0}
    for rank, document in enumerate(["Z", "a", "é", "中", "😀"], 1):
        assert evaluate({"q": {document: 1}}, {"q": scores}, [MRR @ 9]).means == {"MRR@9": 1 / rank}


MEASURES = [Recall @ 3, MRR @ 3, nDCG @ 3, P @ 3, AP]


def test_question_without_relevant_judgment_is_undefined_named_and_out_of_the_mean():
    qrels = {"z": {"a": 0}, "none": {}, "minus": {"a": -2}, "good": {"a": 2}}
    run = {name: {"a": 1.0} for name in qrels}
    evaluation = evaluate(qrels, run, MEASURES)
    assert evaluation.questions == 4
    for measure in MEASURES:
        assert evaluation.undefined[repr(measure)] == ("minus", "none", "z")
        assert evaluation.per_question["z"][repr(measure)] is None
    assert evaluation.means == {"Recall@3": 1.0, "MRR@3": 1.0, "nDCG@3": 1.0, "P@3": 1 / 3, "AP": 1.0}


def test_mean_over_undefined_questions_alone_is_undefined_not_zero():
    assert evaluate({"q": {"a": 0}}, {"q": {"a": 1.0}}, [AP]).means == {"AP": None}
    assert evaluate({}, {}, [AP]).means == {"AP": None}


def test_share_of_judged_documents_needs_no_relevant_one():
    evaluation = evaluate({"q": {"a": 0}, "r": {}}, {"q": {"a": 1.0}, "r": {"a": 1.0}}, [Judged @ 3])
    assert evaluation.per_question == {"q": {"Judged@3": 1.0}, "r": {"Judged@3": 0.0}}
    assert evaluation.undefined == {"Judged@3": ()}


def test_question_missing_from_the_run_scores_zero_and_is_named():
    qrels = {"there": {"a": 1}, "missing": {"a": 1}, "empty": {"a": 1}}
    evaluation = evaluate(qrels, {"there": {"a": 1.0}, "empty": {}}, [*MEASURES, Judged @ 3])
    assert evaluation.missing == ("empty", "missing")
    assert set(evaluation.per_question["missing"].values()) == {0.0}
    assert evaluation.per_question["empty"] == evaluation.per_question["missing"]
    assert evaluation.means["Recall@3"] == 1 / 3
    assert evaluation.undefined["Recall@3"] == ()


def test_question_that_is_missing_and_without_relevant_judgment_is_both():
    evaluation = evaluate({"q": {"a": 0}}, {}, [AP])
    assert (evaluation.missing, evaluation.undefined) == (("q",), {"AP": ("q",)})


def test_question_of_the_run_alone_counts_nowhere_and_is_named():
    evaluation = evaluate(QRELS, {**RUN, "z": {"a": 1.0}, "extra": {}}, [AP])
    assert evaluation.ignored == ("extra", "z")
    assert (evaluation.questions, list(evaluation.per_question)) == (1, ["q"])


def test_unjudged_document_pushes_others_down_and_gains_nothing():
    without = {"q": {key: score for key, score in RUN["q"].items() if key != "x"}}
    assert evaluate(QRELS, RUN, [MRR @ 3]).means == {"MRR@3": 0.5}
    assert evaluate(QRELS, without, [MRR @ 3]).means == {"MRR@3": 1.0}


def test_negative_grade_is_judged_not_relevant_and_gains_nothing():
    run = {"q": {"spam": 2.0, "a": 1.0}}
    measures = [nDCG @ 2, P @ 2, Judged @ 2]
    zero = evaluate({"q": {"spam": 0, "a": 1}}, run, measures)
    assert evaluate({"q": {"spam": -2, "a": 1}}, run, measures) == zero
    assert zero.means["nDCG@2"] == pytest.approx(1 / LOG3)


def test_measures_asked_for_twice_are_given_once():
    assert list(evaluate(QRELS, RUN, [AP, nDCG @ 3, AP]).means) == ["AP", "nDCG@3"]


def test_mean_of_equal_values_is_that_value():
    # Ten relevant documents, the first found: Recall@1 is 0.1, and ten times 0.1 added up is not 1.
    qrels = {f"q{number}": {f"d{i}": 1 for i in range(10)} for number in range(10)}
    run = {question: {"d0": 1.0} for question in qrels}
    assert evaluate(qrels, run, [Recall @ 1]).means == {"Recall@1": 0.1}


def test_means_do_not_depend_on_the_order_of_questions():
    grades = [{"a": 1, **{f"x{i}": 1 for i in range(n)}} for n in range(40)]
    qrels = {f"q{number}": judged for number, judged in enumerate(grades)}
    run = {name: {"a": 1.0} for name in qrels}
    backwards = dict(reversed(qrels.items()))
    first, second = evaluate(qrels, run, [Recall @ 1]), evaluate(backwards, run, [Recall @ 1])
    assert first == second
    assert list(first.per_question) == list(second.per_question) == sorted(qrels)


@given(st.sampled_from([Recall, MRR, nDCG, P, Judged]), st.integers(1, 999_999))
def test_declaration_parses_back_from_its_repr(family, k):
    measure = family @ k
    assert repr(measure) == f"{family.name}@{k}"
    assert parse_measure(repr(measure)) == measure
    assert eval(repr(measure)) == measure  # the repr is Python too
    assert parse_measure(repr(AP)) == AP


@pytest.mark.parametrize(
    "declaration",
    [
        "", "nDCG", "nDCG@", "nDCG@0", "nDCG@-1", "nDCG@03", "nDCG@1000000", "nDCG@1.0", "ndcg@3", "AP@3",
        "RR@3", " nDCG@3", "nDCG@3\n", "nDCG@３", "nDCG@" + "9" * 5000, "\ud800@3", "P@\x00", "😀@3",
    ],
)  # fmt: skip
def test_declaration_that_is_none_is_refused_with_the_known_forms(declaration):
    with pytest.raises(MeasureError, match="nDCG@k") as caught:
        parse_measure(declaration)
    assert caught.value.exit_code == 2
    assert "\n" not in caught.value.message and "\ud800" not in caught.value.message


@pytest.mark.parametrize("k", [0, -1, True, 1.0, "3", None, 10**6])
def test_cut_that_is_no_rank_is_refused(k):
    with pytest.raises(MeasureError, match="整数"):
        nDCG @ k


HUGE = pytest.param(10**5000, id="huge")


@pytest.mark.parametrize(
    ("name", "k"),
    [
        ("Foo", 3), ("", 1), ("ndcg", 3), (["nDCG"], 3), ("nDCG", None), ("nDCG", 0), ("nDCG", True),
        ("P", 10**6), ("P", 3.0), ("AP", 3), pytest.param("P", 10**5000, id="huge"), ("\ud800\x1b", 1),
    ],
)  # fmt: skip
def test_measure_that_does_not_exist_cannot_be_made(name, k):
    with pytest.raises(MeasureError) as caught:
        Measure(name, k)
    assert not set(caught.value.message) & set("\ud800\x1b\n")


@pytest.mark.parametrize("score", [math.nan, math.inf, -math.inf, HUGE, True, "1", None])
def test_score_that_ranks_nothing_is_refused_with_its_place(score):
    with pytest.raises(MeasureError, match=r"问题 q 的文档 d.*分数"):
        evaluate(QRELS, {"q": {"a": 1.0, "d": score}}, [AP])


@pytest.mark.parametrize("grade", [1.0, True, "1", None, MAX_GRADE + 1, HUGE])
def test_grade_that_is_none_is_refused_with_its_place(grade):
    with pytest.raises(MeasureError, match=r"问题 q 的文档 a.*等级"):
        evaluate({"q": {"a": grade}}, RUN, [AP])


def test_id_that_is_no_string_is_refused():
    with pytest.raises(MeasureError, match="字符串"):
        evaluate({1: {"a": 1}}, {}, [AP])
    with pytest.raises(MeasureError, match="字符串"):
        evaluate(QRELS, {"q": {1: 1.0}}, [AP])


def test_highest_grade_and_whole_scores_are_measured():
    qrels = {"q": {"a": MAX_GRADE, "b": 1}}
    value = evaluate(qrels, {"q": {"b": 2, "a": 1}}, [nDCG @ 2]).means["nDCG@2"]
    top = 2**MAX_GRADE - 1
    assert value == pytest.approx((1 + top / LOG3) / (top + 1 / LOG3))


ids = st.text(max_size=3)
tables = st.dictionaries(ids, st.dictionaries(ids, st.integers(-2, 3), max_size=6), max_size=4)


@given(tables, st.dictionaries(ids, st.dictionaries(ids, st.floats(-2, 2), max_size=6), max_size=4))
def test_every_measure_is_undefined_or_between_zero_and_one(qrels, run):
    measures = [*MEASURES, Judged @ 2]
    evaluation = evaluate(qrels, run, measures)
    values = [value for row in evaluation.per_question.values() for value in row.values()]
    assert all(value is None or 0.0 <= value <= 1.0 + 1e-15 for value in values)
    # Ranked by their own grades, judged documents are as good as can be.
    ideal = evaluate(qrels, qrels, [nDCG @ 3, AP])
    assert all(value in (None, 1.0) for row in ideal.per_question.values() for value in row.values())
