"""The frozen run: what passes, what kind of failure, which gate, which verdict."""

from __future__ import annotations

import json
from typing import Any

import pytest

import evaluate
import evidence_assistant as ea

TFIDF, KEYWORDS = "character_ngram_tfidf", "transparent_keyword_rules"


class Hits:
    """A retriever whose hits are given."""

    name = TFIDF

    def __init__(self, *hits: dict[str, Any]) -> None:
        self.hits = list(hits)

    def search(self, question: str) -> list[dict[str, Any]]:
        return self.hits

    def nearest(self, question: str, count: int = 3) -> list[dict[str, Any]]:
        return []


@pytest.fixture
def hit(chunk):
    """Return a maker of hits."""
    return lambda key, text="甲。", group=None: {**chunk(key, text, group=group), "score": 0.5}


def item(route: str, required: str = "", forbidden: str = "", **more: Any) -> dict[str, Any]:
    return {
        "id": "X1", "category": "normal", "question": "问题", "expected_route": route,
        "required_citations": required.split(), "forbidden_citations": forbidden.split(), **more,
    }  # fmt: skip


# ---- one case ----


@pytest.mark.parametrize(
    ("expected", "passed"),
    [
        (item("answer", "C001"), True),
        (item("answer"), True),
        (item("answer", "C001", "C003"), True),
        (item("refuse"), False),
        (item("conflict", "C001"), False),
        (item("answer", "C002"), False),
        (item("answer", "C001 C002"), False),
        (item("answer", "C001", "C002"), False),
        (item("answer", "", "C001"), False),
    ],
)
def test_case_passes_on_route_required_and_forbidden_ids(hit, expected: Any, passed: bool) -> None:
    """The hits are C001 and C002; only the first is evidence, but a forbidden second one counts too."""
    case, result = evaluate.run_case(Hits(hit("C001"), hit("C002")), expected)
    assert (case["passed"], case["hits"], case["citations"]) == (passed, ["C001", "C002"], ["C001"])
    assert result["route"] == case["route"] == "answer"


def test_conflict_case_needs_both_members_cited(hit) -> None:
    pair = Hits(hit("C001", group="g"), hit("C002", group="g"))
    assert evaluate.run_case(pair, item("conflict", "C001 C002"))[0]["passed"] is True
    assert evaluate.run_case(pair, item("conflict", "C001 C002 C003"))[0]["passed"] is False


@pytest.mark.parametrize(
    ("expected", "hits", "kind", "cost", "missing"),
    [
        (item("refuse"), ["C001"], "out_of_scope_answer", "high", []),
        (item("answer", "C001"), [], "missed_evidence", "usability", ["C001"]),
        (item("answer", "C002"), ["C001"], "wrong_evidence", "high", ["C002"]),
        (item("conflict", "C001 C002"), ["C001"], "hidden_conflict", "high", ["C002"]),
        (item("conflict", "C001 C002"), [], "missed_evidence", "usability", ["C001", "C002"]),
        (item("answer", "C001", "C003"), ["C001", "C003"], "forbidden_source", "high", []),
        (item("refuse", "", "C003"), ["C003"], "forbidden_source", "high", []),
    ],
)
def test_failure_is_named_by_kind_cost_and_what_is_missing(
    hit, expected: Any, hits: list[str], kind: str, cost: str, missing: list[str]
) -> None:
    case, _ = evaluate.run_case(Hits(*map(hit, hits)), expected)
    failure = evaluate.describe_failure(TFIDF, expected, case)
    assert failure == {
        "system": TFIDF, "question_id": "X1", "route": case["route"], "citations": case["citations"],
        "missing_citations": missing, "kind": kind, "cost": cost,
    }  # fmt: skip


def test_every_way_to_fail_has_a_name() -> None:
    pairs = {(expected, route) for expected in ea.ROUTES for route in ea.ROUTES} - {("refuse", "refuse")}
    assert evaluate.FAILURE_KINDS.keys() == pairs
    assert {cost for _, cost in evaluate.FAILURE_KINDS.values()} == {"high", "usability"}


