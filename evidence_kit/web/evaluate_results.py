"""Parameters, measures, baselines, comparisons and prompts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, replace
from typing import Any, get_args

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from evidence_kit.errors import EvidenceError
from evidence_kit.experiments.baseline import means_in_order
from evidence_kit.experiments.judging import question_named
from evidence_kit.experiments.model import Method, Parameters
from evidence_kit.experiments.parameters import parse_changes
from evidence_kit.experiments.records import PARAMETERS, THE_ONE
from evidence_kit.experiments.run import Search, gaps
from evidence_kit.experiments.standing import Standing
from evidence_kit.experiments.store import ExperimentStore
from evidence_kit.formats.comparing import comparison_remarks, conditions_compared, paired_notes
from evidence_kit.formats.notes import omissions
from evidence_kit.web.evaluate_page import (
    Refused,
    day_of,
    desk_of,
    expected_of,
    kept_day,
    look,
    look_and_find,
    look_and_search,
    number_of,
    page,
    part,
    shown_name,
    text_of,
)
from evidence_kit.web.forms import form_of
from evidence_kit.web.past import past_of
from evidence_kit.web.rendering import address

QUESTIONS = 50


async def measures(request: Request) -> Response:
    """Show parameters and measures; a POST applies all parameters of the form, or none."""
    if request.method != "POST":
        return await _measures(request, request.query_params)
    form = await form_of(request)
    expected, day = expected_of(request, form), day_of(form)
    typed = {name: text_of(form, name) for name in shown_parameters(Parameters())}
    try:
        await run_in_threadpool(_set, desk_of(request).store, typed, expected)
    except EvidenceError as error:
        return await _measures_refused(request, form, typed, Refused(error, expected))
    return RedirectResponse(address("/evaluate/measures", day=kept_day(form, day)), 303)


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
    """Show the baselines; a POST freezes what stands as a new one, and `job` asks for the end of that."""
    fields = request.query_params if request.method != "POST" else await form_of(request)
    job_id = fields.get("job")
    if request.method != "POST" and not job_id:
        return await _baselines(request, fields)
    name, expected, day = text_of(fields, "name").strip(), expected_of(request, fields), day_of(fields)
    desk, shown_day = desk_of(request), kept_day(fields, day)
    try:
        if isinstance(job_id, str):
            job = desk.job(job_id)
        else:
            job = await run_in_threadpool(desk.freeze, name, day, expected)
        if job is not None:
            again = {"job": job.job_id, "name": name, "expected": text_of(fields, "expected")}
            await job.result(again=address("/evaluate/baselines", day=shown_day, **again))
    except EvidenceError as error:
        return await _baselines(request, fields, name, Refused(error, expected))
    return RedirectResponse(address("/evaluate/baselines", day=shown_day), 303)


async def compare(request: Request) -> Response:
    """Show how the experiment differs from the baseline in `baseline`."""
    fields = request.query_params
    day = day_of(fields)
    standing, found = await look_and_search(request, day)
    job = await run_in_threadpool(desk_of(request).compare, standing, found, fields.get("baseline", ""))
    made = replace(await job.result(), as_of=day.isoformat())
    return page(
        request,
        "evaluate_compare.html",
        standing,
        day=kept_day(fields, day),
        made=made,
        conditions=list(conditions_compared(made)),
        remarks=[*paired_notes(made.differences), *comparison_remarks(made)],
    )


async def prompt(request: Request) -> Response:
    """Show the prompt for the question in `q`; a POST sets its budget."""
    if request.method != "POST":
        return await _prompt(request, request.query_params)
    form = await form_of(request)
    question_id, expected, day = text_of(form, "q"), expected_of(request, form), day_of(form)
    store, typed = desk_of(request).store, text_of(form, "budget")
    question_named((await look(request)).experiment, question_id)  # before anything is written
    try:
        await run_in_threadpool(
            lambda: store.set_parameters(parse_changes([f"budget={typed}"]), expected=expected)
        )
    except EvidenceError as error:
        return await _prompt_refused(request, form, typed, Refused(error, expected))
    return RedirectResponse(address("/evaluate/prompt", q=question_id, day=kept_day(form, day)), 303)


async def _measures(request: Request, fields: Mapping[str, object]) -> Response:
    day, past = day_of(fields), past_of(fields)
    standing, found = await look_and_search(request, day, past)
    return await _measures_page(request, standing, found, day=kept_day(fields, day), past=past, as_of=day)


async def _measures_refused(
    request: Request, form: Mapping[str, object], typed: Mapping[str, str], refused: Refused
) -> Response:
    day = day_of(form)
    standing, found = await look_and_find(request, day)
    return await _measures_page(
        request, standing, found, typed, day=kept_day(form, day), refused=refused, as_of=day
    )


async def _measures_page(
    request: Request, standing: Standing, found: Search | None, typed: Mapping[str, str] | None = None,
    **shown: Any,
) -> Response:  # fmt: skip
    """Return the parameters, and the measures of what was found, if it was."""
    experiment, desk = standing.experiment, desk_of(request)
    evaluation, notes = None, []
    if found is not None:
        evaluation = await run_in_threadpool(desk.evaluate, standing, found)
        left = await run_in_threadpool(gaps, experiment, found, evaluation)
        notes = list(omissions(left))
    listed, number, page_count = part(
        experiment.questions, number_of(request.query_params, "page", 1), QUESTIONS
    )
    return page(
        request, "evaluate_measures.html", standing, methods=get_args(Method), notes=notes,
        typed=typed or shown_parameters(experiment.parameters),
        stands=shown_parameters(experiment.parameters),
        revision=standing.revision(PARAMETERS, THE_ONE), questions=listed,
        page_number=number, page_count=page_count, found=found, evaluation=evaluation, **shown,
    )  # fmt: skip


async def _baselines(
    request: Request, fields: Mapping[str, object], name: str = "", refused: Refused | None = None
) -> Response:
    day, standing = day_of(fields), await look(request)
    return page(
        request,
        "evaluate_baselines.html",
        standing,
        day=kept_day(fields, day),
        refused=refused,
        revision=standing.last,
        name=name,
        as_of=day,
        means=means_in_order,
    )


async def _prompt(request: Request, fields: Mapping[str, object]) -> Response:
    day = day_of(fields)
    standing, found = await look_and_search(request, day)
    return await _prompt_page(request, fields, standing, found, day=kept_day(fields, day))


async def _prompt_refused(
    request: Request, form: Mapping[str, object], typed: str, refused: Refused
) -> Response:
    day = day_of(form)
    standing, found = await look_and_find(request, day)
    return await _prompt_page(request, form, standing, found, typed, day=kept_day(form, day), refused=refused)


async def _prompt_page(
    request: Request, fields: Mapping[str, object], standing: Standing, found: Search | None,
    typed: str | None = None, **shown: Any,
) -> Response:  # fmt: skip
    """Return the prompt of what was found, if it was; an error says why there is none."""
    experiment = standing.experiment
    question = question_named(experiment, text_of(fields, "q"))
    made, error = None, None
    if found is not None:
        try:
            made = await run_in_threadpool(desk_of(request).prompt, standing, found, question)
        except EvidenceError as problem:
            error = problem
    return page(
        request, "evaluate_prompt.html", standing, error=error, question=question,
        prompt=made, typed=str(experiment.parameters.budget) if typed is None else typed,
        revision=standing.revision(PARAMETERS, THE_ONE), file_name=shown_name(question.question_id), **shown,
    )  # fmt: skip


routes = [
    Route("/evaluate/measures", measures, methods=["GET", "POST"]),
    Route("/evaluate/baselines", baselines, methods=["GET", "POST"]),
    Route("/evaluate/compare", compare),
    Route("/evaluate/prompt", prompt, methods=["GET", "POST"]),
]
