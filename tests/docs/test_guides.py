"""The guides under docs/ show what their `evidence` commands print, in a folder with the files they name."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def evidence(folder: Path, command: str) -> str:
    arguments = shlex.split(command.removeprefix("evidence "))
    run = subprocess.run(
        [sys.executable, "-m", "evidence_kit.commands", *arguments],
        cwd=folder,
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    return run.stdout + run.stderr


def fixed_rules(text: str) -> str:
    """Leave out which Unicode version the installed `regex` knows."""
    return re.sub(r'"unicode_version": "[^"]*"', '"unicode_version": "…"', text)


def test_the_guide_to_receipts_shows_what_its_commands_print(tmp_path: Path) -> None:
    page = (ROOT / "docs" / "receipts.md").read_text(encoding="utf-8")
    for name, text in re.findall(r"^```text (\S+)\n(.*?)^```$", page, re.DOTALL | re.MULTILINE):
        (tmp_path / name).write_text(text, encoding="utf-8", newline="\n")
    shown = re.findall(r"^```console\n\$ ([^\n]*)\n(.*?)^```$", page, re.DOTALL | re.MULTILINE)
    assert len(shown) == 5
    for command, expected in shown:
        printed = evidence(tmp_path, command)
        assert fixed_rules(printed) == fixed_rules(expected), command
        if " create " in command:
            (tmp_path / "凭条.json").write_text(printed, encoding="utf-8")


def undated(text: str) -> str:
    """Leave out today's date."""
    return re.sub(r"\d{4}-\d\d-\d\d", "…", text)


def test_the_ten_minutes_from_a_folder_to_a_baseline_and_a_report_go_as_the_page_says(tmp_path: Path) -> None:
    page = (ROOT / "docs" / "evaluation.md").read_text(encoding="utf-8")
    shutil.copytree(ROOT / "data" / "demo_experiment", tmp_path / "data" / "demo_experiment")
    for name, text in re.findall(r"^```text (\S+)\n(.*?)^```$", page, re.DOTALL | re.MULTILINE):
        (tmp_path / name).write_text(text, encoding="utf-8", newline="\n")
    shown = re.findall(r"^```console\n\$ ([^\n]*)\n(.*?)^```$", page, re.DOTALL | re.MULTILINE)
    assert {command.split()[2] for command, _ in shown} == {
        "new", "import", "ask", "judge", "run", "freeze", "set", "compare", "undo", "export", "restore",
    }  # fmt: skip
    for command, expected in shown:
        assert undated(evidence(tmp_path, command)) == undated(expected), command
    assert (tmp_path / "指标.png").read_bytes().startswith(b"\x89PNG")
    report = (tmp_path / "报告.html").read_text(encoding="utf-8")
    assert "起点" in report and "最后怎么处理" in report
    prompt = (tmp_path / "提示词.txt").read_text(encoding="utf-8")
    assert len(prompt) <= 1200 and "S002" in prompt
    for command in re.findall(r"`(?:evidence experiment )?((?:history|edit|run) [^`]*)`", page):
        with_db = command if "--db" in command else f"{command} --db 实验.db"
        assert not evidence(tmp_path, f"evidence experiment {with_db}").startswith("错误"), command
