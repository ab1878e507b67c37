"""Forms that are not taken, what a long search may hide, work that is ended, and addresses nobody means."""

import html
import re
from itertools import product

import pytest
from experiments import client_on, demo_file, empty_file, stands
from forms import form_of, send

from evidence_kit.experiments.model import ExperimentError
from evidence_kit.experiments.store import ExperimentStore
from evidence_kit.web.evaluate_results import shown_parameters


@pytest.fixture
def client(path):
    return client_on(path)


# (page, action, what is wrong in it, what is right, what another tab writes meanwhile)
FORMS = [
    (
        "/evaluate/source/edit?id=repair.md", "/evaluate/source/edit",
        {"effective_from": "2027-01-01", "effective_until": "2026-01-01"},
        {"effective_from": "", "effective_until": "", "text": "我的"}, {"text": "别人的"},
    ),
    ("/evaluate/question?id=q1", "/evaluate/question", {"text": " "}, {"text": "我的"}, {"text": "别人的"}),
    ("/evaluate/measures", "/evaluate/measures", {"k": "abc"}, {"k": "7"}, {"k": "5"}),
    ("/evaluate/prompt?q=q1", "/evaluate/prompt", {"budget": "x"}, {"budget": "900"}, {"budget": "800"}),
    ("/evaluate/baselines", "/evaluate/baselines", {"name": " "}, {"name": "我的"}, {"name": "别人的"}),
]  # fmt: skip
NAMES = [form[1] for form in FORMS]


@pytest.mark.parametrize(("page", "action", "wrong", "right", "other"), FORMS, ids=NAMES)
def test_a_form_that_was_refused_overwrites_nothing_on_the_second_try(
    client, path, page, action, wrong, right, other
):
    opened = form_of(client.get(page).text, action)["fields"]
    refused = client.post(action, data={**opened, **wrong})
    assert refused.status_code == 400
    assert client.post(action, data={**opened, **other}).status_code == 303
    again = form_of(refused.text, action)["fields"]
    before = stands(path)
    answer = client.post(action, data={**again, **right})
    assert answer.status_code == 409
    assert stands(path) == before
    seen = form_of(answer.text, action)["fields"]  # this page shows what stands
    assert client.post(action, data={**seen, **right}).status_code == 303


@pytest.mark.parametrize(("page", "action", "wrong", "right", "other"), FORMS, ids=NAMES)
def test_who_is_late_and_wrong_is_told_that_he_is_late(client, path, page, action, wrong, right, other):
    opened = form_of(client.get(page).text, action)["fields"]
    assert client.post(action, data={**opened, **other}).status_code == 303
    before = stands(path)
    answer = client.post(action, data={**opened, **wrong})
    assert (answer.status_code, "已被改动" in answer.text) == (409, True)
    assert stands(path) == before


WRITERS = [("edit_source", 0), ("edit_question", 1), ("set_parameters", 2), ("set_parameters", 3)]


@pytest.mark.parametrize(("method", "number"), WRITERS, ids=[NAMES[number] for _, number in WRITERS])
def test_what_is_written_elsewhere_while_a_form_is_refused_was_not_seen(
    client, path, monkeypatch, method, number
):
    page, action, _, right, other = FORMS[number]
    opened = form_of(client.get(page).text, action)["fields"]

    def refuse(*args, **named):
        monkeypatch.undo()
        monkeypatch.setattr("evidence_kit.web.jobs.PATIENCE", 60)
        assert client_on(path).post(action, data={**opened, **other}).status_code == 303
        raise ExperimentError("不收。")

    monkeypatch.setattr(ExperimentStore, method, refuse)
    refused = client.post(action, data={**opened, **right})
    assert refused.status_code == 400
    before = stands(path)
    again = form_of(refused.text, action)["fields"]
    assert client.post(action, data={**again, **right}).status_code == 409
    assert stands(path) == before


def test_a_refused_restore_does_not_overwrite_what_came_after_its_form_was_opened(client, path):
    opened = form_of(client.get("/evaluate/exports").text, "/evaluate/restore")["fields"]
    data = client.get("/evaluate/export/experiment.json").content
    client.post("/evaluate/questions", data={"questions": "别人的问题"})
    late = client.post("/evaluate/restore", data=opened, files={"file": ("a.json", b"{")})
    assert late.status_code == 409  # late before broken
    opened = form_of(client.get("/evaluate/exports").text, "/evaluate/restore")["fields"]
    refused = client.post("/evaluate/restore", data=opened, files={"file": ("a.json", b"{")})
    client.post("/evaluate/questions", data={"questions": "又一个"})
    again = form_of(refused.text, "/evaluate/restore")["fields"]
    before = stands(path)
    assert client.post("/evaluate/restore", data=again, files={"file": ("a.json", data)}).status_code == 409
    assert stands(path) == before


