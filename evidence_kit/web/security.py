"""Who may ask, and what a browser may do with the answer. Every response passes here, errors too."""

from __future__ import annotations

import ipaddress
import secrets
import socket
from collections.abc import Callable
from urllib.parse import urlsplit

from starlette.datastructures import MutableHeaders
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from evidence_kit.web.errors import WebError, respond, unexpected
from evidence_kit.web.settings import LOOPBACK, WILDCARDS, Settings, one_spelling

HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
        "form-action 'self'; frame-ancestors 'none'; base-uri 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}
_READS = ("GET", "HEAD", "OPTIONS")

Check = Callable[[Request], Response | None]


class Guard:
    """The outermost layer: security headers on every response, the checks before the application, and an id
    instead of the text of an unexpected error.
    """

    def __init__(self, app: ASGIApp, settings: Settings) -> None:
        self._app = app
        self._checks: tuple[Check, ...] = (host_check(settings), token_check(settings), cross_site_check)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        started = False

        async def send_guarded(message: Message) -> None:
            nonlocal started
            if message["type"] == "http.response.start":
                started = True
                _add_headers(MutableHeaders(scope=message))
            await send(message)

        request = Request(scope)
        try:
            refusal = next((found for check in self._checks if (found := check(request))), None)
            await (refusal or self._app)(scope, receive, send_guarded)
        except Exception as error:
            problem = unexpected(error)
            if started:  # half an answer is out: the connection ends, the log has the reason
                raise
            await respond(request, problem)(scope, receive, send_guarded)


def _add_headers(headers: MutableHeaders) -> None:
    for name, value in HEADERS.items():
        headers[name] = value
    headers.setdefault("Cache-Control", "no-store")


def host_check(settings: Settings) -> Check:
    """Return the check of the Host header: another site's name that leads here (DNS rebinding) is refused.

    Where the server listens on every address, any address in figures is ours: a name is what rebinding needs.
    """
    names = {*LOOPBACK, one_spelling(settings.host), *(() if settings.is_loopback else _own_names())}

    def check(request: Request) -> Response | None:
        host = one_spelling(_hostname(request.headers.get("host", "")))
        if host in names or (settings.host in WILDCARDS and _is_address(host)):
            return None
        return respond(request, WebError(421, "这个主机名不在允许之列：请用启动时显示的网址打开。"))

    return check


def _own_names() -> tuple[str, ...]:
    return (socket.gethostname().lower(),)


def _hostname(host: str) -> str:
    try:
        return urlsplit(f"//{host}").hostname or ""
    except ValueError:
        return ""


def _is_address(host: str) -> bool:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True


def token_check(settings: Settings) -> Check:
    """Return the check of the token, in a cookie or as `Authorization: Bearer`; `?token=` sets the cookie.

    Whoever is let in sees an address without a token: it would stay in the history, and be passed on.
    """

    def check(request: Request) -> Response | None:
        if settings.token is None:
            return None
        scheme, _, bearer = request.headers.get("authorization", "").partition(" ")
        kept = request.cookies.get(cookie_name(request), "")
        given = (kept, bearer.strip() if scheme.lower() == "bearer" else "")
        known = any(_same(token, settings.token) for token in given)
        asked = request.query_params.get("token")
        if (
            asked is not None
            and request.method in ("GET", "HEAD")
            and (known or _same(asked, settings.token))
        ):
            return _signed_in(request, settings.token)
        if known:
            return None
        return respond(
            request,
            WebError(401, "需要令牌：请用启动时显示的、带 token 的网址打开，或在请求里加 Authorization。"),
            {"WWW-Authenticate": "Bearer"},
        )

    return check


def cookie_name(request: Request) -> str:
    """Return the name of the token's cookie. Browsers keep cookies by host, not by port: with one name, the
    server that is opened later would lock out another one on its machine.
    """
    return f"evidence_token_{request.url.port or 80}"


def _signed_in(request: Request, token: str) -> Response:
    """Return the way to the same page without the token in its address."""
    bare = request.url.remove_query_params("token")
    # A path alone, so that no Host header decides where to; one slash, so that it is no other host's address.
    target = "/" + bare.path.lstrip("/") + (f"?{bare.query}" if bare.query else "")
    response = RedirectResponse(target, 303)
    response.set_cookie(cookie_name(request), token, httponly=True, samesite="strict", path="/")
    return response


def _same(given: str, token: str) -> bool:
    return secrets.compare_digest(given.encode("utf-8", "replace"), token.encode("utf-8"))


def cross_site_check(request: Request) -> Response | None:
    """Refuse what another site's page does here, but for a link that is followed. Programs, which send none
    of the headers, pass.

    A picture or a script of that page that leads here could read nothing, but make the server work.
    """
    if request.method in _READS:
        return _foreign_read(request)
    site, origin = request.headers.get("sec-fetch-site"), request.headers.get("origin")
    own = urlsplit(str(request.base_url)).netloc
    foreign = site not in ("same-origin", "none") if site else origin is not None and _netloc(origin) != own
    return respond(request, WebError(403, "拒绝来自其他网站的写入：请在本页面里操作。")) if foreign else None


def _foreign_read(request: Request) -> Response | None:
    headers = request.headers
    if headers.get("sec-fetch-site") not in ("cross-site", "same-site"):
        return None
    page = headers.get("sec-fetch-dest", "document") == "document"
    if page and headers.get("sec-fetch-mode") == "navigate":
        return None
    return respond(request, WebError(403, "拒绝其他网站的网页在背后打开：请直接打开这个网址。"))


def _netloc(origin: str) -> str:
    try:
        return urlsplit(origin).netloc
    except ValueError:
        return ""
