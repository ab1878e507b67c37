"""Calibration: a declared grid, one winner or none, and no look at any other set."""

from __future__ import annotations

import json
from typing import Any

import pytest

import calibrate
import evidence_assistant as ea


class Given(ea.TfidfIndex):
    """An index that finds the given chunks with the given scores."""

    def __init__(self, *found: tuple[dict[str, Any], float]) -> None:
        self.found = list(found)

    def _scores(self, question: str) -> list[tuple[dict[str, Any], float]]:
        return self.found


def case(route: str, *required: str) -> dict[str, Any]:
    return {"id": "X", "question": "问题", "expected_route": route, "required_candidates": list(required)}


def test_grid_is_the_declared_nine_in_order() -> None:
    grid = calibrate.run_grid(Given(), [case("refuse")])
    assert [(row["top_k"], row["min_score"]) for row in grid] == [
        (1, 0.04), (1, 0.08), (1, 0.12), (2, 0.04), (2, 0.08), (2, 0.12), (3, 0.04), (3, 0.08), (3, 0.12),
    ]  # fmt: skip
    assert all(row["passed"] == row["total"] == 1 for row in grid)


def test_case_passes_on_the_same_route_with_every_candidate_among_the_hits(chunk) -> None:
    index = Given((chunk("C001", "甲。"), 0.9), (chunk("C002", "乙。"), 0.5), (chunk("C003", "丙。"), 0.1))
    passing = calibrate.run_case(index, case("answer", "C001", "C002"), 2, 0.08)
    assert (passing["passed"], passing["hits"], passing["scores"]) == (True, ["C001", "C002"], [0.9, 0.5])
    lacking = calibrate.run_case(index, case("answer", "C001", "C002"), 1, 0.08)
    assert (lacking["passed"], lacking["missing_candidates"]) == (False, ["C002"])
    too_low = calibrate.run_case(index, case("answer", "C003"), 3, 0.12)
    assert (too_low["passed"], too_low["missing_candidates"]) == (False, ["C003"])


def test_case_with_the_wrong_route_fails_though_its_candidates_are_found(chunk) -> None:
    index = Given((chunk("C001", "甲。"), 0.9))
    assert calibrate.run_case(index, case("conflict", "C001"), 3, 0.04)["passed"] is False
    assert calibrate.run_case(index, case("refuse"), 3, 0.04)["passed"] is False
    assert calibrate.run_case(index, case("refuse"), 3, 0.95)["passed"] is True


def test_candidate_need_not_be_cited(chunk) -> None:
    index = Given((chunk("C001", "甲。"), 0.9), (chunk("C002", "乙。"), 0.5))
    assert calibrate.run_case(index, case("answer", "C002"), 2, 0.04)["passed"] is True


@pytest.mark.parametrize(("full", "winner"), [([], None), ([4], (2, 0.08)), ([4, 7], None), (range(9), None)])
def test_winner_is_the_only_full_score_or_none(full: Any, winner: tuple[int, float] | None) -> None:
    grid = [
        {"top_k": k, "min_score": s, "passed": 8 if i in full else 7, "total": 8}
        for i, (k, s) in enumerate((k, s) for k in (1, 2, 3) for s in (0.04, 0.08, 0.12))
    ]
    expected = winner and {"top_k": winner[0], "min_score": winner[1]}
    assert calibrate.unique_winner(grid) == expected


def test_two_full_scores_are_reported_as_undefined(course) -> None:
    course.edit("data/calibration_qa.json", lambda data: data["items"].pop(5))
    out = course.run("calibrate.py", "--report", "output/new.json").done()
    assert "未定义" in out
    assert course.read("output/new.json")["winner"] is None


def test_report_has_exactly_these_fields() -> None:
    report = calibrate.calibration_report()
    assert report.keys() == {"calibration_set", "corpus_digest", "index_version", "winner", "grid"}
    for row in report["grid"]:
        assert row.keys() == {"top_k", "min_score", "passed", "total", "cases"}
        assert row["passed"] == sum(case["passed"] for case in row["cases"])
        for case_row in row["cases"]:
            assert case_row.keys() == {
                "id", "expected_route", "route", "hits", "scores", "missing_candidates", "passed",
            }  # fmt: skip


def test_report_file_is_the_report(course) -> None:
    course.run("calibrate.py", "--report", "output/new.json").done()
    assert course.read("output/new.json") == json.loads(json.dumps(calibrate.calibration_report()))


def test_calibration_reads_no_frozen_question(course) -> None:
    (course.root / "data" / "fixed_qa.json").unlink()
    (course.root / "data" / "probe_qa.json").unlink()
    course.run("calibrate.py").done()
    assert not (course.root / "output" / "frozen_runs.jsonl").exists()


def test_one_case_shows_fragments_and_the_route_at_each_of_nine_settings(pristine) -> None:
    lines = pristine.run("calibrate.py", "--case", "CAL07").done().splitlines()
    assert lines[0].startswith("CAL07 有没有适合学生的优惠")
    settings = [line for line in lines if line.startswith("top_k=")]
    assert [line.split(" → ")[0] for line in settings] == [
        f"top_k={k} min_score={s}" for k in (1, 2, 3) for s in ("0.04", "0.08", "0.12")
    ]
    assert [line.split(" → ")[1].split("（")[0] for line in settings] == ["answer", "refuse", "refuse"] * 3
    nearest = [line for line in lines if line.startswith("  C0")]
    assert len(nearest) == 3
    assert "没有 100.0%" in nearest[0]
    assert " 0.076" in nearest[0]


def test_unknown_case_is_refused_with_the_ids_there_are(pristine) -> None:
    pristine.run("calibrate.py", "--case", "CAL99").refused("CAL99", "CAL01", "CAL08")


@pytest.mark.parametrize("empty", ["", " "])
def test_empty_case_is_refused(pristine, empty: str) -> None:
    pristine.run("calibrate.py", "--case", empty).refused("CAL01")


def test_report_asked_for_beside_one_case_is_not_forgotten_silently(course) -> None:
    run = course.run("calibrate.py", "--case", "CAL07", "--report", "output/new.json")
    assert run.returncode == 2 or (course.root / "output" / "new.json").exists()
