"""What an index answers, and what it refuses."""

from __future__ import annotations

import random
import string
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from evidence_kit.index import Bm25, Hit, Index, IndexInputError
from evidence_kit.text.analysis import char_ngrams

ROOT = Path(__file__).parents[3]
TEXTS = ["先停机，再检修", "每周加油一次", "检修之后再开机", "加油之前先停机"]


def test_hits_carry_id_score_and_position() -> None:
    hits = Index.build(TEXTS, ids=["d", "c", "b", "a"]).search("加油")
    assert [(hit.id, hit.position) for hit in hits] == [("c", 1), ("a", 3)]
    assert hits[0].score > hits[1].score > 0  # the shorter passage first


def test_ties_go_by_id_and_without_ids_by_position() -> None:
    texts = ["同一句话"] * 4
    assert [hit.position for hit in Index.build(texts).search("同一句话", 3)] == [0, 1, 2]
    ids = ["d", "b", "c", "B"]
    assert [hit.id for hit in Index.build(texts, ids=ids).search("同一句话", 3)] == ["B", "b", "c"]


def test_tfidf_course_ranks_by_six_digits_then_by_id() -> None:
    # The longer passage scores less, but not at six digits.
    texts = ["甲乙" * 20 + "丙丁", "甲乙" * 21 + "丙丁"]
    hits = Index.build(texts, ids=["b", "a"], weighting="tfidf_course").search("丙丁")
    assert [hit.id for hit in hits] == ["b", "a"]
    texts = ["甲乙" * 2000 + "丙丁", "甲乙" * 2001 + "丙丁"]
    hits = Index.build(texts, ids=["b", "a"], weighting="tfidf_course").search("丙丁")
    assert [hit.id for hit in hits] == ["a", "b"]
    assert hits[0].score < hits[1].score


def test_only_passages_that_share_a_term_come_back() -> None:
    index = Index.build(TEXTS)
    assert [hit.position for hit in index.search("加油", 100)] == [1, 3]
    assert index.search("火星") == index.search("") == index.search("，。 ") == []


def test_many_queries_are_answered_as_one_at_a_time() -> None:
    index = Index.build(TEXTS)
    assert index.search_many(["加油", "", "检修"], 1) == [index.search(q, 1) for q in ("加油", "", "检修")]


def test_what_is_expired_and_left_out_changes_no_bit_of_a_score() -> None:
    in_force, expired = TEXTS, ["加油每天一次", "停机后不必检修"]
    attributes = [{"source": "手册"}] * 4 + [{"source": "旧手册"}] * 2
    index = Index.build(in_force)
    narrowed = Index.build(in_force + expired, attributes=attributes).search("加油", where={"source": "手册"})
    assert [hit.score for hit in index.search("加油")] != [hit.score for hit in narrowed]
    assert all(hit.narrowed for hit in narrowed)
    assert not any(hit.narrowed for hit in index.search("加油"))


@pytest.mark.parametrize("large", [False, True])
def test_where_gives_the_hits_of_the_whole_index_that_have_the_attributes(large: bool) -> None:
    draw = random.Random(4)
    filler = ["".join(draw.choices(string.ascii_lowercase, k=300)) for _ in range(600)] if large else []
    texts = [" ".join(draw.choices(["水", "火", "土"], k=draw.randint(1, 9))) for _ in range(200)] + filler
    rows = [{"source": draw.choice("abc"), "scope": draw.choice("xy")} for _ in texts]
    index = Index.build(texts, attributes=rows)
    everything = index.search("水火", len(texts))
    for where in ({"source": "a"}, {"source": ["a", "b"], "scope": "x"}, {"scope": []}, {}, {"source": "z"}):
        allowed = {key: {value} if isinstance(value, str) else set(value) for key, value in where.items()}
        expected = [
            (hit.id, hit.score)
            for hit in everything
            if all(rows[hit.position][key] in values for key, values in allowed.items())
        ]
        found: Any = index.search("水火", 7, where=where)  # type: ignore[arg-type]
        assert [(hit.id, hit.score) for hit in found] == expected[:7]


