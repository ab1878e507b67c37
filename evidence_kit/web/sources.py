"""资料: every passage with its state on a day, and one passage with the place that a receipt names."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from evidence_kit.anchors.token import parse_token
from evidence_kit.course import Course, Placed
from evidence_kit.errors import EvidenceError
from evidence_kit.sources.days import parse_day, today
from evidence_kit.web.errors import expected
from evidence_kit.web.rendering import render


async def listing(request: Request) -> Response:
    """Show all passages, as of the day in `day`, today where none is given."""
    course: Course = request.app.state.course
    asked = request.query_params.get("day") or today().isoformat()
    try:
        day = parse_day(asked[:40])
    except EvidenceError as error:
        listed = course.listing(today())
        return render(
            request, "sources.html", status=error.http_status, listed=listed, day=asked, error=expected(error)
        )
    return render(request, "sources.html", listed=course.listing(day), day=day.isoformat(), error=None)


async def passage(request: Request) -> Response:
    """Show one passage; where `receipt` is given, with its place marked, or no place."""
    course: Course = request.app.state.course
    chunk = course.chunk(request.path_params["chunk_id"])
    token = request.query_params.get("receipt")
    placed: Placed | None = None
    if token is not None:
        try:
            placed = course.place(chunk["chunk_id"], parse_token(token, "网址里的定位凭条"))
        except EvidenceError as error:
            # A receipt that contradicts the text still leads to its source; nothing is marked.
            return render(
                request,
                "passage.html",
                status=error.http_status,
                chunk=chunk,
                placed=None,
                error=expected(error),
            )
    return render(request, "passage.html", chunk=chunk, placed=placed, error=None)


routes = [Route("/sources", listing), Route("/sources/{chunk_id}", passage)]
