"""What a killed process left in the making goes when the next writes; what lives or is not ours stays."""

import os
import signal

import pytest

from evidence_kit.sources.writing import write_whole
from evidence_kit.storage.connection import new_database
from evidence_kit.storage.temporary import sweep, temporary_beside

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="processes are forked")


def killed_while(work):
    """Run `work` in a child, which is killed when it says so by calling the function that it gets."""
    reader, writer = os.pipe()
    child = os.fork()
    if not child:
        try:
            work(lambda: (os.write(writer, b"."), signal.pause()))
        finally:
            os._exit(1)
    os.close(writer)
    assert os.read(reader, 1) == b"."
    os.close(reader)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)


def making_a_database(path):
    def work(pause):
        with new_database(path):
            pause()

    return work


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def test_database_that_was_killed_in_the_making_is_swept_when_the_next_is_made(tmp_path):
    killed_while(making_a_database(tmp_path / "a.db"))
    assert names(tmp_path) and not (tmp_path / "a.db").exists()
    with new_database(tmp_path / "b.db"):
        pass
    assert names(tmp_path) == ["b.db"]


def test_file_that_was_killed_in_the_making_is_swept_when_the_next_is_written(tmp_path):
    killed_while(making_a_database(tmp_path / "a.db"))
    write_whole(tmp_path / "t", "x")
    assert names(tmp_path) == ["t"]


def test_what_a_living_process_makes_and_what_is_not_ours_stays(tmp_path):
    living = temporary_beside(tmp_path / "a.db")
    strangers = [".a.db.1.tmp", ".evidence-x.1.2.tmp", f"x.evidence-{'0' * 12}.4194305.1.tmp", "t.tmp"]
    for name in (living.name, *strangers):
        (tmp_path / name).write_bytes(b"x")
    (tmp_path / f".evidence-{'0' * 12}.4194305.1.tmp").mkdir()  # a name of ours that is no file
    before = names(tmp_path)
    sweep(tmp_path)
    assert names(tmp_path) == before
    sweep(tmp_path / "no such folder")


@pytest.mark.parametrize("length", [60, 81])
def test_a_long_chinese_name_that_the_disk_takes_is_taken(tmp_path, length):
    """81 characters are 243 bytes, and the log's four letters go on top."""
    path = tmp_path / ("名" * length + ".db")
    with new_database(path):
        pass
    write_whole(path, "x", replace=True)
    assert names(tmp_path) == [path.name]
