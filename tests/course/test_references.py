"""The two references and the required files: any difference is named, nothing is made or changed."""

from __future__ import annotations

import json
import re
import sys
from typing import Any

import pytest

import acceptance
import calibrate
import evaluate

REFERENCE = "正式参考"

# ---- the references ----

REFERENCES = ["output/reference_report.json", "output/reference_calibration.json"]


def test_deleted_files_are_named_and_deleted_references_are_not_made_again(course) -> None:
    names = [*REFERENCES, "CORPUS_CARD.md", acceptance.NOTEBOOK]
    for name in names:
        (course.root / name).unlink()
    before = course.snapshot()
    run = course.run("acceptance.py")
    assert sorted(run.failed_checks) == sorted(["文件与语法", "笔记本隔离", "校准", REFERENCE])
    assert course.snapshot() == before
    for name in names:
        assert name in run.stdout


@pytest.mark.parametrize("name", REFERENCES)
def test_deleted_reference_is_a_mismatch(tmp_path, name: str) -> None:
    with pytest.raises(acceptance.MismatchError, match="reference"):
        acceptance.check_reference({}, tmp_path / name)


CHANGES = {
    "decision": ("decision", lambda r: r.update(decision="ready_for_use")),
    "verdict": ("verdict", lambda r: r.update(verdict="采用")),
    "versions.program": ("versions.program", lambda r: r["versions"].update(program="9")),
    "a threshold": ("parameters.min_score", lambda r: r["parameters"].update(min_score=0.080000001)),
    "a whole number as a fraction": ("parameters.top_k", lambda r: r["parameters"].update(top_k=3.0)),
    "a score": (
        "systems.character_ngram_tfidf.cases[8].scores[0]",
        lambda r: r["systems"]["character_ngram_tfidf"]["cases"][8]["scores"].__setitem__(0, 0.090158),
    ),
    "a flag as a number": (
        "systems.transparent_keyword_rules.cases[0].passed",
        lambda r: r["systems"]["transparent_keyword_rules"]["cases"][0].update(passed=1),
    ),
    "null as zero": (
        "systems.character_ngram_tfidf.human_review_minutes",
        lambda r: r["systems"]["character_ngram_tfidf"].update(human_review_minutes=0),
    ),
    "a missing field": ("failures[0].cost", lambda r: r["failures"][0].pop("cost")),
    "a new field": ("failures[1].note", lambda r: r["failures"][1].update(note="x")),
    "a missing failure": ("failures", lambda r: r["failures"].pop()),
    "a reason": ("release_gates[2].why", lambda r: r["release_gates"][2].update(why="x")),
    "another order of hits": (
        "systems.character_ngram_tfidf.cases[10].hits",
        lambda r: r["systems"]["character_ngram_tfidf"]["cases"][10]["hits"].reverse(),
    ),
}


@pytest.fixture(scope="module")
def live() -> dict[str, Any]:
    return evaluate.frozen_report()


@pytest.mark.parametrize("change", CHANGES)
def test_any_difference_from_the_reference_names_the_field(live, tmp_path, change: str) -> None:
    field, edit = CHANGES[change]
    reference = json.loads(json.dumps(live))
    path = tmp_path / "reference_report.json"
    path.write_text(json.dumps(reference), encoding="utf-8")
    acceptance.check_reference(live, path)
    edit(reference)
    path.write_text(json.dumps(reference), encoding="utf-8")
    with pytest.raises(acceptance.MismatchError) as caught:
        acceptance.check_reference(live, path)
    assert field in str(caught.value)


def test_edited_reference_fails_acceptance_and_is_left_as_it_is(course) -> None:
    field, edit = CHANGES["a score"]
    course.edit(REFERENCES[0], edit)
    before = course.snapshot()
    run = course.run("acceptance.py")
    assert run.failed_checks == [REFERENCE]
    assert field in run.stdout
    assert course.snapshot() == before


def test_edited_calibration_reference_names_the_field(tmp_path, monkeypatch) -> None:
    report = calibrate.calibration_report()
    report["grid"][7]["passed"] = 7
    monkeypatch.setattr(acceptance, "REFERENCE_CALIBRATION", tmp_path / "reference_calibration.json")
    (tmp_path / "reference_calibration.json").write_text(json.dumps(report), encoding="utf-8")
    with pytest.raises(acceptance.MismatchError, match=r"grid\[7\]\.passed"):
        acceptance.check_calibration(acceptance.Oracle(), calibrate.calibration_report())


