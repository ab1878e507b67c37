"""提问: one question through every system, side by side."""

from __future__ import annotations

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from evidence_kit.course import ROUTE_WORDS, Asked, Course, examples
from evidence_kit.errors import EvidenceError
from evidence_kit.web.errors import expected
from evidence_kit.web.rendering import render


async def ask(request: Request) -> Response:
    """Show the page, with the systems' answers where `q` asks a question."""
    course: Course = request.app.state.course
    question = request.query_params.get("q")
    if question is None:
        return _page(request, "", [])
    try:
        columns = await run_in_threadpool(course.ask, question)
    except EvidenceError as error:
        return _page(request, question, [], error)
    return _page(request, question, columns)


def _page(
    request: Request, question: str, columns: list[Asked], error: EvidenceError | None = None
) -> Response:
    return render(
        request,
        "ask.html",
        status=error.http_status if error else 200,
        question=question,
        columns=columns,
        examples=examples(),
        routes=ROUTE_WORDS,
        error=expected(error) if error else None,
    )


routes = [Route("/ask", ask)]
