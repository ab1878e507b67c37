"""The two retrievers: scores against an oracle, order, threshold, filter and explanation."""

from __future__ import annotations

import math
import random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import evidence_assistant as ea
from evidence_assistant import KeywordBaseline, TfidfIndex

QUESTIONS = ["换货要附照片吗", "周六受理到几点", "客服会不会索要验证码", "设备外壳", "礼品卡余额", "abc"]


def oracle(texts: list[str], question: str) -> list[dict[str, tuple[float, float]]]:
    """Return for each text {shared n-gram: (idf, product of the two normalised weights)}, on plain lists."""

    def grams(text: str) -> list[str]:
        kept = [c for c in text.lower() if c.isalnum()]
        return ["".join(kept[i : i + n]) for n in (2, 3) for i in range(len(kept) + 1 - n)]

    bags = [grams(text) for text in texts]
    vocabulary = sorted({gram for bag in bags for gram in bag})
    idf = {g: math.log((1 + len(bags)) / (1 + sum(g in bag for bag in bags))) + 1 for g in vocabulary}

    def unit(bag: list[str]) -> dict[str, float]:
        weights = {g: bag.count(g) / max(len(bag), 1) * idf[g] for g in set(bag) if g in idf}
        length = math.hypot(*weights.values()) or 1.0
        return {g: weight / length for g, weight in weights.items()}

    asked = unit(grams(question))
    return [{g: (idf[g], asked[g] * w) for g, w in unit(bag).items() if g in asked} for bag in bags]


@pytest.fixture(scope="module")
def index(chunks) -> TfidfIndex:
    return TfidfIndex(chunks)


@pytest.fixture(scope="module")
def baseline(chunks) -> KeywordBaseline:
    return KeywordBaseline(chunks, ea.load_keyword_rules(chunks))


# ---- scores ----


@pytest.mark.parametrize("question", QUESTIONS)
def test_scores_agree_with_an_independent_computation(index, question: str) -> None:
    expected = [
        math.fsum(part for _, part in shared.values())
        for shared in oracle([chunk["text"] for chunk in index.chunks], question)
    ]
    given_scores = {hit["chunk_id"]: hit["score"] for hit in index.search(question, 99, 0.0)}
    for chunk, score in zip(index.chunks, expected, strict=True):
        assert given_scores[chunk["chunk_id"]] == pytest.approx(score, abs=6e-7)


@settings(derandomize=True, deadline=None, database=None, max_examples=100)
@given(
    st.lists(st.text("甲乙丙丁", min_size=1, max_size=8), min_size=1, max_size=4),
    st.text("甲乙丙戊", max_size=8),
)
def test_every_score_is_a_cosine_of_the_oracle(texts: list[str], question: str) -> None:
    chunks = [{"chunk_id": f"C{i:03}", "text": t, "effective_status": "active"} for i, t in enumerate(texts)]
    expected = [math.fsum(part for _, part in shared.values()) for shared in oracle(texts, question)]
    found = {hit["chunk_id"]: hit["score"] for hit in TfidfIndex(chunks).search(question, 99, -1.0)}
    assert list(found.values()) == sorted(found.values(), reverse=True)
    for i, score in enumerate(expected):
        assert found[f"C{i:03}"] == pytest.approx(score, abs=6e-7)
        assert 0 <= found[f"C{i:03}"] <= 1


def test_a_text_asked_word_for_word_scores_one(index) -> None:
    for chunk in index.chunks:
        assert index.search(chunk["text"])[0] == {**chunk, "score": 1.0}


def test_ngrams_unknown_to_the_corpus_do_not_lengthen_the_question(chunk) -> None:
    index = TfidfIndex([chunk("C001", "甲乙"), chunk("C002", "丙丁")])
    assert index.search("甲乙戊己庚辛")[0]["score"] == 1.0


def test_only_text_is_indexed(chunk) -> None:
    index = TfidfIndex([chunk("C001", "甲乙", title="丙丁", scope="丙丁"), chunk("C002", "戊己")])
    assert index.search("丙丁", min_score=0.01) == []


