"""Work that takes its time: done once for all who wait for it, followed while it runs, ended on request."""

from __future__ import annotations

import asyncio
import secrets
import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, Literal

from evidence_kit.errors import EvidenceError
from evidence_kit.measures.intervals import Progress

State = Literal["running", "done", "failed", "cancelled"]
PATIENCE = 0.7  # seconds that an answer waits before it is a page that shows the progress


class CancelledJobError(EvidenceError):
    """Work that somebody ended before it was done."""

    def __init__(self) -> None:
        super().__init__("这次计算已被取消，原来的内容没有改动：请重新打开页面再算。", http_status=409)


class StillRunning(Exception):  # noqa: N818 - not an error: what has been asked for will come
    """Work that is not done yet; the answer is a page that shows how far it is."""

    def __init__(self, job: Job) -> None:
        super().__init__(job.job_id)
        self.job = job


class Job:
    """One piece of work: `done` of `whole` steps, as it says itself; `whole` is 0 until it does."""

    def __init__(self, label: str) -> None:
        self.job_id = secrets.token_hex(8)
        self.label = label
        self.done = self.whole = 0
        self.future: Future[Any] = Future()
        self._cancelled = threading.Event()

    def cancel(self) -> None:
        """End the work at its next step; what is done already stays done."""
        self._cancelled.set()

    def progress(self, done: int, whole: int) -> None:
        """Note how far the work is. Raises CancelledJobError where it shall end."""
        if self._cancelled.is_set():
            raise CancelledJobError
        self.done, self.whole = done, whole

    @property
    def state(self) -> State:
        """Return where the work is."""
        if not self.future.done():
            return "running"
        error = self.future.exception()
        return "done" if error is None else "cancelled" if isinstance(error, CancelledJobError) else "failed"

    async def result(self, *, whatever_it_takes: bool = False) -> Any:
        """Return what the work gives, or raise what it raised; StillRunning where that takes longer."""
        if not self.future.done():
            waiting = asyncio.wrap_future(self.future)
            waiting.add_done_callback(lambda done: done.cancelled() or done.exception())
            await asyncio.wait([waiting], timeout=None if whatever_it_takes else PATIENCE)
        if not self.future.done():
            raise StillRunning(self)
        return self.future.result()


class Jobs:
    """Jobs by key. The last `keep` results are kept; `workers` jobs run at a time, the others wait."""

    def __init__(self, keep: int = 8, workers: int = 2) -> None:
        self._keep = keep
        self._jobs: OrderedDict[Hashable, Job] = OrderedDict()
        self._lock = threading.Lock()
        self._pool = ThreadPoolExecutor(workers, thread_name_prefix="evidence-job")

    def start(self, key: Hashable, label: str, work: Callable[[Progress], Any]) -> Job:
        """Return the job of a key: the one that runs or is done, else a new one."""
        with self._lock:
            job = self._jobs.get(key)
            if job is None or job.state in ("failed", "cancelled"):
                job = self._jobs[key] = Job(label)
                self._pool.submit(_run, job, work)
            self._jobs.move_to_end(key)
            self._forget_oldest()
            return job

    def find(self, job_id: str) -> Job | None:
        """Return the job of that id, None where there is none any more."""
        with self._lock:
            return next((job for job in self._jobs.values() if job.job_id == job_id), None)

    def close(self) -> None:
        """End all work that runs or waits."""
        with self._lock:
            for job in self._jobs.values():
                job.cancel()
        self._pool.shutdown(wait=False, cancel_futures=True)

    def _forget_oldest(self) -> None:
        finished = [key for key, job in self._jobs.items() if job.future.done()]
        for key in finished[: max(len(self._jobs) - self._keep, 0)]:
            del self._jobs[key]


def _run(job: Job, work: Callable[[Progress], Any]) -> None:
    try:
        job.progress(0, 0)
        job.future.set_result(work(job.progress))
    except BaseException as error:
        job.future.set_exception(error)
