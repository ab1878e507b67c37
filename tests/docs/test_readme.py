"""What README shows is what its commands print, and both languages show the same."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
CACHES = {"__pycache__", ".hypothesis", ".import_linter_cache", ".mypy_cache", ".pytest_cache", ".ruff_cache"}
LEFT_OUT = {".git", ".venv", "build", "dist", *CACHES}
MADE_BY_RUNS = re.compile(r"output/(?!reference_)")


def blocks(name: str, language: str) -> list[str]:
    text = (ROOT / name).read_text(encoding="utf-8")
    return re.findall(rf"^```{language}\n(.*?)^```$", text, flags=re.DOTALL | re.MULTILINE)


def fresh_copy(target: Path) -> Path:
    def left_out(folder: str, names: list[str]) -> set[str]:
        place = Path(folder).relative_to(ROOT).as_posix()
        return {n for n in names if n in LEFT_OUT or MADE_BY_RUNS.match(f"{place}/{n}")}

    shutil.copytree(ROOT, target, ignore=left_out)
    return target


def test_every_console_block_shows_what_its_command_prints(tmp_path: Path) -> None:
    project = fresh_copy(tmp_path / "project")
    shown = blocks("README.md", "console")
    assert len(shown) >= 6
    for block in shown:
        command, _, expected = block.partition("\n")
        program, *arguments = shlex.split(command.removeprefix("$ "))
        assert program == "python"
        environment = {**os.environ, "PYTHONIOENCODING": "ascii"}
        run = subprocess.run(
            [sys.executable, *arguments], cwd=project, capture_output=True, encoding="utf-8", env=environment
        )
        assert (run.returncode, run.stderr) == (0, ""), command
        assert run.stdout == expected, command


def test_both_languages_show_the_same_commands_and_output() -> None:
    for language in ("console", "sh"):
        assert blocks("README.md", language) == blocks("README.en.md", language) != []


def test_ci_runs_the_install_and_test_lines_that_readme_gives() -> None:
    (install,) = blocks("README.md", "sh")
    script = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    assert install.splitlines() == ['python -m pip install -e ".[dev]"', "python -m pytest"]
    assert 'python -m pip install -q -e ".[dev]"' in script
    assert "python -m pytest" in script


def test_every_link_of_the_documents_leads_to_a_file() -> None:
    pages = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]
    for page in pages:
        for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8")):
            assert (page.parent / target).exists(), f"{page.name}: {target}"
