"""Acceptance recomputes every number of the reports: a change of any one makes a check fail."""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest

import acceptance
import calibrate
import evaluate
import evidence_assistant as ea

REPORT: dict[str, Any] = json.loads(ea.json_text(evaluate.frozen_report()))
CALIBRATION: dict[str, Any] = json.loads(ea.json_text(calibrate.calibration_report()))
# Names and reasons, which the comparison with the reference alone holds fast.
NAMES = {
    "verdict", "versions.model", "versions.index", "versions.program", "parameters.index_version",
    "systems.*.human_review_minutes", "systems.*.human_review_minutes_reason",
    "failures[].kind", "release_gates[].why", "calibration_set", "corpus_digest", "index_version",
}  # fmt: skip


def leaves(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield the path of every value that holds no further one."""
    children = (
        value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    )
    empty = True
    for key, child in children:
        empty = False
        yield from leaves(child, (*path, key))
    if empty:
        yield path


def shape(path: tuple[Any, ...]) -> str:
    """Return the path without positions and names of systems."""
    text = "".join("[]" if isinstance(key, int) else f".{key}" for key in path).lstrip(".")
    return re.sub(r"(character_ngram_tfidf|transparent_keyword_rules)", "*", text)


def one_of_each(report: Any) -> dict[str, tuple[Any, ...]]:
    found: dict[str, tuple[Any, ...]] = {}
    for path in leaves(report):
        found.setdefault(shape(path), path)
    return {name: path for name, path in found.items() if name not in NAMES}


def changed(report: Any, path: tuple[Any, ...]) -> Any:
    """Return a copy of the report with another value of the same kind at the path."""
    report = copy.deepcopy(report)
    parent = report
    for key in path[:-1]:
        parent = parent[key]
    old = parent[path[-1]]
    new: Any = ["C001"]
    if isinstance(old, bool):
        new = not old
    elif isinstance(old, str):
        new = old + "x"
    elif isinstance(old, int | float):
        new = old + 1e-6 if isinstance(old, float) else old + 1
    parent[path[-1]] = new
    return report


@pytest.fixture(scope="module")
def oracle() -> Any:
    return acceptance.Oracle()


def recompute(oracle: Any, report: Any) -> None:
    acceptance.check_cases(oracle, report)
    acceptance.check_outcome(oracle, report)


def test_the_report_as_it_is_passes(oracle) -> None:
    recompute(oracle, REPORT)
    assert len(one_of_each(REPORT)) > 20


@pytest.mark.parametrize("name", one_of_each(REPORT))
def test_changed_value_of_the_report_is_found(oracle, name: str) -> None:
    with pytest.raises(acceptance.MismatchError):
        recompute(oracle, changed(REPORT, one_of_each(REPORT)[name]))


def swapped_cases(report: Any) -> None:
    cases = report["systems"][evaluate.CANDIDATE]["cases"]
    cases[0], cases[1] = cases[1], cases[0]


EDITS: dict[str, Callable[[Any], object]] = {
    "adopted though not ready": lambda r: r.update(verdict="采用"),
    "a case left out": lambda r: r["systems"][evaluate.CANDIDATE]["cases"].pop(8),
    "two cases exchanged": swapped_cases,
    "a failure left out": lambda r: r["failures"].pop(),
    "a failure added": lambda r: r["failures"].append(dict(r["failures"][0])),
    "a gate left out": lambda r: r["release_gates"].pop(0),
    "a gate opened": lambda r: r["release_gates"][2].update(passed=True),
    "a gate called undefined": lambda r: r["release_gates"][1].update(passed=None),
    "a control closed": lambda r: r["release_gates"][6].update(passed=False),
    "ready": lambda r: r.update(decision="ready_for_use"),
    "a cost softened": lambda r: r["failures"][0].update(cost="usability"),
    "an illegal citation counted": lambda r: r["systems"][evaluate.CANDIDATE].update(illegal_citations=1),
    "no high cost": lambda r: r["systems"][evaluate.CANDIDATE].update(high_cost_errors=0),
    "another threshold": lambda r: r["parameters"].update(min_score=0.1),
    "another set": lambda r: r["versions"].update(test_set="frozen-2"),
}


@pytest.mark.parametrize("edit", EDITS)
def test_edited_report_is_found(oracle, edit: str) -> None:
    report = copy.deepcopy(REPORT)
    EDITS[edit](report)
    with pytest.raises(acceptance.MismatchError):
        recompute(oracle, report)


# ---- calibration ----


@pytest.fixture
def check_calibration(oracle, monkeypatch) -> Callable[[Any], str]:
    """Return the check of the calibration with a reference that always agrees."""
    monkeypatch.setattr(acceptance, "check_reference", lambda *rest: "")
    return lambda report: acceptance.check_calibration(oracle, report)


def test_the_calibration_as_it_is_passes(check_calibration) -> None:
    assert check_calibration(CALIBRATION)


@pytest.mark.parametrize("name", one_of_each(CALIBRATION))
def test_changed_value_of_the_calibration_is_found(check_calibration, name: str) -> None:
    with pytest.raises(acceptance.MismatchError):
        check_calibration(changed(CALIBRATION, one_of_each(CALIBRATION)[name]))


def test_calibration_without_a_winner_or_with_a_wider_grid_is_found(check_calibration) -> None:
    with pytest.raises(acceptance.MismatchError):
        check_calibration({**CALIBRATION, "winner": None})
    with pytest.raises(acceptance.MismatchError):
        check_calibration({**CALIBRATION, "grid": [*CALIBRATION["grid"], CALIBRATION["grid"][0]]})


def test_parameters_in_force_that_are_not_the_winner_are_found(check_calibration, monkeypatch) -> None:
    monkeypatch.setattr(acceptance, "MIN_SCORE", 0.12)
    with pytest.raises(acceptance.MismatchError):
        check_calibration(CALIBRATION)


# ---- routing and probe ----

HITS = {"周六受理到几点": "answer", "维修完成的设备免费保管几天": "conflict", "礼品卡余额": "refuse"}


def test_routing_as_it_is_passes(chunks, oracle) -> None:
    assert acceptance.check_routing(chunks, oracle, list(HITS))


def bent(**changes: Any) -> Callable[[Any, str], Any]:
    """Return a change of one result that is made for this question alone."""
    return lambda result, question: {**result, **changes} if question == "周六受理到几点" else result


def other_words(result: Any, question: str) -> Any:
    answer = result["answer"].replace("客户服务中心", "服务中心")
    return {**result, "answer": answer} if result["route"] == "answer" else result


def hidden_conflict(result: Any, question: str) -> Any:
    return {**result, "citations": result["citations"][:1]} if result["route"] == "conflict" else result


BENT = {
    "another route for one question": bent(route="refuse"),
    "another citation for one question": bent(citations=["C001"]),
    "another answer for one question": bent(answer="x"),
    "no evidence for one question": bent(evidence=[]),
    "answers in other words": other_words,
    "conflicts with one side": hidden_conflict,
}


@pytest.mark.parametrize("name", BENT)
def test_route_that_depends_on_more_than_the_hits_is_found(chunks, oracle, monkeypatch, name: str) -> None:
    bend, honest = BENT[name], acceptance.resolve_question
    monkeypatch.setattr(acceptance, "resolve_question", lambda q, hits: bend(honest(q, hits), q))
    with pytest.raises(acceptance.MismatchError):
        acceptance.check_routing(chunks, oracle, list(HITS))


def test_printed_numbers_of_the_probe_are_recomputed(oracle) -> None:
    printed = evaluate.probe_text()
    assert acceptance.check_probe(oracle, printed)
    numbers = re.findall(r"(\d+)/(\d+)", printed)
    assert len(numbers) == 4
    for right, total in numbers:
        with pytest.raises(acceptance.MismatchError):
            acceptance.check_probe(oracle, printed.replace(f"{right}/{total}", f"{int(right) + 1}/{total}"))
    with pytest.raises(acceptance.MismatchError):
        acceptance.check_probe(oracle, "")
