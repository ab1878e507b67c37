"""How often three plain methods rank the paragraph that a question was asked about: SQuAD-form files.

    python benchmarks/ranking.py --squad FILE [--squad FILE ...] [--seed 1] [--write-runs FOLDER]

Each paragraph is a passage; the paragraph of a question is the one relevant passage, whatever others may
answer too. A question stands in the figures also where the offset of a listed answer is wrong: ranking does
not read offsets; they are counted and their questions named. Intervals: 95 % bootstrap over the paragraphs,
each with all of its questions, since questions about one paragraph are not independent.

`--write-runs` writes judgments and runs in TREC form, which `evidence measure` compares.

`keyword overlap` scores a passage by how many distinct `words_han` terms of the question it has, the plainest
thing that is not nothing.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path

from evidence_kit.formats.squad import SquadSet, parse_squad
from evidence_kit.formats.trec import qrels_to_trec, run_to_trec
from evidence_kit.index import Index
from evidence_kit.index.weighting import rank_score
from evidence_kit.measures.intervals import ROUNDS, grouped_interval
from evidence_kit.measures.ranking import MRR, Evaluation, Recall, Scores, evaluate
from evidence_kit.sources.visible import visible
from evidence_kit.sources.writing import write_together
from evidence_kit.text.analysis import words_han

TOP = 10
MEASURES = (Recall @ 1, Recall @ 3, Recall @ TOP, MRR @ TOP)
NAMED = 5

Search = Callable[[str], dict[str, float]]


def keyword_overlap(ids: Sequence[str], texts: Sequence[str]) -> Search:
    """Return a search whose scores are the number of distinct question terms in a passage; ties by id."""
    passages_of: dict[str, list[str]] = {}
    for name, text in zip(ids, texts, strict=True):
        for term in set(words_han.texts(text)):
            passages_of.setdefault(term, []).append(name)

    def search(question: str) -> dict[str, float]:
        found: Counter[str] = Counter()
        for term in set(words_han.texts(question)):
            found.update(passages_of.get(term, ()))
        return dict(sorted(found.items(), key=lambda pair: (-pair[1], pair[0]))[:TOP])

    return search


def indexed(weighting: str) -> Callable[[Sequence[str], Sequence[str]], Search]:
    """Return what makes a search by `Index` under a weighting, with its own analyzer and order."""

    def build(ids: Sequence[str], texts: Sequence[str]) -> Search:
        index = Index.build(texts, ids=ids, weighting=weighting)
        return lambda question: {
            str(hit.id): rank_score(index.weighting, hit.score) for hit in index.search(question, TOP)
        }

    return build


METHODS: dict[str, Callable[[Sequence[str], Sequence[str]], Search]] = {
    "keyword overlap": keyword_overlap,
    "character TF-IDF (`tfidf_course`)": indexed("tfidf_course"),
    "BM25 (`words_han`)": indexed("bm25"),
}
# The names of the methods in files.
TAGS = dict(zip(METHODS, ("overlap", "tfidf_course", "bm25"), strict=True))


def progress(text: str) -> None:
    """Show what is being done on stderr, on one line, if that is a terminal."""
    if sys.stderr.isatty():
        sys.stderr.write(f"\r\x1b[K{text}")
        sys.stderr.flush()


def run_of(squad: SquadSet, search: Search, label: str) -> Scores:
    """Return the best passages of every question."""
    run = {}
    for number, question in enumerate(squad.questions, 1):
        run[question.question_id] = search(question.text)
        if number % 100 == 0:
            progress(f"{label}: {number:,} of {len(squad.questions):,} questions")
    return run


def cell(squad: SquadSet, evaluation: Evaluation, name: str, seed: int, label: str) -> str:
    """Return a mean with its interval, as `0.812 [0.799, 0.825]`; of too few paragraphs the mean alone."""
    mean = evaluation.means[name]
    if mean is None:
        return "undefined"
    of_question = {question: row[name] for question, row in evaluation.per_question.items()}
    groups = [
        [
            value
            for question in paragraph.questions
            if (value := of_question[question.question_id]) is not None
        ]
        for paragraph in squad.paragraphs
    ]
    interval = grouped_interval(
        groups, seed=seed, progress=lambda done, whole: progress(f"{label}, {name}: {done:,} of {whole:,}")
    )
    return f"{mean:.3f}" if interval is None else f"{mean:.3f} [{interval.low:.3f}, {interval.high:.3f}]"


def faults(squad: SquadSet) -> str:
    """Return how many listed answers do not stand at their offset, and the questions they belong to."""
    answers = sum(len(question.answers) for question in squad.questions)
    questions = list(dict.fromkeys(fault.question_id for fault in squad.faulty))
    counted = f"Faulty answer offsets: {len(squad.faulty):,} of {answers:,} listed answers"
    if not questions:
        return f"{counted}."
    named = ", ".join(map(visible, questions[:NAMED]))
    more = f" and {len(questions) - NAMED:,} more" if len(questions) > NAMED else ""
    return f"{counted}, in {len(questions):,} questions: {named}{more}."


def report(path: Path, seed: int) -> dict[str, str]:
    """Print the table of one file, and return its judgments and runs in TREC form by file name."""
    squad = parse_squad(path.read_bytes(), path.name)
    ids = [paragraph.passage_id for paragraph in squad.paragraphs]
    texts = [paragraph.context for paragraph in squad.paragraphs]
    print(f"\n| {visible(path.stem)}: {len(ids):,} passages | {' | '.join(map(repr, MEASURES))} | no hit |")
    print("|---" * (len(MEASURES) + 2) + "|")
    files = {f"{path.stem}.qrels.txt": qrels_to_trec(squad.qrels())}
    for method, build in METHODS.items():
        label = f"{visible(path.stem)}, {method}"
        progress(f"{label}: building")
        run = run_of(squad, build(ids, texts), label)
        files[f"{path.stem}.{TAGS[method]}.run.txt"] = run_to_trec(run, TAGS[method])
        evaluation = evaluate(squad.qrels(), run, MEASURES)
        cells = [cell(squad, evaluation, repr(measure), seed, label) for measure in MEASURES]
        progress("")
        print(f"| {method} | {' | '.join(cells)} | {len(evaluation.missing):,} |", flush=True)
    undefined = len(evaluation.undefined[repr(MEASURES[0])])
    print(
        f"\n{evaluation.questions:,} questions, {undefined:,} of them undefined (no answer listed). "
        f"{faults(squad)}"
    )
    return files


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--squad", type=Path, action="append", required=True, help="a SQuAD-form file")
    parser.add_argument("--seed", type=int, default=1, help="of the bootstrap")
    parser.add_argument("--write-runs", type=Path, metavar="FOLDER", help="new TREC files of each method")
    options = parser.parse_args()
    print(f"Mean [95 % interval over paragraphs], {ROUNDS:,} samples, seed {options.seed}.")
    for path in options.squad:
        files = report(path, options.seed)
        if options.write_runs is not None:
            write_together({options.write_runs / name: text for name, text in files.items()})


if __name__ == "__main__":
    main()