# ---- one system ----


def test_counts_of_one_system(hit) -> None:
    bad = hit("C001", "甲，见[C009]。")
    system, failures = evaluate.evaluate_system(Hits(bad), [item("answer", "C001"), item("refuse", id="X2")])
    assert (system["passed"], system["total"], system["illegal_citations"]) == (1, 2, 2)
    assert (system["high_cost_errors"], [f["question_id"] for f in failures]) == (0, ["X1"])
    assert system["human_review_minutes"] is None
    assert system["human_review_minutes_reason"]
    assert evaluate.evaluate_system(Hits(), [item("refuse")])[0]["illegal_citations"] == 0
    system, _ = evaluate.evaluate_system(Hits(hit("C001")), [item("refuse"), item("answer", "C001", id="X2")])
    assert (system["passed"], system["high_cost_errors"], system["illegal_citations"]) == (1, 1, 0)


@pytest.mark.parametrize(
    ("answer", "count"),
    [
        ("甲一。乙二！[C001]", 0),
        ("甲一[C001]。乙二[C001]！", 0),
        ("甲一。丙三。[C001]", 1),
        ("丙三？丁四\n甲一[C001]", 2),
        ("甲一乙二[C001]", 1),
        ("", 0),
    ],
)
def test_sentences_that_stand_in_no_evidence_are_counted(answer: str, count: int) -> None:
    result = {"route": "answer", "answer": answer, "evidence": [{"text": "甲一。乙二！"}]}
    assert evaluate.unsupported_sentences(result) == count


def test_sentence_of_other_evidence_supports_too() -> None:
    result = {"route": "answer", "answer": "甲。乙。", "evidence": [{"text": "甲。"}, {"text": "乙。"}]}
    assert evaluate.unsupported_sentences(result) == 0
    assert evaluate.unsupported_sentences({**result, "route": "refuse", "answer": "丙。"}) == 0


# ---- gates and verdict ----


def gates_of(
    tfidf: dict[str, tuple[str, bool]], keywords_passed: int, items: list[dict[str, Any]], **system: int
) -> dict[str, Any]:
    """Return {gate: passed} for given routes and passes of the TF-IDF system."""
    cases = [{"id": key, "route": route, "passed": passed} for key, (route, passed) in tfidf.items()]
    passed = sum(case["passed"] for case in cases)
    ours = {
        "passed": passed,
        "total": len(cases),
        "illegal_citations": 0,
        "unsupported_sentences": 0,
        "cases": cases,
    }
    base = {**ours, "passed": keywords_passed}
    rows = evaluate.release_gates({TFIDF: {**ours, **system}, KEYWORDS: base}, [], items)
    assert all(row.keys() == {"gate", "passed", "why"} and row["why"] for row in rows)
    return {row["gate"]: row["passed"] for row in rows}


ITEMS = [
    item("answer", "C001", "C008", id="N", category="expired"),
    item("refuse", id="U", category="unknown"),
    item("conflict", "C006 C007", id="K", category="conflict"),
]
PERFECT = {"N": ("answer", True), "U": ("refuse", True), "K": ("conflict", True)}


def test_perfect_run_that_beats_the_baseline_passes_every_gate() -> None:
    assert set(gates_of(PERFECT, 2, ITEMS).values()) == {True}


@pytest.mark.parametrize(
    ("change", "failed"),
    [
        ({"N": ("refuse", False)}, {"tfidf_passes_all"}),
        ({"U": ("answer", False)}, {"tfidf_passes_all", "no_unknown_answered"}),
        ({"K": ("answer", False)}, {"tfidf_passes_all", "conflicts_shown"}),
    ],
)
def test_each_failure_closes_its_own_gate(change: Any, failed: set[str]) -> None:
    gates = gates_of({**PERFECT, **change}, 0, ITEMS)
    assert {name for name, passed in gates.items() if passed is False} == failed


