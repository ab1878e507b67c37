"""The commands: what they print, which options they take, and how they refuse the rest."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import pytest

import calibrate
import evaluate
import evidence_assistant as ea

MAINS: dict[str, Callable[..., None]] = {
    "evidence_assistant.py": ea.main,
    "calibrate.py": calibrate.main,
    "evaluate.py": evaluate.main,
}


@pytest.fixture
def ask(capsys) -> Callable[..., str]:
    """Return a function that asks in this process and returns what was printed."""

    def run(*arguments: str) -> str:
        ea.main(list(arguments))
        out, err = capsys.readouterr()
        assert err == ""
        return str(out)

    return run


# ---- what is printed ----


def test_readable_order_is_route_evidence_answer(printed) -> None:
    lines = printed("evidence_assistant.py", "周六受理到几点").splitlines()
    labels = [line.split("：")[0] for line in lines if not line.startswith(" ")]
    wanted = ["路由", "证据", "回答", "引用", "需要人工复核"]
    assert [label for label in labels if label in wanted] == wanted
    assert lines[0].startswith("路由：answer")
    evidence = lines[2]
    for word in ("C005", "active", "2026.3", "0.279735"):
        assert word in evidence


ROUTES = {"周六受理到几点": "answer", "礼品卡余额": "refuse", "维修完成的设备免费保管几天": "conflict"}


@pytest.mark.parametrize("question", ROUTES)
def test_every_route_is_a_result_and_exits_0(ask, chunks, question: str) -> None:
    assert f"路由：{ROUTES[question]}" in ask(question)
    result = json.loads(ask("--json", question))
    assert result["route"] == ROUTES[question]
    assert result == ea.ask(question, ea.TfidfIndex(chunks))


def test_json_result_has_exactly_the_fields_of_a_result(ask) -> None:
    result = json.loads(ask("--json", "--baseline", "换货要附照片吗"))
    assert result.keys() == {
        "question", "system", "route", "answer", "evidence", "citations",
        "nearest", "human_review_required", "review_reason",
    }  # fmt: skip
    assert result["system"] == "transparent_keyword_rules"
    assert result["evidence"][0].keys() == {
        "chunk_id", "doc_id", "title", "version", "scope", "source_location",
        "authorization", "effective_status", "conflict_group", "text", "score", "anchor",
    }  # fmt: skip


@pytest.mark.parametrize("baseline", [[], ["--baseline"]])
def test_explanation_in_json_gives_shares_of_each_hit_that_sum_to_one(ask, baseline: list[str]) -> None:
    result = json.loads(ask("--json", "--explain", "维修完成的设备免费保管几天", *baseline))
    fields = {"term", "share"} if baseline else {"term", "idf", "share"}
    assert {"C006", "C007"} <= result["explanation"].keys()
    for rows in result["explanation"].values():
        assert sum(row["share"] for row in rows) == pytest.approx(1, abs=1e-5)
        assert all(row.keys() == fields for row in rows)


def test_every_hit_is_explained_not_the_cited_one_alone(ask, chunks) -> None:
    question = "免费保管的设备由网点更换零件吗"
    hits = [hit["chunk_id"] for hit in ea.TfidfIndex(chunks).search(question)]
    assert len(hits) > 1
    assert list(json.loads(ask("--json", "--explain", question))["explanation"]) == hits


def test_explanation_of_a_refusal_shows_what_was_nearest(ask) -> None:
    question = "有没有适合学生的优惠"
    result = json.loads(ask("--json", "--explain", question))
    assert (result["route"], result["nearest"][0]["chunk_id"]) == ("refuse", "C002")
    assert [row["term"] for row in result["explanation"]["C002"]] == ["没有"]
    assert "没有 idf" in ask("--explain", question)


def test_explanation_is_absent_unless_asked_for(ask) -> None:
    assert "idf" not in ask("周六受理到几点")
    assert "explanation" not in ask("--json", "周六受理到几点")
    assert "idf" in ask("--explain", "周六受理到几点")


def test_readable_text_shows_the_nearest_three_in_a_refusal_too(ask) -> None:
    (line,) = [line for line in ask("有没有适合学生的优惠").splitlines() if "最接近" in line]
    for word in ("C002 0.076253", "C001 0.000000", "C003 0.000000"):
        assert word in line


@pytest.mark.parametrize("program", [*MAINS, "acceptance.py"])
def test_help_is_chinese_and_exits_0(printed, program: str) -> None:
    out = printed(program, "--help")
    assert out.startswith("用法：")
    for word in ("usage", "options", "positional"):
        assert word not in out


# ---- usage errors ----


@pytest.mark.parametrize(
    "arguments",
    [
        ["evidence_assistant.py"],
        ["evidence_assistant.py", "一个", "两个"],
        ["evidence_assistant.py", "问题", "--base"],
        ["evidence_assistant.py", "问题", "--js"],
        ["evidence_assistant.py", "问题", "--expl"],
        ["evidence_assistant.py", "问题", "--json=1"],
        ["evidence_assistant.py", ""],
        ["evidence_assistant.py", "？"],
        ["evidence_assistant.py", "问" * 201],
        ["evidence_assistant.py", "问\udcff"],
        ["calibrate.py", "--rep", "output/x.json"],
        ["calibrate.py", "--ca", "CAL07"],
        ["calibrate.py", "--report"],
        ["calibrate.py", "--case"],
        ["calibrate.py", "--case", ""],
        ["calibrate.py", "--case", " CAL07"],
        ["calibrate.py", "CAL07"],
        ["calibrate.py", "--case", "A\nB"],
        ["calibrate.py", "--case", "A\u2028B\x85C"],
        ["calibrate.py", "--un\nknown"],
        ["calibrate.py", "--case", "CAL07", "--report", "output/x.json"],
        ["evaluate.py", "--rep", "output/x.json"],
        ["evaluate.py", "--comp"],
        ["evaluate.py", "--froz", "x.json"],
        ["evaluate.py", "--frozen"],
        ["evaluate.py", "--frozen", "no\nwhere.json"],
        ["evaluate.py", "--probe", "--report", "output/x.json"],
        ["evaluate.py", "--probe", "--compare"],
        ["evaluate.py", "--probe", "--frozen", "x.json"],
        ["evaluate.py", "x"],
    ],
    ids=ascii,
)
def test_usage_error_is_one_line_and_exit_2(capsys, arguments: list[str]) -> None:
    program, *rest = arguments
    with pytest.raises(SystemExit) as caught:
        MAINS[program](rest)
    out, err = capsys.readouterr()
    assert (caught.value.code, out) == (2, "")
    assert len(err.splitlines()) == 1


@pytest.mark.parametrize(
    "command",
    [
        ["evidence_assistant.py", "问题"],
        ["calibrate.py"],
        ["evaluate.py"],
        ["acceptance.py"],
        ["acceptance.py", "x"],
    ],
    ids=" ".join,
)
def test_unknown_option_is_refused_by_every_command(pristine, command: list[str]) -> None:
    run = pristine.run(*command, "--unknown")
    run.refused("--unknown", "--help")
    assert run.stdout == ""


@pytest.mark.skipif(sys.platform == "win32", reason="arguments are bytes on POSIX alone")
def test_question_of_bytes_that_are_no_text_is_refused(pristine) -> None:
    command: list[Any] = [os.fsencode(sys.executable), b"-B", b"evidence_assistant.py", b"\xff\xfe\xe6"]
    done = subprocess.run(command, cwd=pristine.root, capture_output=True, check=False)
    assert (done.returncode, done.stderr.count(b"\n")) == (2, 1)
    assert b"Traceback" not in done.stderr
