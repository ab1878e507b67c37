"""What all Evaluate pages share: the desk, the day, the fields of a form, and the frame around a page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date, datetime
from typing import Any, TypeVar

from starlette.concurrency import run_in_threadpool
from starlette.datastructures import FormData, UploadFile
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from evidence_kit.errors import EvidenceError
from evidence_kit.experiments.run import Search
from evidence_kit.experiments.standing import Standing
from evidence_kit.sources.days import parse_day, parse_instant, today
from evidence_kit.sources.visible import visible
from evidence_kit.web.desk import Desk
from evidence_kit.web.errors import expected as expected_error
from evidence_kit.web.errors import wants_json
from evidence_kit.web.jobs import Job, StillRunning
from evidence_kit.web.rendering import render

Item = TypeVar("Item")


class FormError(EvidenceError):
    """A form, or an address, that lacks a field or has one that our pages do not make."""


def desk_of(request: Request) -> Desk:
    """Return the desk of the application."""
    desk: Desk = request.app.state.desk
    return desk


async def look(request: Request, known_at: datetime | None = None) -> Standing:
    """Return the experiment as it stands, or as it was recorded at an instant."""
    return await run_in_threadpool(desk_of(request).look, known_at)


async def look_and_search(
    request: Request, day: date, known_at: datetime | None = None
) -> tuple[Standing, Search]:
    """Return the experiment as it stands, or as it was recorded, and what is found on a day.

    Raises StillRunning where that takes longer than a moment.
    """
    desk = desk_of(request)

    def work() -> tuple[Standing, Job]:
        standing = desk.look(known_at)
        return standing, desk.search(standing, day)

    standing, job = await run_in_threadpool(work)
    return standing, await job.result()


def day_of(fields: Mapping[str, object]) -> date:
    """Return the day in the field `day`, today where it is not given. Raises SourceError."""
    given = fields.get("day")
    return parse_day(given) if isinstance(given, str) and given else today()


def known_of(fields: Mapping[str, object]) -> datetime | None:
    """Return the instant in the field `known`, None for now; a day alone is its end. Raises SourceError."""
    given = kept_known(fields)
    return parse_instant(given) if given else None


def kept_known(fields: Mapping[str, object]) -> str | None:
    """Return what the field `known` says, for links; None for now."""
    given = fields.get("known")
    return given if isinstance(given, str) and given else None


def number_of(fields: Mapping[str, object], key: str, default: int | None = None) -> int:
    """Return a whole number, not negative. Raises FormError where there is none and no default."""
    given = fields.get(key)
    if given is None and default is not None:
        return default
    if not (isinstance(given, str) and given.isascii() and given.isdecimal() and len(given) < 19):
        raise FormError(f"{key} 应是整数：请从页面里重新操作。")
    return int(given)


def text_of(fields: Mapping[str, object], key: str) -> str:
    """Return a text with the line ends of the field that it was typed in. Raises FormError."""
    given = fields.get(key)
    if not isinstance(given, str):
        raise FormError(f"缺少 {key}：请从页面里重新操作。")
    return given.replace("\r\n", "\n")  # browsers send every line end of a field as CR LF


async def files_of(form: FormData, key: str) -> list[tuple[str, bytes]]:
    """Return the files of a form as (name, content); a field left empty sends one without a name."""
    found = []
    for item in form.getlist(key):
        if not isinstance(item, UploadFile):
            raise FormError(f"{key} 应是文件：请从页面里重新选择。")
        if item.filename:
            found.append((item.filename, await item.read()))
    return found


def part(items: Sequence[Item], number: int, size: int) -> tuple[Sequence[Item], int, int]:
    """Return the items of a page, its number, and the number of pages; one beyond the last is the last."""
    pages = max(-(-len(items) // size), 1)
    number = min(max(number, 1), pages)
    return items[(number - 1) * size : number * size], number, pages


def page(
    request: Request,
    template: str,
    standing: Standing,
    *,
    day: str | None = None,
    known: str | None = None,
    error: EvidenceError | None = None,
    **found: Any,
) -> Response:
    """Return one of the Evaluate pages; `day` stays in its links, None for today, and `known`, which shows
    what was recorded then and leaves out whatever writes, None for now.
    """
    return render(
        request,
        template,
        status=error.http_status if error else 200,
        standing=standing,
        experiment=standing.experiment,
        saved=desk_of(request).saved,
        turns=standing.turns if known is None else None,
        day=day,
        known=known,
        today=today().isoformat(),
        path=request.url.path,
        error=expected_error(error) if error else None,
        **found,
    )


async def on_still_running(request: Request, error: Exception) -> Response:
    """Answer that the work has begun, and how far it is; the same address has the result later."""
    if not isinstance(error, StillRunning):
        raise error
    job = error.job
    if wants_json(request):
        return JSONResponse({"job": job.job_id, "done": job.done, "whole": job.whole}, 202)
    again = request.url.path + (f"?{request.url.query}" if request.url.query else "")
    return render(request, "evaluate_waiting.html", status=202, job=job, again=again)


def shown_name(text: str, most: int = 60) -> str:
    """Return a name as a sentence may hold it."""
    return visible(text if len(text) <= most else text[:most] + "…")
