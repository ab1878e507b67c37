"""验收: the stored record of calibration, frozen set and release gates. Nothing is run on the frozen set."""

from __future__ import annotations

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from evidence_kit.course import ROUTE_WORDS, SYSTEMS
from evidence_kit.course_record import read_record
from evidence_kit.web.rendering import render


async def acceptance(request: Request) -> Response:
    """Show the record."""
    record = await run_in_threadpool(read_record)
    return render(request, "acceptance.html", record=record, systems=SYSTEMS, routes=ROUTE_WORDS)


routes = [Route("/acceptance", acceptance)]
