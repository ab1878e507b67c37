"""Files that came over a form are read as files on the disk are, and their names are only names."""

import pytest

from evidence_kit.sources.given import document_typed
from evidence_kit.sources.model import SourceError
from evidence_kit.sources.readers import read_given_files, read_sources

CONTENTS = {
    "a.txt": "怎么预约讲解？".encode("gb18030") * 20,
    "b.md": "# 标题\n\n正文".encode(),
    "c.json": '{"documents": [{"title": "丙", "text": "退款"}]}'.encode(),
    "d.csv": '标题,正文\r\n戊,"一,二"\r\n'.encode("utf-16"),
}


def test_they_are_read_as_the_same_files_on_the_disk(tmp_path):
    for name, data in CONTENTS.items():
        (tmp_path / name).write_bytes(data)
    from_disk = read_sources([tmp_path / name for name in CONTENTS])
    given = read_given_files(list(CONTENTS.items()))
    assert given.documents == from_disk.documents
    assert [found.decoded for found in given.decodings] == [found.decoded for found in from_disk.decodings]
    assert [found.file for found in given.decodings] == ["a.txt", "d.csv"]


@pytest.mark.parametrize("name", ["../../etc/a.txt", "C:\\x\\a.txt", "/a.txt", "a.txt"])
def test_a_path_is_cut_to_its_name(name):
    assert read_given_files([(name, b"x")]).documents[0].source_id == "a.txt"


@pytest.mark.parametrize("name", ["a.exe", "a", "", "a.txt/", "a\0.txt", "..", ".txt", "\ud800.txt"])
def test_a_name_that_is_no_text_file_s_is_refused(name):
    with pytest.raises(SourceError) as error:
        read_given_files([(name, b"x")])
    assert "\0" not in error.value.message


def test_two_files_of_one_name_are_refused():
    with pytest.raises(SourceError, match="重复"):
        read_given_files([("x/a.txt", b"1"), ("y/a.txt", b"2")])


def test_a_corpus_whose_chunks_are_all_expired_counts_them():
    chunk = '{"chunk_id":"C1","title":"t","version":"1","text":"x","effective_status":"expired"}'
    reading = read_given_files([("a.json", f'{{"chunks":[{chunk}]}}'.encode())])
    assert (reading.documents, reading.left_out) == ((), {"expired": 1})


@pytest.mark.parametrize("text", ["", " \n\t", "\u3000"])
def test_a_blank_typed_text_is_refused(text):
    with pytest.raises(SourceError, match="正文是空的"):
        document_typed("题", text)


def test_a_typed_text_is_kept_and_a_title_repeated_in_it_is_not_searched():
    typed = document_typed("题目", "题目\n\n正文")
    assert (typed.title, typed.text, typed.text[typed.body_start :]) == ("题目", "题目\n\n正文", "\n正文")
    assert document_typed(" ", "第一 行\n第二").title == "第一 行 第二"
