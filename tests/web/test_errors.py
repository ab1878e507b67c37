"""One shape of an error, on every route, for browsers and for programs."""

import re
import sqlite3
from pathlib import Path

import pytest
from starlette.routing import Mount
from starlette.testclient import TestClient
from workbench import BASE

from evidence_kit.course import Course
from evidence_kit.storage.connection import _explained
from evidence_kit.web.app import create_app
from evidence_kit.web.desk import Desk
from evidence_kit.web.errors import CODES
from evidence_kit.web.settings import Settings

SECRET = "秘密的内部文字"
# What any form of any page sends.
EVERY_FIELD = {
    **{"q": "x", "id": "", "title": "", "text": "x", "question_id": "q1", "source_id": "a"},
    **{"grade": "1", "question_sha256": "", "source_sha256": "", "questions": "x", "name": "x", "job": "x"},
    **{"again": "/evaluate", "encoding": "", "status": "active", "effective_from": "", "effective_until": ""},
    **{"supersedes": "", "method": "bm25", "analyzer": "words_han", "window": "9", "overlap": "1", "k": "3"},
    **{"k1": "1", "b": "1", "budget": "9999", "expected": "0123456789ab-0", "ticket": "x"},
}


def shape_of_page(answer):
    """The error that a page states, as the record that a program would get."""
    assert answer.headers["content-type"] == "text/html; charset=utf-8"
    (notice,) = re.findall(
        r'<div class="notice error" role="alert" data-code="([a-z_]+)"(?: data-id="(\w+)")?>', answer.text
    )
    (message,) = re.findall(r'<div class="notice error".*?>\s*<p>(.*?)</p>', answer.text, re.S)
    code, error_id = notice
    return {"error": {"code": code, "message": message, **({"id": error_id} if error_id else {})}}


def check(record, status):
    assert list(record) == ["error"]
    assert list(record["error"]) in (["code", "message"], ["code", "message", "id"])
    assert record["error"]["code"] == CODES[status]
    assert re.search("[\u4e00-\u9fff]", record["error"]["message"])
    assert "\n" not in record["error"]["message"]


def every_route(app):
    for route in app.routes:
        path = route.path.replace("{chunk_id}", "C001").replace("{name}", "measures.csv")
        yield (f"{path}/style.css", {"GET"}) if isinstance(route, Mount) else (path, route.methods)


def test_a_method_that_a_route_does_not_take_is_an_error_of_the_one_shape(app, client):
    for path, methods in every_route(app):
        for method in {"GET", "POST", "PUT", "DELETE", "PATCH", "OPTIONS"} - methods:
            answer = client.request(method, path, headers={"Accept": "application/json"})
            assert answer.status_code == 405, (method, path)
            check(answer.json(), 405)
            if not path.startswith("/static"):
                assert set(answer.headers["allow"].split(", ")) == methods
            if not path.startswith("/api/"):
                check(shape_of_page(client.request(method, path)), 405)


def test_an_unexpected_error_on_any_route_shows_an_id_and_not_its_text(monkeypatch, caplog):
    def broken(*_args, **_options):
        raise RuntimeError(SECRET)

    for name in ("evidence_kit.web.ask.examples", "evidence_kit.web.shelves.sample_documents",
                 "evidence_kit.web.acceptance.read_record", "evidence_kit.web.api.description",
                 "evidence_kit.web.api.sample_finder", "evidence_kit.web.api.resolve",
                 "evidence_kit.web.api.evaluate", "evidence_kit.web.api.verify_bundle"):  # fmt: skip
        monkeypatch.setattr(name, broken)
    for name in ("listing", "chunk", "results"):
        monkeypatch.setattr(Course, name, broken)
    from evidence_kit.anchors.anchor import create_anchor
    from evidence_kit.anchors.anchor_json import anchor_record
    from evidence_kit.course import source_of

    course = Course.load()
    anchor = anchor_record(create_anchor(source_of(course.chunks[0]), 0, 2))
    bundle = {"schema": "evidence-bundle/1", "unicode_version": "15.0", "sources": [], "citations": []}
    bodies = {
        "/api/ask": {"question": "x"}, "/api/find": {"query": "x"},
        "/api/resolve": {"anchor": anchor, "text": "x"}, "/api/verify": bundle,
        "/api/measure": {"qrels": {}, "run": {}, "measures": ["AP"]},
    }  # fmt: skip
    app = create_app(Settings(), course)
    monkeypatch.setattr(Desk, "store", property(broken))
    monkeypatch.setattr(app.state.desk.jobs, "find", broken)
    client = TestClient(app, base_url=BASE)
    asked = set()
    for path, methods in every_route(app):
        if path in ("/", "/static/style.css"):
            continue  # they call nothing that could break
        form = {"data": EVERY_FIELD}
        for method in sorted(methods & {"GET", "POST"}):
            body = {} if method == "GET" else {"json": bodies[path]} if path in bodies else form
            monkeypatch.setattr("evidence_kit.web.edited.documents_given", broken)
            answer = client.request(method, path, **body)
            assert answer.status_code == 500, (method, path)
            record = answer.json() if path.startswith("/api/") else shape_of_page(answer)
            check(record, 500)
            assert SECRET not in answer.text
            assert record["error"]["id"] in record["error"]["message"]
            assert any(record["error"]["id"] in logged.getMessage() for logged in caplog.records)
            asked.add(path)
    assert asked == {path for path, _ in every_route(app)} - {"/", "/static/style.css"}


