"""Build time, query time and size of the index beside its peers, all in one run.

    python benchmarks/retrieval.py --passages FILE [--sizes 10000,100000] [--without scikit-learn,tantivy]

All questions are put to each system in turn, for several rounds, so that whatever else the machine does hits
all of them alike; ratios are what to read. Builds are in CPU seconds, one thread, compilation excluded;
questions in wall time.
Needs numpy, numba, scikit-learn, bm25s and tantivy.
"""

from __future__ import annotations

import argparse
import math
import statistics
import subprocess
import sys
import tempfile
import time
from itertools import pairwise
from pathlib import Path

from retrieval_data import passages_of, questions_of, read_passages
from retrieval_systems import SYSTEMS, Built

from evidence_kit.index import Index

QUESTIONS, REPEATS, SEED = 300, 3, 20240601
RATIOS = (
    ("build", "kit tfidf_course", "scikit-learn"),
    ("build", "kit bm25", "bm25s"),
    ("p50", "kit tfidf_course", "scikit-learn"),
    ("p50", "kit tfidf_course", "tantivy"),
    ("p50", "kit bm25", "bm25s"),
    ("p95", "kit bm25", "bm25s"),
    ("MB", "kit bm25", "bm25s"),
)

Row = dict[str, float]


def ask_in_turn(systems: dict[str, Built], questions: list[str]) -> dict[str, list[float]]:
    """Return the sorted median milliseconds of the questions for each system, asked in rounds."""
    taken: dict[str, list[list[float]]] = {name: [[] for _ in questions] for name in systems}
    for round_ in range(REPEATS + 1):
        for name, built in systems.items():
            for number, question in enumerate(questions):
                started = time.perf_counter()
                built.search(question)
                if round_:  # the first round warms up
                    taken[name][number].append(1e3 * (time.perf_counter() - started))
    return {name: sorted(statistics.median(times) for times in every) for name, every in taken.items()}


def measure(passages: list[str], names: list[str]) -> dict[str, Row]:
    """Return build seconds, p50, p95 and MB of each system."""
    systems = {}
    for name in names:
        systems[name] = SYSTEMS[name](passages)
        print(f"  {name}: built in {systems[name].seconds:.2f} s", flush=True)
    times = ask_in_turn(systems, questions_of(passages, QUESTIONS, SEED))
    return {
        name: {
            "build": built.seconds,
            "p50": times[name][len(times[name]) // 2],
            "p95": times[name][int(len(times[name]) * 0.95)],
            "MB": built.size / 1e6,
        }
        for name, built in systems.items()
    }


def first_answers(passages: list[str], weighting: str) -> tuple[float, float]:
    """Return milliseconds to open a stored index and answer: kernels loaded, and in a fresh process."""
    question = passages[0][:12]
    with tempfile.TemporaryDirectory() as folder:
        Index.build(passages, weighting=weighting).save(folder)
        code = f"import sys; from evidence_kit.index import Index;Index.open({folder!r}).search({question!r})"
        warm, cold = [], []
        for _ in range(5):
            started = time.perf_counter()
            index = Index.open(folder)
            index.load_kernels()
            index.search(question)
            warm.append(time.perf_counter() - started)
            started = time.perf_counter()
            subprocess.run([sys.executable, "-c", code], check=True)
            cold.append(time.perf_counter() - started)
    return 1e3 * statistics.median(warm), 1e3 * statistics.median(cold)


def report(tables: dict[int, dict[str, Row]]) -> None:
    """Print one table a size, the ratios, and how build and query grow with the number of passages."""
    for size, table in tables.items():
        print(f"\n{size:,} passages           build s   p50 ms   p95 ms       MB")
        for name, row in table.items():
            print(f"  {name:22}{row['build']:9.2f}{row['p50']:9.3f}{row['p95']:9.3f}{row['MB']:9.1f}")
        for column, ours, peer in RATIOS:
            if ours in table and peer in table:
                a, b = table[ours][column], table[peer][column]
                ratio = a / b if column == "MB" else b / a
                print(f"  {column:6}{ours} against {peer}: {ratio:.2f}x")
    sizes = sorted(tables)
    for small, large in pairwise(sizes):
        for name in tables[large]:
            if name in tables[small]:
                a, b, step = tables[small][name], tables[large][name], math.log(large / small)
                grown = {column: math.log(b[column] / a[column]) / step for column in ("build", "p50")}
                powers = f"build ~ N^{grown['build']:.2f}, p50 ~ N^{grown['p50']:.2f}"
                print(f"  {small:,} to {large:,}, {name}: {powers}")


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--passages", type=Path, required=True, help="one a line; .xz is unpacked")
    parser.add_argument("--sizes", default="10000,100000,1000000")
    parser.add_argument("--without", default="", help="systems to leave out, with commas between them")
    options = parser.parse_args()
    real = read_passages(options.passages)
    names = [name for name in SYSTEMS if name not in options.without.split(",")]
    tables = {}
    for size in map(int, options.sizes.split(",")):
        passages, are_real = passages_of(real, size, SEED)
        kind = (
            "real" if are_real else f"real and, beyond {len(real):,}, sentences recombined with seed {SEED}"
        )
        print(f"{size:,} passages of {sum(map(len, passages)) / size:.0f} characters ({kind})", flush=True)
        tables[size] = measure(passages, names)
        for weighting in ("tfidf_course", "bm25"):
            warm, cold = first_answers(passages, weighting)
            print(
                f"  {weighting}: open and first answer {warm:.1f} ms, in a fresh process {cold:.0f} ms",
                flush=True,
            )
    report(tables)


if __name__ == "__main__":
    main()