def test_punctuation_and_case_of_the_question_change_no_score(index) -> None:
    plain = index.search("周六受理到几点")
    assert index.search(" 周六，受理——到几点？！\n") == plain


def test_score_has_at_most_six_digits(index) -> None:
    for hit in index.search("设备", 99, 0.0):
        assert hit["score"] == round(hit["score"], 6)


# ---- the filter ----


def test_expired_chunks_change_no_bit_of_any_score(chunks, chunk) -> None:
    clean = TfidfIndex([c for c in chunks if c["effective_status"] == "active"])
    more = [chunk(f"C9{i:02}", text, "expired") for i, text in enumerate(["换货照片" * 5, "周六受理", "甲"])]
    mixed = TfidfIndex([*more, *chunks])
    assert (mixed.idf, mixed.vectors) == (clean.idf, clean.vectors)
    for question in QUESTIONS:
        assert mixed._scores(question) == clean._scores(question)


def test_expired_chunk_enters_no_keyword_search(chunk) -> None:
    pieces = [chunk("C001", "甲乙"), chunk("C002", "甲乙", "expired")]
    baseline = KeywordBaseline(pieces, {"C001": ["甲", "乙", "丙"], "C002": ["甲", "乙", "丙"]})
    assert [hit["chunk_id"] for hit in baseline.search("甲乙丙")] == ["C001"]
    assert [item["chunk_id"] for item in baseline.nearest("甲乙丙")] == ["C001"]


def test_digest_of_the_set_in_force_ignores_expired_chunks_and_their_order(chunks) -> None:
    digest = ea.corpus_digest(chunks)
    assert ea.corpus_digest([c for c in chunks if c["effective_status"] == "active"]) == digest
    shuffled = list(chunks)
    random.Random(1).shuffle(shuffled)
    assert ea.corpus_digest(shuffled) == digest
    for i, chunk in enumerate(chunks):
        changed = [*chunks[:i], {**chunk, "scope": chunk["scope"] + "。"}, *chunks[i + 1 :]]
        assert (ea.corpus_digest(changed) == digest) == (chunk["effective_status"] == "expired")


# ---- order, threshold, top_k ----


class Fixed(TfidfIndex):
    """An index whose scores are given."""

    def __init__(self, scores: dict[str, float]) -> None:
        self.given = scores

    def _scores(self, question: str) -> list[tuple[dict[str, Any], float]]:
        return [({"chunk_id": key, "text": key}, score) for key, score in self.given.items()]


def test_ranks_by_the_score_of_six_digits_then_by_id() -> None:
    index = Fixed({"C003": 0.5000004, "C002": 0.4999996, "C001": 0.4999994, "C004": 0.9})
    assert [hit["chunk_id"] for hit in index.search("x")] == ["C004", "C002", "C003"]
    assert [hit["chunk_id"] for hit in index.nearest("x", 4)] == ["C004", "C002", "C003", "C001"]


def test_threshold_is_met_by_the_unrounded_score_alone() -> None:
    below = math.nextafter(0.08, 0) if hasattr(math, "nextafter") else 0.08 - 1e-17
    index = Fixed({"C001": below, "C002": 0.08, "C003": 0.0799999})
    assert [hit["chunk_id"] for hit in index.search("x", 3, 0.08)] == ["C002"]
    assert [item["score"] for item in index.nearest("x")] == [0.08, 0.08, 0.08]


def test_top_k_cuts_after_sorting() -> None:
    index = Fixed({"C001": 0.1, "C002": 0.2, "C003": 0.3, "C004": 0.4})
    assert [hit["chunk_id"] for hit in index.search("x", 2, 0.0)] == ["C004", "C003"]
    assert len(index.search("x")) == 3


@pytest.mark.parametrize("top_k", [0, -1])
def test_top_k_below_one_is_an_input_error(chunk, top_k: int) -> None:
    pieces = [chunk("C001", "甲乙")]
    for retriever in (TfidfIndex(pieces), KeywordBaseline(pieces, {"C001": ["甲", "乙", "丙"]})):
        with pytest.raises(ea.InputError, match="top_k"):
            retriever.search("甲乙", top_k)