@pytest.mark.parametrize(
    "path",
    ["/nope", "/ask/", "/sources/C001/x", "/static/../app.py", "/static/%2e%2e/app.py", "/api", "//ask"],
)
def test_an_unknown_address_is_not_found(client, path):
    answer = client.get(BASE + path)
    assert answer.status_code == 404
    check(shape_of_page(answer), 404)
    check(client.get(BASE + path, headers={"Accept": "application/json"}).json(), 404)


def test_an_unknown_address_of_the_interface_is_json_for_browsers_too(client):
    check(client.get("/api/nope", headers={"Accept": "text/html"}).json(), 404)


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("/ask?q=", 400), ("/ask?q=%FF", 400), ("/ask?q=" + "a" * 201, 400), ("/find?q=", 400),
        ("/find?q=x&method=zzz", 400), ("/find?q=x&top=0", 400), ("/find?q=x&top=21", 400),
        ("/find?q=x&top=١", 400), ("/find?q=x&top=99999999999999999999999", 400), ("/find?q=x&top=-1", 400),
        ("/sources?day=2026-02-30", 400), ("/sources?day=20260131", 400), ("/sources?day=" + "9" * 4000, 400),
        ("/sources/C999", 404), ("/sources/%00", 404), ("/sources/C003?receipt=", 400),
        ("/sources/C003?receipt=zzz", 400),
    ],
)  # fmt: skip
def test_bad_input_in_an_address_is_said_on_the_page_itself(client, path, status):
    answer = client.get(path)
    assert answer.status_code == status
    check(shape_of_page(answer), status)


def test_a_body_beyond_the_limit_is_refused_with_and_without_a_stated_length():
    client = TestClient(create_app(Settings(max_body=1000)), base_url=BASE)
    big = b'{"question": "' + b"a" * 2000 + b'"}'
    headers = {"Content-Type": "application/json"}
    for body in (big, iter([big[:600], big[600:]])):  # an iterator is sent in chunks, without a length
        answer = client.post("/api/ask", content=body, headers=headers)
        assert answer.status_code == 413
        check(answer.json(), 413)
    form = {"Content-Type": "application/x-www-form-urlencoded"}
    answer = client.post("/find", content=iter([b"q=" + b"a" * 600, b"a" * 600]), headers=form)
    assert answer.status_code == 413
    check(shape_of_page(answer), 413)
    assert client.post("/api/ask", json={"question": "别人打电话索要验证码怎么办"}).status_code == 200


@pytest.mark.parametrize("length", ["-1", "x", "1e3", "", "99999999999999999999"])
def test_a_stated_length_that_is_none_is_refused(length):
    client = TestClient(create_app(Settings()), base_url=BASE)
    answer = client.post("/api/ask", content=b"", headers={"Content-Length": length})
    assert answer.status_code == 413
    check(answer.json(), 413)


@pytest.mark.parametrize(
    ("content", "kind"),
    [
        (b"q=x", "application/x-www-form-urlencoded"),
        (b"q=x&id=1&title=2", "application/x-www-form-urlencoded"),
        (b"--x\r\nbroken", "multipart/form-data; boundary=x"),
        (b"--x", "multipart/form-data"),
        (b"&".join([b"a=1"] * 5000), "application/x-www-form-urlencoded"),
        (b"%FF%FE=%00", "application/x-www-form-urlencoded"),
        (b"{}", "application/json"),
    ],
)
@pytest.mark.parametrize("path", ["/find", "/find/bundle"])
def test_a_form_that_is_none_is_bad_input(client, content, kind, path):
    answer = client.post(path, content=content, headers={"Content-Type": kind})
    assert answer.status_code == 400
    check(shape_of_page(answer), 400)


SECRET_PATH = "/home/somebody/secret/e.db"
FILE_ERRORS = [
    ("database is locked", 503), ("attempt to write a readonly database", 503),
    ("unable to open database file", 503), ("file is not a database", 503), ("disk I/O error", 503),
    ("database or disk is full", 507), ("database disk image is malformed", 500),
]  # fmt: skip


@pytest.mark.parametrize(("said", "status"), FILE_ERRORS, ids=[said for said, _ in FILE_ERRORS])
def test_what_is_wrong_with_the_server_s_file_is_told_without_where_it_lies(
    monkeypatch, caplog, said, status
):
    def broken(*_args):
        with _explained(Path(SECRET_PATH)):
            raise sqlite3.OperationalError(said)

    monkeypatch.setattr(Desk, "look", broken)
    client = TestClient(create_app(Settings()), base_url=BASE)
    for path in ("/evaluate", "/evaluate/sources", "/find?of=experiment"):
        answer = client.get(path)
        assert answer.status_code == status
        check(shape_of_page(answer), status)
        assert "secret" not in answer.text
    assert SECRET_PATH in caplog.text


def test_an_instant_that_is_none_is_still_bad_input(client):
    answer = client.get("/evaluate/measures?known=0001-01-01T00:00:00%2B23:00")
    assert answer.status_code == 400
    check(shape_of_page(answer), 400)
