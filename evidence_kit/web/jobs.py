"""Work that takes its time: done once for all who wait for it, followed while it runs, ended on request.

Who waits has a ticket, and renews it by asking how far the work is. Cancelling gives the ticket back; the
work ends when nobody waits any more. A ticket that is not renewed lapses: who has closed the page holds
nothing up.
"""

from __future__ import annotations

import asyncio
import secrets
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Hashable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from typing import Any, Literal

from evidence_kit.errors import EvidenceError
from evidence_kit.measures.intervals import Progress

State = Literal["running", "done", "failed", "cancelled"]
PATIENCE = 0.7  # seconds that an answer waits before it is a page that shows the progress
LEASE = 10.0  # seconds that a ticket holds without being renewed; the page renews it twice a second
MOST_UNFINISHED = 16  # jobs that run or wait; each keeps a state of the experiment in memory
_LOOK = 0.1  # seconds between two looks of one job at another


class CancelledJobError(EvidenceError):
    """Work that somebody ended before it was done."""

    def __init__(self) -> None:
        super().__init__("这次计算已被取消，原来的内容没有改动：请重新打开页面再算。", http_status=409)


class BusyError(EvidenceError):
    """More work asked for than may wait."""

    def __init__(self) -> None:
        super().__init__(
            f"已有 {MOST_UNFINISHED} 项计算在进行或等待：请等其中几项完成，再打开这一页。", http_status=503
        )


class StillRunning(Exception):  # noqa: N818 - not an error: what has been asked for will come
    """Work that is not done yet; the answer is a page that shows how far it is."""

    def __init__(self, job: Job, again: str | None = None) -> None:
        super().__init__(job.job_id)
        self.job, self.again = job, again


class Job:
    """One piece of work: `done` of `whole` steps, as it says itself; `whole` is 0 until it does."""

    def __init__(self, label: str, clock: Callable[[], float] = time.monotonic) -> None:
        self.job_id = secrets.token_hex(8)
        self.label = label
        self.done = self.whole = 0
        self.future: Future[Any] = Future()
        self.delivered = False  # a failure, to somebody who waited
        self._clock = clock
        self._tickets: dict[str, float] = {}
        self._answers = 0  # requests that wait here themselves
        self._cancelled = threading.Event()
        self._lock = threading.Lock()

    def wait(self, ticket: str | None = None) -> str:
        """Note that somebody waits, or still waits, and return the ticket."""
        ticket = ticket or secrets.token_hex(8)
        with self._lock:
            self._tickets[ticket] = self._clock()
        return ticket

    def leave(self, ticket: str) -> State:
        """Take a ticket back, end the work if nobody else waits, and return where the work is then."""
        with self._lock:
            self._tickets.pop(ticket, None)
            now = self._clock()
            waiting = [at for at in self._tickets.values() if now - at <= LEASE]
            if not waiting and not self._answers and not self.future.done():
                self._cancelled.set()
        return self.state

    def cancel(self) -> None:
        """End the work at its next step, whoever waits; what is done already stays done."""
        self._cancelled.set()

    def progress(self, done: int, whole: int) -> None:
        """Note how far the work is. Raises CancelledJobError where it shall end."""
        if self._cancelled.is_set():
            raise CancelledJobError
        self.done, self.whole = done, whole

    @property
    def state(self) -> State:
        """Return where the work is; what shall end has ended for who asks."""
        if not self.future.done():
            return "cancelled" if self._cancelled.is_set() else "running"
        error = self.future.exception()
        return "done" if error is None else "cancelled" if isinstance(error, CancelledJobError) else "failed"

    async def settled(self, *, whatever_it_takes: bool = False) -> bool:
        """Wait a moment, or as long as it takes, and return whether the work has ended."""
        if not self.future.done():
            waiting = asyncio.wrap_future(self.future)
            waiting.add_done_callback(lambda done: done.cancelled() or done.exception())
            with self._lock:
                self._answers += 1
            try:
                # Not wait_for: that would cancel the work for all.
                await asyncio.wait([waiting], timeout=None if whatever_it_takes else PATIENCE)
            finally:
                with self._lock:
                    self._answers -= 1
        return self.future.done()

    def result_within(self, progress: Progress) -> Any:
        """Return the result to the work of another job, which is told how far this one is.

        The other one must have been started later: then this one has a worker, and no two wait in a circle.
        """
        ticket = self.wait()
        try:
            while not self.future.done():
                progress(self.done, self.whole)
                self.wait(ticket)
                wait([self.future], timeout=_LOOK)
        finally:
            self.leave(ticket)
        return self.future.result()

    async def result(self, *, whatever_it_takes: bool = False, again: str | None = None) -> Any:
        """Return what the work gives, or raise what it raised; StillRunning where that takes longer.

        `again` is the address that has the result later, where it is not the one that was asked for.
        """
        if not await self.settled(whatever_it_takes=whatever_it_takes):
            raise StillRunning(self, again)
        try:
            return self.future.result()
        except Exception:
            self.delivered = True
            raise


class Jobs:
    """Jobs by key. The last `keep` that ended are kept; `workers` jobs run at a time, the others wait."""

    def __init__(self, keep: int = 8, workers: int = 2) -> None:
        self._keep = keep
        self._jobs: OrderedDict[str, Job] = OrderedDict()  # by id
        self._current: dict[Hashable, Job] = {}
        self._submitted: dict[str, Future[None]] = {}
        self._lock = threading.Lock()
        self._pool = ThreadPoolExecutor(workers, thread_name_prefix="evidence-job")
        self._closed = False

    def start(self, key: Hashable, label: str, work: Callable[[Progress], Any]) -> Job:
        """Return the job of a key: the one that runs or is done, else a new one.

        One that failed is returned until somebody has been told; one that was cancelled never. Raises
        BusyError where too many run or wait, CancelledJobError after `close`.
        """
        with self._lock:
            job = self._current.get(key)
            if job is None or job.state == "cancelled" or job.delivered:
                job = self._begin(key, label, work)
            self._jobs.move_to_end(job.job_id)
            self._forget_oldest()
            return job

    def _begin(self, key: Hashable, label: str, work: Callable[[Progress], Any]) -> Job:
        if self._closed:
            raise CancelledJobError
        if sum(not job.future.done() for job in self._jobs.values()) >= MOST_UNFINISHED:
            raise BusyError
        job = Job(label)
        self._jobs[job.job_id] = self._current[key] = job
        self._submitted[job.job_id] = self._pool.submit(_run, job, work)
        return job

    def find(self, job_id: str) -> Job | None:
        """Return the job of that id, None where there is none any more."""
        with self._lock:
            return self._jobs.get(job_id)

    def close(self) -> None:
        """End all work that runs or waits."""
        with self._lock:
            self._closed = True
            for job in self._jobs.values():
                job.cancel()
                if self._submitted[job.job_id].cancel():  # it has not begun, and now never will
                    job.future.set_exception(CancelledJobError())
        self._pool.shutdown(wait=False)

    def _forget_oldest(self) -> None:
        ended = [job for job in self._jobs.values() if job.future.done()]
        for job in ended[: max(len(self._jobs) - self._keep, 0)]:
            del self._jobs[job.job_id], self._submitted[job.job_id]
        self._current = {key: job for key, job in self._current.items() if job.job_id in self._jobs}


def _run(job: Job, work: Callable[[Progress], Any]) -> None:
    try:
        job.progress(0, 0)
        job.future.set_result(work(job.progress))
    except BaseException as error:
        job.future.set_exception(error)
