"""Scores computed by hand, and the course core as an oracle."""

from __future__ import annotations

import importlib.util
import json
import math
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from evidence_kit.index import Bm25, Cosine, Index, IndexInputError
from evidence_kit.index.weighting import parse_weighting

ROOT = Path(__file__).parents[3]


@pytest.mark.parametrize(("mean", "score"), [(1885 / 14, 1.597193), (116, 1.458837)])
def test_the_coffee_question_scores_as_the_seed_says_in_both_its_corpora(mean: float, score: float) -> None:
    bm25 = Bm25()
    assert round(bm25.part(1, bm25.size(280, mean), bm25.idf(14, 1)), 6) == score


ENGLISH = ["red apple apple", "red pear", "green pear tree in a garden"]  # 3, 2 and 6 words: mean 11/3


def test_bm25_of_three_english_documents_by_hand() -> None:
    hits = Index.build(ENGLISH).search("red apple", 3)
    red, apple = math.log(1 + 1.5 / 2.5), math.log(1 + 2.5 / 1.5)
    k_first, k_second = 1.2 * (0.25 + 0.75 * 3 / (11 / 3)), 1.2 * (0.25 + 0.75 * 2 / (11 / 3))
    first = red * 2.2 / (1 + k_first) + apple * 4.4 / (2 + k_first)
    second = red * 2.2 / (1 + k_second)
    assert [(hit.id, hit.position) for hit in hits] == [(0, 0), (1, 1)]
    assert [round(hit.score, 6) for hit in hits] == [1.929093, 0.577365]
    assert [hit.score for hit in hits] == pytest.approx([first, second], abs=1e-12)


def test_cosine_of_three_english_documents_by_hand() -> None:
    hits = Index.build(ENGLISH, weighting="tfidf_log").search("red apple", 3)
    common, rare = math.log(4 / 3) + 1, math.log(4 / 2) + 1
    twice = (1 + math.log(2)) * rare
    query = math.hypot(common, rare)
    first = (common * common + rare * twice) / query / math.hypot(common, twice)
    second = common * common / query / math.hypot(common, common)  # pear stands in two documents, as red does
    assert [hit.id for hit in hits] == [0, 1]
    assert [hit.score for hit in hits] == pytest.approx([first, second], abs=1e-12)
    assert round(first, 6) == 0.974113


def test_a_query_term_counts_once_for_bm25() -> None:
    index = Index.build(ENGLISH)
    assert index.search("apple apple apple") == index.search("apple")


def test_passages_without_terms_count_in_n_and_in_the_mean_length() -> None:
    hits = Index.build(["水", "，。", ""]).search("水")
    size = 1.2 * (0.25 + 0.75 * 1 / (1 / 3))
    assert [hit.score for hit in hits] == pytest.approx(
        [math.log(1 + 2.5 / 1.5) * 2.2 / (1 + size)], abs=1e-12
    )


@pytest.mark.parametrize(
    ("k1", "b"), [(-0.1, 0.5), (1.2, 1.1), (1.2, -0.1), (math.nan, 0.5), (math.inf, 0.5)]
)
def test_bm25_parameters_outside_their_range_are_errors(k1: float, b: float) -> None:
    with pytest.raises(IndexInputError, match="bm25 的"):
        Bm25(k1, b)


@pytest.mark.parametrize("weighting", [Cosine("tfidf_course"), Cosine("tfidf_log"), Bm25(), Bm25(1e-7, 0.1)])
def test_a_weighting_is_parsed_back_from_its_name(weighting: Any) -> None:
    assert parse_weighting(weighting.name) == weighting


@pytest.mark.parametrize("name", ["bm42", "bm25(k1=x,b=1)", "bm25(k1=--1,b=1)", ""])
def test_an_unknown_weighting_names_the_known_ones(name: str) -> None:
    with pytest.raises(IndexInputError, match="tfidf_course、tfidf_log 或 bm25"):
        parse_weighting(name)


def _core() -> Any:
    path = ROOT / "evidence_assistant.py"
    if not path.exists():
        pytest.skip("the course core is not in this tree")
    spec = importlib.util.spec_from_file_location("evidence_assistant", path)
    if spec is None or spec.loader is None:
        pytest.fail("the course core cannot be imported")
    sys.path.insert(0, str(ROOT))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_tfidf_course_gives_the_ids_scores_and_order_of_the_course_core() -> None:
    core = _core()
    chunks = core.active_chunks(core.load_corpus()["chunks"])
    oracle = core.TfidfIndex(chunks)
    texts, ids = [chunk["text"] for chunk in chunks], [chunk["chunk_id"] for chunk in chunks]
    index = Index.build(texts, ids=ids, weighting="tfidf_course")
    data = ROOT / "data"
    questions = [
        item["question"]
        for name in ("calibration_set.json", "frozen_set.json")
        if (data / name).exists()
        for item in json.loads((data / name).read_text("utf-8"))["items"]
    ]
    for question in [*questions, *(text[5:25] for text in texts), texts[0], "今天火星咖啡价格"]:
        expected = oracle.search(question, top_k=len(texts), min_score=1e-300)
        hits = index.search(question, len(texts))
        assert [(hit.id, round(hit.score, 6)) for hit in hits] == [
            (c["chunk_id"], c["score"]) for c in expected
        ]
        exact = {chunk["chunk_id"]: score for chunk, score in oracle._scores(question)}
        assert [hit.score for hit in hits] == [exact[hit.id] for hit in hits]  # to the last bit


def test_a_small_corpus_is_answered_without_importing_numpy_or_numba() -> None:
    code = (
        "import sys; from evidence_kit.index import Index; Index.build(['停机检修']).search('检修');"
        "sys.exit('numpy' in sys.modules or 'numba' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=False).returncode == 0
