"""What has been done to the experiment, and the way back."""

from __future__ import annotations

from collections.abc import Callable

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from evidence_kit.errors import EvidenceError
from evidence_kit.experiments.store import ExperimentStore
from evidence_kit.storage.revisions import Change
from evidence_kit.web.evaluate_page import desk_of, expected_of, look, number_of, page, part
from evidence_kit.web.forms import form_of

CHANGES = 50


async def history(request: Request) -> Response:
    """Show all changes, the last one first."""
    return await _history(request)


async def undo(request: Request) -> Response:
    """Take back the last change."""
    return await _turn(request, lambda store, expected: store.undo(expected=expected))


async def redo(request: Request) -> Response:
    """Do again what was undone."""
    return await _turn(request, lambda store, expected: store.redo(expected=expected))


async def _turn(request: Request, turn: Callable[[ExperimentStore, int], Change]) -> Response:
    form = await form_of(request)
    expected = expected_of(request, form)
    try:
        await run_in_threadpool(turn, desk_of(request).store, expected)
    except EvidenceError as error:
        return await _history(request, error)
    return RedirectResponse("/evaluate/history", 303)


async def _history(request: Request, error: EvidenceError | None = None) -> Response:
    standing = await look(request)
    changes = await run_in_threadpool(desk_of(request).store.history)
    shown, number, page_count = part(changes[::-1], number_of(request.query_params, "page", 1), CHANGES)
    return page(
        request,
        "evaluate_history.html",
        standing,
        error=error,
        changes=shown,
        page_number=number,
        page_count=page_count,
    )


routes = [
    Route("/evaluate/history", history),
    Route("/evaluate/undo", undo, methods=["POST"]),
    Route("/evaluate/redo", redo, methods=["POST"]),
]
