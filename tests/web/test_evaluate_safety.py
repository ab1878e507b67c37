"""The Evaluate pages and those who mean harm, come late, or do not come from our pages."""

import csv
import io
import json
import re
import threading
from html.parser import HTMLParser

import pytest
from experiments import client_on, hostile_file, stands
from forms import form_of, forms_of, send
from starlette.testclient import TestClient
from workbench import BASE, HOSTILE

from evidence_kit.experiments.run import run
from evidence_kit.experiments.store import ExperimentStore
from evidence_kit.formats.tables import read_table
from evidence_kit.sources.days import today
from evidence_kit.web.app import create_app
from evidence_kit.web.jobs import CancelledJobError
from evidence_kit.web.security import HEADERS
from evidence_kit.web.settings import Settings


@pytest.fixture
def client(path):
    return client_on(path)


@pytest.fixture
def hostile(tmp_path):
    return client_on(hostile_file(tmp_path / "hostile.db"))


# A second tab that is stale: (page, action, what the first tab changes, what the second one wants).
EDITS = [
    ("/evaluate/source/edit?id=repair.md", "/evaluate/source/edit", {"title": "一"}, {"text": "我\n写的"}),
    ("/evaluate/question?id=q1", "/evaluate/question", {"text": "一"}, {"text": "第二个人写的"}),
    ("/evaluate/measures", "/evaluate/measures", {"k": "5"}, {"window": "77", "overlap": "7"}),
    ("/evaluate/prompt?q=q1", "/evaluate/prompt", {"budget": "2000"}, {"budget": "2222"}),
    ("/evaluate/baselines", "/evaluate/baselines", {"name": "一"}, {"name": "第二个人写的"}),
]  # fmt: skip


@pytest.mark.parametrize(("page", "action", "first", "second"), EDITS, ids=[edit[1] for edit in EDITS])
def test_a_stale_tab_is_told_and_what_it_typed_is_kept(client, path, page, action, first, second):
    opened = form_of(client.get(page).text, action)["fields"]
    assert client.post(action, data={**opened, **first}).status_code == 303
    after_first = stands(path)
    answer = client.post(action, data={**opened, **second})
    assert answer.status_code == 409
    assert 'data-code="contradiction"' in answer.text
    assert "在您打开之后已被改动" in answer.text
    assert stands(path) == after_first
    again = form_of(answer.text, action)["fields"]
    assert {name: again[name] for name in second} == second
    assert client.post(action, data={**again}).status_code == 303  # seen, and meant
    assert stands(path) != after_first


def test_a_stale_judgment_is_told_and_the_first_one_stands(client, path):
    where = {"question_id": "q1", "source_id": "repair.md"}
    opened = form_of(client.get("/evaluate?q=q1").text, "/evaluate/judge", **where)["fields"]
    assert client.post("/evaluate/judge", data={**opened, "grade": "1"}).status_code == 303
    answer = client.post("/evaluate/judge", data={**opened, "grade": "2"})
    assert answer.status_code == 409
    assert "判断 q1 与 repair.md：1" in answer.text
    assert form_of(answer.text, "/evaluate/judge", **where)["fields"]["expected"] != opened["expected"]
    (judgment,) = [j for j in stands(path).judgments if (j.question_id, j.source_id) == ("q1", "repair.md")]
    assert judgment.grade == 1


@pytest.mark.parametrize("grade", ["2", "confirm"])
def test_a_judgment_of_a_text_that_has_changed_since_is_refused(client, path, grade):
    where = {"question_id": "q1", "source_id": "repair.md"}
    send(client, "/evaluate/source/edit?id=repair.md", "/evaluate/source/edit", {"text": "一"})
    opened = form_of(client.get("/evaluate?q=q1").text, "/evaluate/judge", **where)["fields"]
    send(client, "/evaluate/source/edit?id=repair.md", "/evaluate/source/edit", {"text": "二"})
    before = stands(path)
    assert client.post("/evaluate/judge", data={**opened, "grade": grade}).status_code == 409
    assert stands(path) == before


@pytest.mark.parametrize("action", ["/evaluate/undo", "/evaluate/redo"])
def test_an_undo_of_a_change_that_was_not_seen_is_refused(client, path, action):
    opened = form_of(client.get("/evaluate/history").text, action)["fields"]
    client.post("/evaluate/questions", data={"questions": "别人的问题"})
    before = stands(path)
    answer = client.post(action, data=opened)
    assert (answer.status_code, "新增 1 个问题" in answer.text) == (409, True)
    assert stands(path) == before


