"""Measures over hundreds of random graded runs against ir_measures (pytrec_eval-terrier) and ranx.

Where definitions differ, the input is resolved first: exponential gains are asked for, ties are broken, and
an undefined value is compared with the 0 that these tools give. docs/formulas.md names each difference.
"""

from __future__ import annotations

import random

import ir_measures
import pytest
from ranx_oracle import ask_ranx

from evidence_kit.measures.ranking import AP, MRR, Judged, P, Recall, evaluate, nDCG

CASES = 300
KS = (1, 3, 10)
GAINS = {grade: 2**grade - 1 for grade in range(4)}
IR_MEASURES = {AP: ir_measures.AP}
RANX = {AP: "map"}
for k in KS:
    IR_MEASURES |= {
        Recall @ k: ir_measures.R @ k,
        MRR @ k: ir_measures.RR @ k,
        nDCG @ k: ir_measures.nDCG(gains=GAINS) @ k,
        P @ k: ir_measures.P @ k,
        Judged @ k: ir_measures.Judged @ k,
    }
    RANX |= {
        Recall @ k: f"recall@{k}",
        MRR @ k: f"mrr@{k}",
        nDCG @ k: f"ndcg_burges@{k}",
        P @ k: f"precision@{k}",
    }


def random_case(draw, *, ties):
    """Return judgments and a run: some questions unanswered, some documents unjudged, some never found."""
    documents = [f"d{number:02}" for number in range(25)]
    qrels, run = {}, {}
    for number in range(draw.randint(1, 5)):
        judged = draw.sample(documents, draw.randint(1, 15))
        qrels[f"q{number}"] = {document: draw.choice([-2, 0, 0, 1, 2, 3]) for document in judged}
        found = draw.sample(documents, draw.randint(0, 20))
        scores = [draw.randint(0, 4) for _ in found] if ties else draw.sample(range(1000), len(found))
        if found:
            run[f"q{number}"] = {document: score / 4 for document, score in zip(found, scores, strict=True)}
    return qrels, run or {"q0": {"d00": 1.0}}


def resolved(run):
    """Return the run with scores that no longer tie, in the order this kit promises."""
    return {
        question: {
            document: float(len(scores) - place)
            for place, document in enumerate(sorted(sorted(scores), key=scores.get, reverse=True))
        }
        for question, scores in run.items()
    }


def without_negative_grades(qrels):
    """Return the same with 0 for them: pytrec_eval crashes on some judgments with a negative grade."""
    return {
        question: {document: max(grade, 0) for document, grade in judged.items()}
        for question, judged in qrels.items()
    }


def cases(ties):
    draw = random.Random(f"graded runs, ties: {ties}")
    return [random_case(draw, ties=ties) for _ in range(CASES)]


def ours(qrels, run, measures):
    return {
        (measure, question): values[repr(measure)] or 0.0
        for question, values in evaluate(qrels, run, measures).per_question.items()
        for measure in measures
    }


@pytest.mark.parametrize("ties", [False, True])
def test_ir_measures_gives_the_same_for_every_question(ties):
    names = {theirs: measure for measure, theirs in IR_MEASURES.items()}
    positive = 0
    for qrels, run in cases(ties):
        metrics = ir_measures.iter_calc(list(names), without_negative_grades(qrels), resolved(run))
        theirs = {(names[metric.measure], metric.query_id): metric.value for metric in metrics}
        assert ours(qrels, run, list(IR_MEASURES)) == pytest.approx(theirs, abs=1e-12)
        positive += sum(value > 0 for value in theirs.values())
    assert positive > CASES * len(names) / 2


@pytest.mark.once
def test_ranx_gives_the_same_for_every_question():
    drawn = cases(ties=False)[: CASES // 2] + cases(ties=True)[: CASES // 2]
    answers = ask_ranx(
        [{"qrels": qrels, "run": resolved(run), "metrics": list(RANX.values())} for qrels, run in drawn]
    )
    for (qrels, run), answer in zip(drawn, answers, strict=True):
        theirs = {
            (measure, question): value
            for measure, metric in RANX.items()
            for question, value in answer[metric].items()
        }
        assert ours(qrels, run, list(RANX)) == pytest.approx(theirs, abs=1e-12)


def test_means_agree_where_every_question_has_a_relevant_document():
    compared = 0
    for qrels, run in cases(ties=False):
        if all(max(judged.values()) >= 1 for judged in qrels.values()):
            judged = without_negative_grades(qrels)
            theirs = ir_measures.calc_aggregate(list(IR_MEASURES.values()), judged, run)
            means = evaluate(qrels, run, list(IR_MEASURES)).means
            assert {IR_MEASURES[m]: means[repr(m)] for m in IR_MEASURES} == pytest.approx(theirs, abs=1e-12)
            compared += 1
    assert compared > CASES / 2
