"""The stored acceptance, read and never run."""

import dataclasses
import json

import pytest

import evaluate
import evidence_assistant as core
from evidence_kit import course_record
from evidence_kit.course import CourseError
from evidence_kit.course_record import COSTS, FAILURES, GATES, count_ledger, read_record


@pytest.fixture(scope="module")
def record():
    return read_record()


def test_the_record_says_what_the_stored_reports_say(record):
    assert (record.decision, record.verdict, record.current) == ("not_ready_for_use", "限用", True)
    assert record.passed == dict.fromkeys((evaluate.CANDIDATE, evaluate.BASELINE), (11, 12))
    assert [(c.top_k, c.min_score) for c in record.grid if c.winner] == [(3, 0.08)]
    assert [(c.top_k, c.min_score) for c in record.grid if c.in_use] == [record.in_use] == [(3, 0.08)]
    assert [c.level for c in record.grid] == [c.passed for c in record.grid]  # of eight
    assert (record.calibrated, record.ready) == (True, False)
    assert [c.passed for c in record.grid] == [6, 7, 5, 6, 7, 5, 7, 8, 5]
    assert record.grid[0].failed == ("CAL06", "CAL07")
    assert [gate.passed for gate in record.gates] == [False] * 3 + [True] * 4
    assert len(record.cases) == 12
    assert all(case.question for case in record.cases)


def test_the_two_failures_are_explained(record):
    failures = {case.case_id: case.failures for case in record.cases if case.failures}
    assert set(failures) == {"Q02", "Q09"}
    (failure,) = failures["Q09"]
    assert (failure.kind, failure.cost) == ("out_of_scope_answer", "高代价")
    assert failures["Q02"][0].missing == ("C001",)


def test_the_words_are_those_of_the_core():
    assert FAILURES == evaluate.KIND_NAMES
    assert COSTS == evaluate.COST_NAMES
    report = core.read_json(core.REFERENCE_REPORT)
    assert set(GATES) == {gate["gate"] for gate in report["release_gates"]}


def test_reading_the_record_runs_no_retriever(monkeypatch):
    def forbidden(*_args, **_options):
        raise AssertionError("a retriever was asked")

    for retriever in (core.TfidfIndex, core.KeywordBaseline):
        monkeypatch.setattr(retriever, "search", forbidden)
        monkeypatch.setattr(retriever, "nearest", forbidden)
    assert read_record().decision == "not_ready_for_use"


def test_the_ledger_is_counted_as_the_core_counts_it(tmp_path):
    ledger = tmp_path / "ledger.jsonl"
    assert count_ledger(ledger) is None
    lines = [{"data": "a", "code": "x"}, {"data": "a", "code": "x"}, {"data": "b", "code": "x"}]
    text = "".join(json.dumps({"set": "s", "result": "r", "previous": "", **line}) + "\n" for line in lines)
    ledger.write_text(text + "不是 JSON\n[]\n", encoding="utf-8")
    assert count_ledger(ledger) == 2
    assert "共有 2 组" in evaluate.ledger_text(ledger)


@pytest.mark.parametrize("text", ["{}", "[]", '{"decision": 1}', "nonsense", None])
def test_a_report_that_is_none_is_an_error_of_the_kit(tmp_path, monkeypatch, text):
    path = tmp_path / "report.json"
    if text is not None:
        path.write_text(text, encoding="utf-8")
    monkeypatch.setattr(course_record, "reference", lambda name: path)
    with pytest.raises(CourseError):
        read_record()


def test_a_record_of_other_sources_says_so(monkeypatch, tmp_path):
    report = core.read_json(core.REFERENCE_REPORT)
    report["parameters"]["corpus_digest"] = "0" * 64
    (tmp_path / "reference_report.json").write_text(json.dumps(report), encoding="utf-8")
    calibration = (core.ROOT / "output" / "reference_calibration.json").read_bytes()
    (tmp_path / "reference_calibration.json").write_bytes(calibration)
    monkeypatch.setattr(course_record, "reference", lambda name: tmp_path / name)
    assert (read_record().current, read_record().calibrated) == (False, True)


@pytest.mark.parametrize("decision", ["ready_for_use", "not_ready_for_use"])
def test_a_record_lets_the_system_be_used_only_while_it_counts(record, decision):
    for current in (True, False):
        stored = dataclasses.replace(record, decision=decision, current=current)
        assert stored.ready == (current and decision == "ready_for_use")


def test_parameters_that_were_changed_since_calibration_are_in_use_and_not_its_winner(monkeypatch):
    monkeypatch.setattr(core, "TOP_K", 2)
    record = read_record()
    assert [(c.top_k, c.min_score) for c in record.grid if c.winner] == [(3, 0.08)]
    assert [(c.top_k, c.min_score) for c in record.grid if c.in_use] == [
        pair for pair in ((c.top_k, c.min_score) for c in record.grid) if pair == (2, 0.08)
    ]
    assert record.in_use == (2, 0.08)
    assert not record.current


def test_a_calibration_on_other_sources_says_so(monkeypatch, tmp_path):
    for name in ("reference_report.json", "reference_calibration.json"):
        (tmp_path / name).write_bytes((core.ROOT / "output" / name).read_bytes())
    report = core.read_json(tmp_path / "reference_calibration.json")
    report["corpus_digest"] = "0" * 64
    (tmp_path / "reference_calibration.json").write_text(json.dumps(report), encoding="utf-8")
    monkeypatch.setattr(course_record, "reference", lambda name: tmp_path / name)
    assert (read_record().current, read_record().calibrated) == (True, False)
