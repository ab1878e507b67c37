"""Work that many wait for: once for all, ended on request, forgotten when it is old."""

import asyncio
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from evidence_kit.errors import EvidenceError
from evidence_kit.web.jobs import CancelledJobError, Jobs, StillRunning


@pytest.fixture
def jobs():
    made = Jobs(keep=2)
    yield made
    made.close()


def result(job, **options):
    """Wait in a thread of its own: in this one a browser test may have left its event loop running."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(lambda: asyncio.run(job.result(**options))).result()


def test_a_key_is_worked_on_once_and_its_result_kept(jobs):
    worked = []
    for _ in range(3):
        job = jobs.start("a", "x", lambda progress: worked.append(1) or len(worked))
        assert result(job, whatever_it_takes=True) == 1
    assert (job.state, worked) == ("done", [1])


def test_results_beyond_those_kept_are_forgotten_the_oldest_first(jobs):
    first = jobs.start("a", "x", lambda progress: "a")
    result(first, whatever_it_takes=True)
    for key in "bcd":
        result(jobs.start(key, "x", lambda progress: None), whatever_it_takes=True)
    assert jobs.find(first.job_id) is None
    assert jobs.start("a", "x", lambda progress: "again") is not first


def test_work_that_takes_long_is_followed_and_ended(jobs, monkeypatch):
    monkeypatch.setattr("evidence_kit.web.jobs.PATIENCE", 0.01)
    stepped, end = threading.Event(), threading.Event()

    def work(progress):
        for done in range(1, 10**9):
            progress(done, 10**9)
            stepped.set()
            end.wait(0.001)
        return done

    job = jobs.start("a", "x", work)
    assert stepped.wait(10)
    with pytest.raises(StillRunning) as running:
        result(job)
    assert (running.value.job, job.state, job.whole) == (job, "running", 10**9)
    assert jobs.start("a", "x", work) is job
    job.cancel()
    with pytest.raises(CancelledJobError):
        result(job, whatever_it_takes=True)
    assert job.state == "cancelled"
    assert jobs.start("a", "x", lambda progress: 1) is not job


def test_what_the_work_raises_reaches_who_waits_and_the_next_one_tries_again(jobs):
    def fail(progress):
        raise EvidenceError("坏了。")

    job = jobs.start("a", "x", fail)
    with pytest.raises(EvidenceError, match="坏了"):
        result(job, whatever_it_takes=True)
    assert job.state == "failed"
    assert result(jobs.start("a", "x", lambda progress: 5), whatever_it_takes=True) == 5


def test_closing_ends_what_runs_and_what_waits():
    jobs = Jobs(workers=1)
    began = threading.Event()

    def work(progress):
        began.set()
        while True:
            progress(0, 1)

    running = jobs.start("a", "x", work)
    jobs.start("b", "x", work)
    assert began.wait(10)
    jobs.close()
    with pytest.raises(CancelledJobError):
        running.future.result(10)
