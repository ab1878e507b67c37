"""Experiments for the tests of the Evaluate pages, each in a file of its own, and searches that take long."""

import threading

from starlette.testclient import TestClient
from workbench import BASE, HOSTILE, ROOT

from evidence_kit.course import Course
from evidence_kit.experiments.demo import read_demo
from evidence_kit.experiments.model import Parameters
from evidence_kit.experiments.store import ExperimentStore
from evidence_kit.sources.given import document_typed
from evidence_kit.web import desk
from evidence_kit.web.app import create_app
from evidence_kit.web.settings import Settings

COURSE = Course.load()


def demo_file(path):
    demo = read_demo(ROOT / "data" / "demo_experiment", Parameters())
    ExperimentStore.create(path, "手册", holding=demo).close()
    return path


def empty_file(path):
    ExperimentStore.create(path, "新的实验").close()
    return path


def hostile_file(path):
    """Every field of an experiment that text can go into holds what means harm."""
    store = ExperimentStore.create(path, HOSTILE)
    for text in (f"仅限室内使用。{HOSTILE}", f"{HOSTILE}\r\n=1+1\r\n\u202e反\u202c", "\0仅限" + HOSTILE):
        store.import_documents([document_typed(HOSTILE, text)])
    store.add_questions([HOSTILE, "=cmd|'/c calc'!A1 仅限室内使用"])
    store.judge("Q001", "S001", 3)
    store.judge("Q002", "S002", 2)
    store.edit_question("Q002", "=仅限室内使用 " + HOSTILE)
    store.close()
    return path


def app_on(path):
    return create_app(Settings(), COURSE, desk.Desk(path))


def client_on(path):
    return TestClient(app_on(path), base_url=BASE, follow_redirects=False)


def stands(path):
    """The experiment as it stands in a file."""
    store = ExperimentStore.open(path)
    experiment = store.snapshot()
    store.close()
    return experiment


def slow_searches(monkeypatch):
    """Make searches wait, looking whether to end, until the event that is returned is set."""
    go = threading.Event()
    real = desk.search

    def waiting(experiment, day, *, progress):
        while not go.wait(0.005):
            progress(3, 7)
        return real(experiment, day, progress=progress)

    monkeypatch.setattr(desk, "search", waiting)
    monkeypatch.setattr("evidence_kit.web.jobs.PATIENCE", 0.05)
    return go
