"""Over the course's corpus the finder gives the core's ids, scores, order and shares."""

import json
from pathlib import Path

import pytest

from evidence_assistant import TfidfIndex, load_corpus
from evidence_kit.finder.finder import Finder
from evidence_kit.sources.readers import read_sources

DATA = Path(__file__).parents[3] / "data"
QUESTIONS = [
    item["question"]
    for name in ("calibration_qa.json", "probe_qa.json")
    for item in json.loads((DATA / name).read_text(encoding="utf-8"))["items"]
]


@pytest.fixture(scope="module")
def core():
    return TfidfIndex(load_corpus(DATA / "corpus.json")["chunks"])


@pytest.fixture(scope="module")
def finder():
    return Finder.of(read_sources([DATA / "corpus.json"]).documents, "tfidf_course")


def test_every_question_finds_the_same_chunks_with_the_same_scores_in_the_same_order(core, finder):
    assert len(QUESTIONS) > 50
    for question in QUESTIONS:
        expected = [(near["chunk_id"], near["score"]) for near in core.nearest(question, 20)]
        found = [(f.passage.source_id, round(f.score, 6)) for f in finder.find(question, 20).findings]
        assert found == [(name, score) for name, score in expected if score > 0], question


def test_terms_and_shares_are_those_of_the_core(core, finder):
    for question in QUESTIONS:
        for finding in finder.find(question, 20).findings:
            expected = {
                row["term"]: row["share"] for row in core.explain(question, finding.passage.source_id)
            }
            assert {term.text: round(term.share, 6) for term in finding.terms} == expected


def test_quote_is_the_whole_text_of_the_chunk(core, finder):
    texts = {chunk["chunk_id"]: chunk["text"] for chunk in core.chunks}
    for question in QUESTIONS:
        for finding in finder.find(question, 20).findings:
            assert finding.passage.quote == texts[finding.passage.source_id]
