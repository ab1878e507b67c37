"""Readers: which text of a file is stored, which part of it is indexed, and under which id."""

import json
import os
from datetime import date
from pathlib import Path

import pytest

from evidence_kit.errors import EvidenceError
from evidence_kit.sources.readers import read_sources
from evidence_kit.sources.validity import Validity


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def write(path, content):
    target = Path(path)
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_bytes(content if isinstance(content, bytes) else content.encode("utf-8"))


def write_json(path, value):
    write(path, json.dumps(value, ensure_ascii=False))


def only(path):
    (document,) = read_sources([path]).documents
    return document


def body(document):
    return document.text[document.body_start :]


def refusal(*paths):
    with pytest.raises(EvidenceError) as caught:
        read_sources(paths)
    assert caught.value.exit_code == 2
    assert "\n" not in caught.value.message
    return caught.value.message


def test_line_ends_are_kept_as_they_are():
    write("a.txt", "甲\r\n乙\r丙\n")
    assert only("a.txt").text == "甲\r\n乙\r丙\n"


def test_bom_is_taken_off_and_recorded():
    write("a.txt", b"\xef\xbb\xbf" + "甲\ufeff".encode())
    document = only("a.txt")
    assert (document.text, document.transformations) == ("甲\ufeff", ("bom_removed",))
    assert document.source().representation.transformations == ("bom_removed",)


def test_damaged_bytes_are_named_by_their_offset_in_the_file():
    write("a.txt", b"\xef\xbb\xbf" + "甲".encode() + b"\xd5\xd5")
    assert "a.txt" in refusal("a.txt")
    assert "第 6 个字节" in refusal("a.txt")


@pytest.mark.parametrize(
    ("text", "title", "indexed"),
    [
        ("# 标题\n正文", "标题", "正文"),
        ("\n\r\n \t\n# Title #\r\nbody # not a title", "Title", "body # not a title"),
        ("Title\n=====\nbody", "Title", "body"),
        ("正文在前\n# 后面的标题", "a.md", "正文在前\n# 后面的标题"),
        ("## 二级\n正文", "a.md", "## 二级\n正文"),
        ("#话题 不是标题\n正文", "a.md", "#话题 不是标题\n正文"),
        ("    # 缩进四格是代码\n正文", "a.md", "    # 缩进四格是代码\n正文"),
        ("# C#\n正文", "C#", "正文"),
        ("#\n正文", "a.md", "正文"),
        ("# 只有标题", "只有标题", ""),
        ("\n \n", "a.md", "\n \n"),
    ],
)
def test_markdown_title_is_the_first_heading_of_the_first_level_and_not_indexed(text, title, indexed):
    write("a.md", text)
    document = only("a.md")
    assert (document.title, body(document)) == (title, indexed)
    assert document.text == text


def test_text_file_has_no_title_line():
    write("a.txt", "# 甲\n乙")
    assert (only("a.txt").title, body(only("a.txt"))) == ("a.txt", "# 甲\n乙")


@pytest.mark.parametrize(
    ("text", "indexed"),
    [
        ("\n\n标题\n正文", "正文"),
        ("# 标题\n正文", "正文"),
        ("标题以外\n正文", "标题以外\n正文"),
        ("标题", "标题"),
        ("正文\n标题\n", "正文\n标题\n"),
    ],
)
def test_title_repeated_at_the_head_of_a_json_text_is_not_indexed(text, indexed):
    write_json("a.json", [{"title": "标题", "text": text}])
    document = only("a.json")
    assert (document.title, document.text, body(document)) == ("标题", text, indexed)


def test_documents_as_list_or_object_are_the_same_and_numbered_where_they_give_no_id():
    items = [{"title": "一", "text": "甲"}, {"id": "given", "title": "二", "text": "乙"}, {"text": "丙"}]
    write_json("a.json", items)
    write_json("b/a.json", {"documents": items})
    first, second = (read_sources([path]).documents for path in ("a.json", "b/a.json"))
    assert first == second
    assert [(d.source_id, d.title) for d in first] == [
        ("a.json#1", "一"),
        ("given", "二"),
        ("a.json#3", "a.json#3"),
    ]


CHUNK = {
    "chunk_id": "C001",
    "title": "题",
    "version": "2026.1",
    "text": "题\n正文",
    "effective_status": "active",
}


def test_corpus_gives_the_chunks_in_force_by_their_ids_and_counts_the_expired():
    old = CHUNK | {"chunk_id": "C002", "effective_status": "expired"}
    write_json("corpus.json", {"corpus_version": "1", "chunks": [old, CHUNK]})
    reading = read_sources(["corpus.json"])
    (document,) = reading.documents
    assert (document.source_id, document.title, document.version) == ("C001", "题", "2026.1")
    assert body(document) == "题\n正文"
    assert reading.left_out == {"expired": 1}


