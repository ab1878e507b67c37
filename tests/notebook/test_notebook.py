"""The notebook and the lessons show what running them shows.

After a change, store the notebook's outputs again:  python tests/notebook/test_notebook.py
"""

from __future__ import annotations

import ast
import base64
import doctest
import json
import os
import re
import shlex
import shutil
import struct
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

import pytest  # noqa: E402

import acceptance  # noqa: E402
from evidence_assistant import normalize  # noqa: E402

NOTEBOOK = Path("notebooks") / "evidence_assistant.ipynb"
LESSONS = sorted((ROOT / "docs" / "lessons").glob("*.md"))
BEFORE_FROZEN = [page for page in LESSONS if re.match(r"0[1-5]_|README", page.name)]
METADATA = {
    "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
    "language_info": {"name": "python"},
}
# A path of this machine or another, an address in memory, a date with a time of day.
PRIVATE = re.compile(
    r"(?<![\w./])/(?:home|root|Users|tmp|work|usr|opt|var|mnt)/|[A-Za-z]:\\\\|0x[0-9a-f]{6,}"
    r"|\d{4}-\d{2}-\d{2}[T ]\d{2}:"
)


def project_copy(target: Path) -> Path:
    """Return a copy of what acceptance asks for, and of the other question sets; without a ledger."""
    shutil.copytree(ROOT / "data", target / "data")
    for name in acceptance.REQUIRED_FILES:
        (target / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, target / name)
    return target


def executed(project: Path, working_directory: Path) -> Any:
    """Return the notebook run from top to bottom by this interpreter."""
    import nbclient
    import nbformat

    notebook = nbformat.read(project / NOTEBOOK, as_version=4)
    for cell in notebook.cells:
        if cell.cell_type == "code":
            cell.outputs, cell.execution_count = [], None
    client = nbclient.NotebookClient(
        notebook,
        kernel_name="python3",
        timeout=300,
        record_timing=False,
        resources={"metadata": {"path": str(working_directory)}},
    )
    return client.execute()


def shown_texts(cell: Any) -> list[str]:
    """Return the texts that a code cell shows, consecutive pieces of one stream joined."""
    texts: list[tuple[str, str]] = []
    for output in cell["outputs"]:
        if output["output_type"] == "stream":
            text = "".join(output["text"])
            if texts and texts[-1][0] == output["name"]:
                texts[-1] = (output["name"], texts[-1][1] + text)
            else:
                texts.append((output["name"], text))
        elif output["output_type"] == "error":
            texts.append(("error", output["ename"]))
        elif "image/png" not in output["data"]:
            # The text beside an image names its size, which depends on the fonts.
            texts.append((output["output_type"], "".join(output["data"]["text/plain"])))
    return [f"{name}: {text}" for name, text in texts]


def image_sizes(cell: Any) -> list[tuple[int, int]]:
    """Return the width and height of each PNG that a code cell shows."""
    sizes = []
    for output in cell["outputs"]:
        if "image/png" in output.get("data", {}):
            png = base64.b64decode(output["data"]["image/png"], validate=False)
            assert png[:8] == b"\x89PNG\r\n\x1a\n"
            sizes.append(struct.unpack(">II", png[16:24]))
    return sizes


def code_cells(notebook: Any) -> list[Any]:
    return [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]


@pytest.fixture(scope="module")
def stored() -> Any:
    return json.loads((ROOT / NOTEBOOK).read_text(encoding="utf-8"))