@pytest.mark.parametrize("change", [{"row": "x"}, {"page": "-1"}, {"day": "x"}, {"grade": "7"}])
def test_a_judgment_whose_form_is_wrong_anywhere_is_not_written(client, path, change):
    where = {"question_id": "q1", "source_id": "repair.md"}
    form = form_of(client.get("/evaluate?q=q1").text, "/evaluate/judge", **where)["fields"]
    before = stands(path)
    answer = client.post("/evaluate/judge", data={**form, "grade": "1", **change})
    assert (answer.status_code, stands(path) == before) == (400, True)


def test_a_budget_for_a_question_that_is_not_there_is_not_written(client, path):
    before = stands(path)
    answer = send(client, "/evaluate/prompt?q=q1", "/evaluate/prompt", {"q": "nope", "budget": "900"})
    assert (answer.status_code, stands(path) == before) == (404, True)


# Whose form it is.


def test_a_form_of_another_experiment_writes_nothing(client, path, tmp_path):
    other = demo_file(tmp_path / "other.db")
    theirs = client_on(other)
    before = stands(other)
    for page, action, _, right, _ in FORMS:
        form = form_of(client.get(page).text, action)["fields"]
        answer = theirs.post(action, data={**form, **right})
        assert (answer.status_code, "另一个实验" in answer.text) == (409, True)
    assert stands(other) == before
    keys = [
        re.findall('data-keep="([0-9a-f]+)"', each.get("/evaluate/sources").text) for each in (client, theirs)
    ]
    assert keys[0] != keys[1]


# An error while a search runs.


def expected(client, number):
    return f"{client.app.state.desk.store.identity}-{number}"


def test_no_error_is_hidden_by_a_search_that_runs(slow_client, path):
    client, _ = slow_client
    store = ExperimentStore.open(path)
    experiment, last = store.snapshot(), store.look().last
    parameters = store.revision("parameters", "")
    store.close()
    source = experiment.sources[0]
    judgment = {
        "question_id": "q1", "source_id": source.source_id, "expected": expected(client, last + 1),
        "grade": "1", "question_sha256": experiment.questions[0].text_sha256,
        "source_sha256": source.text_sha256,
    }  # fmt: skip
    late = client.post("/evaluate/judge", data=judgment)
    assert (late.status_code, "已被改动" in late.text, 'href="/evaluate?q=q1"' in late.text) == (
        409,
        True,
        True,
    )
    shown = client.app.state.desk.look().experiment.parameters
    typed = {**shown_parameters(shown), "k": "abc", "expected": expected(client, parameters)}
    bad = client.post("/evaluate/measures", data=typed)
    assert bad.status_code == 400
    assert form_of(bad.text, "/evaluate/measures", k="abc")
    assert "指标还在计算" in bad.text
    bad = client.post(
        "/evaluate/prompt", data={"q": "q1", "budget": "x", "expected": expected(client, parameters)}
    )
    assert (bad.status_code, form_of(bad.text, "/evaluate/prompt")["fields"]["budget"]) == (400, "x")


def test_an_error_is_json_for_programs_that_write(client):
    data = {"id": "q1", "text": " ", "expected": expected(client, 0)}
    answer = client.post("/evaluate/question", data=data, headers={"Accept": "application/json"})
    assert (answer.status_code, answer.json()["error"]["code"]) == (409, "contradiction")


# Freezing and files take their time, too.


def test_a_long_freezing_is_followed_to_its_end(slow_client, path):
    client, go = slow_client
    form = form_of(client.get("/evaluate/baselines").text, "/evaluate/baselines")["fields"]
    waiting = client.post("/evaluate/baselines", data={**form, "name": "起点"})
    assert (waiting.status_code, stands(path).baselines) == (202, ())
    again = html.unescape(re.search('data-again="([^"]+)"', waiting.text)[1])
    assert client.get(again).status_code == 202
    go.set()
    client.app.state.desk.job(re.search('data-job="([0-9a-f]+)"', waiting.text)[1]).future.result(10)
    assert client.get(again).headers["location"] == "/evaluate/baselines"
    assert [baseline.name for baseline in stands(path).baselines] == ["起点"]


def test_a_freezing_that_is_cancelled_keeps_no_baseline_and_one_that_fails_says_why(slow_client, path):
    client, go = slow_client
    form = form_of(client.get("/evaluate/baselines").text, "/evaluate/baselines")["fields"]
    waiting = client.post("/evaluate/baselines", data={**form, "name": "起点"})
    cancel = form_of(waiting.text, "/evaluate/cancel")["fields"]
    assert "已经取消" in client.post("/evaluate/cancel", data=cancel).text
    client.app.state.desk.job(cancel["job"]).future.exception(10)
    assert stands(path).baselines == ()
    waiting = client.post("/evaluate/baselines", data={**form, "name": " "})
    again = html.unescape(re.search('data-again="([^"]+)"', waiting.text)[1])
    go.set()
    client.app.state.desk.job(re.search('data-job="([0-9a-f]+)"', waiting.text)[1]).future.exception(10)
    told = client.get(again)
    assert (told.status_code, "基线名称是空的" in told.text) == (400, True)


