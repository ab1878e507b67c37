"""The one shape of an error: `{"error": {"code", "message", "id"?}}`, or a page that says the same three."""

from __future__ import annotations

import logging
import secrets
from dataclasses import dataclass

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from evidence_kit.errors import EvidenceError
from evidence_kit.sources.days import parse_instant
from evidence_kit.storage.errors import DamagedDatabaseError, StaleError, StorageError
from evidence_kit.web.jobs import BusyError
from evidence_kit.web.rendering import local_time, render

CODES = {
    400: "bad_input",
    401: "token_required",
    403: "cross_site",
    404: "not_found",
    405: "method_not_allowed",
    409: "contradiction",
    413: "body_too_large",
    415: "unsupported_media_type",
    421: "unknown_host",
    500: "internal_error",
    503: "storage_unavailable",
    507: "storage_full",
}
BUSY = "busy"  # 503 too, where the file can be used
_MESSAGES = {
    400: "请求无法理解：请检查后重试。",
    404: "没有这个页面：请检查网址，或从上方的导航进入。",
    405: "这个网址不接受这种请求：请检查请求的方法。",
}
_FILE = {
    500: "实验文件已损坏：请在终端用 evidence experiment 查看，或用导出的完整实验 JSON 重建。",
    503: "实验文件现在不能用，这次没有写入：请稍后再试；仍不行时，原因在程序的日志里。",
    507: "磁盘空间不足，这次没有写入：请腾出空间后再试。",
}

_log = logging.getLogger("evidence_kit.web")


@dataclass(frozen=True)
class WebError:
    """An error as it is shown; `error_id` finds an unexpected one in the server's log.

    `busy` tells a 503 of too much work from one of the file.
    """

    status: int
    message: str
    error_id: str | None = None
    busy: bool = False

    @property
    def code(self) -> str:
        """Return the status in one English word."""
        if self.busy:
            return BUSY
        return CODES.get(self.status, "bad_input" if self.status < 500 else "internal_error")

    def record(self) -> dict[str, object]:
        """Return the error at the JSON edge."""
        inner = {"code": self.code, "message": self.message}
        return {"error": inner if self.error_id is None else {**inner, "id": self.error_id}}


def expected(error: EvidenceError) -> WebError:
    """Return an error that a user can cause, with its own message; what is wrong with the server's file is
    told without where that lies, which the log has.
    """
    message = error.message
    if isinstance(error, StaleError) and error.recorded_at:  # the store itself knows UTC alone
        message = error.said(local_time(parse_instant(error.recorded_at)))
    if isinstance(error, (StorageError, DamagedDatabaseError)) and error.http_status in _FILE:
        _log.error("the experiment's file: %s", message)
        message = _FILE[error.http_status]
    return WebError(error.http_status, message, busy=isinstance(error, BusyError))


def unexpected(error: Exception) -> WebError:
    """Log an error under a new id, and return one that shows the id and nothing of its text."""
    error_id = secrets.token_hex(4)
    _log.error("unexpected error %s", error_id, exc_info=error)
    return WebError(500, f"程序出错（编号 {error_id}）：请把编号和所做的操作告诉维护者。", error_id)


def respond(request: Request, error: WebError, headers: dict[str, str] | None = None) -> Response:
    """Return the error as JSON to programs, as a page to browsers."""
    if wants_json(request):
        return JSONResponse(error.record(), error.status, headers)
    return render(request, "error.html", status=error.status, headers=headers, error=error)


def wants_json(request: Request) -> bool:
    """Return whether a program asks: below /api, or where JSON is accepted and HTML is not."""
    accepted = request.headers.get("accept", "")
    return request.url.path.startswith("/api/") or (
        "application/json" in accepted and "text/html" not in accepted
    )


async def on_evidence_error(request: Request, error: Exception) -> Response:
    """Answer an error that the library raised on purpose."""
    if not isinstance(error, EvidenceError):  # what Starlette's signature cannot say
        raise error
    return respond(request, expected(error))


async def on_http_exception(request: Request, error: Exception) -> Response:
    """Answer an error of routing or of parsing a form."""
    if not isinstance(error, HTTPException):
        raise error
    message = _MESSAGES.get(error.status_code, _MESSAGES[400])
    return respond(request, WebError(error.status_code, message), dict(error.headers or {}))
