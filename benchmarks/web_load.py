"""Measure the workbench under load: users who ask, judge and look, with a pause for thought between clicks.

    python benchmarks/web_load.py --users 50 --seconds 60 --thought 1

Starts `evidence serve` on a free loopback port, over an experiment of its own with a question for each user,
and ends it. Latency is from the click to the last byte, one connection a user; the server shares the machine
with the users. A judgment is a POST and the page that it leads to, as a browser does it: both are one click.
In the end every pair of a question and a source must have the last grade that was acknowledged.
"""

from __future__ import annotations

import argparse
import http.client
import itertools
import random
import re
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from html import unescape
from pathlib import Path
from urllib.parse import quote, urlencode, urlsplit

from evidence_kit.course import DATA, examples
from evidence_kit.experiments.demo import read_demo
from evidence_kit.experiments.model import Parameters
from evidence_kit.experiments.store import ExperimentStore

CLICKS = {
    "ask": [f"/ask?q={quote(question)}" for question in examples()],
    "find": [
        f"/find?q={quote(question)}" for question in ("割伤以后急救箱在哪里", "borrow a drill", "堆肥箱")
    ],
    "acceptance": ["/acceptance"],
    "sources": ["/sources", "/sources/C003"],
}
ROUND = ("ask", "judge", "judge", "find", "judge", "sources", "ask", "acceptance")


@dataclass
class Seen:
    """What the users saw: seconds for each kind of click, and each answer that was not 200."""

    seconds: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    errors: Counter[str] = field(default_factory=Counter)
    acknowledged: dict[tuple[str, str], int] = field(default_factory=dict)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def note(self, kind: str, seconds: float, error: str | None) -> None:
        """Keep one click."""
        with self.lock:
            self.seconds[kind].append(seconds)
            if error is not None:
                self.errors[error] += 1


class User:
    """One user with a connection and a question of their own."""

    def __init__(self, address: str, number: int, seen: Seen) -> None:
        self._connection = http.client.HTTPConnection(urlsplit(address).netloc, timeout=30)
        self._chooser = random.Random(number)
        self._seen = seen
        self._page = f"/evaluate?q=Q{number + 1:03}"
        self._forms: list[dict[str, str]] = []
        self._seconds = 0.0  # of this click

    def use(self, until: float, thought: float) -> None:
        """Click until the time is over."""
        time.sleep(self._chooser.random() * thought)
        for planned in itertools.cycle(ROUND):
            if time.perf_counter() >= until:
                break
            kind = "evaluate" if planned == "judge" and not self._forms else planned
            self._seconds = 0.0
            try:
                error = self._click(kind)
            except (OSError, http.client.HTTPException) as problem:
                error = f"{kind}: {type(problem).__name__}"
                self._connection.close()
            self._seen.note(kind, self._seconds, error)
            time.sleep(thought)
        self._connection.close()

    def _click(self, kind: str) -> str | None:
        """Do one click and return what was wrong with it."""
        if kind == "judge":
            return self._judge()
        path = self._page if kind == "evaluate" else self._chooser.choice(CLICKS[kind])
        status, text, _ = self._ask("GET", path)
        if kind == "evaluate":
            self._forms = judge_forms(text)
        return None if status == 200 else f"{kind}: {status}"

    def _judge(self) -> str | None:
        form, grade = self._chooser.choice(self._forms), self._chooser.randrange(4)
        status, _, location = self._ask("POST", "/evaluate/judge", urlencode({**form, "grade": grade}))
        if status != 303:
            return f"judge: {status}"
        self._seen.acknowledged[form["question_id"], form["source_id"]] = grade
        status, text, _ = self._ask("GET", location.partition("#")[0])
        self._forms = judge_forms(text)
        return None if status == 200 else f"judge, page: {status}"

    def _ask(self, method: str, path: str, body: str | None = None) -> tuple[int, str, str]:
        headers = {"Content-Type": "application/x-www-form-urlencoded"} if body else {}
        started = time.perf_counter()
        try:
            self._connection.request(method, path, body, headers)
            answer = self._connection.getresponse()
            text = answer.read()
        finally:
            self._seconds += time.perf_counter() - started
        return answer.status, text.decode("utf-8"), answer.headers.get("Location", "")


def judge_forms(text: str) -> list[dict[str, str]]:
    """Return the fields of each form of a page that judges."""
    forms = re.findall(r'<form class="judge".*?</form>', text, re.S)
    fields = re.compile(r'type="hidden" name="([^"]+)" value="([^"]*)"')
    return [{name: unescape(value) for name, value in fields.findall(form)} for form in forms]


def experiment_for(users: int, path: Path) -> None:
    """Make an experiment of the demo's sources with a question for each user."""
    store = ExperimentStore.create(path, "load", holding=read_demo(DATA / "demo_experiment", Parameters()))
    words = [question.text for question in store.snapshot().questions]
    store.add_questions([f"{words[number % len(words)]} {number}" for number in range(users)])
    store.close()


def lost(seen: Seen, path: Path) -> list[tuple[str, str]]:
    """Return the pairs that do not have the grade that was acknowledged last."""
    store = ExperimentStore.open(path)
    judgments = store.snapshot().judgments
    store.close()
    stands = {(judgment.question_id, judgment.source_id): judgment.grade for judgment in judgments}
    return [pair for pair, grade in seen.acknowledged.items() if stands.get(pair) != grade]


def report(seen: Seen) -> None:
    """Print the table."""
    everything = [second for seconds in seen.seconds.values() for second in seconds]
    print(f"{'click':<12}{'count':>7}{'p50 ms':>9}{'p95 ms':>9}{'max ms':>9}")
    for kind, seconds in [*sorted(seen.seconds.items()), ("all", everything)]:
        cuts = statistics.quantiles(seconds, n=20) if len(seconds) > 1 else seconds * 19
        figures = (statistics.median(seconds), cuts[-1], max(seconds))
        print(f"{kind:<12}{len(seconds):>7}" + "".join(f"{figure * 1e3:>9.1f}" for figure in figures))
    print(f"judged pairs: {len(seen.acknowledged)}")
    print(f"errors: {sum(seen.errors.values())} {dict(seen.errors) or ''}")


def main() -> None:
    """Run the users against a server of their own."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--users", type=int, default=50)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--thought", type=float, default=1)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "load.db"
        experiment_for(options.users, path)
        seen = Seen()
        with serving(path) as address:
            until = time.perf_counter() + options.seconds
            users = [
                threading.Thread(target=User(address, number, seen).use, args=(until, options.thought))
                for number in range(options.users)
            ]
            for user in users:
                user.start()
            for user in users:
                user.join()
        report(seen)
        print(f"lost judgments: {len(lost(seen, path))}")


@contextmanager
def serving(path: Path) -> Iterator[str]:
    """Yield the address of a server over an experiment, which is killed in the end: what it said, it kept."""
    server = subprocess.Popen(
        [sys.executable, "-m", "evidence_kit.commands", "serve", "--no-open", "--port=0", f"--db={path}"],
        cwd=Path(__file__).parents[1],
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        yield next(iter(server.stdout or ()), "").strip()
    finally:
        server.kill()
        server.wait()


if __name__ == "__main__":
    main()
