"""The course's acceptance as it was recorded: the stored reports and the ledger. Nothing is run here.

The core's `evaluate.py` is no part of the wheel; what its words mean stands here once more, and a test holds
the two together.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import evidence_assistant as core
from evidence_kit.course import DATA, CourseError, reference

FAILURES = {
    "out_of_scope_answer": "资料没有的事，被当作有依据答了出去",
    "out_of_scope_conflict": "资料没有的事，被当作冲突列了出来",
    "missed_evidence": "有依据，却没有答出来",
    "false_conflict": "没有冲突，却当作冲突交给了人",
    "wrong_evidence": "引用了不对或不全的资料",
    "hidden_conflict": "有冲突，却只给了一方",
    "incomplete_conflict": "冲突没有列全",
    "forbidden_source": "出现了禁用的资料",
}
COSTS = {"high": "高代价", "usability": "可用性"}
GATES = {
    "tfidf_passes_all": "字符TF-IDF 全部通过",
    "no_unknown_answered": "陌生题一道也没有作答",
    "tfidf_better_than_baseline": "字符TF-IDF 优于关键词基线",
    "no_forbidden_source": "没有出现禁用的资料",
    "conflicts_shown": "冲突全部并列",
    "no_illegal_citation": "没有越界的引用",
    "no_unsupported_sentence": "没有证据里找不到的句子",
}
LEDGER = core.ROOT / "output" / "frozen_runs.jsonl"


@dataclass(frozen=True)
class Cell:
    """One pair of parameters on the calibration set; `failed` names the cases that did not pass, `winner` is
    the pair that the stored calibration chose, `in_use` the one that the program uses now.
    """

    top_k: int
    min_score: float
    passed: int
    total: int
    failed: tuple[str, ...]
    winner: bool
    in_use: bool

    @property
    def level(self) -> int:
        """Return the share that passed in eighths, rounded down: 0 for none, 8 for all."""
        return 8 * self.passed // self.total if self.total else 0


@dataclass(frozen=True)
class Failure:
    """A failed case: its kind and cost in the report's words, and in words for people."""

    system: str
    kind: str
    meaning: str
    cost: str
    citations: tuple[str, ...]
    missing: tuple[str, ...]


@dataclass(frozen=True)
class Case:
    """One frozen question with each system's recorded case, by system name, and its failures."""

    case_id: str
    question: str
    expected: str
    outcomes: Mapping[str, Mapping[str, Any]]
    failures: tuple[Failure, ...]


@dataclass(frozen=True)
class Gate:
    """A release gate; `passed` is None where it is undefined."""

    name: str
    title: str
    passed: bool | None
    why: str


@dataclass(frozen=True)
class Record:
    """The stored acceptance. `current` says whether it is of the parameters and sources in force now,
    `calibrated` whether the calibration was on these sources; `in_use` are top_k and min_score in force;
    `ledger` counts the different (sources, code) that used a frozen set here, None without a ledger.
    """

    decision: str
    verdict: str
    current: bool
    calibrated: bool
    in_use: tuple[int, float]
    versions: Mapping[str, str]
    passed: Mapping[str, tuple[int, int]]
    grid: tuple[Cell, ...]
    cases: tuple[Case, ...]
    gates: tuple[Gate, ...]
    ledger: int | None

    @property
    def ready(self) -> bool:
        """Return whether the system may be used: as recorded, and only where the record still counts."""
        return self.current and self.decision == "ready_for_use"


def read_record() -> Record:
    """Return the stored acceptance. Raises CourseError where a report is missing or of another shape."""
    try:
        report = core.read_json(reference("reference_report.json"))
        calibration = core.read_json(reference("reference_calibration.json"))
        frozen = core.read_json(DATA / "fixed_qa.json")
        chunks = core.load_corpus()["chunks"]
    except core.InputError as error:
        raise CourseError(str(error)) from error
    try:
        return _record(report, calibration, frozen, chunks)
    except (KeyError, TypeError, AttributeError) as error:
        raise CourseError("验收报告的内容不完整：请用 evaluate.py 与 calibrate.py 重新生成。") from error


def _record(report: Any, calibration: Any, frozen: Any, chunks: list[core.Chunk]) -> Record:
    questions = {item["id"]: item["question"] for item in frozen["items"]}
    in_force = core.parameters_in_force(chunks)
    in_use = in_force["top_k"], in_force["min_score"]
    return Record(
        decision=report["decision"],
        verdict=report["verdict"],
        current=report["parameters"] == in_force,
        calibrated=calibration["corpus_digest"] == in_force["corpus_digest"],
        in_use=in_use,
        versions=report["versions"],
        passed={name: (system["passed"], system["total"]) for name, system in report["systems"].items()},
        grid=tuple(_cell(group, calibration["winner"], in_use) for group in calibration["grid"]),
        cases=_cases(report, questions),
        gates=tuple(
            Gate(gate["gate"], GATES.get(gate["gate"], gate["gate"]), gate["passed"], gate["why"])
            for gate in report["release_gates"]
        ),
        ledger=count_ledger(LEDGER),
    )


def _cell(group: Any, winner: Any, in_use: tuple[int, float]) -> Cell:
    pair = {"top_k": group["top_k"], "min_score": group["min_score"]}
    failed = tuple(case["id"] for case in group["cases"] if not case["passed"])
    return Cell(
        **pair,
        passed=group["passed"],
        total=group["total"],
        failed=failed,
        winner=pair == winner,
        in_use=tuple(pair.values()) == in_use,
    )


def _cases(report: Any, questions: Mapping[str, str]) -> tuple[Case, ...]:
    by_id: dict[str, dict[str, Any]] = {}
    for name, system in report["systems"].items():
        for case in system["cases"]:
            by_id.setdefault(case["id"], {})[name] = case
    return tuple(
        Case(
            case_id=key,
            question=questions.get(key, ""),
            expected=next(iter(outcomes.values()))["expected_route"],
            outcomes=outcomes,
            failures=_failures(report["failures"], key),
        )
        for key, outcomes in by_id.items()
    )


def _failures(failures: Sequence[Any], case_id: str) -> tuple[Failure, ...]:
    return tuple(
        Failure(
            f["system"], f["kind"], FAILURES.get(f["kind"], f["kind"]), COSTS.get(f["cost"], f["cost"]),
            tuple(f["citations"]), tuple(f["missing_citations"]),
        )
        for f in failures
        if f["question_id"] == case_id
    )  # fmt: skip


def count_ledger(path: Path) -> int | None:
    """Return how many different (sources, code) a ledger records, None where there is no ledger; lines that
    cannot be read are passed over, as the core does.
    """
    if not path.is_file():
        return None
    pairs = set()
    for line in path.read_bytes().splitlines():
        try:
            entry = json.loads(line)
            pairs.add((entry["data"], entry["code"]))
        except (ValueError, KeyError, TypeError, RecursionError):
            continue
    return len(pairs)
