"""Reports are written whole or not at all, and over nothing that matters."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

import evidence_assistant as ea

REPORTERS = ["calibrate.py", "evaluate.py"]
BAD_REPORTS = {
    "no such folder": "nowhere/report.json",
    "a folder": "output/folder.json",
    "the folder itself": "output",
    "nothing": "",
    "through a file": "pyproject.toml/report.json",
    "not .json": "output/report.txt",
    "no suffix": "output/report",
    "a source file": "evaluate.py",
    "only a suffix": "output/.json",
    "into data": "data/new.json",
    "over a data file": "data/corpus.json",
    "into data by a detour": "output/../data/corpus.json",
    "under data": "data/sub/new.json",
    "a device": "/dev/null",
    "a link to a file": "output/link.json",
    "a link into data": "output/data-link.json",
    "a dangling link": "output/dangling.json",
    "a link to itself": "output/loop.json",
    "through a link to itself": "output/loop.json/report.json",
    "a name too long": "output/" + "a" * 300 + ".json",
}


@pytest.fixture
def crowded(course, monkeypatch):
    """A copy whose output folder holds everything that a report must not be written over."""
    output = course.root / "output"
    (output / "folder.json").mkdir()
    (output / "target.json").write_text("old")
    (output / "link.json").symlink_to("target.json")
    (output / "data-link.json").symlink_to("../data/corpus.json")
    (output / "dangling.json").symlink_to("none.json")
    (output / "loop.json").symlink_to("loop.json")
    monkeypatch.setattr(ea, "DATA", course.root / "data")
    monkeypatch.chdir(course.root)
    return course


@pytest.mark.parametrize("name", BAD_REPORTS)
def test_report_path_that_cannot_be_written_is_refused_and_nothing_changes(crowded, name: str) -> None:
    before = crowded.snapshot()
    with pytest.raises(ea.InputError) as caught:
        ea.write_whole(Path(BAD_REPORTS[name]), "new")
    assert len(str(caught.value).splitlines()) == 1
    assert Path(BAD_REPORTS[name]).name in str(caught.value)
    assert crowded.snapshot() == before


@pytest.mark.parametrize(
    "name", ["a folder", "a device", "a link to a file", "over a data file", "a link to itself"]
)
@pytest.mark.parametrize("command", REPORTERS)
def test_command_exits_2_where_its_report_cannot_be_written(crowded, command: str, name: str) -> None:
    before = crowded.snapshot()
    crowded.run(command, "--report", BAD_REPORTS[name]).refused(Path(BAD_REPORTS[name]).name)
    assert crowded.snapshot() == before


@pytest.mark.parametrize("command", REPORTERS)
def test_unwritable_report_path_is_named_with_its_cause(course, command: str) -> None:
    course.run(command, "--report", "nowhere/report.json").refused("nowhere/report.json", "无法写入")
    course.run(command, "--report", "output/report.txt").refused("output/report.txt", ".json")


def test_report_path_is_refused_before_the_frozen_set_is_used(course) -> None:
    run = course.run("evaluate.py", "--report", "nowhere/report.json")
    run.refused("nowhere/report.json")
    assert run.stdout == ""
    assert not (course.root / "output" / "frozen_runs.jsonl").exists()


def test_report_does_not_replace_the_questions_it_was_made_from(course) -> None:
    private = course.write("private.json", course.read("data/fixed_qa.json"))
    before = private.read_bytes()
    course.run("evaluate.py", "--frozen", private, "--report", private).refused("private.json")
    assert private.read_bytes() == before


def test_report_into_a_data_folder_reached_by_a_link_is_refused(course, tmp_path: Path) -> None:
    (course.root / "data").rename(tmp_path / "elsewhere")
    (course.root / "data").symlink_to(tmp_path / "elsewhere")
    before = (tmp_path / "elsewhere" / "corpus.json").read_bytes()
    course.run("calibrate.py", "--report", "data/corpus.json").refused("corpus.json")
    assert (tmp_path / "elsewhere" / "corpus.json").read_bytes() == before


@pytest.mark.parametrize("command", REPORTERS)
def test_report_replaces_an_older_one_and_leaves_nothing_over(course, command: str) -> None:
    target = course.root / "output" / "我的 报告.json"
    target.write_text("old")
    before = set(course.snapshot())
    course.run(command, "--report", "output/我的 报告.json").done()
    assert json.loads(target.read_text("utf-8"))
    assert set(course.snapshot()) == before


@pytest.mark.parametrize("trouble", [OSError(28, "No space left on device"), KeyboardInterrupt()])
def test_interrupted_write_keeps_the_old_report(tmp_path: Path, monkeypatch, trouble: BaseException) -> None:
    def fail(descriptor: int) -> None:
        raise trouble

    target = tmp_path / "report.json"
    target.write_text("old")
    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises((ea.InputError, KeyboardInterrupt)):
        ea.write_whole(target, "new")
    assert target.read_text() == "old"
    assert [path.name for path in tmp_path.iterdir()] == ["report.json"]


def test_report_may_have_the_longest_name_that_a_folder_takes(tmp_path: Path) -> None:
    target = tmp_path / ("a" * 250 + ".json")
    ea.write_whole(target, "new")
    assert [path.name for path in tmp_path.iterdir()] == [target.name]


def test_report_bytes_are_utf8_with_unix_line_ends(tmp_path: Path) -> None:
    target = tmp_path / "report.json"
    ea.write_whole(target, ea.json_text({"b": "中", "a": [1, None]}))
    assert target.read_bytes() == '{\n  "b": "中",\n  "a": [\n    1,\n    null\n  ]\n}\n'.encode()
    with pytest.raises(ValueError):
        ea.json_text(float("nan"))
