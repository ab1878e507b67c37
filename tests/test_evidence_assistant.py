"""证据助手的十个单元测试：输入、检索与路由。题目都是另编的，不用冻结题。

运行：python -m unittest discover -s tests
"""

import math
import sys
import unittest
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from evidence_assistant import (
    InputError,
    TfidfIndex,
    active_chunks,
    ask,
    character_ngrams,
    check_question,
    resolve_question,
)


def chunk(chunk_id: str, text: str, status: str = "active", group: str | None = None) -> dict[str, Any]:
    """返回一块最小的资料。"""
    return {
        "chunk_id": chunk_id, "title": chunk_id, "version": "1", "effective_status": status,
        "conflict_group": group, "text": text,
    }  # fmt: skip


def scores(index: TfidfIndex, question: str) -> dict[str, float]:
    """返回全部分数，不设门槛。"""
    return {hit["chunk_id"]: hit["score"] for hit in index.search(question, top_k=9, min_score=0.0)}


class QuestionTest(unittest.TestCase):
    def test_empty_question_is_an_input_error(self) -> None:
        for question in ("", "  \n　", "？！……"):
            with self.subTest(question), self.assertRaises(InputError):
                check_question(question)

    def test_question_of_201_characters_is_too_long(self) -> None:
        self.assertEqual(check_question(" " + "问" * 200 + "\n"), "问" * 200)
        with self.assertRaises(InputError):
            check_question("问" * 201)


class RetrievalTest(unittest.TestCase):
    def test_corpus_without_an_active_source_is_an_input_error(self) -> None:
        expired = [chunk("C001", "杯子在左边", "expired")]
        for build in (active_chunks, TfidfIndex):
            with self.subTest(build), self.assertRaises(InputError):
                build(expired)

    def test_expired_chunk_enters_no_index_and_changes_no_score_bit(self) -> None:
        """过期资料若进了索引，idf 会变，每个分数的尾数都会跟着变。"""
        current = [chunk("C001", "杯子在左边"), chunk("C003", "盘子在右边")]
        clean = TfidfIndex(current)
        mixed = TfidfIndex([current[0], chunk("C002", "杯子在左边", "expired"), current[1]])
        self.assertEqual([item["chunk_id"] for item in mixed.chunks], ["C001", "C003"])
        self.assertEqual((mixed.idf, mixed.vectors), (clean.idf, clean.vectors))

    def test_character_ngrams_are_pairs_then_triples_of_the_normalised_text(self) -> None:
        expected = ["甲a", "ab", "b7", "7乙", "甲ab", "ab7", "b7乙"]
        self.assertEqual(character_ngrams("甲 A、B\n7（乙）"), expected)
        self.assertEqual(character_ngrams("甲。"), [])

    def test_tfidf_cosine_of_two_tiny_documents_matches_hand_computation(self) -> None:
        """片段“甲甲”两篇都有，idf = ln(3/3)+1 = 1；其余片段只有一篇有，idf = ln(3/2)+1。

        甲甲甲：甲甲 2 次、甲甲甲 1 次 → (2, w) / √(4+w²)
        甲甲乙：甲甲、甲乙、甲甲乙各 1 次 → (1, w, w) / √(1+2w²)
        问题“甲甲”的向量只有甲甲一项，余弦就是上面的第一个分量。
        """
        index = TfidfIndex([chunk("C001", "甲甲甲"), chunk("C002", "甲甲乙")])
        w = math.log(3 / 2) + 1
        self.assertEqual(index.idf, {"甲甲": 1.0, "甲甲甲": w, "甲乙": w, "甲甲乙": w})
        # 2 / √(4 + 1.975332) = 0.818180；1 / √(1 + 3.950664) = 0.449436
        self.assertEqual(scores(index, "甲甲"), {"C001": 0.81818, "C002": 0.449436})

    def test_equal_scores_are_ordered_by_chunk_id(self) -> None:
        index = TfidfIndex([chunk(key, "杯子在左边") for key in ("C003", "C001", "C002")])
        hits = index.search("杯子在哪边", top_k=2, min_score=0.0)
        self.assertEqual([hit["chunk_id"] for hit in hits], ["C001", "C002"])

    def test_threshold_compares_the_unrounded_score(self) -> None:
        """真实分数 0.4494364… 舍入后是 0.449436，与门槛比较的必须是前者。"""
        index = TfidfIndex([chunk("C001", "甲甲甲"), chunk("C002", "甲甲乙")])
        w = math.log(3 / 2) + 1
        exact = 1 / math.sqrt(1 + 2 * w * w)
        just_below, just_above = exact - 1e-9, exact + 1e-9
        self.assertEqual(round(just_below, 6), round(just_above, 6))
        found = [len(index.search("甲甲", 9, score)) for score in (just_below, just_above)]
        self.assertEqual(found, [2, 1])


class RoutingTest(unittest.TestCase):
    def test_question_without_evidence_is_refused(self) -> None:
        index = TfidfIndex([chunk("C001", "杯子在左边")])
        result = ask("今天下雨吗", index)
        self.assertEqual((result["route"], result["evidence"], result["citations"]), ("refuse", [], []))
        self.assertTrue(result["human_review_required"])

    def test_conflict_lists_both_members_and_chooses_none(self) -> None:
        """分数高的排在前面，也不算数：两条都列出，两条都引用，不作选择。"""
        hits = [
            {**chunk("C002", "保管十天。", group="days"), "score": 0.9},
            {**chunk("C003", "与此无关。"), "score": 0.5},
            {**chunk("C001", "保管五天。", group="days"), "score": 0.1},
        ]
        result = resolve_question("保管几天", hits)
        self.assertEqual((result["route"], result["citations"]), ("conflict", ["C001", "C002"]))
        self.assertIn("保管五天。[C001]\n保管十天。[C002]", result["answer"])
        self.assertTrue(result["human_review_required"])


if __name__ == "__main__":
    unittest.main()
