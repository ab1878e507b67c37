"""What leaves the experiment as a file, and the whole experiment on its way back."""

from __future__ import annotations

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from evidence_kit.errors import EvidenceError
from evidence_kit.experiments.judging import question_named
from evidence_kit.formats.experiment_json import experiment_from_json
from evidence_kit.reports.exports import EXPORTS
from evidence_kit.sources.visible import visible
from evidence_kit.web.evaluate_page import (
    FormError,
    Refused,
    day_of,
    desk_of,
    expected_of,
    files_of,
    kept_day,
    look,
    look_and_search,
    page,
)
from evidence_kit.web.forms import form_of
from evidence_kit.web.past import past_of


async def exports(request: Request) -> Response:
    """Show what can be downloaded, and the form that restores."""
    return await _exports(request)


async def download(request: Request) -> Response:
    """Send one of the exports, as of the day in `day`, of what was recorded by `known` or `change`."""
    export = EXPORTS.get(request.path_params["name"])
    if export is None:
        raise FormError("没有这种文件：请从“导出与还原”页选择。", http_status=404)
    fields, desk = request.query_params, desk_of(request)
    past = past_of(fields)
    standing, found = await look_and_search(request, day_of(fields), past)
    if export.of_question:
        question = question_named(standing.experiment, fields.get("q", ""))
        made = (await run_in_threadpool(desk.prompt, standing, found, question)).text
    else:
        made = await desk.export(standing, found, export, past).result()
    # An attachment, so that a report is opened from the disk and never runs with our address.
    headers = {"Content-Disposition": f'attachment; filename="{export.name}"'}
    return Response(made, media_type=export.media_type, headers=headers)


async def restore(request: Request) -> Response:
    """Let the experiment be exactly what a file holds, as one change."""
    form = await form_of(request)
    expected, files = expected_of(request, form), await files_of(form, "file")
    store = desk_of(request).store

    def work() -> None:
        store.refuse_newer(expected)
        if not files:
            raise FormError("没有选择文件：请选择完整实验 JSON。")
        name, data = files[0]
        store.restore(experiment_from_json(data, visible(name), store.limits), expected=expected)

    try:
        await run_in_threadpool(work)
    except EvidenceError as error:
        return await _exports(request, Refused(error, expected))
    return RedirectResponse("/evaluate", 303)


async def _exports(request: Request, refused: Refused | None = None) -> Response:
    fields = request.query_params
    day, past = day_of(fields), past_of(fields)
    standing = await look(request, past)
    return page(
        request, "evaluate_exports.html", standing, refused=refused, revision=standing.last, as_of=day,
        day=kept_day(fields, day), past=past,
        exports=[export for export in EXPORTS.values() if not export.of_question],
    )  # fmt: skip


routes = [
    Route("/evaluate/exports", exports),
    Route("/evaluate/export/{name}", download),
    Route("/evaluate/restore", restore, methods=["POST"]),
]
