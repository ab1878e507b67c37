"""benchmarks/ranking.py on a file small enough to rank by hand."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from evidence_kit.commands import main
from evidence_kit.measures.intervals import bootstrap_interval

ROOT = Path(__file__).parents[3]

# "火星" stands in P3 alone, "退款" in P1 and P2: the tie goes to P1, so q2 finds its P2 second.
PARAGRAPHS = [("P1", "退款。"), ("P2", "退款！"), ("P3", "火星上有水。")]
QUESTIONS = {
    "P1": ("q1", "退款？", "退款", 0),
    "P2": ("q2", "退款？", "退款", 1),
    "P3": ("q3", "火星？", "水", 4),
}


def squad_json(marks, asked):
    """Return the paragraphs above once for each mark, which their words end in, each asked so many times."""
    paragraphs = []
    for mark in marks:
        for name, context in PARAGRAPHS:
            question_id, text, answer, start = QUESTIONS[name]
            answers = [{"text": answer, "answer_start": start}]
            questions = [
                {"id": f"{question_id}{mark}{number or ''}", "question": text + mark, "answers": answers}
                for number in range(asked)
            ]
            paragraphs.append({"id": f"{name}{mark}", "context": context + mark, "qas": questions})
    return json.dumps({"data": [{"paragraphs": paragraphs}]})


@pytest.fixture
def benchmark(tmp_path):
    """What the benchmark prints for such a file, line by line."""

    def call(*options, marks=("",), asked=1):
        (tmp_path / "tiny.json").write_text(squad_json(marks, asked), encoding="utf-8")
        script = str(ROOT / "benchmarks/ranking.py")
        run = subprocess.run(
            [sys.executable, script, "--squad", "tiny.json", "--seed", "3", *options],
            cwd=tmp_path,
            capture_output=True,
            encoding="utf-8",
            env={**os.environ, "PYTHONPATH": str(ROOT)},
        )
        assert (run.returncode, run.stderr) == (0, "")
        return run.stdout.splitlines()

    return call


METHODS = ("keyword overlap", "character TF-IDF (`tfidf_course`)", "BM25 (`words_han`)")


def test_table_and_faulty_offsets_are_as_counted_by_hand(benchmark):
    lines = benchmark()
    assert lines[0] == "Mean [95 % interval over paragraphs], 10,000 samples, seed 3."
    assert lines[2] == "| tiny: 3 passages | Recall@1 | Recall@3 | Recall@10 | MRR@10 | no hit |"
    for method, line in zip(METHODS, lines[4:7], strict=True):
        # Two of three at rank 1; reciprocal ranks 1, 1/2 and 1; three paragraphs are too few for an interval.
        assert line == f"| {method} | 0.667 | 1.000 | 1.000 | 0.833 | 0 |"
    assert lines[8] == (
        "3 questions, 0 of them undefined (no answer listed). "
        "Faulty answer offsets: 1 of 3 listed answers, in 1 questions: q2."
    )


def test_intervals_draw_paragraphs_with_all_their_questions(benchmark):
    # In each of 12 copies P2 comes second by keyword overlap, in both of its questions: 36 values, not 72.
    interval = bootstrap_interval([1.0, 0.0, 1.0] * 12, seed=3)
    shown = f"0.667 [{interval.low:.3f}, {interval.high:.3f}]"
    lines = benchmark(marks=[f"Zx{number:02}" for number in range(12)], asked=2)
    assert lines[4].split(" | ")[1] == shown
    alone = bootstrap_interval([1.0, 1.0, 0.0, 0.0, 1.0, 1.0] * 12, seed=3)
    assert alone.low > interval.low + 0.03


def test_files_of_judgments_and_runs_measure_as_the_table_says(benchmark, tmp_path, capsys):
    benchmark("--write-runs", ".")
    runs = sorted(path.name for path in tmp_path.glob("*.txt"))
    assert runs == [
        "tiny.bm25.run.txt",
        "tiny.overlap.run.txt",
        "tiny.qrels.txt",
        "tiny.tfidf_course.run.txt",
    ]
    for name in runs:
        if name.endswith(".run.txt"):
            files = ["--qrels", str(tmp_path / "tiny.qrels.txt"), "--run", str(tmp_path / name)]
            assert main(["measure", *files, "-m", "Recall@1", "-m", "MRR@10", "--json"]) == 0
            means = json.loads(capsys.readouterr().out)["means"]
            assert means == {"Recall@1": 0.666667, "MRR@10": 0.833333}