@pytest.mark.parametrize("what", ["source", "question"])
def test_removing_what_has_changed_since_is_refused(client, path, what):
    name = {"source": "repair.md", "question": "q1"}[what]
    page = {"source": "/evaluate/source/edit", "question": "/evaluate/question"}[what] + f"?id={name}"
    remove, save = f"/evaluate/{what}/remove", page.partition("?")[0]
    opened = form_of(client.get(page).text, remove)["fields"]
    send(client, page, save, {"text": "改了"})
    answer = client.post(remove, data=opened)
    assert answer.status_code == 409
    assert 'name="text"' in answer.text
    assert stands(path).state(stands(path).judgments[0]) in ("current", "stale")


def test_a_restore_over_what_was_not_seen_is_refused(client, path):
    data = client.get("/evaluate/export/experiment.json").content
    opened = form_of(client.get("/evaluate/exports").text, "/evaluate/restore")["fields"]
    client.post("/evaluate/questions", data={"questions": "别人的问题"})
    before = stands(path)
    answer = client.post("/evaluate/restore", data=opened, files={"file": ("a.json", data)})
    assert answer.status_code == 409
    assert stands(path) == before


@pytest.mark.parametrize(
    ("page", "action"),
    [
        ("/evaluate/source/edit?id=repair.md", "/evaluate/source/edit"),
        ("/evaluate/question?id=q1", "/evaluate/question"),
    ],
)
def test_an_edit_of_what_another_tab_removed_writes_nothing_and_gives_back_what_was_typed(
    client, path, page, action
):
    opened = form_of(client.get(page).text, action)["fields"]
    send(client, page, action.removesuffix("/edit") + "/remove")
    before = stands(path)
    answer = client.post(action, data={**opened, "text": "还想改"})
    assert (answer.status_code, 'data-code="contradiction"' in answer.text) == (409, True)
    assert ">\n还想改</textarea>" in answer.text
    assert stands(path) == before


# Where it comes from.

WRITES = [
    "judge", "questions", "question", "question/remove", "import", "paste", "source/edit", "source/remove",
    "measures", "baselines", "prompt", "restore", "undo", "redo", "cancel",
]  # fmt: skip


def test_every_write_of_the_pages_is_in_the_list(client):
    posted = {
        route.path.removeprefix("/evaluate/")
        for route in client.app.routes
        if route.path.startswith("/evaluate") and "POST" in route.methods
    }
    assert posted == set(WRITES)


@pytest.mark.parametrize("write", WRITES)
@pytest.mark.parametrize(
    "headers", [{"Sec-Fetch-Site": "cross-site"}, {"Sec-Fetch-Site": "same-site"}, {"Origin": "null"},
                {"Origin": "http://evil.example"}],
)  # fmt: skip
def test_a_write_from_another_site_is_refused(client, path, write, headers):
    before = stands(path)
    answer = client.post(f"/evaluate/{write}", data={"expected": "0"}, headers=headers)
    assert (answer.status_code, 'data-code="cross_site"' in answer.text) == (403, True)
    assert stands(path) == before


@pytest.mark.parametrize("write", WRITES)
@pytest.mark.parametrize(
    ("content", "kind"),
    [
        (b"", "application/x-www-form-urlencoded"),
        (b"expected=x&id=1&text=2", "application/x-www-form-urlencoded"),
        (b"--x\r\nbroken", "multipart/form-data; boundary=x"),
        (b"&".join([b"a=1"] * 5000), "application/x-www-form-urlencoded"),
        (b"%FF%FE=%00&expected=%FF", "application/x-www-form-urlencoded"),
        (b"{}", "application/json"),
    ],
)
def test_a_form_that_is_none_of_ours_is_bad_input_and_writes_nothing(client, path, write, content, kind):
    before = stands(path)
    answer = client.post(f"/evaluate/{write}", content=content, headers={"Content-Type": kind})
    assert (answer.status_code, 'data-code="bad_input"' in answer.text) == (400, True)
    assert stands(path) == before


class _Tags(HTMLParser):
    def __init__(self):
        super().__init__()
        self.found = {}

    def handle_starttag(self, tag, attrs):
        self.found.setdefault(tag, []).append([name for name, _ in attrs])


def attributes(text):
    """Tag -> the names of the attributes of each."""
    reader = _Tags()
    reader.feed(text)
    return reader.found


PAGES = ["", "/measures", "/sources", "/questions", "/baselines", "/exports", "/history", "/prompt?q=Q001",
         "/source?id=S001", "/source?id=S001&receipt=x", "/source/edit?id=S001", "/source/edit?id=S003",
         "/question?id=Q001", "?q=Q002", "?q=nope", "?day=x", "/export/nope", "/progress?job=x"]  # fmt: skip


