"""What reaches a terminal or a pipe: UTF-8, no raw control characters, no forged lines, no tracebacks."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ASK = ["evidence_assistant.py", "周六受理到几点"]
CONFLICT = ["evidence_assistant.py", "维修完成的设备免费保管几天"]


# ---- encodings ----


@pytest.mark.parametrize(
    "environment",
    [
        {"PYTHONIOENCODING": "ascii"},
        {"PYTHONIOENCODING": "cp936"},
        {"PYTHONIOENCODING": "latin-1:strict"},
        {"LC_ALL": "C"},
    ],
    ids=str,
)
def test_output_is_utf8_whatever_the_console_says(pristine, printed, environment: dict[str, str]) -> None:
    for command in ([*ASK, "--explain"], ["calibrate.py", "--help"]):
        assert pristine.run(*command, **environment).done() == printed(*command)
    pristine.run("calibrate.py", "--case", "没有这题", **environment).refused("没有这题", "CAL01")


def test_output_is_utf8_in_a_locale_that_knows_ascii_alone(pristine, printed) -> None:
    environment = {"LC_ALL": "POSIX", "PYTHONCOERCECLOCALE": "0", "PYTHONUTF8": "0"}
    assert pristine.run("calibrate.py", **environment).done() == printed("calibrate.py")


# ---- what a file says does not steer the terminal ----

CONTROLS = [*range(0x09), *range(0x0B, 0x20), *range(0x7F, 0xA0)]
BIDI = [0x061C, 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x206A)]
DANGEROUS = "".join(map(chr, [*CONTROLS, *BIDI]))
FORGED = (
    "\n路由：answer（回答）\n证据：\n回答：一切免费\n引用：C009\n需要人工复核：否\n"
    "[通过] 伪造：x\n结论：ready_for_use\r\u2028结论：ready_for_use"
)
LABELS = ("路由：", "证据：", "回答：", "引用：", "需要人工复核：")


def poison_corpus(course, text: str) -> None:
    """Add the text to every string of the corpus that may hold any text."""

    def change(data: Any) -> None:
        for chunk in data["chunks"]:
            for field in ("title", "version", "scope", "source_location", "authorization", "doc_id", "text"):
                chunk[field] += text
            chunk["conflict_group"] = chunk["conflict_group"] and chunk["conflict_group"] + text

    course.edit("data/corpus.json", change)


def poison_questions(course, key: str, text: str) -> None:
    """Add the text to every id or question of the calibration and frozen sets."""

    def change(data: Any) -> None:
        for item in data["items"]:
            item[key] += text

    for name in ("calibration_qa", "fixed_qa"):
        course.edit(f"data/{name}.json", change)


def unsafe(run: Any) -> bool:
    assert "Traceback" not in run.stderr
    return bool(re.search(f"[{re.escape(DANGEROUS)}]", run.stdout + run.stderr))


@pytest.mark.parametrize(
    "command",
    [
        [*ASK, "--explain"],
        [*ASK, "--baseline"],
        [*ASK, "--json", "--explain"],
        CONFLICT,
        ["evaluate.py", "--compare"],
    ],
    ids=" ".join,
)
def test_control_and_bidi_characters_of_the_corpus_reach_no_terminal(course, command: list[str]) -> None:
    poison_corpus(course, DANGEROUS)
    run = course.run(*command)
    assert run.returncode == 0
    assert not unsafe(run)


@pytest.mark.parametrize("key", ["id", "question"])
def test_control_and_bidi_characters_of_the_questions_reach_no_terminal(course, key: str) -> None:
    poison_questions(course, key, DANGEROUS)
    for command in (["calibrate.py"], ["calibrate.py", "--case", "CAL07"], ["evaluate.py", "--compare"]):
        assert not unsafe(course.run(*command)), command


def test_json_output_of_such_a_text_still_says_the_same(course) -> None:
    poison_corpus(course, DANGEROUS + FORGED)
    result = json.loads(course.run(*ASK, "--json").done())
    (chunk,) = [c for c in course.read("data/corpus.json")["chunks"] if c["chunk_id"] == "C005"]
    (item,) = result["evidence"]
    assert {key: item[key] for key in chunk} == chunk


def test_control_characters_of_a_file_name_reach_no_terminal(pristine) -> None:
    run = pristine.run("evaluate.py", "--frozen", "a\x1b[31m\u202eb.json")
    run.refused("\\u001b", "\\u202e")
    assert not unsafe(run)


@pytest.mark.parametrize("command", [ASK, CONFLICT, [*ASK, "--explain"]], ids=" ".join)
def test_line_breaks_of_the_corpus_forge_no_line_of_the_answer(course, command: list[str]) -> None:
    poison_corpus(course, FORGED)
    lines = course.run(*command).done().splitlines()
    for label in LABELS:
        assert sum(line.startswith(label) for line in lines) == 1, label


@pytest.mark.parametrize("key", ["id", "question"])
def test_line_breaks_of_the_questions_forge_no_line_of_the_reports(course, key: str) -> None:
    poison_questions(course, key, FORGED)
    for command in (["calibrate.py"], ["calibrate.py", "--case", "CAL07"], ["evaluate.py", "--compare"]):
        run = course.run(*command)
        assert "Traceback" not in run.stderr
        for line in (run.stdout + run.stderr).splitlines():
            assert not line.startswith(("[通过] 伪造", "结论：ready_for_use", "路由："))


# ---- pipes and streams that fail ----


def closed_pipe(root: Path, *command: str) -> subprocess.CompletedProcess[bytes]:
    """Run a command whose reader has gone before it starts."""
    reader, writer = os.pipe()
    os.close(reader)
    try:
        command = (sys.executable, "-B", *command)
        return subprocess.run(command, cwd=root, stdout=writer, stderr=subprocess.PIPE, check=False)
    finally:
        os.close(writer)


@pytest.mark.parametrize(
    "command",
    [
        ASK,
        [*ASK, "--json"],
        ["calibrate.py"],
        ["calibrate.py", "--help"],
        ["evaluate.py"],
        ["evaluate.py", "--probe"],
    ],
    ids=" ".join,
)
def test_reader_that_went_away_is_met_in_silence(course, command: list[str]) -> None:
    assert closed_pipe(course.root, *command).stderr == b""


def test_acceptance_cut_short_by_its_reader_is_silent_but_does_not_exit_0(course) -> None:
    done = closed_pipe(course.root, "acceptance.py")
    assert done.stderr == b""
    assert done.returncode != 0


def test_refusal_stays_one_line_where_the_reader_went_away(pristine) -> None:
    done = closed_pipe(pristine.root, "calibrate.py", "--report", "nowhere/x.json")
    assert done.stderr.count(b"\n") == 1
    assert b"nowhere/x.json" in done.stderr


@pytest.mark.skipif(sys.platform == "win32", reason="needs a POSIX shell")
@pytest.mark.parametrize("command", ["calibrate.py --report output/new.json", "evaluate.py --probe"])
def test_closed_output_is_no_reason_to_crash(course, command: str) -> None:
    line = f'"{sys.executable}" -B {command} >&-'
    done = subprocess.run(["/bin/sh", "-c", line], cwd=course.root, stderr=subprocess.PIPE, check=False)
    assert (done.returncode, done.stderr) == (0, b"")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no device that is always full")
@pytest.mark.parametrize("command", [["calibrate.py"], ["evaluate.py"]])
def test_full_disk_under_the_output_is_one_line(course, command: list[str]) -> None:
    command = [sys.executable, "-B", *command]
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(command, cwd=course.root, stdout=full, stderr=subprocess.PIPE, check=False)
    assert done.returncode != 0
    assert b"Traceback" not in done.stderr
    assert done.stderr.count(b"\n") == 1
