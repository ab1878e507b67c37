"""What tests of several parts are given."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="session")
def wheel(tmp_path_factory):
    """The wheel of this checkout, built away from it; skipped where no index has the build backend."""
    base = tmp_path_factory.mktemp("wheel")
    tree = base / "tree"
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    for name in listed.stdout.splitlines():
        if (ROOT / name).is_file():
            (tree / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(ROOT / name, tree / name)
    command = [sys.executable, "-m", "pip", "wheel", "--no-deps", "-w", str(base), str(tree)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=base, check=False)
    if done.returncode and "hatchling" in done.stderr:
        pytest.skip(f"no package index for the build backend: {done.stderr.strip().splitlines()[-1]}")
    assert done.returncode == 0, done.stderr
    (built,) = base.glob("*.whl")
    return built