@pytest.mark.parametrize("page", PAGES)
def test_every_page_has_the_headers_and_nothing_inline(hostile, page):
    answer = hostile.get(f"/evaluate{page}")
    for name, value in HEADERS.items():
        assert answer.headers[name] == value
    names = attributes(answer.text)
    assert {"script"} <= set(names)
    assert all("src" in found for found in names["script"])
    assert not {
        name for found in names.values() for tag in found for name in tag if re.match("on|style", name)
    }
    assert not set(names) & {"style", "img", "iframe", "b", "object", "embed", "base"}
    assert not re.search(r"(?:src|href|action)=\"(?!/|#)", answer.text)


def test_another_host_name_is_refused(client):
    assert client.get("/evaluate", headers={"Host": "evil.example"}).status_code == 421
    assert client.post("/evaluate/undo", headers={"Host": "evil.example"}).status_code == 421


def test_an_upload_beyond_its_limit_is_refused_and_other_forms_have_their_own(path):
    from experiments import COURSE

    from evidence_kit.web.desk import Desk

    app = create_app(Settings(max_body=1000, max_upload=3000), COURSE, Desk(path))
    client = TestClient(app, base_url=BASE, follow_redirects=False)
    data = {"encoding": ""}
    assert (
        client.post("/evaluate/import", data=data, files=[("files", ("a.txt", b"a" * 2000))]).status_code
        == 303
    )
    answer = client.post("/evaluate/import", data=data, files=[("files", ("a.txt", b"a" * 3000))])
    assert (answer.status_code, 'data-code="body_too_large"' in answer.text) == (413, True)
    assert client.post("/evaluate/questions", data={"questions": "a" * 1500}).status_code == 413


def test_limits_of_the_experiment_hold_on_its_pages(tmp_path):
    ExperimentStore.create(tmp_path / "x.db", "小", limits="seed").close()
    client = client_on(tmp_path / "x.db")
    answer = client.post("/evaluate/questions", data={"questions": "长" * 501})
    assert (answer.status_code, "超过上限 500" in answer.text) == (400, True)
    assert form_of(answer.text, "/evaluate/questions")["fields"]["questions"] == "长" * 501
    answer = client.post("/evaluate/paste", data={"title": "", "text": "长" * 6001})
    assert (answer.status_code, "超过上限 6000" in answer.text) == (400, True)
    assert form_of(answer.text, "/evaluate/paste")["fields"]["text"] == "长" * 6001


@pytest.mark.parametrize("text", ["\0", "😀" * 300, "\u202e反\u202c", "e\u0301", "\ufeff", "重复 重复"])
def test_odd_text_goes_in_and_comes_out_as_it_is(client, path, text):
    assert client.post("/evaluate/questions", data={"questions": text}).status_code == 303
    assert stands(path).questions[0].text == text
    assert client.get("/evaluate?q=Q001").status_code == 200


@pytest.mark.parametrize("text", ["", " ", "\u3000\r\n\t"])
def test_a_question_of_nothing_is_refused(client, path, text):
    before = stands(path)
    assert client.post("/evaluate/questions", data={"questions": text}).status_code == 400
    assert stands(path) == before


# What leaves it.


def test_hostile_text_leaves_as_text_in_every_export(hostile, tmp_path):
    experiment = stands(tmp_path / "hostile.db")
    rows = read_table(hostile.get("/evaluate/export/hits.csv").content, "hits.csv")
    found = [hit for result in run(experiment, today()).results for hit in result.passages]
    assert [row[9] for row in rows[1:]] == [hit.quote for hit in found]
    for name in ("hits.csv", "measures.csv"):
        text = hostile.get(f"/evaluate/export/{name}").content.decode("utf-8-sig")
        for row in csv.reader(io.StringIO(text, newline="")):
            assert not any(re.match(r"[=+@\t\r]|-[^0-9]", cell) for cell in row)
    report = hostile.get("/evaluate/export/report.html")
    assert report.headers["content-disposition"] == 'attachment; filename="report.html"'
    assert "<script>window.hit" not in report.text
    assert "<img src=x" not in report.text
    data = json.loads(hostile.get("/evaluate/export/experiment.json").content)
    assert data["name"] == HOSTILE
    prompt = hostile.get("/evaluate/export/prompt.txt?q=Q001")
    assert "<" not in prompt.text
    assert prompt.headers["x-content-type-options"] == "nosniff"
    assert b"<script" not in hostile.get("/evaluate/export/figure.svg").content


