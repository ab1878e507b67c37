"""Work that many wait for: once for all, ended when nobody waits, forgotten when it is old."""

import asyncio
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from evidence_kit.errors import EvidenceError
from evidence_kit.web.jobs import (
    LEASE,
    MOST_UNFINISHED,
    BusyError,
    CancelledJobError,
    Job,
    Jobs,
    StillRunning,
)


@pytest.fixture
def jobs():
    made = Jobs(keep=2)
    yield made
    made.close()


def result(job, **options):
    """Wait in a thread of its own: in this one a browser test may have left its event loop running."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(lambda: asyncio.run(job.result(**options))).result()


def until_ended(progress):
    """Work that ends only when it is told to."""
    waiting = threading.Event()
    for done in range(10**9):
        progress(done, 10**9)
        waiting.wait(0.001)


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


def test_who_asks_after_a_cancelling_does_not_wait_for_the_work_that_is_dying(jobs):
    began, go = threading.Event(), threading.Event()

    def work(progress):
        began.set()
        go.wait(10)  # long between two steps
        progress(1, 2)

    dying = jobs.start("a", "x", work)
    assert began.wait(10)
    dying.cancel()
    job = jobs.start("a", "x", lambda progress: "fresh")
    assert job is not dying
    assert result(job, whatever_it_takes=True) == "fresh"
    go.set()
    with pytest.raises(CancelledJobError):
        dying.future.result(10)
    assert jobs.start("a", "x", lambda progress: 1) is job  # its end takes nothing from the new one


def test_the_work_ends_when_the_last_who_waits_has_left_and_not_before(jobs):
    job = jobs.start("a", "x", until_ended)
    first, second = job.wait(), job.wait()
    assert job.leave(first) == "running"
    assert job.leave(first) == "running"  # leaving twice is leaving once
    assert job.leave("a ticket that was never given") == "running"
    assert job.leave(second) == "cancelled"
    with pytest.raises(CancelledJobError):
        job.future.result(10)


def test_a_ticket_that_is_not_renewed_lapses_and_one_that_is_renewed_holds():
    now = [0.0]
    job = Job("x", clock=lambda: now[0])
    mine, gone = job.wait(), job.wait()
    now[0] = LEASE
    assert job.leave("x") == "running"
    job.wait(mine)
    now[0] = LEASE + 1  # the other one has lapsed
    other = job.wait()
    assert job.leave(mine) == "running"
    assert job.leave(other) == "cancelled"
    assert gone not in (mine, other)


def test_who_leaves_work_that_is_done_is_told_so(jobs):
    job = jobs.start("a", "x", lambda progress: 1)
    ticket = job.wait()
    result(job, whatever_it_takes=True)
    assert job.leave(ticket) == "done"
    assert jobs.start("a", "x", lambda progress: 2) is job


def test_a_failure_is_kept_until_somebody_has_been_told_and_then_tried_again(jobs):
    tried = []

    def fail(progress):
        tried.append(1)
        raise EvidenceError("坏了。")

    job = jobs.start("a", "x", fail)
    with pytest.raises(EvidenceError):
        job.future.result(10)
    assert job.state == "failed"
    assert jobs.start("a", "x", fail) is job  # who followed its progress is told now
    with pytest.raises(EvidenceError, match="坏了"):
        result(job, whatever_it_takes=True)
    assert tried == [1]
    assert result(jobs.start("a", "x", lambda progress: 5), whatever_it_takes=True) == 5


def test_more_work_than_may_wait_is_refused_and_what_is_there_goes_on(jobs):
    started = [jobs.start(number, "x", until_ended) for number in range(MOST_UNFINISHED)]
    with pytest.raises(BusyError) as refused:
        jobs.start("one more", "x", until_ended)
    assert refused.value.http_status == 503
    assert jobs.start(3, "x", until_ended) is started[3]
    started[0].cancel()
    with pytest.raises(CancelledJobError):
        started[0].future.result(10)
    assert jobs.start("one more", "x", until_ended).state == "running"


def test_closing_ends_what_runs_and_what_waits():
    jobs = Jobs(workers=1)
    began = threading.Event()

    def work(progress):
        began.set()
        while True:
            progress(0, 1)

    running, waiting = jobs.start("a", "x", work), jobs.start("b", "x", work)
    assert began.wait(10)
    jobs.close()
    for job in (running, waiting):
        with pytest.raises(CancelledJobError):
            job.future.result(10)
    with pytest.raises(CancelledJobError):
        jobs.start("c", "x", work)
