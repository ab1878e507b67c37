"""What was acknowledged is there: after kill -9 in the middle of writes, and with two writers at once."""

import os
import random
import signal
import sqlite3

import pytest

from evidence_kit.experiments.records import JUDGMENT, judgment_id
from evidence_kit.experiments.store import ExperimentStore
from evidence_kit.sources.documents import Document
from evidence_kit.storage.connection import open_database
from evidence_kit.storage.revisions import Revisions

KILLS = 200
SOURCES, QUESTIONS = 100, 60


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "x.db"
    store = ExperimentStore.create(path, "判断")
    documents = [Document(f"d{n}", f"标题{n}", "1", f"第{n}篇", 0, "plain_text", "1") for n in range(SOURCES)]
    store.import_documents(documents)
    store.add_questions([f"问题{n}" for n in range(QUESTIONS)])
    store.close()
    return path


def pair(number):
    return f"Q{number // SOURCES + 1:03}", f"S{number % SOURCES + 1:03}"


def in_child(work):
    """Run `work` in a forked child, which never returns from here; return the child's id."""
    child = os.fork()
    if child:
        return child
    try:
        work()
        os._exit(0)
    finally:
        os._exit(1)


def start_judging(path, first, end):
    """Return (child, its pipe): it judges from pair `first` on and writes one byte for each that returned."""
    reader, writer = os.pipe()

    def work():
        os.close(reader)
        store = ExperimentStore.open(path)
        for number in range(first, end):
            store.judge(*pair(number), number % 4)
            os.write(writer, b".")

    child = in_child(work)
    os.close(writer)
    return child, reader


def judgments_of(path):
    return {
        revision.record_id: revision.body["grade"]
        for revision in Revisions(open_database(path)).state()
        if revision.kind == JUDGMENT
    }


def test_kill_in_the_middle_of_writes_loses_no_acknowledged_judgment(path):
    draw = random.Random(20261130)
    acknowledged: set[int] = set()
    first = 0
    killed_alive = 0
    for _ in range(KILLS):
        child, reader = start_judging(path, first, SOURCES * QUESTIONS)
        for _ in range(draw.randint(1, 8)):
            assert os.read(reader, 1) == b"."
            acknowledged.add(first)
            first += 1
        for _ in range(draw.randrange(60_000)):  # so that the kill meets every part of a write
            pass
        os.kill(child, signal.SIGKILL)
        status = os.waitpid(child, 0)[1]
        killed_alive += os.WIFSIGNALED(status)
        while os.read(reader, 1):  # what it still acknowledged before it died
            acknowledged.add(first)
            first += 1
        os.close(reader)
        with Revisions(open_database(path)).changing("看") as change:  # the file opens and takes a write
            for number in range(first - 3, first):
                if number in acknowledged:
                    found = change.latest(JUDGMENT, judgment_id(*pair(number)))
                    assert found is not None and found.body["grade"] == number % 4
        first += 1  # the write in flight may be there or not
    assert killed_alive == KILLS
    found = judgments_of(path)
    missing = [number for number in acknowledged if found.get(judgment_id(*pair(number))) != number % 4]
    assert missing == []
    # Each kill loses at most the write in flight, and none comes twice.
    assert len(acknowledged) <= len(found) <= len(acknowledged) + KILLS
    connection = sqlite3.connect(path)
    assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    connection.close()
    ExperimentStore.open(path).snapshot()


def test_two_processes_write_at_once_and_both_are_heard(path):
    def judge(numbers):
        store = ExperimentStore.open(path)
        for number in numbers:
            store.judge(*pair(number), number % 4)

    children = [in_child(lambda numbers=range(start, 160, 2): judge(numbers)) for start in (0, 1)]
    assert [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children] == [0, 0]
    assert judgments_of(path) == {judgment_id(*pair(number)): number % 4 for number in range(160)}
    history = ExperimentStore.open(path).history()
    assert [change.number for change in history] == list(range(1, 164))
    times = [change.recorded_at for change in history]
    assert times == sorted(times)
