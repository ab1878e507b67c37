"""Fixtures of the course tests: the checkout, which is only read, and private copies, which may be broken."""

from __future__ import annotations

import functools
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

import acceptance  # noqa: E402
import evidence_assistant  # noqa: E402

OWN_REFERENCES = """
import acceptance, calibrate, contextlib, evaluate, io, sys
with contextlib.redirect_stdout(io.TextIOWrapper(io.BytesIO())):
    evaluate.main(["--report", "output/reference_report.json"])
    calibrate.main(["--report", "output/reference_calibration.json"])
sys.argv = ["acceptance.py"]
acceptance.main()
"""


@dataclass(frozen=True)
class Run:
    """What one command did."""

    returncode: int
    stdout: str
    stderr: str

    def refused(self, *words: str) -> None:
        """Assert the one way to refuse an input: exit 2 and one line on stderr that holds all the words."""
        lines = self.stderr.splitlines()
        assert (self.returncode, len(lines)) == (2, 1), self
        assert "Traceback" not in self.stdout + self.stderr
        for word in words:
            assert word in lines[0]

    def done(self) -> str:
        """Assert success and silence on stderr; return what was printed."""
        assert (self.returncode, self.stderr) == (0, ""), self
        return self.stdout

    @property
    def failed_checks(self) -> list[str]:
        """The checks that acceptance names as failed, in its order."""
        assert (self.returncode, self.stderr) == (1, ""), self
        last = self.stdout.splitlines()[-1]
        assert last.startswith("验收不通过：")
        names = last.removeprefix("验收不通过：").split("、")
        marked = [line.removeprefix("[失败] ") for line in self.stdout.splitlines() if line[:5] == "[失败] "]
        assert len(marked) == len(names)
        assert all(line.startswith(name) for line, name in zip(marked, names, strict=True))
        return names


class Course:
    """A private copy of the course, as a student has it: the required files and the data, nothing else."""

    def __init__(self, root: Path) -> None:
        self.root = root
        data = (path.relative_to(ROOT).as_posix() for path in (ROOT / "data").glob("*.json"))
        for name in {*acceptance.REQUIRED_FILES, *data}:
            target = root / name
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(ROOT / name, target)

    def run(
        self, *arguments: str | Path, python: tuple[str, ...] = (sys.executable, "-B"), **environment: str
    ) -> Run:
        """Run `python ARGUMENTS` in the copy; keyword arguments are environment variables."""
        clean = {key: value for key, value in os.environ.items() if not key.startswith("PYTHON")}
        done = subprocess.run(
            [*python, *map(str, arguments)],
            cwd=self.root, env=clean | environment, capture_output=True, timeout=120, check=False,
        )  # fmt: skip
        return Run(done.returncode, done.stdout.decode("utf-8"), done.stderr.decode("utf-8"))

    def read(self, name: str) -> Any:
        """Return a JSON file of the copy."""
        return json.loads((self.root / name).read_text(encoding="utf-8"))

    def write(self, name: str, value: Any) -> Path:
        """Write bytes as they are, anything else as JSON."""
        path = self.root / name
        content = value if isinstance(value, bytes) else json.dumps(value, ensure_ascii=False).encode("utf-8")
        path.write_bytes(content)
        return path

    def edit(self, name: str, change: Callable[[Any], object]) -> Path:
        """Change a JSON file of the copy in place."""
        value = self.read(name)
        change(value)
        return self.write(name, value)

    def plant(self, module: str, code: str) -> None:
        """Add code at the end of a module, before its command line runs."""
        path = self.root / module
        body, guard, tail = path.read_text(encoding="utf-8").partition('\nif __name__ == "__main__":')
        assert guard, module
        path.write_text(f"{body}\n{code}\n{guard}{tail}", encoding="utf-8")

    def accept_own_references(self) -> Run:
        """Write both references by the commands of this copy, then run its acceptance, in one process."""
        return self.run("-c", OWN_REFERENCES)

    def snapshot(self) -> dict[str, str | bytes]:
        """Return every file, link and folder of the copy, apart from the ledger and the live report."""
        left_out = {"output/frozen_runs.jsonl", "output/live_report.json"}
        found: dict[str, str | bytes] = {}
        for path in sorted(self.root.rglob("*")):
            name = path.relative_to(self.root).as_posix()
            if path.is_symlink():
                found[name] = f"link to {path.readlink()}"
            elif path.is_dir():
                found[name] = "folder"
            elif name not in left_out:
                found[name] = path.read_bytes()
        return found


@pytest.fixture
def course(tmp_path: Path) -> Course:
    """A fresh copy of the course."""
    return Course(tmp_path / "course")


@pytest.fixture(scope="session")
def pristine(tmp_path_factory: pytest.TempPathFactory) -> Course:
    """One shared copy in which nothing is changed."""
    return Course(tmp_path_factory.mktemp("pristine") / "course")


@pytest.fixture(scope="session")
def printed(pristine: Course) -> Callable[..., str]:
    """Return what a command prints in an unchanged copy; each command runs once a session."""

    @functools.cache
    def run(*arguments: str) -> str:
        return pristine.run(*arguments).done()

    return run


@pytest.fixture(scope="session")
def chunks() -> list[dict[str, Any]]:
    """The chunks of the teaching corpus."""
    loaded: list[dict[str, Any]] = evidence_assistant.load_corpus()["chunks"]
    return loaded


@pytest.fixture
def chunk() -> Callable[..., dict[str, Any]]:
    """Return a maker of chunks with every field."""

    def make(
        chunk_id: str, text: str, status: str = "active", group: str | None = None, **more: Any
    ) -> dict[str, Any]:
        return {
            "chunk_id": chunk_id, "doc_id": "D", "title": "标题", "version": "1", "scope": "全部",
            "source_location": "第1节", "authorization": "教学", "effective_status": status,
            "conflict_group": group, "text": text, **more,
        }  # fmt: skip

    return make


@pytest.fixture(scope="session")
def interpreters() -> list[str]:
    """Every Python from 3.10 up: this one, those beside it, and those on the path."""
    homes = Path(sys.base_prefix).parent.glob("*/bin/python3")
    named = (shutil.which(f"python3.{minor}") for minor in range(10, 30))
    found = {}
    for candidate in [sys.executable, *map(str, homes), *(path for path in named if path)]:
        asked = subprocess.run(
            [candidate, "-c", "import sys; print(*sys.version_info[:2])"],
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        version = tuple(map(int, asked.stdout.split())) if asked.returncode == 0 else (0, 0)
        if version >= (3, 10):
            found.setdefault(version, candidate)
    return [found[version] for version in sorted(found)]


@pytest.fixture(scope="session")
def plain_user(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, ...]:
    """A Python command for which file permissions hold, even where the tests run as root; or a skip."""
    locked = tmp_path_factory.mktemp("locked") / "file"
    locked.touch()
    locked.chmod(0)
    setpriv = ("setpriv", "--bounding-set=-all", "--inh-caps=-all")
    for prefix in ((), setpriv):
        command = (*prefix, sys.executable, "-B")
        if prefix and not shutil.which(prefix[0]):
            continue
        tried = subprocess.run([*command, "-c", f"open({str(locked)!r})"], capture_output=True, check=False)
        if b"PermissionError" in tried.stderr:
            return command
    pytest.skip("file permissions do not hold for this user")
