"""The greatest body of a request, whether it says its length or comes in chunks."""

from __future__ import annotations

from collections.abc import Mapping

from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from evidence_kit.errors import EvidenceError
from evidence_kit.web.errors import expected, respond


class BodyTooLargeError(EvidenceError):
    """The body of a request is greater than the limit."""

    def __init__(self, limit: int) -> None:
        super().__init__(f"请求超过 {limit // 1024} KiB：请减少内容后重试。", http_status=413)


class BodyLimit:
    """Let a body through up to `limit` bytes, or its path's in `others`; a greater one is BodyTooLargeError
    to whoever reads it.
    """

    def __init__(self, app: ASGIApp, limit: int, others: Mapping[str, int]) -> None:
        self._app = app
        self._limit = limit
        self._others = others

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        request = Request(scope)
        limit = self._others.get(request.url.path, self._limit)
        stated = request.headers.get("content-length", "0")
        if not stated.isdecimal() or int(stated) > limit:
            await respond(request, expected(BodyTooLargeError(limit)))(scope, receive, send)
            return
        seen = 0

        async def counted() -> Message:
            nonlocal seen
            message = await receive()
            seen += len(message.get("body", b""))
            if seen > limit:
                raise BodyTooLargeError(limit)
            return message

        await self._app(scope, counted, send)
