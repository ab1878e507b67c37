"""The ledger of frozen runs: it grows, counts, shows damage, and never stands in the way."""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import evaluate


@pytest.fixture
def ledger(tmp_path: Path) -> Path:
    return tmp_path / "runs.jsonl"


@pytest.fixture
def run(ledger: Path, tmp_path: Path) -> Callable[..., str]:
    """Return a function that records one run on a frozen set of the given content."""

    def record(content: str = "one", report: Any = None) -> str:
        frozen = tmp_path / "frozen.json"
        frozen.write_text(content)
        return evaluate.append_ledger(report or {}, frozen, ledger)

    return record


def lines(ledger: Path) -> list[bytes]:
    return ledger.read_bytes().splitlines()


def chained(ledger: Path) -> bool:
    previous = ""
    for line in lines(ledger):
        if json.loads(line)["previous"] != previous:
            return False
        previous = hashlib.sha256(line).hexdigest()
    return True


def test_each_run_adds_one_chained_line(run, ledger: Path) -> None:
    for count in range(1, 5):
        run()
        assert len(lines(ledger)) == count
        assert chained(ledger)
        assert ledger.read_bytes().endswith(b"\n")
    assert json.loads(lines(ledger)[0]).keys() == {"set", "data", "code", "result", "previous"}


def test_older_lines_are_never_rewritten(run, ledger: Path) -> None:
    run()
    first = ledger.read_bytes()
    run("two")
    assert ledger.read_bytes().startswith(first)


def test_distinct_pairs_of_data_and_code_are_counted(run, monkeypatch, tmp_path: Path) -> None:
    assert " 1 组" in run("one")
    assert " 1 组" in run("one")
    assert " 2 组" in run("two")
    assert " 2 组" in run("one")
    for name in evaluate.CODE_FILES:
        (tmp_path / name).write_text("x = 1")
    monkeypatch.setattr(evaluate, "ROOT", tmp_path)
    assert " 3 组" in run("one")
    assert " 3 组" in run("one")


def test_another_result_of_the_same_pair_is_no_new_pair(run, ledger: Path) -> None:
    run(report={"a": 1})
    assert " 1 组" in run(report={"a": 2})
    assert len({json.loads(line)["result"] for line in lines(ledger)}) == 2


def test_line_ends_of_a_checkout_change_no_digest(run, ledger: Path) -> None:
    run("a\nb\n")
    run("a\r\nb\r\n")
    first, second = (json.loads(line) for line in lines(ledger))
    assert first["data"] == second["data"]


def test_intact_chain_is_called_intact(run) -> None:
    for content in ("one", "two", "three"):
        text = run(content)
    assert "链条完整" in text
    assert "断链" not in text


def test_first_run_says_that_nothing_stood_before(run) -> None:
    assert "此前没有记录" in run()
    assert "此前没有记录" not in run()


def test_deleted_ledger_is_reported(run, ledger: Path) -> None:
    run()
    ledger.unlink()
    assert "没有记录" in evaluate.ledger_text(ledger)
    assert "此前没有记录" in run()


def edit(ledger: Path, number: int, **changes: str) -> None:
    kept = lines(ledger)
    kept[number] = json.dumps({**json.loads(kept[number]), **changes}, sort_keys=True).encode()
    ledger.write_bytes(b"\n".join(kept) + b"\n")


@pytest.mark.parametrize("number", [0, 1, 2])
@pytest.mark.parametrize("field", ["data", "code", "result", "previous"])
def test_edited_line_breaks_the_chain(run, ledger: Path, number: int, field: str) -> None:
    for content in "abcd":
        run(content)
    edit(ledger, number, **{field: "0" * 64})
    assert "断链" in evaluate.ledger_text(ledger)
    assert "断链" in run("e")


@pytest.mark.parametrize("number", [0, 1, 2])
def test_removed_line_breaks_the_chain(run, ledger: Path, number: int) -> None:
    for content in "abcd":
        run(content)
    kept = lines(ledger)
    del kept[number]
    ledger.write_bytes(b"\n".join(kept) + b"\n")
    text = evaluate.ledger_text(ledger)
    assert "断链" in text
    assert f"第 {number + 1} 行" in text


