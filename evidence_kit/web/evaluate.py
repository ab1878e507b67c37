"""评测: one question with what was found for it and the judgments; the other pages have their own modules."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.datastructures import FormData
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from evidence_kit.anchors.anchor import Anchor
from evidence_kit.errors import EvidenceError
from evidence_kit.experiments.judging import Row, excerpt, question_named, rows, tallies
from evidence_kit.experiments.model import GRADES, Experiment, Question
from evidence_kit.experiments.receipts import receipt_of
from evidence_kit.experiments.run import Search
from evidence_kit.experiments.standing import Standing
from evidence_kit.experiments.store import ExperimentStore
from evidence_kit.finder.titles import SharingTitle, titles_sharing
from evidence_kit.text.analysis import parse_analyzer
from evidence_kit.web.desk import Desk
from evidence_kit.web.evaluate_page import (
    FormError,
    day_of,
    desk_of,
    expected_of,
    kept_day,
    look_and_find,
    look_and_search,
    number_of,
    page,
    part,
    text_of,
)
from evidence_kit.web.forms import form_of
from evidence_kit.web.rendering import address

ROWS = 10
QUESTIONS = 40  # beyond that the list beside the question shows those around it


async def evaluate(request: Request) -> Response:
    """Show the question in `q`, the first one where none is given, with its sources and their judgments."""
    fields = request.query_params
    return await _question(
        request, fields.get("q"), number_of(fields, "page", 1), fields.get("day") or None, day_of(fields)
    )


async def judge(request: Request) -> Response:
    """Write, clear or confirm a judgment, and go back to the question at the next source."""
    form = await form_of(request)
    day, number, row = day_of(form), number_of(form, "page", 1), number_of(form, "row", 0)
    question_id, shown_day = text_of(form, "question_id"), kept_day(form, day)
    write = _writer(desk_of(request).store, form, expected_of(request, form))
    try:
        await run_in_threadpool(write)
    except EvidenceError as error:
        return await _refused(request, question_id, number, shown_day, day, error)
    place = address("/evaluate", q=question_id, page=number if number > 1 else None, day=shown_day)
    return RedirectResponse(f"{place}#row-{row + 1}", 303)


def _writer(store: ExperimentStore, form: FormData, expected: int) -> Callable[[], object]:
    """Return what writes the judgment in a form, read whole. Raises FormError."""
    question_id, source_id, said = (text_of(form, key) for key in ("question_id", "source_id", "grade"))
    seen = text_of(form, "question_sha256"), text_of(form, "source_sha256")
    grades = {**{str(grade): grade for grade in GRADES}, "clear": None}
    if said == "confirm":
        return lambda: store.confirm(question_id, source_id, expected=expected, seen=seen)
    if said not in grades:
        raise FormError("等级应是 0、1、2、3：请用页面上的按钮。")
    return lambda: store.judge(question_id, source_id, grades[said], expected=expected, seen=seen)


async def _question(
    request: Request, question_id: str | None, number: int, shown_day: str | None, day: date
) -> Response:
    standing, found = await look_and_search(request, day)
    if not standing.experiment.questions and not question_id:
        return page(request, "evaluate_empty.html", standing, day=shown_day)
    shown = await run_in_threadpool(_shown, desk_of(request), standing, found, question_id, number)
    return page(request, "evaluate.html", standing, day=shown_day, found=found, **shown)


async def _refused(
    request: Request, question_id: str, number: int, shown_day: str | None, day: date, error: EvidenceError
) -> Response:
    """Return the question as it stands with an error; the error alone where that would take its time."""
    standing, found = await look_and_find(request, day)
    there = any(question.question_id == question_id for question in standing.experiment.questions)
    if found is None or not there:
        asked = question_id if there else None
        return page(request, "evaluate_refused.html", standing, day=shown_day, error=error, asked=asked)
    shown = await run_in_threadpool(_shown, desk_of(request), standing, found, question_id, number)
    return page(request, "evaluate.html", standing, day=shown_day, error=error, found=found, **shown)


def _shown(
    desk: Desk, standing: Standing, found: Search, question_id: str | None, number: int
) -> dict[str, Any]:
    """Return what the page says of a question: a part of its rows, and the questions around it."""
    experiment = standing.experiment
    question = question_named(experiment, question_id) if question_id else experiment.questions[0]
    shown, number, page_count = part(rows(standing, found, question), number, ROWS)
    evaluation = desk.evaluate(standing, found)
    at = experiment.questions.index(question)
    first = max(min(at - QUESTIONS // 2, len(experiment.questions) - QUESTIONS), 0)
    listed = list(tallies(experiment, found))
    return {
        "question": question,
        "tallies": listed[first : first + QUESTIONS],
        "tally": listed[at],
        "questions_left_out": max(len(listed) - QUESTIONS, 0),
        "neighbours": (listed[at - 1] if at else None, listed[at + 1] if at + 1 < len(listed) else None),
        "rows": [
            (row_number, row, excerpt(row, question, experiment.parameters), _receipt(row))
            for row_number, row in enumerate(shown, (number - 1) * ROWS + 1)
        ],
        "page_number": number,
        "page_count": page_count,
        "measures": evaluation.per_question[question.question_id],
        "means": evaluation.means,
        "titled": [] if found.scores.get(question.question_id) else _titled(question, found, experiment),
    }


def _titled(question: Question, found: Search, experiment: Experiment) -> list[SharingTitle]:
    """Return the titles that hold words of a question."""
    titles = ((source.source_id, source.title) for source in found.standing.sources)
    return list(titles_sharing(question.text, titles, parse_analyzer(experiment.parameters.analyzer)))


def _receipt(row: Row) -> Anchor | None:
    """Return the receipt of a row's excerpt, None where nothing was found."""
    return receipt_of(row.source, row.best.start, row.best.end) if row.best else None


routes = [
    Route("/evaluate", evaluate),
    Route("/evaluate/judge", judge, methods=["POST"]),
]
