"""A file is written whole or not at all, and takes no other file's name unless asked."""

import errno
from pathlib import Path

import pytest

from evidence_kit.sources.writing import WritingError, write_whole


@pytest.fixture(autouse=True)
def _in_an_empty_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def names():
    return sorted(path.name for path in Path().iterdir())


@pytest.mark.parametrize("replace", [False, True])
def test_text_is_written_as_utf8_with_its_own_line_ends_and_bytes_as_they_are(replace):
    write_whole(Path("t"), "甲\r\n乙\n\0", replace=replace)
    write_whole(Path("b"), b"\xff\r\n", replace=replace)
    assert Path("t").read_bytes() == b"\xe7\x94\xb2\r\n\xe4\xb9\x99\n\0"
    assert Path("b").read_bytes() == b"\xff\r\n"
    assert names() == ["b", "t"]


def test_file_that_is_there_is_kept_unless_asked():
    Path("t").write_text("mine")
    with pytest.raises(WritingError, match="t 已经存在"):
        write_whole(Path("t"), "new")
    assert Path("t").read_text() == "mine"
    write_whole(Path("t"), "new", replace=True)
    assert Path("t").read_text() == "new"
    assert names() == ["t"]


def test_link_that_is_replaced_gives_its_name_and_its_target_stays():
    Path("target").write_text("mine")
    Path("link").symlink_to("target")
    with pytest.raises(WritingError, match="已经存在"):
        write_whole(Path("link"), "new")
    write_whole(Path("link"), "new", replace=True)
    assert (Path("target").read_text(), Path("link").read_text()) == ("mine", "new")


@pytest.mark.parametrize("replace", [False, True])
def test_write_that_fails_leaves_the_old_file_and_nothing_else(replace, monkeypatch):
    def full(_descriptor):
        raise OSError(28, "No space left on device")

    if replace:
        Path("t").write_text("mine")
    before = names()
    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(WritingError, match="磁盘空间不足"):
        write_whole(Path("t"), "new", replace=replace)
    assert names() == before
    assert not replace or Path("t").read_text() == "mine"


@pytest.mark.parametrize("replace", [False, True])
@pytest.mark.parametrize(("path", "message"), [("d", "是文件夹"), ("no/t", "文件夹 no 不存在")])
def test_place_that_holds_no_file_is_refused(path, message, replace):
    Path("d").mkdir()
    with pytest.raises(WritingError, match=message):
        write_whole(Path(path), "new", replace=replace)
    assert names() == ["d"]


def test_text_with_a_lone_surrogate_is_refused_with_its_place():
    with pytest.raises(WritingError, match="第 1 个码点"):
        write_whole(Path("t"), "a\ud800")
    assert names() == []


def test_without_hard_links_a_file_that_came_meanwhile_is_kept(tmp_path, monkeypatch):
    def no_links(_here, there):
        Path(there).write_bytes(b"mine")
        raise OSError(errno.EPERM, "no hard links here")

    monkeypatch.setattr("os.link", no_links)
    with pytest.raises(WritingError, match="已经存在"):
        write_whole(tmp_path / "f", "ours")
    assert [(file.name, file.read_bytes()) for file in tmp_path.iterdir()] == [("f", b"mine")]
