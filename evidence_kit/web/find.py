"""查找: where the words of a question stand in sources that can be edited in the page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from starlette.concurrency import run_in_threadpool
from starlette.datastructures import FormData
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from evidence_kit.anchors.bundle import bundle_to_json
from evidence_kit.errors import EvidenceError
from evidence_kit.finder.citing import bundle_findings
from evidence_kit.finder.errors import FinderError
from evidence_kit.finder.finder import MOST_FINDINGS, Finder, Findings
from evidence_kit.finder.placing import place_findings, shining_quotes
from evidence_kit.index.weighting import METHODS
from evidence_kit.sources.documents import Document
from evidence_kit.sources.given import documents_given
from evidence_kit.web.errors import expected
from evidence_kit.web.rendering import address, render
from evidence_kit.web.shelves import FinderOf, Shelf, shelf_named
from evidence_kit.web.titles import titles_sharing

DEFAULT_TOP = 5
_SOURCES = "资料"


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
    fields = request.query_params
    asked = _asked(fields)
    try:
        shelf = await _shelf(request, asked)
    except EvidenceError as error:
        sample = shelf_named("sample", request.app.state.desk)
        return _page(request, asked, sample, sample.documents, error=error)
    if "q" not in fields:
        return _page(request, asked, shelf, shelf.documents)
    return await _answer(request, asked, shelf, shelf.documents, shelf.finder_of)


async def find_in_edited(request: Request) -> Response:
    """Show the findings in the sources of the form; where they are a shelf's, at their own address."""
    form = await request.form()
    asked = _asked(form)
    documents = documents_given(_records(form), _SOURCES)
    shelf = await _shelf(request, asked)
    if [_given(d) for d in documents] == [_given(d) for d in shelf.documents]:
        return RedirectResponse(asked.address, 303)
    return await _answer(request, asked, shelf, documents, partial(Finder.of, documents))


async def _shelf(request: Request, asked: Search) -> Shelf:
    return await run_in_threadpool(shelf_named, asked.of, request.app.state.desk)


async def download_bundle(request: Request) -> Response:
    """Send the form's sources and findings as a bundle."""
    form = await request.form()
    asked = _asked(form)
    documents = documents_given(_records(form), _SOURCES)

    def make() -> str:
        findings = asked.find(partial(Finder.of, documents))
        return bundle_to_json(bundle_findings(documents, findings, "utf16"))

    headers = {"Content-Disposition": 'attachment; filename="evidence-bundle.json"'}
    return Response(await run_in_threadpool(make), media_type="application/json", headers=headers)


async def _answer(
    request: Request, asked: Search, shelf: Shelf, documents: Sequence[Document], finder_of: FinderOf
) -> Response:
    try:
        findings = await run_in_threadpool(asked.find, finder_of)
    except EvidenceError as error:
        return _page(request, asked, shelf, documents, error=error)
    return _page(request, asked, shelf, documents, findings)


def _page(
    request: Request,
    asked: Search,
    shelf: Shelf,
    documents: Sequence[Document],
    findings: Findings | None = None,
    error: EvidenceError | None = None,
) -> Response:
    missed = findings is not None and not findings.findings
    return render(
        request,
        "find.html",
        status=error.http_status if error else 200,
        asked=asked,
        methods=METHODS,
        most=MOST_FINDINGS,
        shelf=shelf,
        documents=documents,
        findings=findings,
        hits=shining_quotes(findings) if findings else [],
        placed=place_findings(documents, findings) if findings else [],
        titled=titles_sharing(findings.query, documents, findings.analyzer) if findings and missed else [],
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


def _records(form: FormData) -> list[object]:
    """Return the form's sources but for rows without text. Raises FinderError where fields are missing."""
    columns = [[str(value) for value in form.getlist(key)] for key in ("id", "title", "text")]
    if len({len(column) for column in columns}) != 1:
        raise FinderError("表单里的资料不完整：请重新打开“查找”页。")
    records: list[object] = []
    for source_id, title, text in zip(*columns, strict=True):
        # Browsers send every line end of a text field as CR LF; the text in the field has LF.
        record = {"text": text.replace("\r\n", "\n"), "id": source_id, "title": title}
        if text.strip():
            records.append({key: value for key, value in record.items() if value.strip()})
    return records


def _given(document: Document) -> tuple[str, str, str]:
    return document.source_id, document.title, document.text.replace("\r\n", "\n")


routes = [
    Route("/find", find, methods=["GET", "POST"]),
    Route("/find/bundle", download_bundle, methods=["POST"]),
]
