"""The finder measured on a sample whose questions have a known source, or none.

`python -m evidence_kit.finder.sample data/finder_sample/v1` prints the figures; with `--json` it prints
what is kept as `scores.json` beside the questions.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from evidence_kit.errors import EvidenceError, os_reason
from evidence_kit.finder.finder import Finder, Findings
from evidence_kit.index.weighting import METHODS
from evidence_kit.sources.readers import read_sources
from evidence_kit.sources.strict_json import Fields, parse_json
from evidence_kit.sources.visible import visible

DEPTH = 5


@dataclass(frozen=True)
class Question:
    """A question, and the source that is known to hold what it asks for; None where none does."""

    question_id: str
    text: str
    source_id: str | None


@dataclass(frozen=True)
class Outcome:
    """A question with what was found for it, weak findings included and left out."""

    question: Question
    found: Findings
    not_weak: Findings

    @property
    def rank(self) -> int | None:
        """Return the rank of the first finding in the known source, None where it is not among them."""
        for finding in self.found.findings:
            if finding.passage.source_id == self.question.source_id:
                return finding.rank
        return None


@dataclass(frozen=True)
class Measured:
    """The outcomes of one method. Counts, not rates: so few questions carry no percentage."""

    method: str
    outcomes: tuple[Outcome, ...]

    @property
    def known(self) -> int:
        """Return the number of questions with a known source."""
        return sum(outcome.question.source_id is not None for outcome in self.outcomes)

    @property
    def unanswerable(self) -> int:
        """Return the number of questions that no source answers."""
        return len(self.outcomes) - self.known

    def recalled(self, k: int) -> int:
        """Return how many known sources are among the first `k` findings (R@k times `known`)."""
        return sum(outcome.rank is not None and outcome.rank <= k for outcome in self.outcomes)

    def hit(self, *, no_weak: bool) -> int:
        """Return how many unanswerable questions get findings all the same."""
        return sum(
            bool((outcome.not_weak if no_weak else outcome.found).findings)
            for outcome in self.outcomes
            if outcome.question.source_id is None
        )


def read_questions(path: Path) -> list[Question]:
    """Return the questions of a sample. Raises JsonInputError where the file has another shape."""
    questions = []
    name = visible(str(path))
    for fields in Fields(parse_json(path.read_bytes(), name), name).records("questions"):
        known = fields.string("source_id") if fields.has("source_id") else None
        questions.append(Question(fields.string("id"), fields.string("question"), known))
    return questions


def measure(folder: Path, method: str) -> Measured:
    """Return the outcomes of one method on the sample in `folder`: `sources/` and `questions.json`."""
    finder = Finder.of(read_sources([folder / "sources"]).documents, method)
    outcomes = []
    for question in read_questions(folder / "questions.json"):
        found = finder.find(question.text, DEPTH)
        not_weak = finder.find(question.text, DEPTH, no_weak=True)
        outcomes.append(Outcome(question, found, not_weak))
    return Measured(method, tuple(outcomes))


def measured_to_json(results: Sequence[Measured]) -> str:
    """Return figures and the rank and best score of every question as JSON, ending in a line break."""
    record = {
        result.method: {
            "known": result.known,
            "R@1": result.recalled(1),
            "R@3": result.recalled(3),
            "unanswerable": result.unanswerable,
            "unanswerable_with_hits": result.hit(no_weak=False),
            "unanswerable_with_hits_no_weak": result.hit(no_weak=True),
            "questions": [_outcome(outcome) for outcome in result.outcomes],
        }
        for result in results
    }
    return json.dumps(record, ensure_ascii=False, indent=2) + "\n"


def _outcome(outcome: Outcome) -> dict[str, object]:
    best = outcome.found.findings[0] if outcome.found.findings else None
    return {
        "id": outcome.question.question_id,
        "rank": outcome.rank,
        "best": best.passage.source_id if best else None,
        "score": round(best.score, 6) if best else None,
        "weak": best.weak if best else None,
    }


def measured_to_text(results: Sequence[Measured]) -> str:
    """Return the figures as Chinese lines, one a method."""
    lines = []
    for result in results:
        recall = "  ".join(f"R@{k} {result.recalled(k)}/{result.known}" for k in (1, 3))
        hit, not_weak = (f"{result.hit(no_weak=n)}/{result.unanswerable}" for n in (False, True))
        lines.append(f"{result.method:<12}  {recall}  无答案却有命中 {hit}，去掉弱命中后 {not_weak}\n")
    return "".join([*lines, "这是开发样例上的数字，不是留出集上的结果。\n"])


def main(args: Sequence[str]) -> int:
    """Print the figures of the sample in the folder that is the first argument; return the exit code."""
    paths = [arg for arg in args if arg != "--json"]
    if len(paths) != 1:
        sys.stderr.write("用法：python -m evidence_kit.finder.sample 样例文件夹 [--json]\n")
        return 2
    try:
        results = [measure(Path(paths[0]), method) for method in METHODS]
    except EvidenceError as error:
        sys.stderr.write(f"错误：{error.message}\n")
        return error.exit_code
    except OSError as error:
        sys.stderr.write(
            f"错误：{visible(str(error.filename))} 无法读取（{os_reason(error)}）；请检查路径。\n"
        )
        return 2
    sys.stdout.write(measured_to_json(results) if "--json" in args else measured_to_text(results))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