def test_two_lines_that_change_places_break_the_chain(run, ledger: Path) -> None:
    for content in "abcd":
        run(content)
    kept = lines(ledger)
    kept[1], kept[2] = kept[2], kept[1]
    ledger.write_bytes(b"\n".join(kept) + b"\n")
    assert "断链" in evaluate.ledger_text(ledger)


def test_torn_last_line_is_reported_and_left_and_the_next_run_has_its_own_line(run, ledger: Path) -> None:
    run("a")
    run("b")
    torn = ledger.read_bytes()[:-30]
    ledger.write_bytes(torn)
    text = run("c")
    assert ledger.read_bytes().startswith(torn + b"\n")
    assert len(lines(ledger)) == 3
    assert "第 2 行" in text
    assert " 2 组" in text
    assert json.loads(lines(ledger)[2])["previous"] == hashlib.sha256(lines(ledger)[1]).hexdigest()


@pytest.mark.parametrize(
    "garbage", [b"x", b"5", b"[]", b"null", b"{}", b"\xff\xfe", b'{"data": [], "code": {}}', b""]
)
def test_garbage_in_the_ledger_is_damage_not_a_crash(run, ledger: Path, garbage: bytes) -> None:
    run("a")
    with ledger.open("ab") as handle:
        handle.write(garbage + b"\n")
    assert "断链" in evaluate.ledger_text(ledger)
    assert "断链" in run("b")


def test_ledger_that_cannot_be_written_is_a_note(tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    for place in (folder, tmp_path / "nowhere" / "runs.jsonl", tmp_path / ("x" * 300)):
        text = evaluate.append_ledger({}, ledger=place)
        assert "没有记录" in text
        assert len(text.splitlines()) == 1


def test_evaluation_without_a_place_for_the_ledger_gives_a_note_and_exits_0(course) -> None:
    (course.root / "output" / "frozen_runs.jsonl").mkdir()
    out = course.run("evaluate.py").done()
    (note,) = [line for line in out.splitlines() if line.startswith("账本：")]
    assert "没有记录" in note


def test_evaluation_without_an_output_folder_gives_a_note_and_exits_0(course) -> None:
    for path in (course.root / "output").iterdir():
        path.unlink()
    (course.root / "output").rmdir()
    assert "没有记录" in course.run("evaluate.py").done()
    assert not (course.root / "output").exists()


def test_one_character_of_code_or_data_is_another_pair(course) -> None:
    course.run("evaluate.py").done()
    with (course.root / "calibrate.py").open("a") as handle:
        handle.write("#")
    assert " 2 组" in course.run("evaluate.py").done()
    course.edit("data/corpus.json", lambda corpus: corpus.update(corpus_version="x"))
    assert " 3 组" in course.run("evaluate.py").done()


def test_refused_run_leaves_no_line(course) -> None:
    course.run("evaluate.py", "--frozen", "nowhere.json").refused("nowhere.json")
    assert not (course.root / "output" / "frozen_runs.jsonl").exists()


def test_two_processes_at_once_lose_no_line_and_keep_the_chain(pristine, tmp_path: Path) -> None:
    ledger = tmp_path / "runs.jsonl"
    code = (
        "import sys, pathlib, evaluate\n"
        "sys.stdin.readline()\n"
        "ledger = pathlib.Path(sys.argv[2])\n"
        "for i in range(25): evaluate.append_ledger({'run': sys.argv[1], 'i': i}, ledger=ledger)\n"
    )
    workers = [
        subprocess.Popen(
            [sys.executable, "-B", "-c", code, name, str(ledger)],
            cwd=pristine.root, stdin=subprocess.PIPE, stderr=subprocess.PIPE,
        )
        for name in ("a", "b", "c")
    ]  # fmt: skip
    for worker in workers:
        assert worker.stdin is not None
        worker.stdin.write(b"\n")
        worker.stdin.flush()
    for worker in workers:
        _, errors = worker.communicate(timeout=120)
        assert (worker.returncode, errors) == (0, b"")
    assert len(lines(ledger)) == 75
    assert len({json.loads(line)["result"] for line in lines(ledger)}) == 75
    assert chained(ledger)
    assert "链条完整" in evaluate.ledger_text(ledger)


def test_runs_of_another_set_are_told_from_runs_of_this_one(run) -> None:
    run("mine")
    text = run("theirs")
    assert "共有 2 组" in text
    assert "其中 1 组用的是这份题集" in text
