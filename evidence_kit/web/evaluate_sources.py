"""The sources of the experiment: imported as files or pasted, read, changed, removed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from evidence_kit.anchors.token import parse_token
from evidence_kit.errors import EvidenceError
from evidence_kit.experiments.judging import source_named
from evidence_kit.experiments.model import ExperimentError, ExperimentSource
from evidence_kit.experiments.receipts import citable, place_in
from evidence_kit.experiments.store import ExperimentStore
from evidence_kit.formats.notes import already_there
from evidence_kit.sources.days import today
from evidence_kit.sources.documents import Reading
from evidence_kit.sources.encodings import NAMES, encoding_title
from evidence_kit.sources.given import document_typed
from evidence_kit.sources.readers import SUFFIXES, read_given_files
from evidence_kit.sources.store import KIND as SOURCE
from evidence_kit.sources.store import standing as sources_in_force
from evidence_kit.sources.validity import Validity, parse_validity
from evidence_kit.web.desk import Import
from evidence_kit.web.evaluate_page import (
    FormError,
    Refused,
    day_of,
    desk_of,
    expected_of,
    files_of,
    gone,
    kept_day,
    look,
    number_of,
    page,
    part,
    text_of,
)
from evidence_kit.web.forms import field_line, field_text, fits_field, form_of
from evidence_kit.web.rendering import address

SOURCES = 50


@dataclass(frozen=True)
class Typed:
    """A source as a form has it, all text; `supersedes` is one id a line, `text` None where none was sent."""

    title: str = ""
    text: str | None = ""
    status: str = "active"
    effective_from: str = ""
    effective_until: str = ""
    supersedes: str = ""

    @classmethod
    def of(cls, source: ExperimentSource) -> Typed:
        """Return what the form of a source shows."""
        validity = source.validity
        return cls(
            source.title,
            source.text,
            validity.status,
            str(validity.effective_from or ""),
            str(validity.effective_until or ""),
            "\n".join(validity.supersedes),
        )

    def in_force(self) -> tuple[str, ...]:
        """Return what says when the source is in force."""
        return self.status, self.effective_from, self.effective_until, field_text(self.supersedes)

    @classmethod
    def read(cls, form: Mapping[str, object]) -> Typed:
        """Return what a form says; one that shows no text, as it holds what no field can, sends none."""
        keys = ("title", "status", "effective_from", "effective_until", "supersedes")
        values = {key: text_of(form, key) for key in keys}
        return cls(text=text_of(form, "text") if "text" in form else None, **values)


async def sources(request: Request) -> Response:
    """Show the sources, and what was said of the import named in `report`."""
    return await _sources(request)


async def import_files(request: Request) -> Response:
    """Import the files of the form, as one change."""
    form = await form_of(request)
    files, encoding = await files_of(form, "files"), text_of(form, "encoding") or None
    desk = desk_of(request)

    def work() -> Import:
        if not files:
            raise ExperimentError("没有选择文件：请选择一个或几个文件。")
        return desk.import_reading(read_given_files(files, encoding), again="again" in form)

    try:
        made = await run_in_threadpool(work)
    except EvidenceError as error:
        return await _sources(request, error=error)
    return RedirectResponse(address("/evaluate/sources", report=made.name), 303)


async def paste(request: Request) -> Response:
    """Add one source of a title and a text."""
    form = await form_of(request)
    title, text, again = text_of(form, "title"), text_of(form, "text"), "again" in form
    desk = desk_of(request)

    def work() -> Import:
        document = replace(document_typed(title, text), source_id="粘贴的文字")
        return desk.import_reading(Reading((document,), {}), again=again)

    try:
        made = await run_in_threadpool(work)
    except EvidenceError as error:
        return await _sources(request, Typed(title, text), error, again=again)
    if made.there:
        return RedirectResponse(address("/evaluate/sources", report=made.name), 303)
    return RedirectResponse(address("/evaluate/source", id=made.added[0]), 303)


async def source(request: Request) -> Response:
    """Show the source in `id`; where `receipt` is given, with its place marked, or no place."""
    fields = request.query_params
    day, standing = day_of(fields), await look(request)
    found = source_named(standing.experiment, fields.get("id", ""))
    token, placed, error = fields.get("receipt"), None, None
    if token is not None:
        try:
            receipt = parse_token(token, "网址里的定位凭条")
            placed = await run_in_threadpool(place_in, found, receipt)
        except EvidenceError as problem:
            error = problem  # a receipt that contradicts the text still leads to its source, unmarked
    return page(
        request, "evaluate_source.html", standing, day=kept_day(fields, day), error=error, as_of=day,
        source=found, placed=placed, encoding=encoding_title(found.encoding), version=citable(found).version,
        absence=sources_in_force(standing.experiment.sources, day).left_out.get(found.source_id),
    )  # fmt: skip


async def edit(request: Request) -> Response:
    """Show the form of the source in `id`; a POST saves it."""
    if request.method != "POST":
        return await _edit(request, request.query_params.get("id", ""))
    form = await form_of(request)
    source_id, expected = text_of(form, "id"), expected_of(request, form)
    typed = Typed.read(form)
    try:
        await run_in_threadpool(_save, desk_of(request).store, source_id, typed, expected)
    except EvidenceError as error:
        return await _edit(request, source_id, typed, Refused(error, expected))
    return RedirectResponse(address("/evaluate/source", id=source_id), 303)


def _save(store: ExperimentStore, source_id: str, typed: Typed, expected: int) -> None:
    """Write the fields that differ from what the form showed: a field may not hold all that stands."""
    store.refuse_stale(SOURCE, source_id, expected)
    before = source_named(store.look().experiment, source_id)
    if fits_field(before.text) and typed.text is None:
        raise FormError("缺少 text：请从页面里重新操作。")
    shown = Typed.of(before)
    store.edit_source(
        source_id,
        # What a field makes of a line end, and of a title of several lines, nobody has changed.
        title=None if typed.title in (shown.title, field_line(shown.title)) else typed.title,
        text=None if not fits_field(before.text) or typed.text == field_text(before.text) else typed.text,
        validity=None if typed.in_force() == shown.in_force() else _validity(typed),
        expected=expected,
    )


def _validity(typed: Typed) -> Validity:
    days = {"effective_from": typed.effective_from.strip(), "effective_until": typed.effective_until.strip()}
    return parse_validity(
        {"status": typed.status, **{key: day for key, day in days.items() if day}},
        tuple(name.strip() for name in typed.supersedes.split("\n") if name.strip()),
    )


async def remove(request: Request) -> Response:
    """Remove a source with its judgments."""
    form = await form_of(request)
    source_id, expected = text_of(form, "id"), expected_of(request, form)
    store = desk_of(request).store
    try:
        await run_in_threadpool(lambda: store.remove_source(source_id, expected=expected))
    except EvidenceError as error:
        return await _edit(request, source_id, None, Refused(error, expected))
    return RedirectResponse("/evaluate/sources", 303)


async def _sources(
    request: Request, typed: Typed | None = None, error: EvidenceError | None = None, *, again: bool = False
) -> Response:
    fields = request.query_params
    day, standing = day_of(fields), await look(request)
    shown, number, page_count = part(standing.experiment.sources, number_of(fields, "page", 1), SOURCES)
    return page(
        request, "evaluate_sources.html", standing, day=kept_day(fields, day), as_of=day,
        ids={source.source_id for source in standing.experiment.sources},
        left_out=sources_in_force(standing.experiment.sources, day).left_out,
        error=error, typed=typed or Typed(), again=again,
        sources=shown, page_number=number, page_count=page_count,
        report=desk_of(request).imported(fields.get("report", "")), encodings=NAMES, suffixes=SUFFIXES,
        encoding_title=encoding_title, already_there=already_there,
    )  # fmt: skip


async def _edit(
    request: Request, source_id: str, typed: Typed | None = None, refused: Refused | None = None
) -> Response:
    standing = await look(request)
    try:
        found = source_named(standing.experiment, source_id)
    except ExperimentError:
        if refused is None:
            raise
        return gone(request, refused.error, (typed and typed.text) or "")
    shown = typed or Typed.of(found)
    if shown.text is None:
        shown = replace(shown, text=found.text)
    return page(
        request, "evaluate_edit.html", standing, refused=refused, as_of=today(),
        absence=sources_in_force(standing.experiment.sources, today()).left_out.get(source_id),
        source=found, typed=shown,
        editable=fits_field(found.text), revision=standing.revision(SOURCE, source_id),
    )  # fmt: skip


routes = [
    Route("/evaluate/sources", sources),
    Route("/evaluate/import", import_files, methods=["POST"]),
    Route("/evaluate/paste", paste, methods=["POST"]),
    Route("/evaluate/source", source),
    Route("/evaluate/source/edit", edit, methods=["GET", "POST"]),
    Route("/evaluate/source/remove", remove, methods=["POST"]),
]
