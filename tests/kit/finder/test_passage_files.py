"""Stored passages say what the ones in memory say, and a changed byte never gives another quote."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evidence_kit.finder.errors import DamagedStoreError
from evidence_kit.finder.passage_files import FILES, StoredPassages, write_passages
from evidence_kit.finder.passages import MemoryPassages
from evidence_kit.sources.documents import Document


def documents(*texts):
    return [Document(f"来源{n}", f"题\n{n}", "v", text, 0, "plain_text", "1") for n, text in enumerate(texts)]


TEXTS = ("e\u0301😀\r\n\r\n乙。\n", "\n\n", "第二份\nzwei", "三")


@pytest.fixture
def folder(tmp_path):
    write_passages(tmp_path, MemoryPassages(documents(*TEXTS)), lambda done: None)
    return tmp_path


def test_stored_passages_are_those_in_memory(folder):
    memory, stored = MemoryPassages(documents(*TEXTS)), StoredPassages(folder)
    assert (len(stored), stored.sources) == (len(memory), 4) == (5, 4)
    assert [stored.locate(n) for n in range(5)] == [memory.locate(n) for n in range(5)]
    assert [stored.text(n) for n in range(5)] == memory.texts()
    stored.verify()


@settings(deadline=None)
@given(st.lists(st.text(st.characters(codec="utf-8")), min_size=1, max_size=3))
def test_stored_passages_of_any_text_are_those_in_memory(tmp_path_factory, texts):
    memory = MemoryPassages(documents("甲", *texts))
    folder = tmp_path_factory.mktemp("passages")
    write_passages(folder, memory, lambda done: None)
    stored = StoredPassages(folder)
    assert [stored.locate(n) for n in range(len(stored))] == [memory.locate(n) for n in range(len(memory))]
    stored.verify()


def test_characters_before_the_body_count_in_every_unit(tmp_path):
    headed = Document("a", "😀", "v", "# 😀é\n正文", 5, "plain_text", "1")
    write_passages(tmp_path, MemoryPassages([headed]), lambda done: None)
    assert StoredPassages(tmp_path).locate(0).spans == {"codepoint": (5, 7), "utf16": (6, 8), "utf8": (9, 15)}
    StoredPassages(tmp_path).verify()


def test_passages_that_go_back_to_an_earlier_source_are_damage(folder):
    records = (folder / "passages.u64").read_bytes()
    (folder / "passages.u64").write_bytes(records + records[:56])
    with pytest.raises(DamagedStoreError):
        StoredPassages(folder).verify()


def test_text_of_a_last_source_without_passages_is_checked_too(tmp_path):
    write_passages(tmp_path, MemoryPassages(documents("甲", "\n\n")), lambda done: None)
    StoredPassages(tmp_path).verify()
    (tmp_path / "texts.utf8").write_bytes("甲\n\r".encode())
    with pytest.raises(DamagedStoreError):
        StoredPassages(tmp_path).verify()


def test_progress_counts_the_passages(tmp_path):
    seen = []
    write_passages(tmp_path, MemoryPassages(documents(*TEXTS)), seen.append)
    assert seen == [2, 4, 5]


def changed_bytes(path):
    """Leave the file with one byte changed, each in turn, and at last as it was."""
    original = path.read_bytes()
    for at in range(len(original)):
        changed = bytearray(original)
        changed[at] ^= 1
        path.write_bytes(changed)
        yield at
    path.write_bytes(original)


def test_every_changed_byte_of_a_text_is_found_by_verify(folder):
    for _ in changed_bytes(folder / "texts.utf8"):
        with pytest.raises(DamagedStoreError):
            StoredPassages(folder).verify()
    StoredPassages(folder).verify()


def test_changed_place_is_an_error_or_another_true_slice(folder):
    refused = 0
    for at in changed_bytes(folder / "passages.u64"):
        try:
            found = StoredPassages(folder).locate(at // 56)
        except DamagedStoreError:
            refused += 1
        else:
            text = "".join(TEXTS[int(found.source_id[-1]) :])  # that of a later source stands behind it
            start, end = found.spans["utf8"]
            assert text.encode()[start:end].decode() == found.quote
    assert refused > 150


@pytest.mark.parametrize("name", ["texts.utf8", "sources.jsonl", "sources.u64"])
def test_file_cut_short_is_found_by_verify(folder, name):
    content = (folder / name).read_bytes()
    for kept in (0, len(content) // 2):
        (folder / name).write_bytes(content[:kept])
        with pytest.raises(DamagedStoreError):
            StoredPassages(folder).verify()


@pytest.mark.parametrize("name", FILES)
def test_missing_file_is_named(folder, name):
    (folder / name).unlink()
    with pytest.raises(DamagedStoreError, match=name):
        StoredPassages(folder)
