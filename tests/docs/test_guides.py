"""The guides under docs/ show what their `evidence` commands print, in a folder with the files they name."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

from evidence_kit.sources.days import today

ROOT = Path(__file__).resolve().parents[2]


def evidence(folder: Path, command: str, code: int = 0) -> str:
    """Return what a command prints; it must end with this code."""
    arguments = shlex.split(command.removeprefix("evidence "))
    run = subprocess.run(
        [sys.executable, "-m", "evidence_kit.commands", *arguments],
        cwd=folder,
        capture_output=True,
        encoding="utf-8",
        input="周一闭馆。",
        check=False,
    )
    printed = run.stdout + run.stderr
    assert run.returncode == code, (command, printed)
    return printed


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
        printed = evidence(tmp_path, command, 2 if expected.startswith("错误：") else 0)
        assert fixed_rules(printed) == fixed_rules(expected), command
        if " create " in command:
            (tmp_path / "凭条.json").write_text(printed, encoding="utf-8")


def of_today(text: str) -> str:
    """Let a page that was written on its day be of today; other days stay."""
    return text.replace("2026-11-30", today().isoformat())


def test_the_ten_minutes_from_a_folder_to_a_baseline_and_a_report_go_as_the_page_says(tmp_path: Path) -> None:
    page = (ROOT / "docs" / "evaluation.md").read_text(encoding="utf-8")
    shutil.copytree(ROOT / "data" / "demo_experiment", tmp_path / "data" / "demo_experiment")
    for name, text in re.findall(r"^```text (\S+)\n(.*?)^```$", page, re.DOTALL | re.MULTILINE):
        (tmp_path / name).write_text(text, encoding="utf-8", newline="\n")
    shown = re.findall(r"^```console\n\$ ([^\n]*)\n(.*?)^```$", page, re.DOTALL | re.MULTILINE)
    assert {command.split()[2] for command, _ in shown} == {
        "new", "import", "ask", "judge", "run", "freeze", "set", "compare", "undo", "export", "restore",
    }  # fmt: skip
    refused = [command for command, expected in shown if expected.startswith("错误：")]
    assert len(refused) == 1
    for command, expected in shown:
        code = 2 if command in refused else 0
        assert evidence(tmp_path, of_today(command), code) == of_today(expected), command
    assert (tmp_path / "指标.png").read_bytes().startswith(b"\x89PNG")
    report = (tmp_path / "报告.html").read_text(encoding="utf-8")
    assert "起点" in report and "最后怎么处理" in report
    prompt = (tmp_path / "提示词.txt").read_text(encoding="utf-8")
    assert len(prompt) <= 1200 and "S002" in prompt
    # What the text mentions beside these also runs; other tools' files are stood in for by our own.
    evidence(tmp_path, "evidence experiment export --db 实验.db --trec-run 排名.txt --squad 阅读理解集.json")
    mentioned = re.findall(r"`((?:evidence [a-z]+ [a-z-]|(?!python )[a-z]+ -|judge Q)[^`\n]+)`", page)
    assert {command.split()[0] for command in mentioned} >= {"evidence", "run", "judge", "import", "export"}
    assert any(command.startswith("evidence measure ") for command in mentioned)
    for command in mentioned:
        of_measure = command.startswith("evidence measure ")
        whole = command if command.startswith("evidence ") else f"evidence experiment {command}"
        with_db = whole if "--db" in whole or of_measure else f"{whole} --db 实验.db"
        evidence(tmp_path, of_today(with_db))
