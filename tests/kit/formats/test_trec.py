"""TREC judgments and runs: what is read, what is written, and every line that is refused with its place."""

from __future__ import annotations

import math

import ir_measures
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evidence_kit.formats.trec import TrecError, parse_qrels, parse_run, qrels_to_trec, run_to_trec
from evidence_kit.sources.model import SourceError


def qrels(text):
    return parse_qrels(text.encode(), "判断.txt")


def run(text):
    return parse_run(text.encode(), "排名.txt")


def test_judgments_are_read_by_question_and_document():
    text = "q1 0 a 3\nq1 0 b 0\nq2 Q0 a -2\nq1 1 c +1\n"
    assert qrels(text) == {"q1": {"a": 3, "b": 0, "c": 1}, "q2": {"a": -2}}


def test_run_is_read_by_score_whatever_its_ranks_say():
    text = "q1 Q0 a 9 1.5 tag\nq1 Q0 b 1 .5 tag\nq1 Q0 c x -2e-1 other\nq2 Q0 a 1 7. tag"
    assert run(text) == {"q1": {"a": 1.5, "b": 0.5, "c": -0.2}, "q2": {"a": 7.0}}


def test_blanks_line_ends_blank_lines_and_a_mark_at_the_start_change_nothing():
    plain = {"问1": {"甲": 1, "乙\u3000丙": 2}}
    text = "\ufeff\r\n  问1\t0   甲 1 \r\n\n\t\n问1 0\t\t乙\u3000丙 2"
    assert qrels(text) == plain


def test_line_separators_of_unicode_end_no_line():
    assert qrels("q\u2028 0 a\x85\x1c 1\n") == {"q\u2028": {"a\x85\x1c": 1}}


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("q2 0 a", "有 3 列，应有 4 列"),
        ("q2 0 a 1 x", "有 5 列，应有 4 列"),
        ("q2 0 a one", "等级 one 应是不大于 30 的整数"),
        ("q2 0 a 1.0", "等级 1.0"),
        ("q2 0 a nan", "等级 nan"),
        ("q2 0 a １", "等级 １"),
        ("q2 0 a 1_0", "等级 1_0"),
        ("q2 0 a 31", "等级 31"),
        ("q2 0 a " + "9" * 5000, "等级 999"),
        ("q1 0 a 1", "问题 q1 的文档 a 重复出现"),
        ("q1 0 a\x1b[2J 1\nq1 0 a\x1b[2J 1", r"文档 a\u001b[2J 重复出现"),
        ("q2 0 a \x1b[2J", r"等级 \u001b[2J"),
    ],
)
def test_judgment_line_that_cannot_be_read_is_refused_with_file_and_line(line, said):
    with pytest.raises(TrecError) as caught:
        qrels(f"q1 0 a 1\n\n{line}\n")
    number = 3 + line.count("\n")
    assert caught.value.message.startswith(f"判断.txt 第 {number} 行：") and said in caught.value.message
    assert caught.value.exit_code == 2


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("q1 Q0 b 1 1.0", "有 5 列，应有 6 列"),
        ("q1 Q0 b 1 1.0 two words", "有 7 列，应有 6 列"),
        ("q1 Q0 b 1 high tag", "分数 high 应是有限的数"),
        ("q1 Q0 b 1 nan tag", "分数 nan"),
        ("q1 Q0 b 1 -inf tag", "分数 -inf"),
        ("q1 Q0 b 1 1e999 tag", "分数 1e999"),
        ("q1 Q0 b 1 1_0 tag", "分数 1_0"),
        ("q1 Q0 b 1 １ tag", "分数 １"),
        ("q1 Q0 b 1 0x1p3 tag", "分数 0x1p3"),
        ("q1 Q0 b 1 . tag", "分数 ."),
        ("q1 Q0 a 2 0.5 tag", "问题 q1 的文档 a 重复出现"),
    ],
)
def test_run_line_that_cannot_be_read_is_refused_with_file_and_line(line, said):
    with pytest.raises(TrecError) as caught:
        run(f"q1 Q0 a 1 1.0 tag\n{line}\n")
    assert caught.value.message.startswith("排名.txt 第 2 行：") and said in caught.value.message


@pytest.mark.parametrize("text", ["", "\n \t\r\n", "\ufeff"])
def test_file_without_a_line_is_refused(text):
    with pytest.raises(TrecError, match=r"判断\.txt 里一行也没有"):
        qrels(text)
    with pytest.raises(TrecError, match=r"排名\.txt 里一行也没有"):
        run(text)