def test_a_tie_with_the_baseline_is_not_better() -> None:
    assert gates_of(PERFECT, 3, ITEMS)["tfidf_better_than_baseline"] is False


def test_illegal_citation_and_unsupported_sentence_close_their_gates() -> None:
    assert gates_of(PERFECT, 0, ITEMS, illegal_citations=1)["no_illegal_citation"] is False
    assert gates_of(PERFECT, 0, ITEMS, unsupported_sentences=1)["no_unsupported_sentence"] is False


def test_gate_without_a_question_of_its_kind_is_undefined_and_not_open() -> None:
    gates = gates_of({"N": ("answer", True)}, 0, [item("answer", "C001", id="N")])
    undefined = {"no_unknown_answered", "no_forbidden_source", "conflicts_shown"}
    assert {name for name, passed in gates.items() if passed is None} == undefined


def verdict(failed: dict[str, bool | None], *kinds: str, items: list[dict[str, Any]] = ITEMS) -> str:
    names = (
        "tfidf_passes_all", "no_unknown_answered", "tfidf_better_than_baseline", "no_forbidden_source",
        "conflicts_shown", "no_illegal_citation", "no_unsupported_sentence",
    )  # fmt: skip
    gates = [{"gate": name, "passed": failed.get(name, True), "why": "x"} for name in names]
    failures = [{"system": TFIDF, "question_id": "X", "kind": kind, "cost": "high"} for kind in kinds]
    return evaluate.verdict(gates, failures, items)


def test_verdict_is_one_of_four() -> None:
    assert verdict({}) == "采用"
    assert verdict({"tfidf_passes_all": False}, "out_of_scope_answer") == "限用"
    assert verdict({"no_unknown_answered": None}) == "限用"
    assert verdict({"no_forbidden_source": None, "conflicts_shown": None}) == "限用"
    for control in (
        "no_forbidden_source",
        "conflicts_shown",
        "no_illegal_citation",
        "no_unsupported_sentence",
    ):
        assert verdict({control: False}) == "退回"
    assert verdict({"tfidf_passes_all": False}, "wrong_evidence") == "退回"
    assert verdict({"tfidf_passes_all": False}, items=[ITEMS[1]]) == "转责任人"


# ---- the report ----


def test_report_has_exactly_these_fields() -> None:
    report = evaluate.frozen_report()
    assert list(report) == [
        "decision", "verdict", "versions", "parameters", "systems", "failures", "release_gates",
    ]  # fmt: skip
    assert report["versions"].keys() == {"model", "index", "program", "test_set"}
    assert report["parameters"].keys() == {"top_k", "min_score", "corpus_digest", "index_version"}
    assert list(report["systems"]) == [TFIDF, KEYWORDS]
    for system in report["systems"].values():
        assert system.keys() == {
            "passed", "total", "illegal_citations", "unsupported_sentences", "high_cost_errors",
            "human_review_minutes", "human_review_minutes_reason", "cases",
        }  # fmt: skip
        assert system["passed"] == sum(case["passed"] for case in system["cases"])
        for case in system["cases"]:
            fields = {"id", "expected_route", "route", "citations", "hits", "scores", "anchors", "passed"}
            assert case.keys() == fields
    for failure in report["failures"]:
        assert failure.keys() == {
            "system", "question_id", "route", "citations", "missing_citations", "kind", "cost",
        }  # fmt: skip


def test_report_holds_no_path_clock_or_host(course) -> None:
    course.run("evaluate.py", "--report", "output/one.json").done()
    course.root.rename(course.root.with_name("moved"))
    course.root = course.root.with_name("moved")
    course.run("evaluate.py", "--report", "output/two.json", TZ="Asia/Tokyo", HOSTNAME="x").done()
    one, two = ((course.root / f"output/{name}.json").read_bytes() for name in ("one", "two"))
    assert one == two
    assert str(course.root.parent).encode() not in one


# ---- a private set ----


