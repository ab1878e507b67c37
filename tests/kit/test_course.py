"""The bridge to the core: its results, its receipts, its passages, unchanged."""

import dataclasses
import json
import subprocess
import sys
from datetime import date
from pathlib import Path

import pytest

import evaluate
import evidence_assistant as core
from evidence_kit.anchors.anchor import CorruptAnchor, create_anchor
from evidence_kit.course import (
    SYSTEMS,
    Course,
    CourseError,
    examples,
    receipt_of,
    sample_documents,
    source_of,
)

ROOT = Path(__file__).parents[2]
CALIBRATION = json.loads((ROOT / "data" / "calibration_qa.json").read_text(encoding="utf-8"))["items"]
QUESTIONS = [item["question"] for item in CALIBRATION]


@pytest.fixture(scope="module")
def course():
    return Course.load()


def with_text(course, chunk_id, text):
    chunks = tuple({**c, "text": text} if c["chunk_id"] == chunk_id else c for c in course.chunks)
    return dataclasses.replace(course, chunks=chunks)


@pytest.mark.parametrize("question", QUESTIONS)
@pytest.mark.parametrize("baseline", [False, True])
def test_results_are_byte_for_byte_those_of_the_core_s_command(course, question, baseline):
    flags = ["--baseline"] if baseline else []
    shown = subprocess.run(
        [sys.executable, str(ROOT / "evidence_assistant.py"), "--json", *flags, question],
        capture_output=True,
        check=True,
    )
    (result,) = [r for r in course.results(question) if (r["system"] == SYSTEMS[0].name) == baseline]
    assert core.json_text(result) == shown.stdout.decode("utf-8").replace("\r\n", "\n")


@pytest.mark.parametrize("question", QUESTIONS)
def test_what_is_shown_beside_a_result_is_of_the_same_passages(course, question):
    for asked in course.ask(question):
        assert [e.chunk["chunk_id"] for e in asked.evidence] == [
            e["chunk_id"] for e in asked.result["evidence"]
        ]
        for evidence in asked.evidence:
            text = evidence.chunk["text"]
            assert "".join(piece.text for piece in evidence.pieces) == text
            assert "".join(stretch.text for stretch in evidence.stretches) == text
            assert course.place(evidence.chunk["chunk_id"], evidence.receipt).parts == ("", text, "")
            assert {t.text: t.share for t in evidence.terms} == {
                row["term"]: row["share"]
                for row in course._retrievers[asked.system.name].explain(
                    asked.result["question"], evidence.chunk["chunk_id"]
                )
            }
            for term in evidence.terms:
                for span in term.spans:
                    assert core.normalize(text[span.start : span.end]) == core.normalize(term.text)


def test_a_conflict_shows_where_the_two_rules_differ(course):
    question = next(item["question"] for item in CALIBRATION if item["expected_route"] == "conflict")
    for asked in course.ask(question):
        first, second = asked.evidence
        assert "30" in [s.text for s in first.stretches if not s.shared]
        assert "15" in [s.text for s in second.stretches if not s.shared]


def test_near_passages_leave_out_those_that_share_nothing(course):
    asked = course.ask("有没有适合学生的优惠")[-1]
    assert [(near.chunk["chunk_id"], near.score) for near in asked.near] == [("C002", 0.076253)]
    assert asked.near[0].score < asked.system.threshold


@pytest.mark.parametrize("question", ["", "   ", "？！", "甲" * 201, "a\ud800b"])
def test_a_bad_question_is_an_error_of_the_kit(course, question):
    with pytest.raises(CourseError) as caught:
        course.results(question)
    assert (caught.value.exit_code, caught.value.http_status) == (2, 400)
    with pytest.raises(CourseError):
        course.ask(question)