def test_status_of_a_chunk_that_is_neither_active_nor_expired_is_refused():
    write_json("corpus.json", {"chunks": [CHUNK | {"effective_status": "Active"}]})
    assert "chunks[0].effective_status" in refusal("corpus.json")


def test_files_of_a_folder_come_by_the_code_points_of_their_paths():
    for path in ("资料/b.txt", "资料/B.TXT", "资料/a/z.md", "资料/a.txt", "资料/乙.txt", "资料/😀.txt"):
        write(path, "甲")
    found = [document.source_id for document in read_sources(["资料"]).documents]
    assert found == ["B.TXT", "a.txt", "a/z.md", "b.txt", "乙.txt", "😀.txt"]
    assert found == [document.source_id for document in read_sources([Path("资料").absolute()]).documents]


def test_hidden_files_links_and_other_files_of_a_folder_are_left_out():
    write("d/a.txt", "甲")
    write("d/.hidden.txt", "乙")
    write("d/.git/b.txt", "乙")
    write("d/p.pdf", b"\xff")
    write_json("d/settings.json", {"theme": "dark"})
    write("outside.txt", "外")
    Path("d/link.txt").symlink_to("../outside.txt")
    Path("d/loop").symlink_to(".")
    reading = read_sources(["d"])
    assert [document.source_id for document in reading.documents] == ["a.txt"]
    assert reading.left_out == {"other_type": 1, "other_json": 1, "link": 2}


def test_link_that_is_itself_an_argument_is_followed():
    write("d/a.txt", "甲")
    Path("link").symlink_to("d")
    Path("b.txt").symlink_to("d/a.txt")
    assert [d.source_id for d in read_sources(["link", "b.txt"]).documents] == ["a.txt", "b.txt"]


def test_two_documents_with_one_id_are_refused_with_both_places():
    write("d/a.txt", "甲")
    write("e/a.txt", "乙")
    message = refusal("d", "e/a.txt")
    assert "a.txt 重复" in message
    assert "d/a.txt" in message and "e/a.txt" in message
    write_json("twice.json", [{"id": "x", "text": "甲"}, {"id": "x", "text": "乙"}])
    assert "标识 x 重复" in refusal("twice.json")


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("a.pdf", b"%PDF", ".txt"),
        ("a.json", b'{"a": 1}', "bad_shape"),
        ("a.json", b"[", "invalid_json"),
        ("a.json", b'[{"title": "x", "text": "\\ud800"}]', "lone_surrogate"),
        ("a.json", b'[{"title": "x", "text": 1}]', "[0].text"),
        ("a.json", b'{"documents": [{"title": "x"}]}', "documents[0].text"),
        ("a.json", b'[{"id": "", "text": "x"}]', "[0].id"),
        ("a.json", b'[{"text": "x", "text": "y"}]', "duplicate_key"),
        ("a.json", b'{"chunks": [{"effective_status": "active"}]}', "chunks[0].title"),
    ],
)
def test_file_that_holds_no_documents_is_refused_by_name(name, content, said):
    write(name, content)
    message = refusal(name)
    assert name in message
    assert said in message


def test_missing_file_and_folder_without_sources_are_refused():
    Path("empty").mkdir()
    assert "nowhere.txt 不存在" in refusal("nowhere.txt")
    assert "empty 里没有可读的资料" in refusal("empty")
    assert "合法的路径" in refusal("a\0.txt")


def test_folder_that_is_empty_is_refused_after_one_whose_passages_are_all_expired():
    write_json("old/corpus.json", {"chunks": [CHUNK | {"effective_status": "expired"}]})
    Path("empty").mkdir()
    assert read_sources(["old"]).documents == ()
    assert "empty 里没有可读的资料" in refusal("old", "empty")


def test_file_without_permission_is_refused_by_name(monkeypatch):
    write("d/a.txt", "甲")

    def refuse(path):
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr(Path, "read_bytes", refuse)
    assert "d/a.txt 无法读取（没有权限）" in refusal("d")


def test_file_name_that_is_not_utf8_is_refused():
    name = os.fsdecode(b"d\xff.txt")
    try:
        write(name, "甲")
    except OSError:
        return  # this file system keeps no such names
    assert "文件名不是 UTF-8" in refusal(name)


def test_control_characters_of_a_file_name_are_shown_as_escapes():
    write("\x1b[31m\u202e.txt", b"\xff")
    message = refusal("\x1b[31m\u202e.txt")
    assert "\\u001b[31m\\u202e.txt" in message
    assert "\x1b" not in message and "\u202e" not in message


def test_strange_characters_stay_in_the_stored_text():
    text = "\0\uffff😀\u202e\u05d0e\u0301\n"
    write("a.txt", text)
    assert only("a.txt").text == text


