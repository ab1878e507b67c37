"""The guides under docs/ show what their `evidence` commands print, in a folder with the files they name."""

from __future__ import annotations

import re
import shlex
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