def test_a_receipt_of_a_part_moves_with_its_passage(course):
    text = course.chunk("C003")["text"]
    receipt = create_anchor(source_of(course.chunk("C003")), 20, 30, withhold=True)
    assert course.place("C003", receipt).parts == (text[:20], text[20:30], text[30:])
    placed = with_text(course, "C003", "新增的一句。" + text).place("C003", receipt)
    assert placed.resolution.status == "moved"
    assert placed.parts == ("新增的一句。" + text[:20], text[20:30], text[30:])
    placed = with_text(course, "C003", "别的话").place("C003", receipt)
    assert (placed.resolution.status, placed.parts) == ("stale", None)


@pytest.mark.parametrize("unit", ["codepoint", "utf16", "utf8", "grapheme"])
def test_a_receipt_in_any_unit_is_cut_at_its_quote(course, unit):
    changed = with_text(course, "C003", "😀e\u0301\r\n仅限室内。")
    source = source_of(changed.chunk("C003"))
    start = {"codepoint": 5, "utf16": 6, "utf8": 9, "grapheme": 3}[unit]
    end = start + (12 if unit == "utf8" else 4)
    receipt = create_anchor(source, start, end, unit, quote="仅限室内", withhold=True)
    assert changed.place("C003", receipt).parts == ("😀e\u0301\r\n", "仅限室内", "。")


def test_a_receipt_of_another_passage_and_a_corrupt_one_are_errors(course):
    receipt = create_anchor(source_of(course.chunk("C001")), 0, 3)
    with pytest.raises(CourseError, match="C001"):
        course.place("C003", receipt)
    false = dataclasses.replace(create_anchor(source_of(course.chunk("C003")), 0, 3), start=4, end=7)
    with pytest.raises(CorruptAnchor):
        course.place("C003", false)
    item = core.with_anchor({**course.chunk("C003"), "score": 1.0})
    with pytest.raises(CorruptAnchor):
        receipt_of({**item, "text": "改过的正文"})


def test_an_unknown_passage_is_not_found(course):
    with pytest.raises(CourseError) as caught:
        course.chunk("\x1b[31m")
    assert caught.value.http_status == 404
    assert "\x1b" not in caught.value.message


def test_the_listing_has_every_passage_and_only_the_expired_one_is_out(course):
    listed = course.listing(date(2026, 11, 30))
    assert [item.chunk["chunk_id"] for item in listed] == [f"C00{n}" for n in range(1, 10)]
    assert {i.chunk["chunk_id"]: i.absence for i in listed if i.absence} == {"C008": "expired"}


def test_examples_leak_into_no_frozen_and_no_probe_question():
    held_out = [
        item["question"]
        for name in ("fixed_qa.json", "probe_qa.json")
        for item in core.read_json(core.DATA / name)["items"]
    ]
    assert len(held_out) == 62
    for example in examples():
        assert not any(evaluate.questions_leak(example, question) for question in held_out), example


def test_the_examples_lead_to_all_three_routes(course):
    routes = {asked.result["route"] for example in examples() for asked in course.ask(example)}
    assert routes == {"answer", "refuse", "conflict"}


def test_the_sample_is_chinese_and_english():
    ids = [document.source_id for document in sample_documents()]
    assert len(ids) == 7
    assert {"lending-zh.md", "lending-en.md"} <= set(ids)


def test_a_damaged_corpus_is_an_error_that_names_the_file(tmp_path):
    with pytest.raises(CourseError, match=r"corpus\.json"):
        Course.load(tmp_path)


@pytest.mark.parametrize(("score", "reached"), [(0.0799999, False), (0.08, True), (0.0800001, True)])
def test_whether_the_threshold_is_reached_is_decided_before_the_score_is_rounded(score, reached):
    course = dataclasses.replace(Course.load())
    retriever = course._retrievers[core.TfidfIndex.name]
    retriever._scores = lambda question: [(chunk, score) for chunk in retriever.chunks]
    asked = course.ask(QUESTIONS[0])[1]
    assert [round(near.score, 6) for near in asked.near] == [round(score, 6)] * 3
    assert [near.reached for near in asked.near] == [reached] * 3
    assert asked.system.threshold == 0.08
