"""What all Evaluate pages share: the desk, the day, the fields of a form, and the frame around a page."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any, TypeVar

from starlette.concurrency import run_in_threadpool
from starlette.datastructures import FormData, UploadFile
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from evidence_kit.errors import EvidenceError
from evidence_kit.experiments.run import Search
from evidence_kit.experiments.standing import Standing
from evidence_kit.sources.days import parse_day, today
from evidence_kit.sources.visible import visible
from evidence_kit.storage.errors import StaleError
from evidence_kit.web.desk import Desk
from evidence_kit.web.errors import expected as expected_error
from evidence_kit.web.errors import respond, wants_json
from evidence_kit.web.jobs import BusyError, StillRunning
from evidence_kit.web.past import Past
from evidence_kit.web.rendering import render

Item = TypeVar("Item")


class FormError(EvidenceError):
    """A form, or an address, that lacks a field or has one that our pages do not make."""


class ForeignFormError(EvidenceError):
    """A form of another experiment: the server was started again with another file since it was opened."""

    def __init__(self) -> None:
        super().__init__(
            "这张表单是另一个实验的，这次没有写入：请重新打开页面，确认是要改的实验。", http_status=409
        )


@dataclass(frozen=True)
class Refused:
    """Why a form was not taken, and the revision that it was sent with.

    The page that says so lets the form expect that revision again: whoever mends what was wrong has not seen
    what others wrote meanwhile. Only where that was the reason does the page show what stands, and the form
    expects the revision of that.
    """

    error: EvidenceError
    sent: int

    def expects(self, now: int) -> int:
        """Return the revision that the form expects when it is shown again; `now` is the one that stands."""
        return now if isinstance(self.error, StaleError) else self.sent


def desk_of(request: Request) -> Desk:
    """Return the desk of the application."""
    desk: Desk = request.app.state.desk
    return desk


async def look(request: Request, past: Past | None = None) -> Standing:
    """Return the experiment as it stands, or as it was recorded."""
    return await run_in_threadpool(desk_of(request).look, past)


async def look_and_search(request: Request, day: date, past: Past | None = None) -> tuple[Standing, Search]:
    """Return the experiment as it stands, or as it was recorded, and what is found on a day.

    Raises StillRunning where that takes longer than a moment.
    """
    desk = desk_of(request)
    standing = await look(request, past)
    searching = await run_in_threadpool(desk.search, standing, day)
    return standing, searching.found(await searching.job.result())


async def look_and_find(request: Request, day: date) -> tuple[Standing, Search | None]:
    """Return the experiment as it stands, and what is found on a day if that is there in a moment.

    For the page that tells of an error: nothing may stand in its place.
    """
    standing = await look(request)
    try:
        searching = await run_in_threadpool(desk_of(request).search, standing, day)
    except BusyError:
        return standing, None
    ready = await searching.job.settled() and searching.job.state == "done"
    return standing, searching.found(searching.job.future.result()) if ready else None


def day_of(fields: Mapping[str, object]) -> date:
    """Return the day in the field `day`, today where it is not given. Raises SourceError."""
    given = fields.get("day")
    return parse_day(given) if isinstance(given, str) and given else today()


def kept_day(fields: Mapping[str, object], day: date) -> str | None:
    """Return the day for links where one was asked for; today moves on by itself."""
    return day.isoformat() if fields.get("day") else None


def expected_of(request: Request, fields: Mapping[str, object]) -> int:
    """Return the revision that a form expects. Raises FormError, and ForeignFormError where it is a form of
    another experiment.
    """
    match = re.fullmatch("([0-9a-f]{12})-([0-9]{1,18})", text_of(fields, "expected"))
    if match is None:
        raise FormError("expected 不是页面里的写法：请从页面里重新操作。")
    if match[1] != desk_of(request).store.identity:
        raise ForeignFormError
    return int(match[2])


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
    past: Past | None = None,
    error: EvidenceError | None = None,
    refused: Refused | None = None,
    revision: int = 0,
    **found: Any,
) -> Response:
    """Return one of the Evaluate pages, or the error to a program.

    `day` stays in the links, None for today, and so does `past`, which shows what was recorded then and
    leaves out whatever writes. `revision` is the one that the page's own form is about.
    """
    error = refused.error if refused else error
    if error and wants_json(request):
        return respond(request, expected_error(error))
    identity = desk_of(request).store.identity
    return render(
        request,
        template,
        status=error.http_status if error else 200,
        standing=standing,
        experiment=standing.experiment,
        saved=desk_of(request).saved,
        turns=standing.turns if past is None else None,
        day=day,
        past=past,
        kept=past.fields if past else {},
        today=today().isoformat(),
        path=request.url.path,
        error=expected_error(error) if error else None,
        stale=isinstance(error, StaleError),
        identity=identity,
        expected=lambda number: f"{identity}-{number}",
        revision=refused.expects(revision) if refused else revision,
        **found,
    )


def gone(request: Request, error: EvidenceError, typed: str) -> Response:
    """Return that what a form was about is not there any more, with what was typed: it can be copied."""
    if wants_json(request):
        return respond(request, expected_error(error))
    shown = expected_error(error)
    return render(request, "evaluate_gone.html", status=shown.status, error=shown, typed=typed)


async def on_still_running(request: Request, error: Exception) -> Response:
    """Answer that the work has begun, and how far it is; the same address has the result later."""
    if not isinstance(error, StillRunning):
        raise error
    job, ticket = error.job, error.job.wait()
    if wants_json(request):
        record = {"job": job.job_id, "ticket": ticket, "done": job.done, "whole": job.whole}
        return JSONResponse(record, 202)
    here = request.url.path + (f"?{request.url.query}" if request.url.query else "")
    again = error.again or here
    return render(request, "evaluate_waiting.html", status=202, job=job, ticket=ticket, again=again)


def shown_name(text: str, most: int = 60) -> str:
    """Return a name as a sentence may hold it."""
    return visible(text if len(text) <= most else text[:most] + "…")