def test_an_attribute_that_no_passage_has_is_an_error() -> None:
    index = Index.build(TEXTS, attributes=[{"source": "a"}] * 4)
    with pytest.raises(IndexInputError, match="source"):
        index.search("加油", where={"sauce": "a"})
    with pytest.raises(IndexInputError, match="没有任何属性"):
        Index.build(TEXTS).search("加油", where={"source": "a"})


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"texts": []}, "没有资料块"),
        ({"texts": "一段文字"}, "放进列表"),
        ({"texts": ["好", 3]}, "第 2 项是 int"),
        ({"texts": ["好"], "ids": ["a", "b"]}, "ids 有 2 个"),
        ({"texts": ["好"], "ids": [""]}, "第 1 个"),
        ({"texts": ["好", "坏"], "ids": ["a", "a"]}, "'a' 出现了不止一次"),
        ({"texts": ["好"], "attributes": []}, "attributes 有 0 项"),
        ({"texts": ["好"], "attributes": [{"a": 1}]}, "第 1 项"),
        ({"texts": ["好"], "weighting": "bm26"}, "'bm26'"),
    ],
)
def test_what_cannot_be_built_is_refused_in_one_line(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(IndexInputError, match=message) as caught:
        Index.build(**arguments)
    assert "\n" not in caught.value.message
    assert caught.value.exit_code == 2


@pytest.mark.parametrize("k", [0, -1, 1.5, True, "3"])
def test_k_is_a_whole_number_from_one(k: Any) -> None:
    with pytest.raises(IndexInputError, match="k 为"):
        Index.build(TEXTS).search("加油", k)


def test_a_question_that_is_no_string_is_refused() -> None:
    question: Any = None
    with pytest.raises(IndexInputError, match="字符串"):
        Index.build(TEXTS).search(question)


STRANGE = ["\x00", "\uffff停机", "😀停机", "\u202eשלום停机", "\ud800停机", "\udc00", "停机" * 5000]


@pytest.mark.parametrize("weighting", ["bm25", "tfidf_log", "tfidf_course"])
def test_strange_texts_and_questions_get_an_exact_answer(weighting: str) -> None:
    index = Index.build([*STRANGE, *TEXTS], weighting=weighting)
    for question in [*STRANGE, "停机" * 5000, "\ud800", "é\u0301" * 50]:
        for hit in index.search(question, 100):
            assert hit.score > 0
    assert 6 in [hit.position for hit in index.search("停机" * 5000)]


def test_a_question_equal_to_a_passage_has_cosine_one() -> None:
    hit = Index.build(TEXTS, weighting="tfidf_course").search(TEXTS[2], 1)[0]
    assert hit == Hit(2, pytest.approx(1.0, abs=1e-12), 2)


def test_any_analyzer_goes_with_any_weighting() -> None:
    for analyzer in (char_ngrams(2), char_ngrams(1, 2, 3)):
        for weighting in ("bm25", "tfidf_log", "tfidf_course", Bm25(0.9, 0.4)):
            hits = Index.build(TEXTS, analyzer=analyzer, weighting=weighting).search("检修之后")
            assert hits[0].position == 2


def test_without_numba_or_a_cache_that_can_be_written_the_results_are_the_same(tmp_path: Path) -> None:
    pytest.importorskip("numba")
    code = """
import random, sys
if sys.argv[1] == "none":
    sys.modules["numba"] = None
    import importlib.util
    find = importlib.util.find_spec
    importlib.util.find_spec = lambda name: None if name == "numba" else find(name)
if sys.argv[1] == "unwritable":
    import numba.core.caching as caching
    caching.CacheImpl._locator_classes = []
from evidence_kit.index import Index
draw = random.Random(1)
texts = ["".join(draw.choices("一二三四五六七八九十", k=30)) for _ in range(4000)]
for weighting in ("bm25", "tfidf_course"):
    index = Index.build(texts, weighting=weighting)
    print([[(h.id, h.score) for h in index.search(text[:5])] for text in texts[:20]])
"""
    runs = [
        subprocess.run(
            [sys.executable, "-c", code, kind], cwd=ROOT, check=True, capture_output=True, text=True
        ).stdout
        for kind in ("compiled", "none", "unwritable")
    ]
    assert runs[0] == runs[1] == runs[2]
    assert len(runs[0]) > 1000


def test_one_passage_is_found_among_a_million_empty_ones() -> None:
    pytest.importorskip("numba")
    assert Index.build([""] * 1_000_000).search("水火") == []
    hits = Index.build([*[""] * 1_000_000, "水火"], weighting="tfidf_course").search("水火")
    assert [(hit.id, hit.score) for hit in hits] == [(1_000_000, 1.0)]
