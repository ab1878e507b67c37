"""The application: pages, JSON interface and static files behind one guard."""

from __future__ import annotations

from pathlib import Path

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from evidence_kit.course import Course
from evidence_kit.errors import EvidenceError
from evidence_kit.web.api import routes as api_routes
from evidence_kit.web.desk import Desk
from evidence_kit.web.errors import on_evidence_error, on_http_exception
from evidence_kit.web.evaluate_page import on_still_running
from evidence_kit.web.jobs import StillRunning
from evidence_kit.web.limits import BodyLimit
from evidence_kit.web.pages import TABS, first_page, page_routes
from evidence_kit.web.security import Guard
from evidence_kit.web.settings import Settings

STATIC = Path(__file__).parent / "static"


def create_app(settings: Settings, course: Course | None = None, desk: Desk | None = None) -> Starlette:
    """Return the application over a course and an experiment, by default its own course and the demo.

    Raises CourseError where the course's files are not what they should be.
    """
    uploads = dict.fromkeys((path for tab in TABS for path in tab.uploads), settings.max_upload)
    app = Starlette(
        routes=[
            Route("/", to_first_page),
            *page_routes(),
            *api_routes,
            Mount("/static", StaticFiles(directory=STATIC), name="static"),
        ],
        middleware=[
            Middleware(Guard, settings=settings),
            Middleware(BodyLimit, limit=settings.max_body, others=uploads),
        ],
        exception_handlers={
            EvidenceError: on_evidence_error,
            HTTPException: on_http_exception,
            StillRunning: on_still_running,
        },
    )
    app.router.redirect_slashes = False
    app.state.settings = settings
    app.state.course = Course.load() if course is None else course
    app.state.desk = Desk() if desk is None else desk
    return app


async def to_first_page(request: Request) -> Response:
    """Go to the first page."""
    return RedirectResponse(first_page(own=request.app.state.desk.saved), 303)
