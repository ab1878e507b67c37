"""回答适配器的四个单元测试：照抄证据、引用核对、语言模型守规矩。

运行：python -m unittest discover -s tests
"""

import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from answer_adapter import (
    AnswererError,
    CallableLanguageModelAnswerer,
    ExtractiveEvidenceAnswerer,
    validate_citations,
)

EVIDENCE = [
    {"chunk_id": "C001", "text": "杯子放在左边的柜子里。"},
    {"chunk_id": "C002", "text": "盘子放在右边的柜子里。"},
]


class AnswerAdapterTest(unittest.TestCase):
    def test_extractive_answer_copies_each_text_and_cites_it(self) -> None:
        answer = ExtractiveEvidenceAnswerer().answer("杯子和盘子在哪里", EVIDENCE)
        self.assertEqual(answer, "杯子放在左边的柜子里。[C001]\n盘子放在右边的柜子里。[C002]")

    def test_illegal_citation_is_refused(self) -> None:
        """合法的只有一种：半角、大写 C、三位数字，并且在允许的集合里。"""
        self.assertEqual(validate_citations("在左边。[C001]", {"C001"}), (True, ["C001"]))
        for answer in (
            "在左边。",
            "[C002]",
            "[C001][C002]",
            "[C001][c002]",
            "[C001]［C002］",
            "[C001][C0022]",
        ):
            with self.subTest(answer):
                self.assertFalse(validate_citations(answer, {"C001"})[0])

    def test_model_is_not_called_without_evidence(self) -> None:
        calls = []

        def model(question: str, evidence: list) -> str:
            calls.append(question)
            return "在左边。[C001]"

        with self.assertRaises(AnswererError):
            CallableLanguageModelAnswerer(model).answer("杯子在哪里", [])
        self.assertEqual(calls, [])

    def test_model_citing_outside_the_evidence_is_refused(self) -> None:
        """C002 确有其块，但不在这一次的证据里，照样越界。"""
        inside = CallableLanguageModelAnswerer(lambda question, evidence: "左边的柜子。[C001]")
        self.assertEqual(inside.answer("杯子在哪里", EVIDENCE[:1]), "左边的柜子。[C001]")
        outside = CallableLanguageModelAnswerer(lambda question, evidence: "都在柜子里。[C001][C002]")
        with self.assertRaises(AnswererError):
            outside.answer("杯子在哪里", EVIDENCE[:1])


if __name__ == "__main__":
    unittest.main()