@pytest.mark.parametrize("data", ["q 0 a 1\n".encode("utf-16"), b"q 0 \xff 1\n", b"q 0 \xed\xa0\x80 1\n"])
def test_bytes_that_are_not_utf_8_are_refused_with_their_place(data):
    with pytest.raises(SourceError, match=r"x 不是 UTF-8 文本：第 \d+ 个字节"):
        parse_qrels(data, "x")


def test_name_of_a_file_is_shown_harmlessly():
    with pytest.raises(TrecError) as caught:
        parse_run(b"", "\x1b]0;x\x07.txt")
    assert "\x1b" not in caught.value.message


def test_judgments_and_run_are_written_in_one_order_whatever_the_order_given():
    assert qrels_to_trec({"q2": {"a": -2}, "q1": {"b": 0, "a": 3}}) == "q1 0 a 3\nq1 0 b 0\nq2 0 a -2\n"
    written = run_to_trec({"q": {"b": 0.5, "a": 0.5, "c": 1}, "none": {}}, "kit")
    assert written == "q Q0 c 1 1.0 kit\nq Q0 a 2 0.5 kit\nq Q0 b 3 0.5 kit\n"


names = st.text(
    st.characters(blacklist_categories=["Cs"], blacklist_characters=" \t\r\n\v\f\ufeff"),
    min_size=1,
    max_size=4,
)


@given(
    st.dictionaries(
        names, st.dictionaries(names, st.integers(-9, 30), min_size=1, max_size=4), min_size=1, max_size=4
    )
)
def test_written_judgments_read_back_equal(table):
    assert parse_qrels(qrels_to_trec(table).encode(), "x") == table


scores = st.floats(allow_nan=False, allow_infinity=False)


@given(st.dictionaries(names, st.dictionaries(names, scores, min_size=1, max_size=4), min_size=1, max_size=4))
def test_written_runs_read_back_equal_to_the_last_bit(table):
    back = parse_run(run_to_trec(table, "kit").encode(), "x")
    assert back == table
    assert [math.copysign(1, s) for row in back.values() for s in row.values()] == [
        math.copysign(1, s)
        for question in sorted(table)
        for _, s in sorted(table[question].items(), key=lambda pair: (-pair[1], pair[0]))
    ]


def test_ir_measures_reads_what_is_written(tmp_path):
    judged, found = {"q1": {"a": 3, "b": 0}}, {"q1": {"a": 0.1 + 0.2, "c": 1e-300}}
    (tmp_path / "qrels").write_text(qrels_to_trec(judged), encoding="utf-8")
    (tmp_path / "run").write_text(run_to_trec(found, "kit"), encoding="utf-8")
    read = ir_measures.read_trec_qrels(str(tmp_path / "qrels"))
    assert {(line.query_id, line.doc_id, line.relevance) for line in read} == {("q1", "a", 3), ("q1", "b", 0)}
    read = ir_measures.read_trec_run(str(tmp_path / "run"))
    assert {(line.query_id, line.doc_id, line.score) for line in read} == {
        ("q1", "a", 0.1 + 0.2),
        ("q1", "c", 1e-300),
    }


@pytest.mark.parametrize("name", ["", "a b", "a\tb", "a\nb", "a\rb", "\ufeffa", "\ud800", "a\vb"])
def test_id_that_would_not_read_back_is_refused(name):
    for call in (
        lambda: qrels_to_trec({name: {"a": 1}}),
        lambda: qrels_to_trec({"q": {name: 1}}),
        lambda: run_to_trec({name: {"a": 1.0}}, "kit"),
        lambda: run_to_trec({"q": {name: 1.0}}, "kit"),
        lambda: run_to_trec({"q": {"a": 1.0}}, name),
    ):
        with pytest.raises(TrecError, match="不能写进 TREC 文件"):
            call()


@pytest.mark.parametrize("score", [math.nan, math.inf, -math.inf])
def test_score_that_would_not_read_back_is_refused(score):
    with pytest.raises(TrecError, match="应是有限的数"):
        run_to_trec({"q": {"a": score}}, "kit")


@pytest.mark.parametrize("read", [parse_qrels, parse_run])
def test_bom_of_a_second_file_behind_the_first_hides_no_question(read):
    """Two files with a BOM, joined: the question of the second would be another one, unseen."""
    line = b"Q1 0 d1 1\n" if read is parse_qrels else b"Q1 Q0 d1 1 2.0 x\n"
    with pytest.raises(TrecError, match="第 2 行：含有 BOM"):
        read(b"\xef\xbb\xbf" + line + b"\xef\xbb\xbf" + line.replace(b"Q1", b"Q2"), "f")
