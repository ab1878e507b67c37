"""查找: where the words of a question stand in sources that can be edited in the page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from evidence_kit.anchors.bundle import bundle_to_json
from evidence_kit.errors import EvidenceError
from evidence_kit.finder.citing import bundle_findings
from evidence_kit.finder.errors import FinderError
from evidence_kit.finder.finder import MOST_FINDINGS, MOST_QUESTION, Findings
from evidence_kit.finder.placing import place_findings, shining_quotes
from evidence_kit.index.weighting import METHODS
from evidence_kit.sources.documents import Document
from evidence_kit.web.edited import Edited, Row, edited, rows_of
from evidence_kit.web.errors import expected
from evidence_kit.web.forms import form_of
from evidence_kit.web.rendering import address, render
from evidence_kit.web.shelves import FinderOf, Shelf, shelf_named

DEFAULT_TOP = 5


@dataclass(frozen=True)
class Search:
    """What the form says, as text; `no_weak` asks to leave weak findings out, `of` names a shelf."""

    query: str = ""
    method: str = METHODS[0]
    top: str = str(DEFAULT_TOP)
    no_weak: bool = False
    of: str = "sample"

    def find(self, finder_of: FinderOf) -> Findings:
        """Return what is found. Raises FinderError on a question or a setting that is none."""
        if not (self.top.isascii() and self.top.isdecimal() and len(self.top) < 4):
            raise FinderError(f"要显示的条数无效：请改为 1 到 {MOST_FINDINGS} 之间的整数。")
        return finder_of(self.method).find(self.query, int(self.top), no_weak=self.no_weak)

    @property
    def address(self) -> str:
        """Return the address of this question over the shelf."""
        no_weak, of = "1" if self.no_weak else None, None if self.of == "sample" else self.of
        return address("/find", q=self.query, method=self.method, top=self.top, no_weak=no_weak, of=of)


async def find(request: Request) -> Response:
    """Answer both ways of asking: by address over a shelf, by form over edited sources."""
    return await (find_in_edited if request.method == "POST" else find_on_shelf)(request)


async def find_on_shelf(request: Request) -> Response:
    """Show the form over the shelf in `of`, with findings where `q` asks a question."""
    asked = _asked(request.query_params)
    try:
        shelf = await _shelf(request, asked.of)
        if "q" not in request.query_params:
            return _page(request, asked, shelf)
        findings = await run_in_threadpool(asked.find, shelf.finder_of)
    except EvidenceError as error:
        return await _refused(request, asked, error)
    return _page(request, asked, shelf, found=(shelf.documents, findings))


async def find_in_edited(request: Request) -> Response:
    """Show the findings in the sources of the form; where they are a shelf's, at their own address."""
    form = await form_of(request)
    asked, rows = _asked(form), rows_of(form)
    try:
        shelf = await _shelf(request, asked.of)
        edit = await run_in_threadpool(edited, rows, shelf)
        if edit.documents == shelf.documents:
            return RedirectResponse(asked.address, 303)
        findings = await run_in_threadpool(asked.find, edit.finder_of)
    except EvidenceError as error:
        return await _refused(request, asked, error, rows)
    return _page(request, asked, shelf, rows, edit, (edit.documents, findings))


async def download_bundle(request: Request) -> Response:
    """Send the form's sources and findings as a bundle."""
    form = await form_of(request)
    asked, rows = _asked(form), rows_of(form)

    def make(shelf: Shelf) -> str:
        edit = edited(rows, shelf)
        return bundle_to_json(bundle_findings(edit.documents, asked.find(edit.finder_of), "utf16"))

    try:
        bundle = await run_in_threadpool(make, await _shelf(request, asked.of))
    except EvidenceError as error:
        return await _refused(request, asked, error, rows)
    headers = {"Content-Disposition": 'attachment; filename="evidence-bundle.json"'}
    return Response(bundle, media_type="application/json", headers=headers)


async def _shelf(request: Request, name: str) -> Shelf:
    return await run_in_threadpool(shelf_named, name, request.app.state.desk)


async def _refused(
    request: Request, asked: Search, error: EvidenceError, rows: Sequence[Row] | None = None
) -> Response:
    """Return the page with the error and whatever was typed; over the sample where the shelf is the error."""
    try:
        shelf = await _shelf(request, asked.of)
    except EvidenceError:
        shelf = await _shelf(request, "sample")
    return _page(request, asked, shelf, rows, error=error)


def _page(
    request: Request,
    asked: Search,
    shelf: Shelf,
    rows: Sequence[Row] | None = None,
    edit: Edited | None = None,
    found: tuple[Sequence[Document], Findings] | None = None,
    error: EvidenceError | None = None,
) -> Response:
    return render(
        request,
        "find.html",
        status=error.http_status if error else 200,
        asked=asked,
        methods=METHODS,
        most=MOST_FINDINGS,
        most_question=MOST_QUESTION,
        shelf=shelf,
        rows=[Row.of(document) for document in shelf.documents] if rows is None else rows,
        relined=edit.relined if edit else frozenset(),
        findings=found[1] if found else None,
        hits=shining_quotes(found[1]) if found else [],
        placed=place_findings(*found) if found else [],
        local=request.app.state.settings.is_loopback,
        error=expected(error) if error else None,
    )


def _asked(fields: Mapping[str, object]) -> Search:
    def text(key: str, default: str) -> str:
        value = fields.get(key, default)
        return value if isinstance(value, str) else default

    return Search(
        text("q", ""), text("method", METHODS[0]), text("top", str(DEFAULT_TOP)), text("no_weak", "") == "1",
        text("of", "sample"),
    )  # fmt: skip


routes = [
    Route("/find", find, methods=["GET", "POST"]),
    Route("/find/bundle", download_bundle, methods=["POST"]),
]
