"""Nothing of the frozen set stands where it could have been learnt from; the modules look one way only."""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import acceptance
import calibrate
import evaluate
import evidence_assistant as ea

ROOT = Path(ea.__file__).resolve().parent
Q09 = "上门服务需要收多少费用"


# ---- the leak rule ----


@pytest.mark.parametrize(
    ("first", "second", "leaks"),
    [
        # equal once normalised, however short
        ("周六开门吗？", " 周六，开门吗", True),
        ("换货", "换货。", True),
        ("甲", "甲。", True),
        ("USB-C 线", "usb c线", True),
        ("换货", "退货", False),
        # containment: five characters are too few, six are enough
        ("申请换货的", "我想知道申请换货的配件该怎么寄回去才对呢", False),
        ("申请换货的配", "我想知道申请换货的配件该怎么寄回去才对呢", True),
        ("申请，换货 的", "我想知道申请换货的配件该怎么寄回去才对呢", False),
        ("申请，换货 的配？", "我想知道（申请换货）的配件该怎么寄回去才对呢", True),
        # nothing in common
        ("一二三四五六七", "甲乙丙丁戊己庚", False),
        ("", "问题", False),
    ],
)
def test_leak_by_equality_or_containment(first: str, second: str, leaks: bool) -> None:
    assert evaluate.questions_leak(first, second) is leaks
    assert evaluate.questions_leak(second, first) is leaks


def grams(text: str) -> set[str]:
    return {text[i : i + n] for n in (2, 3) for i in range(len(text) - n + 1)}


@pytest.mark.parametrize(
    ("first", "second", "shared", "union"),
    [
        # 甲乙丙丁戊 + 己 or 庚: the common five characters give 4 pairs and 3 triples, the ends 2 more each
        ("甲乙丙丁戊己", "甲乙丙丁戊庚", 7, 11),
        # four common characters give 3 + 2, each end adds 2
        ("甲乙丙丁戊", "甲乙丙丁己", 5, 9),
        # exactly 0.6: three of five
        ("甲乙丙", "甲乙丙丁", 3, 5),
        # just below: five of nine, and eleven of nineteen
        ("甲乙丙丁", "甲乙丙丁戊己", 5, 9),
        ("甲乙丙丁戊己庚辛壬", "子乙丙丁戊己庚辛丑", 11, 19),
        # well above
        ("甲乙丙丁戊己庚辛", "甲乙丙丁戊己庚壬", 11, 15),
    ],
)
def test_leak_by_jaccard_index_of_06(first: str, second: str, shared: int, union: int) -> None:
    a, b = grams(first), grams(second)
    assert (len(a & b), len(a | b)) == (shared, union)
    assert evaluate.questions_leak(first, second) is (shared / union >= 0.6)
    assert evaluate.questions_leak(second, first) is (shared / union >= 0.6)


def test_repeated_ngrams_count_once_in_the_jaccard_index() -> None:
    assert evaluate.questions_leak("哈哈哈哈", "哈哈哈") is True


def test_leaking_pairs_are_named_by_both_ids() -> None:
    first = [{"id": "A", "question": "周六开门吗"}, {"id": "B", "question": "怎么换货"}]
    second = [{"id": "X", "question": "怎么换货？"}, {"id": "Y", "question": "外壳能打开吗"}]
    assert evaluate.leaking_pairs(first, second) == [("B", "X")]


def test_no_question_of_one_set_leaks_into_another() -> None:
    sets = {
        name: ea.read_json(ea.DATA / f"{name}.json")["items"]
        for name in ("calibration_qa", "probe_qa", "fixed_qa")
    }
    names = list(sets)
    for i, first in enumerate(names):
        for second in names[i + 1 :]:
            assert evaluate.leaking_pairs(sets[first], sets[second]) == []


def test_frozen_question_in_the_calibration_set_fails_acceptance(course) -> None:
    course.edit("data/calibration_qa.json", lambda data: data["items"][0].update(question=f"请问{Q09}？"))
    run = course.run("acceptance.py")
    assert "题集隔离" in run.failed_checks
    (line,) = [line for line in run.stdout.splitlines() if "[失败] 题集隔离" in line]
    assert "Q09" in line
    assert "CAL01" in line


