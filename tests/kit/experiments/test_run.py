"""A run against scores and measures worked out here by other means."""

import math
from dataclasses import replace
from datetime import date

import pytest

from evidence_kit.experiments.model import Experiment, ExperimentSource, Judgment, Parameters, Question
from evidence_kit.experiments.run import run
from evidence_kit.sources.validity import Validity

DAY = date(2026, 11, 30)


def experiment(sources, questions=("red fox",), grades=None, **parameters):
    held = {
        name: text if isinstance(text, ExperimentSource) else ExperimentSource(name, "t", text)
        for name, text in sources.items()
    }
    asked = [Question(f"q{number}", text) for number, text in enumerate(questions, 1)]
    texts = {question.question_id: question.text_sha256 for question in asked}
    judged = [
        Judgment(question, source, grade, texts[question], held[source].text_sha256)
        for (question, source), grade in sorted((grades or {}).items())
    ]
    return Experiment(
        "x", tuple(held[name] for name in sorted(held)), tuple(asked), tuple(judged), Parameters(**parameters)
    )


def bm25(passages, query, k1=1.2, b=0.75):
    """Score passages of plain words, each query term once."""
    split = [passage.split() for passage in passages]
    mean = sum(map(len, split)) / len(split)
    scores = []
    for words in split:
        score = 0.0
        for term in set(query.split()):
            df = sum(term in other for other in split)
            tf = words.count(term)
            idf = math.log(1 + (len(split) - df + 0.5) / (df + 0.5))
            score += idf * tf * (k1 + 1) / (tf + k1 * (1 - b + b * len(words) / mean))
        scores.append(score)
    return scores


def tfidf(passages, query):
    split = [passage.split() for passage in passages]

    def vector(words):
        values = {}
        for term in set(words):
            df = sum(term in other for other in split)
            values[term] = (1 + math.log(words.count(term))) * (math.log((len(split) + 1) / (df + 1)) + 1)
        return values

    def length(values):
        return math.sqrt(sum(value * value for value in values.values()))

    asked = vector(query.split())
    result = []
    for words in split:
        values = vector(words)
        dot = sum(value * values.get(term, 0) for term, value in asked.items())
        result.append(dot / length(asked) / length(values))
    return result


TEXTS = {"a": "red fox red den", "b": "red car", "c": "blue fox in a long green field of grass", "d": "none"}


@pytest.mark.parametrize(
    ("parameters", "oracle"),
    [
        ({}, bm25),
        ({"k1": 0.5, "b": 0.2}, lambda p, q: bm25(p, q, 0.5, 0.2)),
        ({"method": "tfidf_log"}, tfidf),
    ],
)
def test_scores_are_those_of_the_formulas(parameters, oracle):
    (result,) = run(experiment(TEXTS, **parameters), DAY).results
    expected = dict(zip(TEXTS, oracle(list(TEXTS.values()), "red fox"), strict=True))
    assert {hit.best.source_id: hit.best.score for hit in result.documents} == {
        name: pytest.approx(score, abs=1e-12) for name, score in expected.items() if score
    }
    scores = [hit.best.score for hit in result.documents]
    assert scores == sorted(scores, reverse=True)
    assert [hit.rank for hit in result.documents] == [1, 2, 3]


def test_source_is_ranked_once_by_its_best_passage_and_all_passages_are_kept():
    long = "fox " * 10 + "grass " * 30 + "red fox "
    made = run(experiment({"a": long, "b": "red car"}, window=40, overlap=20), DAY)
    (result,) = made.results
    assert sorted(hit.best.source_id for hit in result.documents) == ["a", "b"]
    mine = [hit for hit in result.passages if hit.source_id == "a"]
    assert len(mine) > 2
    best = next(hit.best for hit in result.documents if hit.best.source_id == "a")
    assert best == mine[0] and best.score == max(hit.score for hit in mine)
    assert made.passages > len(result.passages)


def test_equal_scores_go_by_source_id_then_by_start():
    made = run(experiment({"b": "fox den. " * 4, "a": "fox den. " * 4}, window=9, overlap=0), DAY)
    assert [(hit.source_id, hit.start) for hit in made.results[0].passages] == [
        (name, start) for name in "ab" for start in (0, 9, 18, 27)
    ]
    assert [hit.best.source_id for hit in made.results[0].documents] == ["a", "b"]


def test_quotes_stand_in_the_stored_text_and_the_title_is_not_searched():
    text = "# red fox 😀\n\n😀 the den of a fox 👨‍👩‍👧 red\n"
    source = ExperimentSource("a", "red fox", text, text.index("\n") + 1)
    made = run(
        experiment({"a": source, "b": ExperimentSource("b", "red fox", "den")}, window=9, overlap=3), DAY
    )
    (result,) = made.results
    assert {hit.source_id for hit in result.passages} == {"a"}
    for hit in result.passages:
        assert text[hit.start : hit.end] == hit.quote
        assert hit.start >= source.body_start


