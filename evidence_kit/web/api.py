"""The JSON interface: POST with a JSON body, as described in `openapi.json`; a test compares the two."""

from __future__ import annotations

from asyncio import get_running_loop
from collections.abc import Callable, Coroutine, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from evidence_kit.anchors.anchor import Anchor
from evidence_kit.anchors.anchor_json import anchor_of, resolution_to_json
from evidence_kit.anchors.bundle import parse_bundle
from evidence_kit.anchors.bundle_check import report_to_json, verify_bundle
from evidence_kit.anchors.resolve import resolve
from evidence_kit.course import Course, sample_finder
from evidence_kit.errors import EvidenceError
from evidence_kit.finder.finder import MOST_FINDINGS, Finder, check_method
from evidence_kit.finder.finding_json import findings_to_json
from evidence_kit.finder.units import code_unit
from evidence_kit.index.weighting import METHODS
from evidence_kit.measures.ranking import Evaluation, evaluate, parse_measure
from evidence_kit.sources.documents import Document
from evidence_kit.sources.given import MOST_CHARACTERS, documents_given
from evidence_kit.sources.strict_json import Fields, JsonInputError, parse_json
from evidence_kit.sources.visible import visible
from evidence_kit.web.examples import BODY, RequestError, description

MOST_HASHED = 200_000_000  # characters
MOST_VALUES = 50_000  # questions times measures: each is a value of the answer
MOST_ROWS = 2_000_000  # grades and scores times measures: each measure looks at all of them

_HEAVY = ThreadPoolExecutor(2, thread_name_prefix="evidence-api")

Value = TypeVar("Value")


class MediaTypeError(EvidenceError):
    """A request whose body is said to be something else than JSON."""

    def __init__(self) -> None:
        super().__init__(
            "请求头 Content-Type 不对：内容是 JSON，请写明。例：Content-Type: application/json",
            http_status=415,
        )


async def _heavily(work: Callable[[], Value]) -> Value:
    """Return what work gives that may take seconds. A few at a time: pages have threads of their own."""
    return await get_running_loop().run_in_executor(_HEAVY, work)


async def ask(request: Request) -> Response:
    """Return the result of each system, in the core's shape."""
    course: Course = request.app.state.course
    fields = await _fields(request, "question")
    question = fields.string("question")
    with fields.within("question"):
        return JSONResponse({"results": await run_in_threadpool(course.results, question)})


async def find(request: Request) -> Response:
    """Return findings in the given sources, in the sample where none are given."""
    fields = await _fields(request, "query", "method", "top", "no_weak", "unit", "sources")
    query = fields.string("query")
    with fields.within("method"):
        method = check_method(fields.string("method")) if fields.has("method") else METHODS[0]
    top = fields.integer("top") if fields.has("top") else 5
    if not 1 <= top <= MOST_FINDINGS:
        raise fields.wrong("top", f"应是 1 到 {MOST_FINDINGS} 的整数")
    no_weak = fields.boolean("no_weak") if fields.has("no_weak") else False
    with fields.within("unit"):
        unit = code_unit(fields.string("unit") if fields.has("unit") else "utf16")
    given = fields.items("sources") if fields.has("sources") else None

    def run() -> str:
        with fields.within("sources"):
            finder = sample_finder(method) if given is None else Finder.of(_documents(given), method)
        with fields.within("query"):
            return findings_to_json(finder.find(query, top, no_weak=no_weak), unit, {})

    return _json(await _heavily(run))


def _documents(given: list[object]) -> tuple[Document, ...]:
    try:
        return documents_given(given, "资料")
    except JsonInputError as error:  # its path begins at the array
        raise JsonInputError(BODY, error.code, f"sources{error.detail}") from None


async def resolve_anchor(request: Request) -> Response:
    """Return where a receipt's quote stands in a text."""
    fields = await _fields(request, "anchor", "text")
    text = fields.string("text") if fields.has("text") else None
    if text is not None and len(text) > MOST_CHARACTERS:
        raise fields.wrong("text", f"有 {len(text)} 个字符，最多 {MOST_CHARACTERS} 个")

    def run() -> str:
        anchor = anchor_of(fields.record("anchor"))
        if text is not None and hashing(anchor, text) > MOST_HASHED:
            what = f"没有原话，只有摘要，要逐处计算的字符超过 {MOST_HASHED} 个：请给出原话，或更短的原文"
            raise fields.wrong("anchor", what)
        return resolution_to_json(resolve(anchor, text))

    return _json(await _heavily(run))


