"""资料: every passage with its state on a day, and one passage with the place that a receipt names."""

from __future__ import annotations

import re
from datetime import date

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from evidence_kit.anchors.token import parse_token
from evidence_kit.course import Course, Placed
from evidence_kit.errors import EvidenceError
from evidence_kit.sources.model import SourceError
from evidence_kit.sources.visible import visible
from evidence_kit.web.errors import expected
from evidence_kit.web.rendering import render


async def listing(request: Request) -> Response:
    """Show all passages, as of the day in `day`, today where none is given."""
    course: Course = request.app.state.course
    asked = request.query_params.get("day") or date.today().isoformat()
    try:
        day = parse_day(asked)
    except EvidenceError as error:
        listed = course.listing(date.today())
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


def parse_day(text: str) -> date:
    """Return the day that YYYY-MM-DD names; SourceError where it is none."""
    try:
        # Later Pythons read other forms too; one form is enough.
        if not re.fullmatch(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", text):
            raise ValueError
        return date.fromisoformat(text)
    except ValueError:
        raise SourceError(f"日期 {visible(text[:40])} 无效：请写成 2026-01-31 这样。") from None


routes = [Route("/sources", listing), Route("/sources/{chunk_id}", passage)]
