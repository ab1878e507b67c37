"""Who may ask, and what a browser may do with the answer."""

import pytest
from starlette.testclient import TestClient
from workbench import BASE

from evidence_kit.web.app import create_app
from evidence_kit.web.security import HEADERS, host_check
from evidence_kit.web.settings import Settings

EVERYWHERE = [
    "/",
    "/ask",
    "/ask?q=",
    "/find",
    "/acceptance",
    "/sources",
    "/sources/C999",
    "/nope",
    "/static/style.css",
]


@pytest.mark.parametrize("path", [*EVERYWHERE, "/api/ask", "/static/none"])
def test_every_answer_has_the_security_headers(client, path):
    answer = client.get(path)
    for name, value in HEADERS.items():
        assert answer.headers[name] == value, path


def test_the_policy_allows_nothing_inline_and_nothing_foreign():
    policy = HEADERS["Content-Security-Policy"]
    assert "unsafe" not in policy
    assert "http" not in policy
    for part in ("default-src 'none'", "frame-ancestors 'none'", "base-uri 'none'", "form-action 'self'"):
        assert part in policy


def test_no_page_has_an_inline_script_style_or_handler(client):
    import re

    for path in [
        "/ask?q=别人打电话索要验证码怎么办",
        "/find?q=急救箱",
        "/acceptance",
        "/sources",
        "/sources/C001",
    ]:
        text = client.get(path).text
        assert not re.search(r"<script(?![^>]*\bsrc=)", text)
        assert not re.search(r"\sstyle=|<style|\son[a-z]+=|javascript:", text)
        assert not re.search(r"(?:src|href|action)=\"(?!/|#)", text)


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:8765", "127.0.0.1.evil.example", "", "[", "10.0.0.1"]
)
def test_another_host_name_is_refused_everywhere(client, host):
    for path in EVERYWHERE:
        answer = client.get(path, headers={"Host": host})
        assert answer.status_code == 421, path
    answer = client.post("/api/ask", json={"question": "x"}, headers={"Host": host})
    assert (answer.status_code, answer.json()["error"]["code"]) == (421, "unknown_host")


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost:8765", "LOCALHOST", "[::1]:8765", "127.0.0.1:1"])
def test_names_of_the_loopback_are_allowed(client, host):
    assert client.get("/ask", headers={"Host": host}).status_code == 200


@pytest.mark.parametrize(
    ("listening", "host", "allowed"),
    [
        ("0.0.0.0", "192.168.1.5:8765", True),
        ("0.0.0.0", "[fe80::1]", True),
        ("0.0.0.0", "evil.example", False),
        ("192.168.1.5", "192.168.1.5", True),
        ("192.168.1.5", "192.168.1.6", False),
        ("2001:DB8::0001", "[2001:db8::1]:8765", True),
        ("2001:db8::1", "[2001:0DB8:0::1]", True),
        ("2001:db8::1", "[2001:db8::2]", False),
        ("::1", "[0:0::1]:8765", True),
        ("192.168.1.5", "localhost", True),
    ],
)
def test_which_hosts_are_ours_depends_on_where_the_server_listens(listening, host, allowed):
    from starlette.requests import Request

    scope = {"type": "http", "method": "GET", "path": "/api/x", "headers": [(b"host", host.encode())]}
    assert (host_check(Settings(listening))(Request(scope)) is None) == allowed


WRITES = [("/api/ask", {"json": {"question": "别人打电话索要验证码怎么办"}}), ("/find", {"data": {"q": "x"}})]


@pytest.mark.parametrize(("path", "body"), WRITES)
@pytest.mark.parametrize(
    "headers",
    [
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
        {"Sec-Fetch-Site": "cross-site", "Origin": BASE},
        {"Origin": "http://evil.example"},
        {"Origin": "null"},
        {"Origin": "http://127.0.0.1:9999"},
        {"Origin": "http://["},
    ],
)
def test_a_write_from_another_site_is_refused(client, path, body, headers):
    answer = client.post(path, headers=headers, **body)
    assert answer.status_code == 403
    assert "cross_site" in answer.text


@pytest.mark.parametrize(
    "headers", [{}, {"Sec-Fetch-Site": "same-origin"}, {"Sec-Fetch-Site": "none"}, {"Origin": BASE}]
)
def test_a_write_of_our_own_page_or_of_a_program_passes(client, headers):
    assert client.post("/api/ask", headers=headers, **WRITES[0][1]).status_code == 200