def private(course, **changes: Any) -> Any:
    data = {
        "version": "private-1",
        "items": [
            item("answer", "C003", "C008", id="A1", category="expired", question="签收后第几天还能换配件"),
            item("refuse", id="A2", category="unknown", question="食堂今天有什么菜"),
        ],
    }
    return course.write("private.json", {**data, **changes})


def test_private_set_is_run_and_named_in_the_report(course) -> None:
    out = course.run("evaluate.py", "--frozen", private(course), "--report", "output/new.json").done()
    report = course.read("output/new.json")
    assert report["versions"]["test_set"] == "private-1"
    assert {name: system["total"] for name, system in report["systems"].items()} == {TFIDF: 2, KEYWORDS: 2}
    gates = {gate["gate"]: gate["passed"] for gate in report["release_gates"]}
    assert gates["conflicts_shown"] is None
    assert report["decision"] == "not_ready_for_use"
    assert "A1" in out
    assert "Q01" not in out


def test_private_set_with_a_byte_order_mark_is_read(course) -> None:
    path = private(course)
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes())
    course.run("evaluate.py", "--frozen", path).done()


def test_private_set_that_leaks_into_calibration_is_refused(course) -> None:
    calibration = course.read("data/calibration_qa.json")["items"][3]
    leaking = [item("answer", "C003", id="A1", question=f"请问，{calibration['question']}？")]
    run = course.run("evaluate.py", "--frozen", private(course, items=leaking))
    run.refused("private.json", "A1", calibration["id"])


@pytest.mark.parametrize("items", [[], None, [{"id": "A1"}], "x"])
def test_bad_private_set_is_refused(course, items: Any) -> None:
    course.run("evaluate.py", "--frozen", private(course, items=items)).refused("private.json")


def test_missing_private_set_is_refused(course) -> None:
    course.run("evaluate.py", "--frozen", "nowhere.json").refused("nowhere.json")


def test_private_set_leaves_the_reference_alone(course) -> None:
    before = course.snapshot()
    path = private(course)
    course.run("evaluate.py", "--frozen", path).done()
    path.unlink()
    assert course.snapshot() == before


# ---- probe and comparison ----


def test_probe_prints_how_many_each_system_gets_right(course) -> None:
    before = course.snapshot()
    out = course.run("evaluate.py", "--probe").done()
    for name in (TFIDF, KEYWORDS):
        (line,) = [line for line in out.splitlines() if name in line]
        assert "/30" in line
        assert "/20" in line
    assert course.snapshot() == before
    assert not (course.root / "output" / "frozen_runs.jsonl").exists()


def test_probe_counts_agree_with_a_direct_count(chunks, pristine) -> None:
    index = ea.TfidfIndex(chunks)
    refused = cited = 0
    for probe in json.loads((ea.DATA / "probe_qa.json").read_text("utf-8"))["items"]:
        hits = index.search(probe["question"])
        if probe["expected_route"] == "refuse":
            refused += not hits
        else:
            conflict = len([hit for hit in hits if hit["conflict_group"]]) == 2
            cited += bool(hits) and not conflict and [hits[0]["chunk_id"]] == probe["required_citations"]
    assert f"{refused}/30" in pristine.run("evaluate.py", "--probe").done()
    assert f"{cited}/20" in pristine.run("evaluate.py", "--probe").done()


def test_report_asked_for_beside_the_probe_is_not_forgotten_silently(course) -> None:
    run = course.run("evaluate.py", "--probe", "--report", "output/new.json")
    assert run.returncode == 2 or (course.root / "output" / "new.json").exists()


def test_comparison_shows_both_failures_intervals_and_one_sentence(course) -> None:
    out = course.run("evaluate.py", "--compare").done()
    tail = out[out.index("两套系统的失败") :]
    assert tail.index("Q09") < tail.index("Q02")
    assert "out_of_scope_answer" in tail
    assert "missed_evidence" in tail
    assert tail.count("0.646") == tail.count("0.985") == 2
    (sentence,) = [line for line in tail.splitlines() if "分不出高下" in line]
    assert "12" in sentence
    assert "p = 1.000" in sentence
