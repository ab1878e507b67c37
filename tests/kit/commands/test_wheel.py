"""The built wheel, installed in an empty environment outside the checkout.

Needs a package index for the two dependencies and the build backend; without one it is skipped with pip's
reason.
"""

import json
import os
import subprocess
import sys
import venv

import pytest

pytestmark = pytest.mark.once
TEXT = "说明😀：仅限室内。"


def run(*args, cwd, **options):
    environment = {
        key: value for key, value in os.environ.items() if key not in ("PYTHONPATH", "VIRTUAL_ENV")
    }
    return subprocess.run(
        [str(arg) for arg in args],
        cwd=cwd,
        env=environment,
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
        **options,
    )


@pytest.fixture(scope="module")
def installed(wheel, tmp_path_factory):
    """The `evidence` program of an environment that holds the wheel and its dependencies, and a folder to
    work in.
    """
    base = tmp_path_factory.mktemp("installed")
    work = base / "work"
    work.mkdir()
    # Empty but for what the wheel asks for: the pip of this interpreter installs into it.
    venv.create(base / "env")
    scripts = base / "env" / ("Scripts" if sys.platform == "win32" else "bin")
    pip = (sys.executable, "-m", "pip")
    done = run(*pip, "--python", scripts / "python", "install", wheel, cwd=work)
    if done.returncode and "No matching distribution" in done.stderr:
        pytest.skip(f"no package index for the dependencies: {done.stderr.strip().splitlines()[-1]}")
    assert done.returncode == 0, done.stderr
    (work / "a.txt").write_bytes(TEXT.encode())
    (work / "b.txt").write_bytes(("新版：" + TEXT).encode())
    return scripts / "evidence", work


def test_the_installed_commands_do_what_they_do_in_the_checkout(installed):
    evidence, work = installed
    place = run(evidence, "position", "a.txt", "--at", "5", "--unit", "utf16", "--json", cwd=work)
    assert json.loads(place.stdout)["utf8"] == 13
    made = run(
        evidence, "anchor", "create", "a.txt", "--start", "4", "--end", "8", "--unit", "codepoint", cwd=work
    )
    (work / "a.json").write_text(made.stdout, encoding="utf-8")
    found = run(evidence, "anchor", "resolve", "a.json", "b.txt", "--json", cwd=work)
    assert (found.returncode, json.loads(found.stdout)["start"]) == (0, 7)
    (work / "bundle.json").write_text("{}", encoding="utf-8")
    assert run(evidence, "bundle", "verify", "bundle.json", cwd=work).returncode == 2


def test_the_installed_program_tells_its_version(installed):
    evidence, work = installed
    shown = run(evidence, "--version", cwd=work).stdout.split()
    assert shown[0] == "evidence"
    assert shown[1][0].isdigit()