def test_parameters_in_force_are_the_defaults_of_search() -> None:
    index = Fixed({"C001": 0.0799, "C002": 0.0801, "C003": 0.3, "C004": 0.4, "C005": 0.5})
    assert [hit["chunk_id"] for hit in index.search("x")] == ["C005", "C004", "C003"]
    assert index.search("x") == index.search("x", ea.TOP_K, ea.MIN_SCORE)


def test_nearest_shows_three_even_where_nothing_is_near(index, baseline) -> None:
    for retriever in (index, baseline):
        nearest = retriever.nearest("abc")
        assert nearest == [{"chunk_id": f"C00{i}", "score": 0.0} for i in (1, 2, 3)]
        assert retriever.search("abc") == []


def test_search_does_not_change_the_chunks(index, chunks) -> None:
    index.search("换货")
    assert all("score" not in chunk for chunk in [*index.chunks, *chunks])


# ---- keyword rules ----


def test_keyword_score_is_the_matched_share(chunk) -> None:
    pieces = [chunk("C001", "甲"), chunk("C002", "乙"), chunk("C003", "丙")]
    rules = {"C001": ["苹果", "梨", "USB-C"], "C002": ["苹果", "桃", "杏", "李"], "C003": ["瓜", "豆", "菜"]}
    baseline = KeywordBaseline(pieces, rules)
    hits = baseline.search("苹果，和 usb c 线")
    assert [(hit["chunk_id"], hit["score"]) for hit in hits] == [("C001", 0.666667), ("C002", 0.25)]
    assert baseline.search("苹 果")[0]["chunk_id"] == "C001"
    assert baseline.search("没有") == []


def test_one_keyword_is_a_hit_and_three_hits_are_shown(chunk) -> None:
    pieces = [chunk(f"C00{i}", "甲") for i in range(5, 0, -1)]
    baseline = KeywordBaseline(pieces, {piece["chunk_id"]: ["甲", "乙", "丙"] for piece in pieces})
    assert [hit["chunk_id"] for hit in baseline.search("甲")] == ["C001", "C002", "C003"]


# ---- explanation ----


@pytest.mark.parametrize("question", QUESTIONS)
def test_explanation_agrees_with_an_independent_computation(index, question: str) -> None:
    shared = oracle([chunk["text"] for chunk in index.chunks], question)
    for chunk, parts in zip(index.chunks, shared, strict=True):
        rows = index.explain(question, chunk["chunk_id"])
        total = math.fsum(part for _, part in parts.values())
        assert {row["term"] for row in rows} == parts.keys()
        for row in rows:
            idf, part = parts[row["term"]]
            assert row["idf"] == pytest.approx(idf, abs=6e-7)
            assert row["share"] == pytest.approx(part / total, abs=6e-7)
        if rows:
            assert math.fsum(row["share"] for row in rows) == pytest.approx(1, abs=1e-6 * len(rows))
            assert rows == sorted(rows, key=lambda row: (-row["share"], row["term"]))


def test_explanation_of_keywords_gives_each_the_same_share(baseline) -> None:
    rows = baseline.explain("显示设备没有画面，能拆机换零件吗", "C002")
    assert [row["term"] for row in rows] == ["画面", "零件", "拆机"]
    assert [row["share"] for row in rows] == [0.333333] * 3


def test_nothing_shared_has_no_explanation(index, baseline) -> None:
    assert index.explain("abc", "C001") == baseline.explain("abc", "C001") == []


def test_both_retrievers_and_a_stand_in_fit_one_interface(index, baseline) -> None:
    class Silent:
        name = "silent"

        def search(self, question: str) -> list[dict[str, Any]]:
            return []

        def nearest(self, question: str, count: int = 3) -> list[dict[str, Any]]:
            return []

    for retriever in (index, baseline, Silent()):
        assert ea.ask("换货要附照片吗", retriever)["system"] == retriever.name
