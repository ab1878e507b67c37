"""An application in the process for most tests; servers on free loopback ports and a browser for the rest."""

import os
import shutil

import pytest
from experiments import client_on, demo_file, slow_searches
from starlette.testclient import TestClient
from workbench import BASE, hostile_course, odd_course, serving

from evidence_kit.web.app import create_app
from evidence_kit.web.settings import Settings


@pytest.fixture(autouse=True)
def patient(monkeypatch):
    """Answers wait for a search, however busy the machine is; tests of progress have their own patience."""
    monkeypatch.setattr("evidence_kit.web.jobs.PATIENCE", 60)


@pytest.fixture(scope="session")
def app():
    return create_app(Settings())


@pytest.fixture
def client(app):
    with TestClient(app, base_url=BASE, follow_redirects=False) as made:
        yield made


@pytest.fixture
def path(tmp_path):
    """The file of an experiment: the demo."""
    return demo_file(tmp_path / "demo.db")


@pytest.fixture
def slow_client(path, monkeypatch):
    """A client whose searches wait until the event is set."""
    go = slow_searches(monkeypatch)
    made = client_on(path)
    yield made, go
    go.set()
    made.app.state.desk.close()


@pytest.fixture(scope="session")
def server(app):
    with serving(app) as address:
        yield address


@pytest.fixture(scope="session")
def odd_server():
    with serving(create_app(Settings(), odd_course())) as address:
        yield address


@pytest.fixture(scope="session")
def hostile_server():
    with serving(create_app(Settings(), hostile_course())) as address:
        yield address


@pytest.fixture(scope="session")
def browser():
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    program = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if program is None:
        pytest.skip("no Chromium is installed")
    root = hasattr(os, "geteuid") and os.geteuid() == 0
    with playwright.sync_playwright() as running:
        launched = running.chromium.launch(executable_path=program, args=["--no-sandbox"] if root else [])
        yield launched
        launched.close()


@pytest.fixture
def page(browser):
    """A page in a context of its own; an error in its scripts, or a blocked resource, fails the test."""
    context = browser.new_context(accept_downloads=True, viewport={"width": 1440, "height": 900})
    problems = []
    opened = context.new_page()
    opened.on("pageerror", lambda error: problems.append(str(error)))
    opened.on(
        "console", lambda message: problems.append(message.text) if "Security" in message.text else None
    )
    yield opened
    context.close()
    assert problems == []
