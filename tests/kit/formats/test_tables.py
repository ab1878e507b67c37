"""Tables that open in a spreadsheet as what they are, and come back as what they were."""

import csv
import io

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from evidence_kit.experiments.model import DocumentHit, Parameters, PassageHit, Question, QuestionResult, Run
from evidence_kit.formats.tables import TableError, hits_table, measures_table, read_table, write_table

TEXTS = st.text(st.characters(exclude_categories=["Cs"]) | st.sampled_from(list("=+-@'\"\t\r\n, ＝0")))


def by_the_standard_library(data):
    return list(csv.reader(io.StringIO(data.decode("utf-8-sig"), newline=""), strict=True))


@given(st.lists(st.lists(TEXTS, min_size=1), min_size=1))
@example([["'"], ["''=1"], ["'=1"], ["=1"]])
@example([[""], ["", ""]])
@example([["\ufeff=1", "\0"]])
def test_every_text_comes_back_unchanged(rows):
    assert read_table(write_table(rows[0], rows[1:]), "t.csv") == rows


@given(st.lists(st.lists(TEXTS.filter(lambda text: "\0" not in text), min_size=1), min_size=1))
def test_standard_library_reads_the_same_rows_and_one_apostrophe_more(rows):
    read = by_the_standard_library(write_table(rows[0], rows[1:]))
    assert [[cell.removeprefix("'") for cell in row] for row in read] == rows


@given(TEXTS)
def test_no_text_begins_as_a_formula_however_much_is_skipped_before_it(text):
    (cell,) = by_the_standard_library(write_table([text.replace("\0", "")], []))[0]
    begun = cell.lstrip(" \t\r\n\v\f\x1c\x1d\x1e\x1f\x85\xa0\u2028\u3000\u200b\ufeff")
    assert begun[:1] not in {"=", "+", "-", "@", "＝", "＋", "－", "＠"}
    assert cell[:1] not in {"\t", "\r", "\n"}


@pytest.mark.parametrize("before", ["", " ", "\n", "\r\n", "\u3000", "\u200b", "\ufeff", "\x00", "\x85"])
@pytest.mark.parametrize("starter", "=+-@＝＋－＠")
def test_formula_is_neutralised_with_one_apostrophe(before, starter):
    text = f'{before}{starter}HYPERLINK("http://x","甲")'
    data = write_table([text], [])
    assert data.startswith(b"\xef\xbb\xbf\"'")
    assert read_table(data, "t") == [[text]]


@pytest.mark.parametrize("text", ["\t", "\r", "\n", "\ta", "\r\na", "\na"])
def test_cell_that_begins_with_a_break_is_neutralised(text):
    assert by_the_standard_library(write_table([text], [])) == [["'" + text]]


@pytest.mark.parametrize("text", ["甲=1", "a+b", "1-2", "x@y", '"=1"', "2026-11-30", "#1", "a\tb"])
def test_text_that_no_spreadsheet_runs_stays(text):
    assert by_the_standard_library(write_table([text], [])) == [[text]]


def test_numbers_stay_numbers_and_text_that_looks_like_one_with_a_sign_does_not():
    data = write_table(["a"], [[-0.5], [-3], [2 / 3], [-1e-9], [1e-7], [12345678.0], [None], ["-0.5"]])
    lines = data.decode("utf-8-sig").split("\r\n")
    assert lines == [
        '"a"', "-0.500000", "-3", "0.666667", "0.000000", "0.000000", "12345678.000000", "", "\"'-0.5\"", ""
    ]  # fmt: skip


@pytest.mark.parametrize("number", [float("nan"), float("inf"), -float("inf")])
def test_number_that_is_not_finite_is_refused(number):
    with pytest.raises(TableError, match="不是有限的数"):
        write_table(["a"], [[number]])


def test_lone_surrogate_is_refused():
    with pytest.raises(TableError, match="代理项"):
        write_table(["\ud800"], [])


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b'"a', "第 1 行"),
        (b'a\r\n"b"c\r\n', "第 2 行"),
        (b'a"b', "第 1 行"),
        (b"a\rb", "第 1 行"),
        (b"a\xff", "第 1 个字节"),
    ],
)
def test_what_is_no_table_is_refused_with_its_place(data, message):
    with pytest.raises(TableError, match=message):
        read_table(data, "t.csv")


