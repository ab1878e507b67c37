"""What docs/finder.md shows is what its commands print."""

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[3]
PROGRAMS = {"evidence": [sys.executable, "-m", "evidence_kit.commands"], "python": [sys.executable]}


def test_every_console_block_shows_what_its_command_prints(tmp_path):
    for folder in ("data/finder_sample", "verifiers"):
        shutil.copytree(ROOT / folder, tmp_path / folder)
    page = (ROOT / "docs/finder.md").read_text(encoding="utf-8")
    shown = re.findall(r"^```console\n\$ (.*)\n((?:.*\n)*?)```$", page, flags=re.MULTILINE)
    assert len(shown) >= 8
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])}
    for command, expected in shown:
        program, *arguments = shlex.split(command)
        call = [*PROGRAMS.get(program, [program]), *arguments]
        run = subprocess.run(call, cwd=tmp_path, capture_output=True, encoding="utf-8", env=environment)
        assert (run.returncode, run.stderr) == (0, ""), command
        assert run.stdout == expected, command


def test_links_lead_to_files():
    for page in (ROOT / "docs/finder.md", ROOT / "data/finder_sample/README.md"):
        for target in re.findall(r"\]\(([^)#:]+)\)", page.read_text(encoding="utf-8")):
            assert (page.parent / target).exists(), target
