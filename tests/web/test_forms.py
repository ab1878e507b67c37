"""Forms as they are read: long fields whole, too many of them refused, and decoded where nobody waits."""

import asyncio

import pytest
from starlette.applications import Starlette
from starlette.responses import JSONResponse
from starlette.routing import Route
from starlette.testclient import TestClient

from evidence_kit.web.errors import expected
from evidence_kit.web.forms import UnreadableFormError, form_of
from evidence_kit.web.settings import Settings

SETTINGS = Settings(max_fields=5, max_files=2)
LONG = "字" * 1_000_000  # three megabytes; escaped, nine


async def echo(request):
    try:
        form = await form_of(request)
    except UnreadableFormError as error:
        return JSONResponse(expected(error).record(), error.http_status)
    items = form.multi_items()
    return JSONResponse([(key, await text_of(item)) for key, item in items])


async def text_of(item):
    return item if isinstance(item, str) else (await item.read()).decode()


@pytest.fixture
def reader():
    app = Starlette(routes=[Route("/", echo, methods=["POST"])])
    app.state.settings = SETTINGS
    return TestClient(app)


def test_a_field_is_as_long_as_its_body_may_be(reader):
    assert reader.post("/", data={"text": LONG}).json() == [["text", LONG]]
    with_file = reader.post("/", data={"text": LONG}, files={"f": ("a.txt", LONG.encode())})
    assert with_file.json() == [["text", LONG], ["f", LONG]]


@pytest.mark.parametrize("body", ["a=1&a=2&b=+%2B&c&d=%E5%AD%97", "a=%FF%00&=x&&a=1;b=2"])
def test_a_form_is_read_as_a_browser_s_own_parser_reads_it(reader, body):
    from urllib.parse import unquote_plus

    pairs = [part.partition("=") for part in body.split("&") if part]
    answer = reader.post("/", content=body, headers={"Content-Type": "application/x-www-form-urlencoded"})
    assert answer.json() == [[unquote_plus(key), unquote_plus(value)] for key, _, value in pairs]


def test_more_fields_or_files_than_any_page_sends_are_refused_and_counted(reader):
    many = [
        {"data": {"a": ["x"] * 6}},
        {"data": {"a": ["x"] * 6}, "files": {"f": ("a", b"")}},
        {"files": [("f", (str(n), b"x")) for n in range(3)]},
        {"content": b"--x", "headers": {"Content-Type": "multipart/form-data"}},
    ]
    for sent in many:
        answer = reader.post("/", **sent)
        assert answer.status_code == 400
        assert "最多 5 个字段、2 个文件" in answer.json()["error"]["message"]


def test_decoding_holds_up_nobody(reader, monkeypatch):
    from evidence_kit.web import forms

    there = []

    def decoded(*args, **options):
        with pytest.raises(RuntimeError):  # in no event loop
            asyncio.get_running_loop()
        there.append(args)
        return [("a", "1")]

    monkeypatch.setattr(forms, "parse_qsl", decoded)
    assert reader.post("/", data={"a": "1"}).json() == [["a", "1"]]
    assert len(there) == 1