@pytest.mark.parametrize(
    ("module", "loader", "question"),
    [
        (calibrate, "load_calibration", f"请问{Q09}？"),
        (evaluate, "load_probe", f"请问{Q09}？"),
        (evaluate, "load_probe", "中午十二点以后，周六还能办理吗？"),
        (evaluate, "load_frozen", "延长保修的服务怎么购买呢"),
    ],
)
def test_leak_between_any_two_sets_is_found(monkeypatch, chunks, module, loader: str, question: str) -> None:
    honest = getattr(module, loader)(chunks)
    assert acceptance.check_question_sets(chunks)
    leaking = {**honest, "items": [*honest["items"], {"id": "X9", "question": question}]}
    monkeypatch.setattr(module, loader, lambda chunks: leaking)
    with pytest.raises(acceptance.MismatchError, match="X9"):
        acceptance.check_question_sets(chunks)


# ---- the notebook ----


def markdown(*lines: str) -> dict[str, Any]:
    return {"cell_type": "markdown", "metadata": {}, "source": list(lines)}


def code(*lines: str, outputs: Any = ()) -> dict[str, Any]:
    return {
        "cell_type": "code", "execution_count": 1, "metadata": {},
        "outputs": list(outputs), "source": list(lines),
    }  # fmt: skip


def stream(*text: str, name: str = "stdout") -> dict[str, Any]:
    return {"name": name, "output_type": "stream", "text": list(text)}


def display(kind: str, *text: str) -> dict[str, Any]:
    return {"data": {kind: list(text)}, "metadata": {}, "output_type": "display_data"}


FINAL = code("run_frozen()\n", outputs=[stream(f"{Q09}\n")])
SHOWN = {
    "in a markdown cell": [markdown(f"例如：{Q09}？")],
    "in a comment": [code(f"# {Q09}\n")],
    "with punctuation and spaces between": [markdown("上门 服务，需要\n", "收多少——费用")],
    "over the lines of a cell": [markdown("上门服务\n", "需要收\n", "多少费用\n")],
    "over two cells": [markdown("上门服务需要"), markdown("收多少费用")],
    "as one string of plus signs": [code('ask("上门" + "服务需要" + "收多少费用")\n')],
    "as neighbouring strings": [code('ask("上门服务"\n', '    "需要收"\n', '    "多少费用")\n')],
    "as variables": [code('a = "上门服务"\n', 'b = "需要收多少费用"\n', "ask(a + b)\n")],
    "as variables of two cells": [code('a = "上门服务"\n'), code('b = "需要收多少费用"\n', "ask(a + b)\n")],
    "as a sum between variables": [code('a = "上门"\n', 'b = "服务" + "需要"\n', 'c = "收多少费用"\n')],
    "as a list that is joined": [code('"".join(["上门", "服务", ("需要", "收多少"), "费用"])\n')],
    "as escapes": [code("ask('" + Q09.encode("unicode_escape").decode() + "')\n")],
    "as an f-string": [code('f"上门{x}服务{y}需要收多少费用"\n')],
    "beside a magic line": [code("%matplotlib inline\n", 'a = "上门服务"\n', 'b = "需要收多少费用"\n')],
    "in an output": [code("run()\n", outputs=[stream(f"问：{Q09}\n")])],
    "over the lines of an output": [code("run()\n", outputs=[stream("上门服务\n", "需要收多少费用\n")])],
    "over two outputs": [
        code("run()\n", outputs=[stream("上门服务"), stream("需要收多少费用", name="stderr")])
    ],
    "over the outputs of two cells": [
        code("one()\n", outputs=[stream("上门服务\n")]),
        code("two()\n", outputs=[stream("需要收多少费用\n")]),
    ],
    "over two cells with an output between": [
        code("# 上门服务\n", outputs=[stream("无关\n")]),
        markdown("需要收多少费用"),
    ],
    "in a displayed text": [code("x\n", outputs=[display("text/plain", f"'{Q09}'")])],
    "in a displayed page": [code("x\n", outputs=[display("text/html", f"<p>{Q09}</p>")])],
    "in displayed JSON": [
        code("x\n", outputs=[{"data": {"application/json": {"q": [Q09]}}, "output_type": "display_data"}])
    ],
    "in an error": [
        code("x\n", outputs=[{"output_type": "error", "ename": "E", "evalue": Q09, "traceback": []}])
    ],
    "in a traceback": [
        code("x\n", outputs=[{"output_type": "error", "ename": "E", "evalue": "", "traceback": ["a\n", Q09]}])
    ],
    "in a raw cell": [{"cell_type": "raw", "metadata": {}, "source": Q09}],
}
HARMLESS = {
    "nothing": [],
    "other questions": [
        markdown("周六受理到几点？"),
        code('ask("换货要附照片吗")\n', outputs=[stream("C003\n")]),
    ],
    "half a question": [markdown("上门服务需要收")],
    "the other order": [markdown("多少费用"), markdown("上门服务需要收")],
    "magic and shell lines": [code("%matplotlib inline\n", "!python acceptance.py\n", "x = 1\n")],
    "a picture": [code("x\n", outputs=[display("image/png", "iVBORw0KGgo=")])],
}