@pytest.mark.parametrize(
    ("data", "rows"),
    [
        (b"", []),
        (b"a,b", [["a", "b"]]),
        (b"a,\n,b\n", [["a", ""], ["", "b"]]),
        (b"\xef\xbb\xbf'a\r\n", [["a"]]),
        (b"\r\na", [[""], ["a"]]),
    ],
)
def test_table_saved_by_another_program_is_read(data, rows):
    assert read_table(data, "t.csv") == rows


@pytest.fixture
def run():
    tea = PassageHit("s1", 2.5, 0, 3, "=喝茶")
    more = PassageHit("s1", 1.0, 2, 4, "茶，")
    rain = PassageHit("s2", 1.5, 7, 9, "下\r\n")
    asked = Question("q1", "茶？")
    return Run(
        parameters=Parameters(),
        as_of="2026-11-30",
        passages=9,
        left_out={},
        results=(
            QuestionResult(
                asked,
                (DocumentHit(1, tea, 3, "current"), DocumentHit(2, rain, None, "stale")),
                (tea, rain, more),
                {"nDCG@3": 2 / 3, "MRR@3": 1.0},
            ),
            QuestionResult(Question("q2", "-"), (), (), {"nDCG@3": None, "MRR@3": None}),
        ),
        means={"nDCG@3": 2 / 3, "MRR@3": 1.0},
        undefined={"nDCG@3": ("q2",), "MRR@3": ("q2",)},
        missing=("q2",),
        unjudged_in_top_k=0,
        stale_in_top_k=1,
        stale_pairs=(("q1", "s2"),),
    )


def test_measures_table_has_a_row_a_question_and_the_means_and_says_why_a_cell_is_empty(run):
    header, first, second, means, numbers, *notes = read_table(measures_table(run), "t")
    assert header == ["行", "问题标识", "问题", "nDCG@3", "MRR@3", "说明"]
    assert first == ["问题", "q1", "茶？", "0.666667", "1.000000", ""]
    assert second[:5] == ["问题", "q2", "-", "", ""]
    assert second[5] == "nDCG@3、MRR@3 未定义：在用的资料里没有一份被有效判断为相关（1 至 3 级）"
    assert means == [
        "均值", "", "", "0.666667", "1.000000", "未定义而不进入均值的问题：nDCG@3 1 个、MRR@3 1 个"
    ]  # fmt: skip
    assert numbers == ["计入均值的问题数", "", "", "1", "1", ""]
    assert {tuple(note[:5]) for note in notes} == {("说明", "", "", "", "")}
    said = [note[5] for note in notes]
    assert said[0] == (
        "资料截至 2026-11-30，9 个资料块。参数 method=bm25，analyzer=words_han，window=200，overlap=40，k=3，"
        "k1=1.2，b=0.75，budget=4000"
    )
    assert said[1].startswith("未定义、不进入均值的问题 1 个") and said[1].endswith("：q2")
    assert said[2:] == [
        "没有命中的问题 1 个，其中有相关判断的按 0 分计：q2",
        "前 3 篇里未判断的有 0 处，暂按 0 增益计。",
        "前 3 篇里待复核的有 1 处，也暂按 0 增益计。",
        "待复核的判断 1 条，不参与指标，请确认或重新判断：q1 与 s2",
    ]


def test_hits_table_has_every_passage_at_its_rank_beyond_the_first_of_a_document(run):
    _, *rows = read_table(hits_table(run, {"s1": "+甲", "s2": "乙"}), "t")
    assert rows == [
        ["q1", "茶？", "1", "1", "s1", "+甲", "2.500000", "0", "3", "=喝茶", "3", "有效", "是"],
        ["q1", "茶？", "2", "2", "s2", "乙", "1.500000", "7", "9", "下\r\n", "", "待复核", "是"],
        ["q1", "茶？", "1", "3", "s1", "+甲", "1.000000", "2", "4", "茶，", "3", "有效", "否"],
    ]
