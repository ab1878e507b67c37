"""Parameters, measures, baselines, comparisons and prompts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from datetime import date
from typing import get_args

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from evidence_kit.errors import EvidenceError
from evidence_kit.experiments import baseline
from evidence_kit.experiments.judging import question_named
from evidence_kit.experiments.model import Method, Parameters
from evidence_kit.experiments.parameters import parse_changes
from evidence_kit.experiments.records import PARAMETERS, THE_ONE
from evidence_kit.experiments.store import ExperimentStore
from evidence_kit.formats.comparing import comparison_remarks, conditions_compared, paired_notes
from evidence_kit.web.evaluate_page import (
    day_of,
    desk_of,
    kept_known,
    known_of,
    look,
    look_and_search,
    number_of,
    page,
    part,
    shown_name,
    text_of,
)
from evidence_kit.web.rendering import address

QUESTIONS = 50


async def measures(request: Request) -> Response:
    """Show parameters and measures; a POST applies all parameters of the form, or none."""
    if request.method == "GET":
        return await _measures(request, request.query_params)
    form = await request.form()
    expected, day = number_of(form, "expected"), day_of(form)
    typed = {name: text_of(form, name) for name in shown_parameters(Parameters())}
    try:
        await run_in_threadpool(_set, desk_of(request).store, typed, expected)
    except EvidenceError as error:
        return await _measures(request, form, typed, error)
    return RedirectResponse(address("/evaluate/measures", day=_kept(form, day)), 303)


def _set(store: ExperimentStore, typed: Mapping[str, str], expected: int) -> None:
    """Set what was typed over; an analyzer left as it was makes room for the one that a new method brings."""
    shown = shown_parameters(store.look().experiment.parameters)
    changes = parse_changes(f"{name}={text}" for name, text in typed.items() if text.strip() != shown[name])
    store.set_parameters(changes, expected=expected)


def shown_parameters(parameters: Parameters) -> dict[str, str]:
    """Return the parameters as the form shows them."""
    return {
        name: f"{value:g}" if isinstance(value, float) else str(value)
        for name, value in asdict(parameters).items()
    }


async def baselines(request: Request) -> Response:
    """Show the baselines; a POST freezes what stands as a new one."""
    if request.method == "GET":
        return await _baselines(request, request.query_params)
    form = await request.form()
    name, expected, day = text_of(form, "name").strip(), number_of(form, "expected"), day_of(form)
    desk = desk_of(request)
    standing = await look(request)
    try:
        job = await run_in_threadpool(desk.search, standing, day)
        found = await job.result(whatever_it_takes=True)

        def work() -> None:
            frozen = baseline.freeze(standing.experiment, day, name, found=found)
            desk.store.add_baseline(frozen, expected=expected)

        await run_in_threadpool(work)
    except EvidenceError as error:
        return await _baselines(request, form, name, error)
    return RedirectResponse(address("/evaluate/baselines", day=_kept(form, day)), 303)


async def compare(request: Request) -> Response:
    """Show how the experiment differs from the baseline in `baseline`."""
    fields = request.query_params
    day = day_of(fields)
    standing, found = await look_and_search(request, day)
    job = await run_in_threadpool(desk_of(request).compare, standing, found, fields.get("baseline", ""))
    made = await job.result()
    return page(
        request,
        "evaluate_compare.html",
        standing,
        day=_kept(fields, day),
        made=made,
        conditions=list(conditions_compared(made)),
        remarks=[*paired_notes(made.differences), *comparison_remarks(made)],
    )


async def prompt(request: Request) -> Response:
    """Show the prompt for the question in `q`; a POST sets its budget."""
    if request.method == "GET":
        return await _prompt(request, request.query_params)
    form = await request.form()
    question_id, expected, day = text_of(form, "q"), number_of(form, "expected"), day_of(form)
    store = desk_of(request).store
    typed = text_of(form, "budget")
    try:
        await run_in_threadpool(
            lambda: store.set_parameters(parse_changes([f"budget={typed}"]), expected=expected)
        )
    except EvidenceError as error:
        return await _prompt(request, form, typed, error)
    return RedirectResponse(address("/evaluate/prompt", q=question_id, day=_kept(form, day)), 303)


async def _measures(
    request: Request,
    fields: Mapping[str, object],
    typed: Mapping[str, str] | None = None,
    error: EvidenceError | None = None,
) -> Response:
    day, known_at = day_of(fields), known_of(fields)
    standing, found = await look_and_search(request, day, known_at)
    experiment = standing.experiment
    evaluation = await run_in_threadpool(desk_of(request).evaluate, standing, found)
    shown, number, page_count = part(
        experiment.questions, number_of(request.query_params, "page", 1), QUESTIONS
    )
    return page(
        request, "evaluate_measures.html", standing, day=_kept(fields, day), known=kept_known(fields),
        known_at=known_at, error=error, methods=get_args(Method),
        typed=typed or shown_parameters(experiment.parameters),
        stands=shown_parameters(experiment.parameters),
        revision=standing.revision(PARAMETERS, THE_ONE), questions=shown,
        page_number=number, page_count=page_count, found=found, evaluation=evaluation, as_of=day,
        stale=sum(experiment.state(judgment) == "stale" for judgment in experiment.judgments),
    )  # fmt: skip


async def _baselines(
    request: Request, fields: Mapping[str, object], name: str = "", error: EvidenceError | None = None
) -> Response:
    day, standing = day_of(fields), await look(request)
    return page(
        request,
        "evaluate_baselines.html",
        standing,
        day=_kept(fields, day),
        error=error,
        name=name,
        as_of=day,
        means=baseline.means_in_order,
    )


async def _prompt(
    request: Request,
    fields: Mapping[str, object],
    typed: str | None = None,
    error: EvidenceError | None = None,
) -> Response:
    day = day_of(fields)
    standing, found = await look_and_search(request, day)
    experiment = standing.experiment
    question = question_named(experiment, text_of(fields, "q"))
    made = None
    try:
        made = await run_in_threadpool(desk_of(request).prompt, standing, found, question)
    except EvidenceError as problem:
        error = error or problem
    return page(
        request, "evaluate_prompt.html", standing, day=_kept(fields, day), error=error, question=question,
        prompt=made, typed=str(experiment.parameters.budget) if typed is None else typed,
        revision=standing.revision(PARAMETERS, THE_ONE), file_name=shown_name(question.question_id),
    )  # fmt: skip


def _kept(fields: Mapping[str, object], day: date) -> str | None:
    """Return the day where one was asked for; today moves on by itself."""
    return day.isoformat() if fields.get("day") else None


routes = [
    Route("/evaluate/measures", measures, methods=["GET", "POST"]),
    Route("/evaluate/baselines", baselines, methods=["GET", "POST"]),
    Route("/evaluate/compare", compare),
    Route("/evaluate/prompt", prompt, methods=["GET", "POST"]),
]
