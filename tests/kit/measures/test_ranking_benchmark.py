"""benchmarks/ranking.py on a file small enough to rank by hand."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[3]

# "火星" stands in P3 alone, "退款" in P1 and P2: the tie goes to P1, so q2 finds its P2 second.
PARAGRAPHS = [("P1", "退款。"), ("P2", "退款！"), ("P3", "火星上有水。")]
QUESTIONS = {
    "P1": ("q1", "退款？", "退款", 0),
    "P2": ("q2", "退款？", "退款", 1),
    "P3": ("q3", "火星？", "水", 4),
}


def test_table_and_faulty_offsets_are_as_counted_by_hand(tmp_path):
    paragraphs = []
    for name, context in PARAGRAPHS:
        question_id, text, answer, start = QUESTIONS[name]
        asked = {"id": question_id, "question": text, "answers": [{"text": answer, "answer_start": start}]}
        paragraphs.append({"id": name, "context": context, "qas": [asked]})
    (tmp_path / "tiny.json").write_text(json.dumps({"data": [{"paragraphs": paragraphs}]}), encoding="utf-8")
    command = [sys.executable, str(ROOT / "benchmarks/ranking.py"), "--squad", "tiny.json", "--seed", "3"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    run = subprocess.run(command, cwd=tmp_path, capture_output=True, encoding="utf-8", env=environment)
    assert (run.returncode, run.stderr) == (0, "")
    lines = run.stdout.splitlines()
    assert lines[0] == "Mean [95 % interval], 10,000 samples, seed 3."
    assert lines[2] == "| tiny: 3 passages | Recall@1 | Recall@3 | Recall@10 | MRR@10 | no hit |"
    methods = ("keyword overlap", "character TF-IDF (`tfidf_course`)", "BM25 (`words_han`)")
    for method, line in zip(methods, lines[4:7], strict=True):
        # Two of three at rank 1; reciprocal ranks 1, 1/2 and 1.
        assert line == (
            f"| {method} | 0.667 [0.000, 1.000] | 1.000 [1.000, 1.000] | 1.000 [1.000, 1.000] "
            "| 0.833 [0.500, 1.000] | 0 |"
        )
    assert lines[8] == (
        "3 questions, 0 of them undefined (no answer listed). "
        "Faulty answer offsets: 1 of 3 listed answers, in 1 questions: q2."
    )