def test_source_not_in_force_changes_no_score_and_no_statistic():
    gone = ExperimentSource("z", "t", "red fox fox", validity=Validity(effective_until=date(2026, 11, 29)))
    with_it = run(experiment({**TEXTS, "z": gone}), DAY)
    without = run(experiment(TEXTS), DAY)
    assert with_it.results == without.results
    assert with_it.left_out == {"z": "ended"}
    assert with_it.passages == without.passages
    day_before = run(experiment({**TEXTS, "z": gone}), date(2026, 11, 29))
    assert (day_before.left_out, day_before.results[0].documents[0].best.source_id) == ({}, "z")


def test_measures_are_those_worked_out_by_hand():
    # Ranked a, b, c (see the scores above); judged: b 3, c 1, d 2 (not found), a unjudged.
    grades = {("q1", "b"): 3, ("q1", "c"): 1, ("q1", "d"): 2}
    made = run(experiment(TEXTS, grades=grades, k=2), DAY)
    (result,) = made.results
    assert [hit.best.source_id for hit in result.documents] == ["a", "b", "c"]
    ideal = 7 / math.log2(2) + 3 / math.log2(3)
    assert result.measures == {
        "Recall@2": pytest.approx(1 / 3),
        "MRR@2": 0.5,
        "nDCG@2": pytest.approx(7 / math.log2(3) / ideal),
        "P@2": 0.5,
        "AP": pytest.approx((1 / 2 + 2 / 3) / 3),
        "Judged@2": 0.5,
    }
    assert made.means == result.measures
    assert [(hit.grade, hit.state) for hit in result.documents] == [
        (None, "unjudged"), (3, "current"), (1, "current"),
    ]  # fmt: skip
    assert made.unjudged_in_top_k == 1


def test_question_without_relevant_judgment_is_undefined_and_out_of_the_mean():
    made = run(
        experiment(TEXTS, ["red fox", "blue", "zebra"], {("q1", "a"): 3, ("q2", "c"): 0, ("q3", "a"): 1}), DAY
    )
    assert made.undefined["nDCG@3"] == ("q2",)
    assert [result.measures["Recall@3"] for result in made.results] == [1.0, None, 0.0]
    assert made.means["Recall@3"] == 0.5
    assert made.results[2].documents == ()


def test_stale_judgment_takes_no_part_and_is_shown_as_stale():
    fresh = experiment(TEXTS, grades={("q1", "a"): 3, ("q1", "b"): 2})
    changed = replace(
        fresh, sources=(replace(fresh.sources[0], text="red fox red burrow"), *fresh.sources[1:])
    )
    made = run(changed, DAY)
    assert (made.stale, made.results[0].documents[0].state, made.results[0].documents[0].grade) == (
        1,
        "stale",
        None,
    )
    assert made.results[0].measures["MRR@3"] == 0.5
    assert made.results[0].measures["Recall@3"] == 1.0
    assert (made.unjudged_in_top_k, made.stale_in_top_k, made.stale_pairs) == (1, 1, (("q1", "a"),))


def test_judgment_of_a_source_not_in_force_takes_no_part_and_is_counted():
    expired = ExperimentSource("z", "t", "red fox", validity=Validity("expired"))
    made = run(experiment({**TEXTS, "z": expired}, grades={("q1", "z"): 3, ("q1", "a"): 1}), DAY)
    assert (made.judged_out_of_force, made.stale) == (1, 0)
    assert made.results[0].measures["Recall@3"] == 1.0
    only = run(experiment({**TEXTS, "z": expired}, grades={("q1", "z"): 3}), DAY)
    assert only.undefined["Recall@3"] == ("q1",)


@pytest.mark.parametrize("method", ["bm25", "tfidf_log"])
def test_nothing_to_search_is_a_run_without_hits(method):
    for sources in ({}, {"a": ""}, {"a": ExperimentSource("a", "t", "red fox", 7)}):
        made = run(experiment(sources, method=method), DAY)
        assert (made.passages, made.results[0].documents, made.results[0].passages) == (0, (), ())
    assert run(Experiment("leer"), DAY).means == dict.fromkeys(made.means)
    assert run(experiment({"a": "。，！"}, ["？？"]), DAY).results[0].documents == ()


def test_course_method_ranks_by_six_digits_with_ngrams():
    course = {"method": "tfidf_course", "analyzer": "char_ngrams(2,3)"}
    made = run(experiment({"b": "讲解预约", "a": "预约讲解", "c": "闭馆"}, ["讲解预约"], **course), DAY)
    (result,) = made.results
    assert [hit.best.source_id for hit in result.documents] == ["b", "a"]
    assert result.documents[0].best.score == 1.0
    assert all(hit.score == round(hit.score, 6) for hit in result.passages)


def test_same_experiment_gives_the_same_run():
    asked = experiment(TEXTS, ["red fox", "blue"], {("q1", "a"): 3})
    assert run(asked, DAY) == run(asked, DAY)


def test_questions_without_a_hit_are_missing_whether_judged_or_not():
    made = run(experiment(TEXTS, ["red", "zzz", "yyy"], {("q2", "a"): 3}), DAY)
    assert made.missing == ("q2", "q3")
    assert [result.measures["MRR@3"] for result in made.results] == [None, 0.0, None]
    assert (made.means["MRR@3"], made.undefined["MRR@3"]) == (0.0, ("q1", "q3"))
