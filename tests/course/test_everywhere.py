"""The same results in any folder, for any hash seed, on every Python, and where nothing can be written."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import acceptance

ASK = ["evidence_assistant.py", "周六受理到几点"]
QUIET = [
    ASK,
    [*ASK, "--baseline", "--explain"],
    [*ASK, "--json"],
    ["calibrate.py"],
    ["calibrate.py", "--case", "CAL06"],
    ["evaluate.py", "--probe"],
]


@pytest.mark.parametrize("command", QUIET, ids=" ".join)
def test_command_works_from_any_folder(pristine, printed, tmp_path: Path, command: list[str]) -> None:
    program, *rest = command
    done = subprocess.run(
        [sys.executable, "-B", str(pristine.root / program), *rest],
        cwd=tmp_path, capture_output=True, check=False,
    )  # fmt: skip
    assert done.stderr == b""
    assert done.stdout.decode("utf-8") == printed(*command)
    assert list(tmp_path.iterdir()) == []


def live_report(course, python: str, seed: str) -> bytes:
    """Run acceptance without site packages; return the bytes of its live report."""
    course.run("acceptance.py", python=(python, "-S", "-B"), PYTHONHASHSEED=seed).done()
    path = course.root / "output" / "live_report.json"
    written: bytes = path.read_bytes()
    path.unlink()
    return written


def test_reports_have_the_same_bytes_for_every_hash_seed(course) -> None:
    for program, name in (("evaluate.py", "report"), ("calibrate.py", "calibration")):
        reference = (course.root / "output" / f"reference_{name}.json").read_bytes()
        for seed in ("0", "1"):
            course.run(program, "--report", "output/new.json", PYTHONHASHSEED=seed).done()
            assert (course.root / "output" / "new.json").read_bytes() == reference


@pytest.mark.once
def test_live_report_has_the_same_bytes_on_every_python(course, interpreters) -> None:
    if len(interpreters) < 2:
        pytest.skip("only one Python from 3.10 up is here")
    reference = (course.root / "output" / "reference_report.json").read_bytes()
    for number, interpreter in enumerate(interpreters):
        assert live_report(course, interpreter, str(number % 2)) == reference, interpreter


@pytest.mark.once
def test_report_path_that_loops_is_refused_on_every_python(course, interpreters) -> None:
    """Resolving such a path raises one error up to Python 3.12 and none from 3.13 on."""
    (course.root / "output" / "loop.json").symlink_to("loop.json")
    for interpreter in interpreters:
        run = course.run("calibrate.py", "--report", "output/loop.json", python=(interpreter, "-S", "-B"))
        run.refused("loop.json")


def test_read_only_checkout_runs_everything_and_gives_notes(course, plain_user) -> None:
    before = course.snapshot()
    everything = [course.root, *course.root.rglob("*")]
    for path in everything:
        path.chmod(path.stat().st_mode & ~0o222)
    try:
        course.run(*ASK, python=plain_user).done()
        course.run("calibrate.py", "--report", "output/x.json", python=plain_user).refused(
            "x.json", "无法写入"
        )
        assert "没有记录" in course.run("evaluate.py", python=plain_user).done()
        out = course.run("acceptance.py", python=plain_user).done()
        for note in ("没有记录", "没有另存现场报告", "验收通过"):
            assert note in out
    finally:
        for path in everything:
            path.chmod(path.stat().st_mode | 0o200)
    assert course.snapshot() == before


@pytest.mark.parametrize("name", acceptance.MODULES)
def test_no_check_is_an_assert_statement(name: str) -> None:
    """An optimised Python (-O) would take it out."""
    tree = ast.parse((acceptance.ROOT / name).read_bytes())
    assert [node.lineno for node in ast.walk(tree) if isinstance(node, ast.Assert)] == []
