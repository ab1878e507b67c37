"""The questions of the experiment: added several at once, changed, removed."""

from __future__ import annotations

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from evidence_kit.errors import EvidenceError
from evidence_kit.experiments.judging import question_named
from evidence_kit.experiments.model import ExperimentError
from evidence_kit.experiments.records import QUESTION
from evidence_kit.web.evaluate_page import (
    Refused,
    desk_of,
    expected_of,
    gone,
    look,
    number_of,
    page,
    part,
    text_of,
)
from evidence_kit.web.forms import form_of
from evidence_kit.web.rendering import address

QUESTIONS = 100


async def questions(request: Request) -> Response:
    """Show the questions and the form for new ones; a POST adds one a line."""
    if request.method != "POST":
        return await _questions(request)
    typed = text_of(await form_of(request), "questions")
    lines = [line.strip() for line in typed.split("\n") if line.strip()]
    try:
        if not lines:
            raise ExperimentError("没有写问题：请每行写一个。")
        ids = await run_in_threadpool(desk_of(request).store.add_questions, lines)
    except EvidenceError as error:
        return await _questions(request, typed, error)
    return RedirectResponse(address("/evaluate", q=ids[0]), 303)


async def question(request: Request) -> Response:
    """Show the form of the question in `id`; a POST saves its text."""
    if request.method != "POST":
        return await _question(request, request.query_params.get("id", ""))
    form = await form_of(request)
    question_id, typed, expected = text_of(form, "id"), text_of(form, "text"), expected_of(request, form)
    store = desk_of(request).store
    try:
        await run_in_threadpool(lambda: store.edit_question(question_id, typed, expected=expected))
    except EvidenceError as error:
        return await _question(request, question_id, typed, Refused(error, expected))
    return RedirectResponse(address("/evaluate", q=question_id), 303)


async def remove(request: Request) -> Response:
    """Remove a question with its judgments."""
    form = await form_of(request)
    question_id, expected = text_of(form, "id"), expected_of(request, form)
    store = desk_of(request).store
    try:
        await run_in_threadpool(lambda: store.remove_question(question_id, expected=expected))
    except EvidenceError as error:
        return await _question(request, question_id, None, Refused(error, expected))
    return RedirectResponse("/evaluate/questions", 303)


async def _questions(request: Request, typed: str = "", error: EvidenceError | None = None) -> Response:
    standing = await look(request)
    shown, number, page_count = part(
        standing.experiment.questions, number_of(request.query_params, "page", 1), QUESTIONS
    )
    return page(
        request, "evaluate_questions.html", standing,
        error=error, typed=typed, questions=shown, page_number=number, page_count=page_count,
    )  # fmt: skip


async def _question(
    request: Request, question_id: str, typed: str | None = None, refused: Refused | None = None
) -> Response:
    standing = await look(request)
    try:
        found = question_named(standing.experiment, question_id)
    except ExperimentError:
        if refused is None:
            raise
        return gone(request, refused.error, typed or "")
    return page(
        request, "evaluate_question.html", standing,
        refused=refused, question=found, typed=found.text if typed is None else typed,
        revision=standing.revision(QUESTION, question_id),
    )  # fmt: skip


routes = [
    Route("/evaluate/questions", questions, methods=["GET", "POST"]),
    Route("/evaluate/question", question, methods=["GET", "POST"]),
    Route("/evaluate/question/remove", remove, methods=["POST"]),
]