@pytest.fixture
def check(tmp_path: Path, monkeypatch):
    """Return a function that checks a notebook of the given cells."""

    def run(*cells: dict[str, Any]) -> str:
        path = tmp_path / acceptance.NOTEBOOK
        path.parent.mkdir(exist_ok=True)
        notebook = {"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
        path.write_text(json.dumps(notebook, ensure_ascii=False), encoding="utf-8")
        monkeypatch.setattr(acceptance, "ROOT", tmp_path)
        return acceptance.check_notebook(ea.read_json(ea.DATA / "fixed_qa.json")["items"])

    return run


@pytest.mark.parametrize("where", SHOWN)
def test_frozen_question_before_the_final_cell_is_found(check, where: str) -> None:
    with pytest.raises(acceptance.MismatchError, match="Q09"):
        check(markdown("# 标题"), *SHOWN[where], FINAL)


@pytest.mark.parametrize("where", HARMLESS)
def test_notebook_without_a_frozen_question_passes(check, where: str) -> None:
    assert check(*HARMLESS[where], FINAL)


@pytest.mark.parametrize(
    "cell", [None, 5, "x", [], {}, {"source": 5}, {"cell_type": "code", "source": "if\n"}]
)
def test_notebook_that_is_none_fails_the_check(check, cell: Any) -> None:
    with pytest.raises(acceptance.MismatchError):
        check(cell, FINAL)


def test_notebook_code_with_a_null_character_fails_the_check(check) -> None:
    with pytest.raises(acceptance.MismatchError):
        check(code("x = '\0'\n"), FINAL)


# ---- constants and keywords ----


def test_constants_of_the_modules_hold_no_piece_of_a_frozen_question(chunks) -> None:
    """An own reading of the rule: four characters in a row that the corpus in force does not hold."""
    corpus = "\n".join(ea.normalize(c["text"]) for c in chunks if c["effective_status"] == "active")
    pieces = set()
    for item in ea.read_json(ea.DATA / "fixed_qa.json")["items"]:
        clean = ea.normalize(item["question"])
        pieces |= {clean[i : i + 4] for i in range(len(clean) - 3)}
    telling = {piece for piece in pieces if piece not in corpus}
    assert len(telling) > 50
    texts = [word for words in ea.load_keyword_rules(chunks).values() for word in words]
    for name in acceptance.MODULES:
        tree = ast.parse((ROOT / name).read_bytes())
        texts += [n.value for n in ast.walk(tree) if isinstance(n, ast.Constant) and isinstance(n.value, str)]
    assert [(text, p) for text in texts for p in telling if p in ea.normalize(text)] == []


# ---- imports ----

MAY_IMPORT = {
    "answer_adapter": set(),
    "evidence_assistant": {"answer_adapter"},
    "calibrate": {"answer_adapter", "evidence_assistant"},
    "evaluate": {"answer_adapter", "evidence_assistant"},
    "acceptance": {"answer_adapter", "evidence_assistant", "calibrate", "evaluate"},
}


def imported(path: Path) -> set[str]:
    found = set()
    for node in ast.walk(ast.parse(path.read_bytes())):
        if isinstance(node, ast.Import):
            found |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0
            found.add((node.module or "").split(".")[0])
    return found


@pytest.mark.parametrize("module", MAY_IMPORT)
def test_module_imports_the_standard_library_and_what_stands_below(module: str) -> None:
    foreign = imported(ROOT / f"{module}.py") - set(sys.stdlib_module_names)
    assert foreign <= MAY_IMPORT[module]


@pytest.mark.parametrize("module", MAY_IMPORT)
def test_module_can_be_imported_alone_without_site_packages(module: str, tmp_path: Path) -> None:
    code = f"import sys; sys.path.insert(0, {str(ROOT)!r}); import {module}"
    done = subprocess.run(
        [sys.executable, "-S", "-B", "-c", code], cwd=tmp_path, capture_output=True, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
