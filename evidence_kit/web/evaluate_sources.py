"""The sources of the experiment: imported as files or pasted, read, changed, removed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from evidence_kit.errors import EvidenceError
from evidence_kit.experiments.judging import source_named
from evidence_kit.experiments.model import ExperimentError, ExperimentSource
from evidence_kit.experiments.store import ExperimentStore
from evidence_kit.formats.notes import already_there
from evidence_kit.sources.documents import Reading
from evidence_kit.sources.encodings import NAMES, encoding_title
from evidence_kit.sources.given import document_typed
from evidence_kit.sources.readers import SUFFIXES, read_given_files
from evidence_kit.sources.store import KIND as SOURCE
from evidence_kit.sources.validity import parse_validity
from evidence_kit.web.desk import Import
from evidence_kit.web.evaluate_page import desk_of, files_of, look, number_of, page, part, text_of
from evidence_kit.web.rendering import address

SOURCES = 50


@dataclass(frozen=True)
class Typed:
    """A source as a form has it, all text; `supersedes` is one id a line."""

    title: str = ""
    text: str = ""
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

    @classmethod
    def read(cls, form: Mapping[str, object]) -> Typed:
        """Return what a form says; one that shows no text, as it holds what no field can, sends none."""
        keys = ("title", "status", "effective_from", "effective_until", "supersedes")
        values = {key: text_of(form, key) for key in keys}
        return cls(text=text_of(form, "text") if "text" in form else "", **values)


async def sources(request: Request) -> Response:
    """Show the sources, and what was said of the import named in `report`."""
    return await _sources(request)


async def import_files(request: Request) -> Response:
    """Import the files of the form, as one change."""
    form = await request.form()
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
    form = await request.form()
    typed = Typed(text_of(form, "title"), text_of(form, "text"))
    desk = desk_of(request)

    def work() -> Import:
        document = replace(document_typed(typed.title, typed.text), source_id="粘贴的文字")
        return desk.import_reading(Reading((document,), {}), again="again" in form)

    try:
        made = await run_in_threadpool(work)
    except EvidenceError as error:
        return await _sources(request, typed, error)
    if made.there:
        return RedirectResponse(address("/evaluate/sources", report=made.name), 303)
    return RedirectResponse(address("/evaluate/source", id=made.added[0]), 303)


async def source(request: Request) -> Response:
    """Show the source in `id`, its stretch from `start` to `end` marked where both are given."""
    fields = request.query_params
    standing = await look(request)
    found = source_named(standing.experiment, fields.get("id", ""))
    parts = None
    if "start" in fields or "end" in fields:
        start, end = number_of(fields, "start"), number_of(fields, "end")
        if start < end <= len(found.text):
            parts = (found.text[:start], found.text[start:end], found.text[end:])
    return page(
        request, "evaluate_source.html", standing,
        source=found, parts=parts, asked="start" in fields, encoding=encoding_title(found.encoding),
    )  # fmt: skip


async def edit(request: Request) -> Response:
    """Show the form of the source in `id`; a POST saves it."""
    if request.method == "GET":
        return await _edit(request, request.query_params.get("id", ""))
    form = await request.form()
    source_id, expected = text_of(form, "id"), number_of(form, "expected")
    typed = Typed.read(form)
    try:
        await run_in_threadpool(_save, desk_of(request).store, source_id, typed, expected)
    except EvidenceError as error:
        return await _edit(request, source_id, typed, error)
    return RedirectResponse(address("/evaluate/source", id=source_id), 303)


def _save(store: ExperimentStore, source_id: str, typed: Typed, expected: int) -> None:
    before = source_named(store.look().experiment, source_id)
    days = {"effective_from": typed.effective_from.strip(), "effective_until": typed.effective_until.strip()}
    validity = parse_validity(
        {"status": typed.status, **{key: day for key, day in days.items() if day}},
        tuple(name.strip() for name in typed.supersedes.split("\n") if name.strip()),
    )
    # A field shows every line end as one character: what nobody changed stays as it was, CR and all.
    unchanged = not editable(before) or typed.text == shown_lines(before.text)
    text = None if unchanged else typed.text
    store.edit_source(source_id, title=typed.title, text=text, validity=validity, expected=expected)


def editable(source: ExperimentSource) -> bool:
    """Return whether a field of a page can hold a text: none can hold NUL."""
    return "\0" not in source.text


def shown_lines(text: str) -> str:
    """Return a text with the line ends that a field of a page gives it."""
    return text.replace("\r\n", "\n").replace("\r", "\n")


async def remove(request: Request) -> Response:
    """Remove a source with its judgments."""
    form = await request.form()
    source_id, expected = text_of(form, "id"), number_of(form, "expected")
    store = desk_of(request).store
    try:
        await run_in_threadpool(lambda: store.remove_source(source_id, expected=expected))
    except EvidenceError as error:
        return await _edit(request, source_id, None, error)
    return RedirectResponse("/evaluate/sources", 303)


async def _sources(
    request: Request, typed: Typed | None = None, error: EvidenceError | None = None
) -> Response:
    fields = request.query_params
    standing = await look(request)
    shown, number, page_count = part(standing.experiment.sources, number_of(fields, "page", 1), SOURCES)
    return page(
        request, "evaluate_sources.html", standing,
        error=error, typed=typed or Typed(), sources=shown, page_number=number, page_count=page_count,
        report=desk_of(request).imported(fields.get("report", "")), encodings=NAMES, suffixes=SUFFIXES,
        encoding_title=encoding_title, already_there=already_there,
    )  # fmt: skip


async def _edit(
    request: Request, source_id: str, typed: Typed | None = None, error: EvidenceError | None = None
) -> Response:
    standing = await look(request)
    found = source_named(standing.experiment, source_id)
    return page(
        request, "evaluate_edit.html", standing,
        error=error, source=found, typed=typed or Typed.of(found),
        editable=editable(found), revision=standing.revision(SOURCE, source_id),
    )  # fmt: skip


routes = [
    Route("/evaluate/sources", sources),
    Route("/evaluate/import", import_files, methods=["POST"]),
    Route("/evaluate/paste", paste, methods=["POST"]),
    Route("/evaluate/source", source),
    Route("/evaluate/source/edit", edit, methods=["GET", "POST"]),
    Route("/evaluate/source/remove", remove, methods=["POST"]),
]
