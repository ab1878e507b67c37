"""How far a long computation is, and the way to end it."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Match, Route

from evidence_kit.web.evaluate_page import FormError, desk_of, text_of
from evidence_kit.web.forms import form_of
from evidence_kit.web.jobs import Job
from evidence_kit.web.rendering import render


async def progress(request: Request) -> Response:
    """Return how far a job is, and renew the ticket of who waits for it."""
    fields = request.query_params
    job = _job(request, fields.get("job", ""))
    if fields.get("ticket"):
        job.wait(fields["ticket"])
    return JSONResponse({"state": job.state, "done": job.done, "whole": job.whole})


async def cancel(request: Request) -> Response:
    """Wait for a job no more; it ends where nobody else does."""
    form = await form_of(request)
    job, ticket, again = _job(request, text_of(form, "job")), text_of(form, "ticket"), text_of(form, "again")
    if not _is_page(request, again):
        again = "/evaluate"
    return render(request, "evaluate_cancelled.html", state=job.leave(ticket), again=again)


def _is_page(request: Request, address: str) -> bool:
    """Return whether an address is one of the Evaluate pages: it goes into a link."""
    path = address.partition("?")[0]
    scope = {"type": "http", "method": "GET", "path": path}
    routed = any(route.matches(scope)[0] is Match.FULL for route in request.app.routes)
    return routed and (path == "/evaluate" or path.startswith("/evaluate/"))


def _job(request: Request, job_id: str) -> Job:
    job = desk_of(request).job(job_id)
    if job is None:
        raise FormError("没有这项计算：它已经结束，请重新打开页面。", http_status=404)
    return job


routes = [
    Route("/evaluate/progress", progress),
    Route("/evaluate/cancel", cancel, methods=["POST"]),
]
