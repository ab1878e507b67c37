"""The JSON interface: POST with a JSON body, as described in `openapi.json`; a test compares the two."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Mapping
from importlib.resources import files
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from evidence_kit.anchors.anchor_json import anchor_of, resolution_to_json
from evidence_kit.anchors.bundle import parse_bundle
from evidence_kit.anchors.bundle_check import report_to_json, verify_bundle
from evidence_kit.anchors.resolve import resolve
from evidence_kit.course import Course, sample_finder
from evidence_kit.errors import EvidenceError
from evidence_kit.finder.finder import Finder
from evidence_kit.finder.finding_json import findings_to_json
from evidence_kit.finder.units import code_unit
from evidence_kit.index.weighting import METHODS
from evidence_kit.measures.ranking import evaluate, parse_measure
from evidence_kit.sources.given import documents_given
from evidence_kit.sources.strict_json import Fields, JsonInputError, parse_json
from evidence_kit.sources.visible import visible

_BODY = "请求"


class MediaTypeError(EvidenceError):
    """A request whose body is said to be something else than JSON."""

    def __init__(self) -> None:
        super().__init__("请求的内容类型不对：请发送 application/json。", http_status=415)


async def ask(request: Request) -> Response:
    """Return the result of each system, in the core's shape."""
    course: Course = request.app.state.course
    fields = await _fields(request, "question")
    results = await run_in_threadpool(course.results, fields.string("question"))
    return JSONResponse({"results": results})


async def find(request: Request) -> Response:
    """Return findings in the given sources, in the sample where none are given."""
    fields = await _fields(request, "query", "method", "top", "no_weak", "unit", "sources")
    query = fields.string("query")
    method = fields.string("method") if fields.has("method") else METHODS[0]
    top = fields.integer("top") if fields.has("top") else 5
    no_weak = fields.boolean("no_weak") if fields.has("no_weak") else False
    unit = code_unit(fields.string("unit") if fields.has("unit") else "utf16")
    given = fields.items("sources") if fields.has("sources") else None

    def run() -> str:
        sources = None if given is None else documents_given(given, "资料")
        finder = sample_finder(method) if sources is None else Finder.of(sources, method)
        return findings_to_json(finder.find(query, top, no_weak=no_weak), unit, {})

    return _json(await run_in_threadpool(run))


async def resolve_anchor(request: Request) -> Response:
    """Return where a receipt's quote stands in a text."""
    fields = await _fields(request, "anchor", "text")
    anchor = anchor_of(fields.record("anchor"))
    text = fields.string("text") if fields.has("text") else None
    return _json(await run_in_threadpool(lambda: resolution_to_json(resolve(anchor, text))))


async def verify(request: Request) -> Response:
    """Return the check of a bundle; failures are a result, not an error."""
    bundle = parse_bundle(await _body(request), _BODY)
    return _json(await run_in_threadpool(lambda: report_to_json(verify_bundle(bundle))))


async def measure(request: Request) -> Response:
    """Return what a run is worth against judgments; an undefined measure is null."""
    fields = await _fields(request, "qrels", "run", "measures")
    qrels, run = fields.table("qrels"), fields.table("run")
    declared = fields.items("measures")
    if not declared or not all(isinstance(name, str) for name in declared):
        raise fields.wrong("measures", '应是非空的字符串数组，如 ["nDCG@3"]')
    measures = [parse_measure(str(name)) for name in declared]
    evaluation = await run_in_threadpool(lambda: evaluate(qrels, run, measures))
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


def _rounded(values: Mapping[str, float | None]) -> dict[str, float | None]:
    return {name: None if value is None else round(value, 6) for name, value in values.items()}


async def describe(request: Request) -> Response:
    """Return the description of this interface."""
    return _json(files("evidence_kit.web").joinpath("openapi.json").read_text(encoding="utf-8"))


async def _body(request: Request) -> bytes:
    if request.headers.get("content-type", "").partition(";")[0].strip().lower() != "application/json":
        raise MediaTypeError
    return await request.body()


async def _fields(request: Request, *names: str) -> Fields:
    """Return the fields of the body; a name that is not in `names` is an error, since it would do nothing."""
    value = parse_json(await _body(request), _BODY)
    fields = Fields(value, _BODY)
    unknown = sorted(set(value) - set(names)) if isinstance(value, dict) else []
    if unknown:
        raise JsonInputError(_BODY, "bad_shape", f"不认识的键 {visible(unknown[0][:40])}")
    return fields


def _json(text: str) -> Response:
    return Response(text, media_type="application/json")


Handler = Callable[[Request], Coroutine[Any, Any, Response]]
_POSTED: dict[str, Handler] = {
    "/api/ask": ask,
    "/api/find": find,
    "/api/resolve": resolve_anchor,
    "/api/verify": verify,
    "/api/measure": measure,
}
routes = [
    Route("/api/openapi.json", describe),
    *(Route(path, handler, methods=["POST"]) for path, handler in _POSTED.items()),
]
