"""Every version of the sample still gives the scores that were kept with it."""

import json
from pathlib import Path

import pytest

from evidence_kit.finder.finder import METHODS
from evidence_kit.finder.sample import main, measure, measured_to_json, read_questions
from evidence_kit.sources.readers import read_sources

ROOT = Path(__file__).parents[3]
VERSIONS = sorted((ROOT / "data/finder_sample").glob("v*"))
NEWEST = VERSIONS[-1]


@pytest.mark.parametrize("folder", VERSIONS, ids=lambda folder: folder.name)
def test_scores_are_those_kept_with_the_sample(folder):
    kept = (folder / "scores.json").read_text(encoding="utf-8")
    assert measured_to_json([measure(folder, method) for method in METHODS]) == kept


def test_newest_sample_has_two_languages_and_both_kinds_of_questions():
    documents = read_sources([NEWEST / "sources"]).documents
    questions = read_questions(NEWEST / "questions.json")
    known = [question.source_id for question in questions if question.source_id is not None]
    assert len(documents) == 7
    assert set(known) == {document.source_id for document in documents}
    assert (len(known), len(questions) - len(known)) == (14, 4)
    for in_language in (str.isascii, lambda text: not text.isascii()):
        assert sum(in_language(question.text) for question in questions) >= 6
    assert "今天火星咖啡价格" in [question.text for question in questions if question.source_id is None]


def test_coffee_question_finds_one_character_by_chance_and_no_weak_drops_it():
    (outcome,) = [o for o in measure(NEWEST, "bm25").outcomes if o.question.text == "今天火星咖啡价格"]
    (finding,) = outcome.found.findings
    assert ([term.text for term in finding.terms], finding.weak) == (["天"], True)
    assert (outcome.not_weak.findings, outcome.not_weak.weak_left_out) == ((), 1)


def test_figures_count_known_sources_by_rank_and_hits_of_unanswerable_questions(tmp_path):
    (tmp_path / "sources").mkdir()
    (tmp_path / "sources/a.txt").write_bytes("苹果\n苹果梨子".encode())
    (tmp_path / "sources/b.txt").write_bytes("梨子香蕉山".encode())
    asked = [("苹果", "a.txt"), ("苹果梨子", "b.txt"), ("西瓜", "a.txt"), ("西山", None), ("北海", None)]
    questions = [{"id": text, "question": text, "source_id": known} for text, known in asked]
    (tmp_path / "questions.json").write_text(json.dumps({"questions": questions}), encoding="utf-8")
    result = measure(tmp_path, "bm25")
    assert [outcome.rank for outcome in result.outcomes] == [1, 3, None, None, None]
    assert (result.known, result.recalled(1), result.recalled(2), result.recalled(3)) == (3, 1, 1, 2)
    assert (result.unanswerable, result.hit(no_weak=False), result.hit(no_weak=True)) == (2, 1, 0)


def test_sample_that_is_not_there_is_an_error_of_one_line(capsys):
    assert main(["nowhere"]) == 2
    assert capsys.readouterr().err.count("\n") == 1
    assert main([]) == 2