@pytest.fixture
def jupyter(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A kernel of this interpreter, untouched by anybody's own Jupyter and matplotlib settings."""
    for name in ("nbclient", "nbformat", "ipykernel", "matplotlib"):
        pytest.importorskip(name, reason=f"{name} is missing: python -m pip install -e '.[dev]'")
    for name in ("IPYTHONDIR", "JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR"):
        monkeypatch.setenv(name, str(tmp_path / name.lower()))
    monkeypatch.delenv("MPLBACKEND", raising=False)
    monkeypatch.setenv("PYTHONPATH", "")


@pytest.mark.parametrize("working_directory", ["notebooks", "."])
def test_a_fresh_run_shows_what_is_stored(
    stored: Any, jupyter: None, tmp_path: Path, working_directory: str
) -> None:
    project = project_copy(tmp_path / "project")
    fresh = executed(project, project / working_directory)
    for old, new in zip(code_cells(stored), code_cells(fresh), strict=True):
        assert shown_texts(new) == shown_texts(old), old["id"]
        assert [min(size) > 100 for size in image_sizes(new)] == [True] * len(image_sizes(old)), old["id"]
    ledger = (project / "output" / "frozen_runs.jsonl").read_text(encoding="ascii")
    assert ledger.count("\n") == 1  # the final cell, and only it, used the frozen set


def test_the_stored_notebook_is_whole_and_names_no_machine(stored: Any) -> None:
    assert [stored["nbformat"], stored["nbformat_minor"]] == [4, 5]
    assert stored["metadata"] == METADATA
    cells = code_cells(stored)
    assert [cell["execution_count"] for cell in cells] == list(range(1, len(cells) + 1))
    assert all(cell["metadata"] == {} for cell in stored["cells"])
    assert sum(len(image_sizes(cell)) for cell in cells) == 2
    assert len(image_sizes(cells[-1])) == 1
    for cell in cells:
        assert not [text for text in shown_texts(cell) if text.startswith(("stderr", "error"))], cell["id"]
    for text in _strings(stored):
        assert not PRIVATE.search(text), PRIVATE.search(text)


def _strings(value: Any, key: str = "") -> Iterator[str]:
    if isinstance(value, str) and not key.startswith("image/"):
        yield value
    elif isinstance(value, list):
        yield from _strings("".join(value) if all(isinstance(v, str) for v in value) else "", key)
        for item in value:
            if not isinstance(item, str):
                yield from _strings(item, key)
    elif isinstance(value, dict):
        for name, item in value.items():
            yield from _strings(item, name)


def frozen_questions() -> list[str]:
    items = json.loads((ROOT / "data" / "fixed_qa.json").read_text(encoding="utf-8"))["items"]
    return [normalize(item["question"]) for item in items]


def test_no_frozen_question_shows_before_the_final_cell(stored: Any) -> None:
    text = acceptance.notebook_text(stored)
    assert not [question for question in frozen_questions() if question in text]
    # Only the final cell may load the frozen set: `evaluate` is imported there and nowhere above.
    assert stored["cells"][-1]["cell_type"] == "code"
    for cell in code_cells(stored)[:-1]:
        names = {
            node.id for node in ast.walk(ast.parse("".join(cell["source"]))) if isinstance(node, ast.Name)
        }
        assert "evaluate" not in names, cell["id"]
        assert "fixed_qa" not in "".join(cell["source"]), cell["id"]
    assert "evaluate.frozen_report()" in "".join(stored["cells"][-1]["source"])


def test_without_matplotlib_the_notebook_says_so_and_runs_on(
    stored: Any, jupyter: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = project_copy(tmp_path / "project")
    (project / "notebooks" / "matplotlib.py").write_text("raise ImportError\n", encoding="ascii")
    monkeypatch.setenv("PYTHONPATH", str(project / "notebooks"))
    cells = code_cells(executed(project, project / "notebooks"))
    assert not [size for cell in cells for size in image_sizes(cell)]
    said = [text for cell in cells for text in shown_texts(cell)]
    assert [text for text in said if "没有安装 matplotlib" in text]
    assert shown_texts(cells[-1]) == shown_texts(code_cells(stored)[-1])


# ---- the lessons ----


@pytest.mark.parametrize("page", LESSONS, ids=lambda page: page.stem)
def test_a_lesson_shows_what_its_commands_print(page: Path, tmp_path: Path) -> None:
    project = project_copy(tmp_path / "project")
    for block in re.findall(r"^```console\n(.*?)^```$", page.read_text(encoding="utf-8"), re.S | re.M):
        command, *expected = block.splitlines()
        program, *arguments = shlex.split(command.removeprefix("$ "))
        assert program == "python"
        run = subprocess.run(
            [sys.executable, *arguments], cwd=project, capture_output=True, encoding="utf-8", check=True
        )
        # A line of its own, "…", stands for lines left out.
        pieces = "\n".join(expected).split("…")
        pattern = "(?s:.*)".join(re.escape(piece) for piece in pieces)
        assert re.fullmatch(pattern, run.stdout.rstrip("\n")), command


@pytest.mark.parametrize("page", LESSONS, ids=lambda page: page.stem)
def test_a_lesson_shows_what_its_python_lines_print(page: Path) -> None:
    blocks = re.findall(r"^```pycon\n(.*?)^```$", page.read_text(encoding="utf-8"), re.S | re.M)
    test = doctest.DocTestParser().get_doctest("\n".join(blocks), {}, page.name, page.name, 0)
    assert doctest.DocTestRunner(verbose=False).run(test).failed == 0
    assert len(test.examples) == "".join(blocks).count(">>> ")


@pytest.mark.parametrize("page", BEFORE_FROZEN, ids=lambda page: page.stem)
def test_no_lesson_before_the_frozen_one_shows_a_frozen_question(page: Path) -> None:
    text = normalize(page.read_text(encoding="utf-8"))
    assert not [question for question in frozen_questions() if question in text]


def test_every_function_that_the_code_lesson_names_exists() -> None:
    page = (ROOT / "docs" / "lessons" / "07_reading_the_code.md").read_text(encoding="utf-8")
    sections = dict(re.findall(r"^### (.+?)\n(.*?)(?=^###? |\Z)", page, re.S | re.M))
    sections = {title: body for title, body in sections.items() if ".py" in title}
    assert len(sections) == 4
    for title, body in sections.items():
        modules = {name: __import__(name) for name in re.findall(r"(\w+)\.py", title)}
        rows = re.findall(r"^\|[^|]*\|(.*)\|$", body, re.M)
        names = [name for row in rows for name in re.findall(r"`([\w.]+)`", row)]
        assert names
        for name in names:
            head, *rest = name.split(".")
            owners = [modules[head]] if head in modules else list(modules.values())
            path = rest if head in modules else [head, *rest]
            assert any(_has(owner, path) for owner in owners), name


def test_the_cheat_of_the_code_lesson_is_caught_as_the_lesson_says(tmp_path: Path) -> None:
    page = (ROOT / "docs" / "lessons" / "07_reading_the_code.md").read_text(encoding="utf-8")
    planted = re.search(r"```python\n(.*?)```", page, re.S)
    assert planted
    lines = [line.strip() for line in planted[1].strip().splitlines()]
    project = project_copy(tmp_path / "project")
    module = project / "evidence_assistant.py"
    honest = module.read_text(encoding="utf-8")
    cheat = "".join(f"    {'    ' * i}{line}\n" for i, line in enumerate(lines))
    module.write_text(honest.replace("    if not hits:\n", cheat + "    if not hits:\n", 1), encoding="utf-8")
    run = subprocess.run(
        [sys.executable, "acceptance.py"], cwd=project, capture_output=True, encoding="utf-8", check=False
    )
    assert run.returncode == 1
    failed = re.findall(r"^\[失败\] (.+?)：", run.stdout, re.M)
    assert failed == re.findall(r"^\| (代码隔离|路由只看命中|独立重算|成绩与结论|正式参考) \|", page, re.M)
    different = re.search(r"reference_report\.json 有 (\d+) 处不同，前几处：\s+decision ", run.stdout)
    assert different
    assert f"现场报告有 {different[1]} 处与参考不同，第一处就是决定" in page
    for claim in ("character_ngram_tfidf：12/12", "ready_for_use（采用）", "陌生题正确拒答 18/30"):
        assert claim in run.stdout


def _has(owner: Any, path: list[str]) -> bool:
    for name in path:
        if not hasattr(owner, name):
            return False
        owner = getattr(owner, name)
    return True


def test_the_task_contract_holds_the_evidence_questions_word_for_word() -> None:
    items = json.loads((ROOT / "data" / "evidence_questions.json").read_text(encoding="utf-8"))["items"]
    fields = ("id", "question", "kind", "evidence_needed", "timeliness", "without_evidence", "owner")
    contract = (ROOT / "docs" / "task_contract.md").read_text(encoding="utf-8")
    for item in items:
        assert "| " + " | ".join(item[field] for field in fields) + " |" in contract, item["id"]


def store() -> None:
    """Run the notebook in a temporary copy and keep what a reader needs of it."""
    import tempfile

    import nbformat

    with tempfile.TemporaryDirectory() as folder:
        os.environ.pop("MPLBACKEND", None)
        project = project_copy(Path(folder) / "project")
        notebook = executed(project, project / "notebooks")
    notebook.metadata = nbformat.from_dict(METADATA)
    for cell in notebook.cells:
        cell.metadata = nbformat.from_dict({})
    nbformat.validate(notebook)
    text = nbformat.writes(notebook, indent=1, sort_keys=True)
    (ROOT / NOTEBOOK).write_text(text.rstrip("\n") + "\n", encoding="utf-8", newline="\n")


if __name__ == "__main__":
    store()