def hashing(anchor: Anchor, text: str) -> int:
    """Return how many characters may have to be hashed to find what is known by its digest alone."""
    kept = (anchor.quote, anchor.before, anchor.after)
    digests = [piece.length for piece in kept if piece.text is None]
    return max(((len(text) - length + 1) * length for length in digests if length <= len(text)), default=0)


async def verify(request: Request) -> Response:
    """Return the check of a bundle; failures are a result, not an error."""
    body = await _body(request)
    return _json(await _heavily(lambda: report_to_json(verify_bundle(parse_bundle(body, BODY)))))


async def measure(request: Request) -> Response:
    """Return what a run is worth against judgments; an undefined measure is null."""
    fields = await _fields(request, "qrels", "run", "measures")
    evaluation = await _heavily(lambda: _measured(fields))
    return JSONResponse(
        {
            "questions": evaluation.questions,
            "means": _rounded(evaluation.means),
            "undefined": evaluation.undefined,
            "missing": evaluation.missing,
            "ignored": evaluation.ignored,
            "per_question": {key: _rounded(values) for key, values in evaluation.per_question.items()},
        }
    )


def _measured(fields: Fields) -> Evaluation:
    qrels = _table(fields, "qrels", Fields.integer)
    run = _table(fields, "run", Fields.number)
    measures = []
    for at, name in enumerate(fields.strings("measures")):
        with fields.within(f"measures[{at}]"):
            measures.append(parse_measure(name))
    if not measures:
        raise fields.wrong("measures", "是空的，应至少有一个指标")
    rows = sum(map(len, qrels.values())) + sum(map(len, run.values()))
    for count, most, what in ((len(qrels), MOST_VALUES, "问题数"), (rows, MOST_ROWS, "等级与分数的个数")):
        if count * len(measures) > most:
            raise fields.wrong("measures", f"有 {len(measures)} 个，与{what} {count} 的乘积最多 {most}")
    with fields.within("qrels"):  # a grade that is too high; every score is a number by now
        return evaluate(qrels, run, measures)


def _table(fields: Fields, key: str, read: Callable[[Fields, str], Value]) -> dict[str, dict[str, Value]]:
    """Return the object of objects at a key, each of its values read as it should be."""
    table = fields.record(key)
    rows = {name: table.record(name) for name in table.names()}
    return {name: {inner: read(row, inner) for inner in row.names()} for name, row in rows.items()}


def _rounded(values: Mapping[str, float | None]) -> dict[str, float | None]:
    return {name: None if value is None else round(value, 6) for name, value in values.items()}


async def describe(request: Request) -> Response:
    """Return the description of this interface."""
    return _json(description())


async def _body(request: Request) -> bytes:
    if request.headers.get("content-type", "").partition(";")[0].strip().lower() != "application/json":
        raise MediaTypeError
    return await request.body()


async def _fields(request: Request, *names: str) -> Fields:
    """Return the fields of the body; a name that is not in `names` is an error, since it would do nothing."""
    value = await run_in_threadpool(parse_json, await _body(request), BODY)
    fields = Fields(value, BODY)
    unknown = sorted(set(value) - set(names)) if isinstance(value, dict) else []
    if unknown:
        raise JsonInputError(BODY, "bad_shape", f"不认识的键 {visible(unknown[0][:40])}")
    return fields


def _json(text: str) -> Response:
    return Response(text, media_type="application/json")


Handler = Callable[[Request], Coroutine[Any, Any, Response]]


def _with_example(path: str, handler: Handler) -> Handler:
    """Return the handler with errors that show how the field, or the body, should have been."""

    async def answer(request: Request) -> Response:
        try:
            return await handler(request)
        except JsonInputError as error:
            raise RequestError(path, error) from None

    return answer


_POSTED: dict[str, Handler] = {
    "/api/ask": ask,
    "/api/find": find,
    "/api/resolve": resolve_anchor,
    "/api/verify": verify,
    "/api/measure": measure,
}
routes = [
    Route("/api/openapi.json", describe),
    *(Route(path, _with_example(path, handler), methods=["POST"]) for path, handler in _POSTED.items()),
]
