"""docs/formulas.md: every value in its tables is what the tool of that column gives for the example above."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path
from typing import NamedTuple

import ir_measures
import pytest
import pytrec_eval
from ranx_oracle import ask_ranx

from evidence_kit.formats.trec import TrecError, parse_qrels, parse_run
from evidence_kit.measures.intervals import EXACT_UP_TO, ROUNDS, randomisation_test
from evidence_kit.measures.ranking import MAX_GRADE, evaluate, parse_measure

PAGE = (Path(__file__).parents[3] / "docs/formulas.md").read_text(encoding="utf-8")
EXAMPLE = re.compile(r"```qrels\n(.*?)```\n\n```run\n(.*?)```\n\n((?:\|[^\n]*\n)+)", re.DOTALL)
CELL = re.compile(r"`([^`]+)` (未定义|拒绝|[0-9.]+)")


def ours(qrels, run, name):
    return evaluate(qrels, run, [parse_measure(name)]).means[name]


def trec_eval(qrels, run, name):
    values = pytrec_eval.RelevanceEvaluator(qrels, {re.sub(r"_(\d+)$", r".\1", name)}).evaluate(run)
    return sum(row[name] for row in values.values()) / len(values)


def by_ir_measures(qrels, run, name):
    measure = eval(name, vars(ir_measures).copy())  # its own parser needs what Python 3.14 took away
    return ir_measures.calc_aggregate([measure], qrels, run)[measure]


def ranx(cells):
    asked = [
        {"qrels": cell.qrels, "run": cell.run, "metrics": [cell.name], "make_comparable": False}
        for cell in cells
    ]
    for cell, answer in zip(cells, ask_ranx(asked), strict=True):
        values = answer.get(cell.name, {}).values()
        yield "拒绝" if "refused" in answer else sum(values) / len(values)


TOOLS = {"本工具": ours, "trec_eval": trec_eval, "ir_measures": by_ir_measures}


class Cell(NamedTuple):
    tool: str
    name: str
    expected: str
    qrels: dict
    run: dict


def cells():
    for qrels_text, run_text, table in EXAMPLE.findall(PAGE):
        qrels, run = parse_qrels(qrels_text.encode(), "qrels"), parse_run(run_text.encode(), "run")
        head, _, *rows = ([cell.strip() for cell in line.split("|")[1:-1]] for line in table.splitlines())
        for row in rows:
            for tool, text in zip(head, row, strict=True):
                if tool in {*TOOLS, "ranx"} and text != "无":
                    yield Cell(tool, *CELL.fullmatch(text).groups(), qrels, run)


def shown(value):
    return "未定义" if value is None else value if isinstance(value, str) else f"{value:.6f}"


@pytest.mark.once
def test_every_value_in_the_tables_is_what_its_tool_gives():
    told = list(cells())
    counts = Counter(cell.tool for cell in told)
    assert counts["本工具"] >= 19 and min(counts[tool] for tool in (*TOOLS, "ranx")) >= 9
    of_ranx = [cell for cell in told if cell.tool == "ranx"]
    for cell, value in zip(of_ranx, ranx(of_ranx), strict=True):
        assert shown(value) == cell.expected, cell
    for cell in told:
        if cell.tool != "ranx":
            assert shown(TOOLS[cell.tool](cell.qrels, cell.run, cell.name)) == cell.expected, cell


def test_every_example_has_its_table():
    assert PAGE.count("```qrels") == len(EXAMPLE.findall(PAGE)) == 10


def test_repeated_document_is_refused_here_and_taken_silently_there():
    text = re.findall(r"```run\n(.*?)```", PAGE, re.DOTALL)[-1]
    with pytest.raises(TrecError, match="第 2 行"):
        parse_run(text.encode(), "run")
    (row,) = ir_measures.util.RunConverter(ir_measures.read_trec_run(text)).as_dict_of_dict().values()
    assert row == {"a": 5.0}


def test_numbers_of_the_text_are_those_of_the_code():
    assert f"最高 {MAX_GRADE}" in PAGE
    assert f"不超过 {EXACT_UP_TO} 个" in PAGE
    assert f"抽 {ROUNDS:,} 次" in PAGE and f"/ {ROUNDS + 1:,}" in PAGE
    assert "p 最小也只能是 0.25" in PAGE
    assert randomisation_test([1.0, 1.0, 1.0], seed=1) == (0.25, True)
