"""How far a long computation is, and the way to end it."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from evidence_kit.web.evaluate_page import FormError, desk_of, text_of
from evidence_kit.web.jobs import Job
from evidence_kit.web.rendering import render


async def progress(request: Request) -> Response:
    """Return how far a job is."""
    job = _job(request, request.query_params.get("job", ""))
    return JSONResponse({"state": job.state, "done": job.done, "whole": job.whole})


async def cancel(request: Request) -> Response:
    """End a job for all who wait for it."""
    form = await request.form()
    job = _job(request, text_of(form, "job"))
    job.cancel()
    again = text_of(form, "again")
    # Only a path of ours: this goes into a link.
    return render(
        request, "evaluate_cancelled.html", again=again if again.startswith("/evaluate") else "/evaluate"
    )


def _job(request: Request, job_id: str) -> Job:
    job = desk_of(request).jobs.find(job_id)
    if job is None:
        raise FormError("没有这项计算：它已经结束，请重新打开页面。", http_status=404)
    return job


routes = [
    Route("/evaluate/progress", progress),
    Route("/evaluate/cancel", cancel, methods=["POST"]),
]
