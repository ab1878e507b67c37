"""Figures show every measure or say that it is undefined, in letters that the machine has, always alike."""

import builtins
import hashlib
import io
import os
import re
import subprocess
import sys
import warnings
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import matplotlib
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from evidence_kit.experiments.model import Parameters, Question, QuestionResult, Run
from evidence_kit.reports.errors import ReportError
from evidence_kit.reports.figures import MOST_QUESTIONS, draw_measures
from evidence_kit.reports.fonts import find_letters, label, plain_letters

ROOT = Path(__file__).parents[3]


def result(number, text, value):
    return QuestionResult(Question(f"q{number}", text), (), (), {"MRR@3": value, "nDCG@3": value})


def of(*results):
    return Run(
        parameters=Parameters(),
        as_of="2026-11-30",
        passages=1,
        left_out={},
        results=results,
        means={"MRR@3": 0.25, "nDCG@3": None},
        undefined={},
        missing=(),
        unjudged_in_top_k=0,
        stale_in_top_k=0,
        stale_pairs=(),
    )


def drawn(run, letters=None):
    """The texts of a figure: the SVG names each in a comment beside its outlines."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # matplotlib warns of each letter that it shows as a box
        svg = draw_measures(run, "svg", letters).decode("utf-8")
    ElementTree.fromstring(svg)
    comments = re.findall(r"<!--(.*?)-->", svg, re.DOTALL)
    return [line.strip() for comment in comments for line in comment.split("\n")]


def test_figure_names_every_question_value_and_mean_and_what_is_undefined():
    run = of(result(1, "first", 1.0), result(2, "second", None), result(3, "third", 1 / 3))
    found = drawn(run, plain_letters())
    for text, times in {
        "q1 first": 1,
        "q2 second": 1,
        "q3 third": 1,
        "1.000": 2,
        "0.333": 2,
        "undefined": 3,
    }.items():
        assert found.count(text) == times, text
    assert "mean 0.250000" in found


def test_chinese_is_drawn_where_a_font_has_it_and_ids_where_none_does():
    run = of(result(1, "天文馆几点开门？", 0.5), result(2, "\U000f0000", None))
    if not find_letters().chinese:
        pytest.skip("this machine has no Chinese font")
    assert {"q1 天文馆几点开门？", "q2", "未定义", "均值 0.250000"} <= set(drawn(run))
    plain = drawn(run, plain_letters())
    assert {"q1", "q2", "undefined", "mean 0.250000"} <= set(plain)
    assert all(text.isascii() for text in plain)


def test_question_whose_text_and_id_no_font_has_goes_by_its_number():
    odd = QuestionResult(Question("\U000f0000", "\U000f0001"), (), (), {"MRR@3": 1.0})
    assert "#2" in drawn(of(result(1, "a", 1.0), odd))
    named = QuestionResult(Question("\U000f0000", "text"), (), (), {"MRR@3": 1.0})
    assert "text" in drawn(of(named), plain_letters())


def test_dollars_underscores_and_backslashes_are_text_and_no_formula():
    texts = ["$x_1$ = $", "$\\frac{a$", "a_b^c \\n", "\\$5", "$$"]
    found = drawn(of(*(result(i, text, 0.5) for i, text in enumerate(texts))), plain_letters())
    assert [text for i, text in enumerate(texts) if f"q{i} {text}" not in found] == []


def test_text_that_looks_like_markup_stays_inside_the_picture():
    run = of(result(1, "--><script>alert(1)</script>", 0.5))
    tree = ElementTree.fromstring(draw_measures(run, "svg", plain_letters()))
    assert not [element for element in tree.iter() if "script" in str(element.tag)]


@settings(max_examples=10)
@given(st.lists(st.text(st.characters(exclude_categories=["Cs"])).filter(str.strip), min_size=1, max_size=20))
def test_no_text_is_drawn_as_boxes(texts):
    run = of(*(result(i, text, 0.5) for i, text in enumerate(texts, start=1)))
    for letters in (find_letters(), plain_letters()):
        drawn(run, letters)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("abcdefgh", "abcdefgh"),
        ("abcdefghi", "abcdefg…"),
        ("a\n b\t\u3000c", "a b c"),
        (" ", "q"),
        ("\u202e", "q"),
        ("\0", "q"),
        ("a\u200bb", "q"),
    ],
)
def test_label_is_one_line_of_letters_and_cut_where_it_is_long(text, shown):
    assert label(plain_letters(), [text, "q"], 8) == shown


def test_chinese_character_takes_two_columns_of_a_label():
    letters = replace(plain_letters(), known=frozenset(map(ord, "天文馆开放…")))
    assert label(letters, ["天文馆开", "q"], 8) == "天文馆开"
    assert label(letters, ["天文馆开放", "q"], 8) == "天文馆…"


def test_png_is_a_picture_that_grows_with_its_questions_and_stops_at_the_most_it_shows():
    heights = []
    for count in (1, 10, MOST_QUESTIONS, MOST_QUESTIONS + 7):
        run = of(*(result(i, "a", 0.5) for i in range(count)))
        picture = Image.open(io.BytesIO(draw_measures(run, "png", plain_letters())))
        assert len(picture.convert("RGB").getcolors(1 << 20)) > 20
        heights.append(picture.size[1])
    assert heights[0] < heights[1] < heights[2] == heights[3]
    found = drawn(run, plain_letters())
    assert any(text.startswith("7 more questions are not drawn") for text in found)


def test_measures_beyond_three_go_to_another_row():
    values = {f"P@{k}": 0.5 for k in range(1, 5)}
    run = replace(of(QuestionResult(Question("q", "a"), (), (), values)), means=values)
    found = drawn(run, plain_letters())
    assert {"P@1", "P@2", "P@3", "P@4"} <= set(found)
    assert found.count("q a") == 2


def test_run_without_questions_is_said_to_have_none():
    assert "no questions" in drawn(of(), plain_letters())


_PROGRAM = """
import hashlib, sys
sys.path.insert(0, "tests/kit/reports")
from test_figures import *
run = of(result(1, "天文 a", 0.5), result(2, "b", None))
print(*(hashlib.sha256(draw_measures(run, kind)).hexdigest() for kind in ("png", "svg")))
print("matplotlib.pyplot" in sys.modules)
"""


def test_another_process_draws_the_same_bytes_and_never_loads_pyplot():
    run = of(result(1, "天文 a", 0.5), result(2, "b", None))
    own = [hashlib.sha256(draw_measures(run, kind)).hexdigest() for kind in ("png", "svg")]
    env = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONHASHSEED": "7", "TZ": "Asia/Tokyo"}
    other = subprocess.run(
        [sys.executable, "-c", _PROGRAM], cwd=ROOT, env=env, capture_output=True, text=True, check=True
    )
    assert other.stdout.split() == [*own, "False"]


def test_drawing_leaves_the_settings_of_matplotlib_as_they_were():
    before = dict(matplotlib.rcParams)
    draw_measures(of(result(1, "a", 0.5)), "svg")
    assert dict(matplotlib.rcParams) == before


def test_other_format_is_refused():
    with pytest.raises(ReportError, match="'pdf' 无效：请改为 png 或 svg"):
        draw_measures(of(), "pdf")


def test_missing_matplotlib_is_named_with_the_command_that_installs_it(monkeypatch):
    ordinary = builtins.__import__

    def without(name, *args, **kwargs):
        if name.partition(".")[0] == "matplotlib":
            raise ImportError(name)
        return ordinary(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(ReportError, match=r'matplotlib.* pip install "evidence-assistant\[figures\]"'):
        draw_measures(of(), "png")
