"""CSV: which column is which, what a cell may hold, and on which line an error stands."""

import csv
import io
from datetime import date
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evidence_kit.errors import EvidenceError
from evidence_kit.sources.csv_documents import read_csv_documents
from evidence_kit.sources.encodings import decode
from evidence_kit.sources.readers import read_sources
from evidence_kit.sources.validity import Validity


def read(text, encoding="utf-8"):
    data = text if isinstance(text, bytes) else text.encode(encoding)
    return read_csv_documents(decode(data, "a.csv"), "a.csv", "a.csv")


def pairs(text):
    return [(document.title, document.text) for document in read(text)]


def refusal(text):
    with pytest.raises(EvidenceError) as caught:
        read(text)
    assert caught.value.exit_code == 2
    assert caught.value.message.startswith("a.csv") and "\n" not in caught.value.message
    return caught.value.message


def test_quoted_commas_quotes_and_line_breaks_are_part_of_the_text():
    text = '标题,内容\r\n"借还，规则","第一行,逗号\r\n""第二行""\n\r第四行"\r\n二,乙'
    assert pairs(text) == [("借还，规则", '第一行,逗号\r\n"第二行"\n\r第四行'), ("二", "乙")]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "gb18030", "big5"])
def test_one_table_in_every_encoding_gives_the_same_documents(encoding):
    table = '標題,正文\r\n規則,"會員憑卡每次最多借三件工具,\r\n借期為七天。"\r\n'.replace("標題", "title")
    (document,) = read(table, encoding)
    assert (document.source_id, document.title) == ("a.csv#1", "規則")
    assert document.text == "會員憑卡每次最多借三件工具,\r\n借期為七天。"
    assert "bom_removed" not in document.transformations


def test_bom_hides_no_column_not_even_a_quoted_or_a_doubled_one():
    for head in (b"\xef\xbb\xbftitle", b'\xef\xbb\xbf"title"', b"\xef\xbb\xbf\xef\xbb\xbftitle"):
        (document,) = read(head + b",text\n\xe7\x94\xb2,b")
        assert (document.title, document.text, document.transformations) == ("甲", "b", ())


@pytest.mark.parametrize(
    "header", ["title,text", "标题,正文", "标题,内容", " Title ,\tTEXT", "\u3000标题,内容 "]
)
def test_columns_are_known_by_any_of_their_names(header):
    assert pairs(f"{header}\n甲,乙") == [("甲", "乙")]


def test_columns_come_in_any_order_and_others_are_ignored():
    assert pairs("note,内容,,标题\nn,乙,x,甲\n") == [("甲", "乙")]


def test_blank_records_are_passed_over_and_an_empty_title_is_the_id():
    documents = read("title,text\n\n,乙\n,\n  , \n丙,丁\n")
    assert [(d.source_id, d.title, d.text) for d in documents] == [
        ("a.csv#1", "a.csv#1", "乙"),
        ("a.csv#2", "丙", "丁"),
    ]


def test_title_repeated_at_the_head_of_a_text_is_not_indexed():
    (document,) = read('title,text\n规则,"# 规则\n正文"\n')
    assert document.text[document.body_start :] == "正文"


def test_validity_columns_say_when_a_document_is_in_force():
    table = (
        "title,text,Effective_From,effective_until,status,supersedes\n"
        "a,x,2026-01-01, 2026-06-30 ,,\n"
        "b,y,,,expired,a.csv#1; 手册,第二版；c\n".replace("手册,第二版", "手册 第二版")
    )
    first, second = read(table)
    assert first.validity == Validity("active", date(2026, 1, 1), date(2026, 6, 30))
    assert second.validity == Validity("expired", supersedes=("a.csv#1", "手册 第二版", "c"))


@pytest.mark.parametrize(
    ("table", "line", "said"),
    [
        ("title,text\na,b\nc\n", 3, "1 列"),
        ('title,text\n"a\nb",c\nd,e,f\n', 4, "3 列"),
        ('title,text\na,"b\nc', 2, "合法的 CSV"),
        ('title,text\na,"b"c\n', 2, "合法的 CSV"),
        ("title,text\na,\n", 2, "正文是空的"),
        ("title,text\na,b\0\n", 2, "NUL"),
        ("title,text,effective_from\n\na,b,2026-1-1\n", 3, "effective_from"),
        ("title,text,status\na,b,draft\n", 2, "draft"),
        ("title,text,supersedes\na,b,x;x\n", 2, "重复"),
        ("title,body\na,b\n", 1, "text／内容／正文"),
        ("text\nb\n", 1, "title／标题"),
        ("title,text,标题\na,b,c\n", 1, "2 个"),
        ("标题，内容\n甲，乙\n", 1, "表头"),
        ("", 1, "表头"),
        ("\n\n", 1, "表头"),
    ],
)
def test_error_names_the_line_on_which_its_record_begins(table, line, said):
    message = refusal(table)
    assert f"第 {line} 行" in message
    assert said in message


def test_header_alone_is_a_table_without_documents():
    assert read("title,text\n") == []


def test_cell_may_be_longer_than_the_csv_module_takes_by_itself():
    text = "长" * 200_000
    assert pairs(f"title,text\na,{text}\n") == [("a", text)]


cells = st.text(st.characters(codec="utf-8", exclude_characters="\0\ufeff"))


@given(st.lists(st.tuples(cells, cells.filter(str.strip)), max_size=5), st.sampled_from(["\n", "\r\n"]))
def test_what_the_csv_module_writes_is_read_back(rows, end):
    written = io.StringIO(newline="")
    # All in quotes: the writer leaves a cell with a lone CR bare.
    writer = csv.writer(written, lineterminator=end, quoting=csv.QUOTE_ALL)
    writer.writerows([("title", "text"), *rows])
    found = pairs(written.getvalue())
    assert found == [(title.strip() or f"a.csv#{n}", text) for n, (title, text) in enumerate(rows, 1)]


def test_tables_of_a_folder_are_read_among_the_other_sources(tmp_path):
    Path(tmp_path / "b.CSV").write_bytes("标题,内容\n甲,乙\n".encode("gb18030"))
    Path(tmp_path / "a.txt").write_bytes(b"x")
    reading = read_sources([tmp_path])
    assert [document.source_id for document in reading.documents] == ["a.txt", "b.CSV#1"]
    assert reading.documents[1].encoding == "gb18030"
    assert [Path(decoding.file).name for decoding in reading.decodings] == ["b.CSV"]