def test_a_freezing_that_is_cancelled_at_the_last_moment_keeps_no_baseline(client, path, monkeypatch):
    import evidence_kit.web.desk as desk

    real = desk.freeze

    def cancelled(*args, **named):
        for job in client.app.state.desk.jobs._jobs.values():
            job.cancel()
        return real(*args, **named)

    monkeypatch.setattr(desk, "freeze", cancelled)
    answer = send(client, "/evaluate/baselines", "/evaluate/baselines", {"name": "起点"})
    assert (answer.status_code, "已被取消" in answer.text) == (409, True)
    assert stands(path).baselines == ()


def test_who_cancels_leaves_the_search_to_those_who_wait_for_it_too(slow_client):
    client, _ = slow_client
    mine = form_of(client.get("/evaluate?q=q1").text, "/evaluate/cancel")["fields"]
    theirs = form_of(client.get("/evaluate?q=q2").text, "/evaluate/cancel")["fields"]
    assert mine["job"] == theirs["job"]
    answer = client.post("/evaluate/cancel", data=mine)
    assert "还有别的页面在等" in answer.text
    progress = f"/evaluate/progress?job={theirs['job']}&ticket={theirs['ticket']}"
    assert client.get(progress).json()["state"] == "running"
    assert "已经取消" in client.post("/evaluate/cancel", data=theirs).text
    assert client.get(progress).json()["state"] == "cancelled"


def test_days_with_the_same_sources_are_one_search_and_more_than_may_wait_is_told(slow_client, monkeypatch):
    client, _ = slow_client
    jobs = {
        re.search('data-job="([0-9a-f]+)"', client.get(f"/evaluate?day=2026-11-0{n}").text)[1] for n in (1, 2)
    }
    assert len(jobs) == 1
    monkeypatch.setattr("evidence_kit.web.jobs.MOST_UNFINISHED", 1)
    client.post("/evaluate/questions", data={"questions": "新的"})
    answer = client.get("/evaluate")
    assert (answer.status_code, 'data-code="busy"' in answer.text) == (503, True)
    answer = client.get("/evaluate", headers={"Accept": "application/json"})
    assert (answer.status_code, answer.json()["error"]["code"]) == (503, "busy")
    assert client.get("/evaluate/questions").status_code == 200


def test_a_file_is_made_once_and_is_the_same_the_second_time(client, monkeypatch):
    import evidence_kit.web.desk as desk

    made = []
    real = desk.measured
    monkeypatch.setattr(desk, "measured", lambda *args: made.append(1) or real(*args))
    first, second = (client.get("/evaluate/export/hits.csv").content for _ in range(2))
    assert (first == second, made) == (True, [1])
    client.post("/evaluate/questions", data={"questions": "备用车"})
    assert client.get("/evaluate/export/hits.csv").content != first


# Every address, with what nobody means.

ODD = [
    "", "x", "0", "-1", "9" * 18, "9" * 40, "%00", "%ed%a0%80", "%F0%9F%98%80", "2026-02-30", "0001-01-01",
    "9999-12-31", "9999-12-31T20:00:00Z", "0001-01-01T00:00:00%2B23:00", "9999-12-31T23:59:59-23:00",
    "..%2F..", "e30", "a" * 3000,
]  # fmt: skip
# Address -> the parameters that it reads; `q` and `id` are right where they are not the one that is odd.
READ = {
    "/evaluate": ("q", "page", "day"),
    "/evaluate/baselines": ("day", "job", "name", "expected"),
    "/evaluate/compare": ("day", "baseline"),
    "/evaluate/export/{name}": ("q", "day", "known", "change"),
    "/evaluate/exports": ("day", "known", "change"),
    "/evaluate/history": ("page",),
    "/evaluate/measures": ("page", "day", "known", "change"),
    "/evaluate/progress": ("job", "ticket"),
    "/evaluate/prompt": ("q", "day"),
    "/evaluate/question": ("id",),
    "/evaluate/questions": ("page",),
    "/evaluate/source": ("id", "day", "receipt"),
    "/evaluate/source/edit": ("id",),
    "/evaluate/sources": ("page", "day", "report"),
}


def test_every_address_that_is_read_is_in_the_table(client):
    found = {route.path for route in client.app.routes if "GET" in (getattr(route, "methods", None) or ())}
    assert {path for path in found if path.startswith("/evaluate")} == set(READ)


@pytest.mark.parametrize("kind", ["demo", "empty"])
def test_no_address_makes_the_server_fail(client, tmp_path, kind):
    opened = client if kind == "demo" else client_on(empty_file(tmp_path / "empty.db"))
    known = {"id": "repair.md", "q": "q1", "job": "x", "name": "x", "expected": expected(opened, 1)}
    failed = []
    for path, names in READ.items():
        for name, odd in product(names, ODD if kind == "demo" else ODD[::3]):
            rest = "&".join(f"{key}={known[key]}" for key in names if key != name and key in known)
            answer = opened.get(f"{path.format(name='prompt.txt')}?{name}={odd}&{rest}")
            if answer.status_code >= 500:
                failed.append((path, name, odd))
    assert failed == []
