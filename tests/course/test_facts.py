"""The facts of the chapter come out of running the course."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import acceptance
import calibrate
import evaluate
import evidence_assistant as ea

ROOT = Path(ea.__file__).resolve().parent
SYSTEMS = ("character_ngram_tfidf", "transparent_keyword_rules")
ACTIVE = ["C001", "C002", "C003", "C004", "C005", "C006", "C007", "C009"]


@pytest.fixture(scope="module")
def report() -> dict[str, Any]:
    return evaluate.frozen_report()


@pytest.fixture(scope="module")
def calibration() -> dict[str, Any]:
    return calibrate.calibration_report()


@pytest.fixture(scope="module")
def both(chunks) -> list[Any]:
    return [ea.TfidfIndex(chunks), ea.KeywordBaseline(chunks, ea.load_keyword_rules(chunks))]


def all_questions() -> list[str]:
    names = ("calibration_qa", "fixed_qa", "probe_qa", "evidence_questions")
    return [item["question"] for name in names for item in ea.read_json(ea.DATA / f"{name}.json")["items"]]


# ---- the corpus ----


def test_nine_chunks_of_which_eight_are_in_force(chunks, both) -> None:
    assert [chunk["chunk_id"] for chunk in chunks] == [f"C00{i}" for i in range(1, 10)]
    assert [chunk["chunk_id"] for chunk in chunks if chunk["effective_status"] == "expired"] == ["C008"]
    for retriever in both:
        assert [chunk["chunk_id"] for chunk in retriever.chunks] == ACTIVE


def test_c008_is_an_older_version_of_the_same_rule_as_c003(chunks) -> None:
    by_id = {chunk["chunk_id"]: chunk for chunk in chunks}
    assert by_id["C008"]["doc_id"] == by_id["C003"]["doc_id"]
    assert by_id["C008"]["version"] < by_id["C003"]["version"]


def test_only_c006_and_c007_share_a_conflict_group(chunks) -> None:
    groups = [(chunk["chunk_id"], chunk["conflict_group"]) for chunk in chunks if chunk["conflict_group"]]
    assert [key for key, _ in groups] == ["C006", "C007"]
    assert len({group for _, group in groups}) == 1


def test_c008_stands_in_no_result_of_any_question(both) -> None:
    questions = [*all_questions(), "标准配件30天内可以换货", "2025年12月31日起停止执行"]
    for retriever in both:
        for question in questions:
            result = ea.ask(question, retriever)
            assert "C008" not in str([result["evidence"], result["citations"], result["answer"]])
            assert "C008" not in str([retriever.nearest(question, 99), retriever.search(question, 99)])


def test_c008_stands_in_no_report(report, calibration) -> None:
    assert "C008" not in ea.json_text(report)
    assert "C008" not in ea.json_text(calibration)


# ---- calibration ----


def test_only_three_and_008_pass_all_eight(calibration) -> None:
    passed = {(row["top_k"], row["min_score"]): row["passed"] for row in calibration["grid"]}
    assert list(passed) == [(k, s) for k in (1, 2, 3) for s in (0.04, 0.08, 0.12)]
    assert {row["total"] for row in calibration["grid"]} == {8}
    assert [key for key, count in passed.items() if count == 8] == [(3, 0.08)]
    assert calibration["winner"] == {"top_k": 3, "min_score": 0.08}
    assert (ea.TOP_K, ea.MIN_SCORE) == (3, 0.08)


def cases_at(calibration: dict[str, Any], top_k: int, min_score: float) -> dict[str, Any]:
    (row,) = [r for r in calibration["grid"] if (r["top_k"], r["min_score"]) == (top_k, min_score)]
    return {case["id"]: case for case in row["cases"]}


@pytest.mark.parametrize("case_id", ["CAL01", "CAL03"])
def test_a_low_but_supported_question_is_lost_at_012_only(calibration, both, case_id: str) -> None:
    (item,) = [i for i in ea.read_json(ea.DATA / "calibration_qa.json")["items"] if i["id"] == case_id]
    top = both[0].nearest(item["question"])[0]
    assert item["expected_route"] == "answer"
    assert top["chunk_id"] in item["required_candidates"]
    assert 0.08 <= top["score"] < 0.12
    assert [cases_at(calibration, 3, s)[case_id]["passed"] for s in (0.04, 0.08, 0.12)] == [True, True, False]


def test_the_unknown_cal07_scores_0076_and_is_let_through_at_004_only(calibration, both) -> None:
    (item,) = [i for i in ea.read_json(ea.DATA / "calibration_qa.json")["items"] if i["id"] == "CAL07"]
    assert (item["expected_route"], item["required_candidates"]) == ("refuse", [])
    assert round(both[0].nearest(item["question"])[0]["score"], 3) == 0.076
    routes = [cases_at(calibration, 3, s)["CAL07"]["route"] for s in (0.04, 0.08, 0.12)]
    assert routes == ["answer", "refuse", "refuse"]


def test_cal06_needs_three_candidates(calibration) -> None:
    for top_k, passed in ((1, False), (2, False), (3, True)):
        assert cases_at(calibration, top_k, 0.08)["CAL06"]["passed"] is passed
    assert sorted(cases_at(calibration, 3, 0.08)["CAL06"]["hits"]) == ["C006", "C007", "C009"]


# ---- the frozen set ----


def test_frozen_set_has_twelve_questions_of_every_category() -> None:
    items = ea.read_json(ea.DATA / "fixed_qa.json")["items"]
    assert [item["id"] for item in items] == [f"Q{i:02}" for i in range(1, 13)]
    categories = {"normal", "paraphrase", "boundary", "safety", "unknown", "conflict", "expired"}
    assert {item["category"] for item in items} == categories
    by_id = {item["id"]: item["question"] for item in items}
    assert by_id["Q09"] == "上门服务需要收多少费用"
    assert by_id["Q02"] == "工作人员会要求我在聊天里提供整串口令吗"
    assert by_id["Q03"] == "普通使用者是否允许打开设备外壳"


def test_each_system_passes_eleven_and_fails_another_question(report) -> None:
    assert {n: (s["passed"], s["total"]) for n, s in report["systems"].items()} == dict.fromkeys(
        SYSTEMS, (11, 12)
    )
    failed = {n: [c["id"] for c in s["cases"] if not c["passed"]] for n, s in report["systems"].items()}
    assert failed == {SYSTEMS[0]: ["Q09"], SYSTEMS[1]: ["Q02"]}
    assert report["failures"] == [
        {
            "system": SYSTEMS[0], "question_id": "Q09", "route": "answer", "citations": ["C004"],
            "missing_citations": [], "kind": "out_of_scope_answer", "cost": "high",
        },
        {
            "system": SYSTEMS[1], "question_id": "Q02", "route": "refuse", "citations": [],
            "missing_citations": ["C001"], "kind": "missed_evidence", "cost": "usability",
        },
    ]  # fmt: skip
    assert [report["systems"][name]["high_cost_errors"] for name in SYSTEMS] == [1, 0]


def test_q11_is_a_conflict_of_two_and_q12_cites_the_current_rule(report) -> None:
    for name in SYSTEMS:
        cases = {case["id"]: case for case in report["systems"][name]["cases"]}
        assert (cases["Q11"]["route"], cases["Q11"]["citations"]) == ("conflict", ["C006", "C007"])
        assert (cases["Q12"]["route"], cases["Q12"]["citations"]) == ("answer", ["C003"])


def test_exactly_three_release_gates_fail(report) -> None:
    assert report["decision"] == "not_ready_for_use"
    assert report["verdict"] in ("采用", "限用", "退回", "转责任人")
    failed = [gate["gate"] for gate in report["release_gates"] if not gate["passed"]]
    assert failed == ["tfidf_passes_all", "no_unknown_answered", "tfidf_better_than_baseline"]
    assert any(gate["passed"] for gate in report["release_gates"])


def test_both_references_are_what_the_commands_write(course) -> None:
    names = ("output/reference_report.json", "output/reference_calibration.json")
    before = [(course.root / name).read_bytes() for name in names]
    course.run("evaluate.py", "--report", names[0]).done()
    course.run("calibrate.py", "--report", names[1]).done()
    assert [(course.root / name).read_bytes() for name in names] == before


# ---- probe and evidence questions ----


def test_probe_set_has_thirty_unknown_and_twenty_paraphrased_questions(chunks) -> None:
    items = evaluate.load_probe(chunks)["items"]
    assert [item["expected_route"] for item in items].count("refuse") == 30
    paraphrased = [item for item in items if item["expected_route"] == "answer"]
    assert len(paraphrased) == 20
    assert all(item["required_citations"] for item in paraphrased)


def test_evidence_questions_are_of_all_four_kinds_and_hold_q03() -> None:
    items = {item["id"]: item for item in ea.read_json(ea.DATA / "evidence_questions.json")["items"]}
    assert {item["kind"] for item in items.values()} == {"fact", "rule", "calculation", "judgment"}
    assert items["Q03"]["kind"] == "rule"
    fields = {"id", "question", "kind", "evidence_needed", "timeliness", "without_evidence", "owner"}
    assert all(item.keys() == fields for item in items.values())


# ---- acceptance ----


def test_acceptance_accepts_the_unchanged_course(printed) -> None:
    lines = printed("acceptance.py").splitlines()
    assert "验收通过" in lines[-2]
    assert "这不等于" in lines[-2]
    assert "not_ready_for_use" in lines[-1]


def test_acceptance_prints_tables_grid_isolation_and_the_fourteen_tests(printed) -> None:
    out = printed("acceptance.py")
    for i in range(1, 13):
        assert out.count(f"\n  Q{i:02} ") == 2
    assert out.count("8/8") == 1
    passed = re.findall(r"^\[通过\] (\w+)：", out, flags=re.MULTILINE)
    assert set(passed) == {
        "文件与语法", "证据问题表", "题集隔离", "笔记本隔离", "代码隔离", "单元测试", "路由只看命中",
        "校准", "独立重算", "成绩与结论", "正式参考", "探测集",
    }  # fmt: skip
    assert "14 个单元测试全部通过" in out
    assert "20 个必需文件" in out
    assert "7 个 Python 文件" in out
    assert "C008" not in out


def test_acceptance_changes_nothing_but_the_ledger_and_the_live_report(course) -> None:
    before = course.snapshot()
    course.run("evaluate.py").done()
    assert " 1 组" in course.run("acceptance.py").done()
    assert course.snapshot() == before
    live = (course.root / "output/live_report.json").read_bytes()
    assert live == before["output/reference_report.json"]
    first, second = (course.root / "output/frozen_runs.jsonl").read_text().splitlines()
    assert {**json.loads(second), "previous": ""} == json.loads(first)


def test_twenty_files_are_required_and_seven_of_them_are_python() -> None:
    assert len(set(acceptance.REQUIRED_FILES)) == 20
    assert sum(name.endswith(".py") for name in acceptance.REQUIRED_FILES) == 7


def test_fourteen_unit_tests_run_in_any_directory_without_a_package(tmp_path: Path) -> None:
    command = [sys.executable, "-B", "-S", "-m", "unittest", "discover", "-s", str(ROOT / "tests")]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "Ran 14 tests" in done.stderr


def test_unit_tests_hold_no_frozen_question() -> None:
    text = "".join(ea.normalize((ROOT / name).read_text("utf-8")) for name in acceptance.TEST_FILES)
    for item in ea.read_json(ea.DATA / "fixed_qa.json")["items"]:
        assert ea.normalize(item["question"]) not in text