def test_a_link_from_another_site_can_be_followed_but_framed_by_nobody(client):
    followed = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"}
    answer = client.get("/ask", headers=followed)
    assert answer.status_code == 200
    assert answer.headers["X-Frame-Options"] == "DENY"
    assert "access-control-allow-origin" not in answer.headers


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
@pytest.mark.parametrize(
    ("mode", "dest"), [("no-cors", "image"), ("cors", "empty"), ("navigate", "iframe"), (None, None)]
)
def test_what_another_site_s_page_loads_behind_its_reader_s_back_is_refused(client, site, mode, dest):
    headers = {"Sec-Fetch-Site": site, "Sec-Fetch-Mode": mode, "Sec-Fetch-Dest": dest}
    given = {name: value for name, value in headers.items() if value}
    for path in ("/ask", "/evaluate?day=2001-01-01", "/evaluate/compare", "/find?q=x"):
        answer = client.get(path, headers=given)
        assert (answer.status_code, "cross_site" in answer.text) == (403, True)
    own = {**given, "Sec-Fetch-Site": "same-origin"}
    assert client.get("/ask", headers=own).status_code == 200


@pytest.fixture
def guarded():
    app = create_app(Settings("192.168.1.5", token="秘密-token"))
    with TestClient(app, base_url="http://192.168.1.5:8765", follow_redirects=False) as made:
        yield made


@pytest.mark.parametrize("path", EVERYWHERE)
def test_without_the_token_nothing_is_served(guarded, path):
    answer = guarded.get(path)
    assert answer.status_code == 401
    assert "WWW-Authenticate" in answer.headers


@pytest.mark.parametrize("wrong", ["", "秘密", "秘密-token2", "\x00", "x" * 10000])
def test_a_wrong_token_is_refused_in_every_place(guarded, wrong):
    assert guarded.get("/ask", params={"token": wrong}).status_code == 401
    bearer = b"Bearer " + wrong.encode().replace(b"\x00", b"")
    assert guarded.get("/ask", headers={"Authorization": bearer}).status_code == 401
    assert guarded.get("/ask", headers={"Cookie": "evidence_token_8765=wrong"}).status_code == 401


def test_the_token_in_the_address_becomes_a_cookie_and_leaves_the_address():
    app = create_app(Settings("192.168.1.5", token="secret"))
    with TestClient(app, base_url="http://192.168.1.5:8765", follow_redirects=False) as guarded:
        answer = guarded.get("/ask?q=甲&token=secret")
        assert answer.status_code == 303
        assert answer.headers["location"] == "/ask?q=%E7%94%B2"
        cookie = answer.headers["set-cookie"]
        assert "SameSite=strict" in cookie
        assert "HttpOnly" in cookie
        assert guarded.get("/acceptance").status_code == 200  # the client keeps the cookie


def test_the_token_s_redirect_leads_to_no_other_host():
    app = create_app(Settings("192.168.1.5", token="secret"))
    with TestClient(app, base_url="http://192.168.1.5:8765", follow_redirects=False) as guarded:
        answer = guarded.get("http://192.168.1.5:8765//evil.example/?token=secret")
        assert answer.headers["location"] == "/evil.example/"


def test_a_token_leaves_the_address_of_whoever_is_known_already():
    app = create_app(Settings("192.168.1.5", token="secret"))
    with TestClient(app, base_url="http://192.168.1.5:8765", follow_redirects=False) as guarded:
        guarded.get("/ask?token=secret")
        for token in ("secret", "old", ""):
            answer = guarded.get(f"/find?q=x&token={token}")
            assert (answer.status_code, answer.headers["location"]) == (303, "/find?q=x")
            assert guarded.head(f"/ask?token={token}").status_code == 303


def test_two_servers_on_one_machine_keep_their_tokens_apart():
    kept = ""
    for port, token in ((8765, "one"), (8766, "two")):
        app = create_app(Settings("192.168.1.5", token=token))
        with TestClient(app, base_url=f"http://192.168.1.5:{port}", follow_redirects=False) as guarded:
            kept += guarded.get(f"/ask?token={token}").headers["set-cookie"].partition(";")[0] + "; "
    for port, token in ((8765, "one"), (8766, "two")):
        app = create_app(Settings("192.168.1.5", token=token))
        with TestClient(app, base_url=f"http://192.168.1.5:{port}") as guarded:
            assert guarded.get("/ask", headers={"Cookie": kept}).status_code == 200


def test_programs_send_the_token_as_a_bearer():
    app = create_app(Settings("192.168.1.5", token="secret"))
    with TestClient(app, base_url="http://192.168.1.5:8765") as guarded:
        headers = {"Authorization": "bearer secret"}
        assert guarded.get("/sources", headers=headers).status_code == 200
        refused = guarded.post("/api/ask?token=secret", json={"question": "x"})
        assert refused.status_code == 401