def test_widened_grid_is_a_difference_from_the_reference(monkeypatch) -> None:
    monkeypatch.setattr(calibrate, "GRID_MIN_SCORE", (0.04, 0.08, 0.1, 0.12))
    with pytest.raises(acceptance.MismatchError):
        acceptance.check_calibration(acceptance.Oracle(), calibrate.calibration_report())


def test_live_report_that_is_a_link_to_the_reference_does_not_overwrite_it(course) -> None:
    course.edit(REFERENCES[0], lambda r: r.update(verdict="采用"))
    (course.root / "output" / "live_report.json").symlink_to("reference_report.json")
    before = (course.root / REFERENCES[0]).read_bytes()
    assert course.run("acceptance.py").failed_checks == [REFERENCE]
    assert (course.root / REFERENCES[0]).read_bytes() == before


# ---- files and unit tests ----


@pytest.mark.parametrize("name", acceptance.REQUIRED_FILES)
def test_every_required_file_is_missed(course, monkeypatch, name: str) -> None:
    (course.root / name).unlink()
    monkeypatch.setattr(acceptance, "ROOT", course.root)
    with pytest.raises(acceptance.MismatchError, match=re.escape(name)):
        acceptance.check_files()


def marked(source: str, mark: str) -> str:
    return source.replace(
        "    def test_question_of_201", f"    @unittest.{mark}\n    def test_question_of_201"
    )


UNIT_TESTS = {
    "a test less": lambda s: s.replace("def test_empty_question", "def no_test_empty_question"),
    "a test more": lambda s: f"{s}\n\nclass More(unittest.TestCase):\n    def test_x(self): pass\n",
    "a fault test exchanged": lambda s: s.replace("test_empty_question_is_an_input_error", "test_x"),
    "a failing test": lambda s: s.replace('"问" * 201', '"问" * 199'),
    "a skipped test": lambda s: marked(s, "skip('x')"),
    "a test expected to fail": lambda s: marked(s.replace('"问" * 201', '"问" * 199'), "expectedFailure"),
    "an import that fails": lambda s: s.replace("import math", "import no_such_module"),
    "an exit": lambda s: s.replace("import math", "raise SystemExit(0)"),
}  # fmt: skip


@pytest.mark.parametrize("change", UNIT_TESTS)
def test_unit_tests_are_fourteen_and_all_pass(course, monkeypatch, change: str) -> None:
    monkeypatch.setattr(acceptance, "ROOT", course.root)
    monkeypatch.setattr(sys, "path", list(sys.path))
    assert "14" in acceptance.check_unit_tests()
    path = course.root / "tests" / "test_evidence_assistant.py"
    source = path.read_text("utf-8")
    changed = UNIT_TESTS[change](source)
    assert changed != source
    path.write_text(changed, encoding="utf-8")
    with pytest.raises(acceptance.MismatchError):
        acceptance.check_unit_tests()


def test_failing_unit_test_fails_acceptance(course) -> None:
    path = course.root / "tests" / "test_evidence_assistant.py"
    path.write_text(UNIT_TESTS["a failing test"](path.read_text("utf-8")), encoding="utf-8")
    run = course.run("acceptance.py")
    assert run.failed_checks == ["单元测试"]
    assert "test_question_of_201_characters_is_too_long" in run.stdout


@pytest.mark.parametrize("text", ["def f(:\n", "x = '\0'\n", "# -*- coding: no-such -*-\n", "\tx\n y\n"])
def test_any_broken_python_file_is_a_mismatch_and_no_crash(course, monkeypatch, text: str) -> None:
    (course.root / "tests" / "test_answer_adapter.py").write_text(text, encoding="utf-8")
    monkeypatch.setattr(acceptance, "ROOT", course.root)
    monkeypatch.setattr(sys, "path", list(sys.path))
    for check in (acceptance.check_files, acceptance.check_unit_tests):
        with pytest.raises(acceptance.MismatchError, match="test_answer_adapter"):
            check()