def test_hostile_fields_are_shown_again_as_they_were_typed(hostile):
    typed = {"title": HOSTILE, "effective_from": HOSTILE}
    answer = send(hostile, "/evaluate/source/edit?id=S001", "/evaluate/source/edit", typed)
    assert answer.status_code == 400
    fields = form_of(answer.text, "/evaluate/source/edit")["fields"]
    assert {name: fields[name] for name in typed} == typed
    assert "<script>window" not in answer.text
    for page, action in (
        ("/evaluate/measures", "/evaluate/measures"),
        ("/evaluate/baselines", "/evaluate/baselines"),
    ):
        fields = form_of(hostile.get(page).text, action)["fields"]
        hostile_fields = {
            name: HOSTILE if name not in ("expected", "day") else value for name, value in fields.items()
        }
        answer = hostile.post(action, data=hostile_fields)
        assert "<script>window" not in answer.text
        assert answer.status_code in (303, 400)
    assert all(form["action"].startswith("/") for form in forms_of(answer.text))


def test_the_way_back_from_a_cancelled_job_is_ours(client):
    job = client.app.state.desk.jobs.start("x", "检索", lambda progress: None)
    for again in (
        "https://evil.example/",
        "//evil.example",
        "javascript:x",
        "/evaluate/../x",
        "/evaluate/judge",
    ):
        answer = client.post("/evaluate/cancel", data={"job": job.job_id, "ticket": "x", "again": again})
        assert "evil" not in answer.text
        assert '<a href="/evaluate">' in answer.text


# One long run, and everybody else.


def test_a_long_search_shows_its_progress_and_blocks_nobody(slow_client):
    client, go = slow_client
    waiting = client.get("/evaluate?q=q2")
    assert waiting.status_code == 202
    job = re.search(
        r'data-job="([0-9a-f]+)" data-ticket="[0-9a-f]+" data-again="/evaluate\?q=q2"', waiting.text
    )[1]
    found = client.get(f"/evaluate/progress?job={job}").json()
    assert (found["state"], found["whole"]) == ("running", 7)
    for page in ("sources", "questions", "history", "source?id=repair.md"):
        assert client.get(f"/evaluate/{page}").status_code == 200
    assert client.post("/evaluate/questions", data={"questions": "新的"}).status_code == 303
    assert client.get("/ask").status_code == 200
    assert client.get("/evaluate?q=q2", headers={"Accept": "application/json"}).status_code == 202
    go.set()
    assert client.app.state.desk.jobs.find(job).future.result(10)
    assert client.get(f"/evaluate/progress?job={job}").json()["state"] == "done"


def test_all_who_ask_wait_for_the_same_search(slow_client):
    client, _ = slow_client
    jobs = {re.search(r'data-job="([0-9a-f]+)"', client.get(f"/evaluate?q=q{n}").text)[1] for n in (1, 2, 3)}
    assert len(jobs) == 1


def test_a_cancelled_search_changes_nothing_and_can_be_asked_for_again(slow_client, path):
    client, go = slow_client
    before = stands(path)
    form = form_of(client.get("/evaluate/measures").text, "/evaluate/cancel")["fields"]
    answer = client.post("/evaluate/cancel", data=form)
    assert (answer.status_code, 'href="/evaluate/measures"' in answer.text) == (200, True)
    assert "已经取消" in answer.text
    job = client.app.state.desk.jobs.find(form["job"])
    with pytest.raises(CancelledJobError):
        job.future.result(10)
    assert client.get(f"/evaluate/progress?job={form['job']}").json()["state"] == "cancelled"
    assert stands(path) == before
    go.set()
    for _ in range(200):
        answer = client.get("/evaluate/measures")
        if answer.status_code == 200:
            break
    assert "0.883333" in answer.text


def test_progress_of_a_job_that_is_not_there_is_not_found(client):
    answer = client.get("/evaluate/progress?job=x", headers={"Accept": "application/json"})
    assert (answer.status_code, answer.json()["error"]["code"]) == (404, "not_found")


def test_writers_at_once_lose_no_judgment(client, path):
    forms = {n: [] for n in range(4)}
    for n in forms:
        page = client.get(f"/evaluate?q=q{n + 1}").text
        forms[n] = [form["fields"] for form in forms_of(page) if form["action"] == "/evaluate/judge"]
    failed = []

    def write(n):
        for position, fields in enumerate(forms[n]):
            answer = client.post("/evaluate/judge", data={**fields, "grade": str((n + position) % 4)})
            if answer.status_code != 303:
                failed.append(answer.text)

    threads = [threading.Thread(target=write, args=(n,)) for n in forms]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failed == []
    grades = {(j.question_id, j.source_id): j.grade for j in stands(path).judgments}
    for n, judged in forms.items():
        for position, fields in enumerate(judged):
            assert grades[f"q{n + 1}", fields["source_id"]] == (n + position) % 4