SENTENCE = "會員憑會員卡每次最多借三件工具，借期為七天。"
ENCODINGS = {
    "gb18030.txt": ("gb18030", SENTENCE.encode("gb18030")),
    "big5.txt": ("big5", SENTENCE.encode("big5")),
    "utf16.txt": ("utf-16-le", b"\xff\xfe" + SENTENCE.encode("utf-16-le")),
}


def test_files_that_are_not_utf8_are_read_and_told_by_name():
    for name, (_, data) in ENCODINGS.items():
        write(f"d/{name}", data)
    write("d/plain.txt", SENTENCE)
    write("d/marked.txt", "\ufeff" + SENTENCE)
    reading = read_sources(["d"])
    assert {document.text for document in reading.documents} == {SENTENCE}
    told = {Path(found.file).name: found.decoded.encoding for found in reading.decodings}
    assert told == {name: encoding for name, (encoding, _) in ENCODINGS.items()}
    by_id = {document.source_id: document for document in reading.documents}
    assert by_id["big5.txt"].encoding == "big5"
    assert by_id["big5.txt"].source().representation.transformations == ("decoded_from_big5",)
    assert by_id["plain.txt"].source().representation.transformations == ()


@pytest.mark.parametrize("encoding", ["gb18030", "big5", "utf-16-le"])
def test_title_is_found_behind_any_encoding_and_bom(encoding):
    bom = "\ufeff" if encoding.startswith("utf-16") else ""
    write("a.md", f"{bom}# 工具規則\n{SENTENCE}".encode(encoding))
    document = only("a.md")
    assert (document.title, body(document)) == ("工具規則", SENTENCE)


def test_json_in_another_encoding_is_read_and_says_so():
    write("a.json", json.dumps([{"title": "規則", "text": SENTENCE}], ensure_ascii=False).encode("big5"))
    document = only("a.json")
    assert (document.text, document.transformations) == (SENTENCE, ("decoded_from_big5",))
    write("b.json", "\ufeff" + json.dumps([{"text": SENTENCE}], ensure_ascii=False))
    assert (only("b.json").text, only("b.json").transformations) == (SENTENCE, ())


def test_named_encoding_holds_for_every_file():
    write("d/a.txt", b"\xb9\xa4\xbe\xdf")
    write("d/b.txt", b"\xa4u\xa8\xe3")
    reading = read_sources(["d"], "Big5")
    assert [document.text for document in reading.documents] == ["馱撿", "工具"]
    assert {found.decoded.evidence for found in reading.decodings} == {"named"}
    with pytest.raises(EvidenceError, match="gb18030"):
        read_sources(["d"], "latin-1")


def test_documents_of_json_say_when_they_are_in_force():
    write_json(
        "a.json",
        [
            {"id": "old", "text": "甲"},
            {"id": "new", "text": "乙", "effective_from": "2026-03-01", "supersedes": ["old"]},
            {"id": "gone", "text": "丙", "status": "expired", "effective_until": None},
            {"id": "spring", "text": "丁", "effective_until": "2026-02-28"},
        ],
    )
    reading = read_sources(["a.json"])
    assert reading.documents[1].validity == Validity("active", date(2026, 3, 1), None, ("old",))
    before = reading.in_force(date(2026, 2, 28))
    assert [document.source_id for document in before.documents] == ["old", "spring"]
    assert before.left_out == {"not_yet": 1, "expired": 1}
    after = reading.in_force(date(2026, 3, 1))
    assert [document.source_id for document in after.documents] == ["new"]
    assert after.left_out == {"superseded": 1, "expired": 1, "ended": 1}


def test_documents_left_out_join_those_counted_while_reading():
    write_json("d/corpus.json", {"chunks": [CHUNK, CHUNK | {"chunk_id": "x", "effective_status": "expired"}]})
    write_json("d/a.json", [{"text": "甲", "status": "expired"}])
    write("d/p.pdf", "")
    reading = read_sources(["d"]).in_force(date(2026, 1, 1))
    assert reading.left_out == {"expired": 2, "other_type": 1}


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"status": "draft"}, "draft"),
        ({"status": 1}, "[1].status"),
        ({"effective_from": "1.3.2026"}, "effective_from"),
        ({"effective_from": 20260301}, "[1].effective_from"),
        ({"effective_from": "2026-03-02", "effective_until": "2026-03-01"}, "颠倒"),
        ({"supersedes": "a"}, "[1].supersedes"),
        ({"supersedes": [1]}, "[1].supersedes[0]"),
    ],
)
def test_validity_that_cannot_be_read_is_refused_with_its_place(fields, said):
    write_json("a.json", [{"text": "甲"}, {"text": "乙", **fields}])
    message = refusal("a.json")
    assert message.startswith("a.json ") and "[1]" in message
    assert said in message
