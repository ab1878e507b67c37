"""The JSON interface: the library's results in the library's shapes, and its description."""

import asyncio
import json
import threading

import pytest
import schemathesis
from hypothesis import HealthCheck, settings
from schemathesis import checks as chosen
from workbench import ROOT

from evidence_kit.anchors.anchor import create_anchor
from evidence_kit.anchors.anchor_json import anchor_record
from evidence_kit.course import Course, source_of
from evidence_kit.finder.finder import MOST_QUESTION, Finder
from evidence_kit.finder.finding_json import findings_to_json
from evidence_kit.sources.given import MOST_CHARACTERS, documents_given
from evidence_kit.web import api
from evidence_kit.web.app import create_app
from evidence_kit.web.errors import BUSY, CODES
from evidence_kit.web.settings import Settings

OPENAPI = json.loads((ROOT / "evidence_kit" / "web" / "openapi.json").read_text(encoding="utf-8"))
QUESTION = "两条现行规定写的免费保管天数不一样，助手会自动选择一条吗"


def test_ask_gives_one_result_a_system_in_the_core_s_shape(client):
    answer = client.post("/api/ask", json={"question": QUESTION})
    assert answer.status_code == 200
    assert answer.json() == {"results": Course.load().results(QUESTION)}


SOURCES = [{"title": "甲", "text": "苹果😀很甜。"}, {"id": "乙", "text": "梨不甜，苹果也不酸。"}]


@pytest.mark.parametrize("method", ["bm25", "tfidf_log", "tfidf_course"])
def test_find_in_given_sources_is_the_library_s_answer(client, method):
    body = {"query": "苹果很甜", "method": method, "top": 2, "unit": "utf8", "sources": SOURCES}
    expected = Finder.of(documents_given(SOURCES, "资料"), method).find("苹果很甜", 2)
    assert client.post("/api/find", json=body).text == findings_to_json(expected, "utf8", {})


def test_find_without_sources_searches_the_sample(client):
    found = client.post("/api/find", json={"query": "割伤以后急救箱在哪里"}).json()
    assert (found["corpus"]["sources"], found["hits"][0]["source_id"]) == (7, "safety-zh.md")
    weak = client.post("/api/find", json={"query": "今天火星咖啡价格", "no_weak": True}).json()
    assert (weak["hits"], weak["weak_left_out"]) == ([], 1)


def test_resolve_tells_every_status(client):
    chunk = Course.load().chunk("C003")
    anchor = anchor_record(create_anchor(source_of(chunk), 20, 30))

    def ask(text):
        return client.post("/api/resolve", json={"anchor": anchor, "text": text}).json()

    assert (ask(chunk["text"])["status"], ask(chunk["text"])["start"]) == ("exact", 20)
    moved = ask("新增。" + chunk["text"])
    assert (moved["status"], moved["start"], moved["migration"]["reason"]) == ("moved", 23, "text_changed")
    assert ask("别的")["status"] == "stale"
    assert ask(None)["status"] == "source_only"
    corrupt = {**anchor, "start": 21, "end": 31}
    answer = client.post("/api/resolve", json={"anchor": corrupt, "text": chunk["text"]})
    assert (answer.status_code, answer.json()["error"]["code"]) == (409, "contradiction")


def test_verify_reports_failures_as_a_result(client):
    form = {"q": "苹果", "id": "", "title": "甲", "text": "苹果很甜"}
    bundle = client.post("/find/bundle", data=form).json()
    assert client.post("/api/verify", json=bundle).json()["exact"] == 1
    bundle["citations"][0]["quote"] = "改"
    answer = client.post("/api/verify", json=bundle)
    assert answer.status_code == 200
    assert answer.json()["failures"] == [{"id": "hit-1", "reason": "quote_mismatch"}]


def test_measure_tells_values_by_hand_and_what_is_undefined(client):
    qrels = {"q1": {"a": 1, "b": 0}, "q2": {"a": 0}, "q3": {"a": 2}}
    run = {"q1": {"b": 2.0, "a": 1.0}, "q2": {"a": 1}, "q4": {"a": 1}}
    answer = client.post("/api/measure", json={"qrels": qrels, "run": run, "measures": ["MRR@3", "P@1"]})
    assert answer.json() == {
        "questions": 3,
        "means": {"MRR@3": 0.25, "P@1": 0.0},
        "undefined": {"MRR@3": ["q2"], "P@1": ["q2"]},
        "missing": ["q3"],
        "ignored": ["q4"],
        "per_question": {
            "q1": {"MRR@3": 0.5, "P@1": 0.0},
            "q2": {"MRR@3": None, "P@1": None},
            "q3": {"MRR@3": 0.0, "P@1": 0.0},
        },
    }


@pytest.mark.parametrize("change", [
    {"qrels": []}, {"qrels": {"q": 1}}, {"qrels": {"q": {"a": 1.5}}}, {"qrels": {"q": {"a": 31}}},
    {"run": {"q": {"a": "x"}}}, {"run": {"q": {"a": True}}}, {"measures": []}, {"measures": "MRR@3"},
    {"measures": [1]}, {"measures": ["MRR@0"]}, {"measures": ["zzz"]},
])  # fmt: skip
def test_what_nothing_can_be_measured_with_is_bad_input(client, change):
    body = {"qrels": {"q": {"a": 1}}, "run": {"q": {"a": 1}}, "measures": ["MRR@3"], **change}
    answer = client.post("/api/measure", json=body)
    assert (answer.status_code, answer.json()["error"]["code"]) == (400, "bad_input")


EXAMPLES = {
    path: item["post"]["requestBody"]["content"]["application/json"]["example"]
    for path, item in OPENAPI["paths"].items()
    if "post" in item
}


@pytest.mark.parametrize("path", EXAMPLES)
def test_an_example_of_the_description_gets_the_answer_that_stands_beside_it(client, path):
    answer = client.post(path, json=EXAMPLES[path])
    described = OPENAPI["paths"][path]["post"]["responses"]["200"]["content"]["application/json"]["example"]
    assert (answer.status_code, answer.json()) == (200, described)


def test_every_operation_and_the_error_has_an_example():
    (error,) = OPENAPI["components"]["responses"].values()
    answers = [
        operation["responses"]["200"] for item in OPENAPI["paths"].values() for operation in item.values()
    ]
    for answer in (error, *answers):
        assert answer["content"]["application/json"]["example"]


# (path, a change of its example, where it is wrong, an example that shows it right)
WRONG = [
    ("/api/measure", {"qrels": []}, "qrels 应是对象", {"qrels": {"q1": {"d1": 3, "d2": 0}, "q2": {"d1": 1}}}),
    ("/api/measure", {"qrels": {"甲": {"d": 1.5}}}, "qrels.甲.d 应是整数", {"qrels"}),
    ("/api/measure", {"qrels": {"甲": {"d": 31}}}, "qrels 不成立：问题 甲 的文档 d：等级太大", {"qrels"}),
    ("/api/measure", {"run": {"甲": 1}}, "run.甲 应是对象", {"run"}),
    ("/api/measure", {"run": {"甲 乙\n": {"d": "x"}}}, "run.甲 乙\\u000a.d 应是有限的数", {"run"}),
    ("/api/measure", {"measures": []}, "measures 是空的", {"measures": ["MRR@3", "P@1"]}),
    ("/api/measure", {"measures": ["AP", 1]}, "measures[1] 应是字符串", {"measures"}),
    ("/api/measure", {"measures": ["zzz"]}, "measures[0] 不成立：指标 'zzz' 无法识别", {"measures"}),
    ("/api/measure", {"metrics": ["AP"]}, "不认识的键 metrics", {"qrels", "run", "measures"}),
    ("/api/find", {"query": 1}, "query 应是字符串", {"query": "苹果甜吗"}),
    ("/api/find", {"query": " "}, "query 不成立：问题是空的", {"query"}),
    ("/api/find", {"top": 0}, "top 应是 1 到 20 的整数", {"top": 2}),
    ("/api/find", {"method": "zzz"}, "method 不成立：检索方法 'zzz' 无法识别", {"method": "bm25"}),
    ("/api/find", {"no_weak": 1}, "no_weak 应是 true 或 false", {"no_weak": True}),
    ("/api/find", {"unit": "grapheme"}, "unit 不成立", {"unit": "utf16"}),
    ("/api/find", {"sources": [{"text": "a"}, {}]}, "sources[1].text 缺失", {"sources"}),
    ("/api/find", {"sources": [{"text": "x", "id": "甲"}] * 2}, "sources 不成立：资料的标识 甲", {"sources"}),
    ("/api/find", {"sources": []}, "sources 不成立", {"sources"}),
    ("/api/ask", {"question": "？"}, "question 不成立", {"question"}),
    ("/api/resolve", {"anchor": {}}, "anchor.schema 缺失", {"anchor": {"schema": "evidence-anchor/1"}}),
    ("/api/resolve", {"text": 1}, "text 应是字符串", {"text"}),
    ("/api/verify", {"sources": [{"id": 1}]}, "sources[0].id 应是字符串", {"sources"}),
    ("/api/verify", {"citations": [{"id": "a"}]}, "citations[0].source_id 缺失", {"citations"}),
]  # fmt: skip


@pytest.mark.parametrize(
    ("path", "change", "wrong", "right"), WRONG, ids=[str(case[1])[:40] for case in WRONG]
)
def test_an_error_says_which_field_is_wrong_how_and_shows_it_right(client, path, change, wrong, right):
    answer = client.post(path, json={**EXAMPLES[path], **change})
    assert (answer.status_code, answer.json()["error"]["code"]) == (400, "bad_input")
    said, shown = answer.json()["error"]["message"].split("。例：")
    assert said.startswith(f"请求不能用：{wrong}")
    assert "重新导出" not in said
    example = json.loads(shown)
    assert set(example) == set(right)
    assert example == right or not isinstance(right, dict)
    assert (
        client.post(path, json={**EXAMPLES[path], **(example if path != "/api/resolve" else {})}).status_code
        == 200
    )


def withheld(length):
    kept = {"sha256": "0" * 64, "length": length}
    record = anchor_record(create_anchor(source_of(Course.load().chunk("C003")), 20, 30, withhold=True))
    return {**record, "end": record["start"] + length, "digests": {**record["digests"], "exact": kept}}


def measuring(measures, questions=1, scores=1):
    return {
        "qrels": {f"q{n}": {"a": 1} for n in range(questions)},
        "run": {"q0": dict.fromkeys(map(str, range(scores)), 1)},
        "measures": [f"P@{n}" for n in range(1, measures + 1)],
    }


# (path, a change of its example that is just small enough, one that is just too much, what is said)
LIMITS = [
    ("/api/find", {"query": "长" * 10_000}, {"query": "长" * 10_001}, "问题有 10001 个字符，最多 10000 个"),
    ("/api/resolve", {"text": "a" * 100_000}, {"text": "a" * 100_001}, "有 100001 个字符，最多 100000 个"),
    ("/api/measure", measuring(250, 200), measuring(250, 201), "有 250 个，与问题数 201 的乘积最多 50000"),
    (
        "/api/measure", measuring(100, 1, 19_999), measuring(100, 1, 20_000),
        "有 100 个，与等级与分数的个数 20001 的乘积最多 2000000",
    ),
]  # fmt: skip


@pytest.mark.parametrize(
    ("path", "most", "more", "said"), LIMITS, ids=["query", "text", "questions", "grades and scores"]
)
def test_one_request_does_so_much_and_no_more(client, path, most, more, said):
    assert client.post(path, json={**EXAMPLES[path], **most}).status_code == 200
    answer = client.post(path, json={**EXAMPLES[path], **more})
    assert (answer.status_code, answer.json()["error"]["code"]) == (400, "bad_input")
    assert said in answer.json()["error"]["message"]


def test_a_receipt_without_its_quote_is_not_hashed_at_every_place_of_a_long_text(client, monkeypatch):
    monkeypatch.setattr("evidence_kit.web.api.MOST_HASHED", 5000)
    fits, more = withheld(50), withheld(51)
    for anchor, text, status in ((fits, "a" * 149, 200), (fits, "a" * 150, 400), (more, "a" * 149, 400)):
        answer = client.post("/api/resolve", json={"anchor": anchor, "text": text})
        assert answer.status_code == status
    assert "请给出原话，或更短的原文" in answer.json()["error"]["message"]


def test_the_description_states_the_limits():
    schemas = OPENAPI["components"]["schemas"]
    assert schemas["FindRequest"]["properties"]["query"]["maxLength"] == MOST_QUESTION
    assert schemas["ResolveRequest"]["properties"]["text"]["maxLength"] == MOST_CHARACTERS
    assert f"{MOST_CHARACTERS:,}" in schemas["FindRequest"]["properties"]["sources"]["description"]
    assert f"{api.MOST_HASHED:,}" in schemas["ResolveRequest"]["properties"]["anchor"]["description"]
    for most in (api.MOST_VALUES, api.MOST_ROWS):
        assert f"{most:,}" in schemas["MeasureRequest"]["properties"]["measures"]["description"]


def test_parsing_and_work_that_takes_long_are_done_where_nobody_waits(client, monkeypatch):
    ran = []

    def noting(name):
        done = getattr(api, name)

        def noted(*args, **options):
            with pytest.raises(RuntimeError):  # in no event loop
                asyncio.get_running_loop()
            ran.append((name, threading.current_thread().name.startswith("evidence-api")))
            return done(*args, **options)

        monkeypatch.setattr(api, name, noted)

    for name in ("parse_json", "parse_bundle", "verify_bundle", "resolve", "evaluate", "findings_to_json"):
        noting(name)
    for path, example in EXAMPLES.items():
        assert client.post(path, json=example).status_code == 200
    assert sorted(set(ran)) == [
        ("evaluate", True), ("findings_to_json", True), ("parse_bundle", True), ("parse_json", False),
        ("resolve", True), ("verify_bundle", True),
    ]  # fmt: skip


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b'{"a": NaN}', b'{"a": 1, "a": 2}', b"\xff"])
def test_a_body_that_is_no_object_gets_the_beginning_of_a_whole_example(client, body):
    for path, example in EXAMPLES.items():
        answer = client.post(path, content=body, headers={"Content-Type": "application/json"})
        said, shown = answer.json()["error"]["message"].split("。例：")
        assert "重新导出" not in said
        whole = json.dumps(example, ensure_ascii=False)
        assert shown == whole or (
            whole.startswith(shown.partition("…（")[0]) and "/api/openapi.json" in shown
        )
        assert len(answer.json()["error"]["message"]) < 700


def test_an_id_of_any_length_makes_no_long_message(client):
    body = {**EXAMPLES["/api/measure"], "qrels": {"长" * 100_000: 1}}
    assert len(client.post("/api/measure", json=body).json()["error"]["message"]) < 700


BAD_BODIES = [
    b"", b"{", b"[]", b"1", b"null", b'{"question": 1}', b'{"question": null}', b'{"question": "\\ud800"}',
    b'{"question": "a", "question": "b"}', b'{"question": NaN}', b'{"question": "a", "extra": 1}', b"\xff",
    b'{"question": ""}', b"[" * 100_000,
]  # fmt: skip


@pytest.mark.parametrize("body", BAD_BODIES, ids=range(len(BAD_BODIES)))
def test_a_body_that_is_not_as_described_is_bad_input_everywhere(client, body):
    for path in ("/api/ask", "/api/find", "/api/resolve", "/api/verify", "/api/measure"):
        answer = client.post(path, content=body, headers={"Content-Type": "application/json"})
        assert answer.status_code == 400, path
        assert answer.json()["error"]["code"] == "bad_input"


@pytest.mark.parametrize("change", [
    {"top": 0}, {"top": 21}, {"top": 1.0}, {"top": True}, {"top": "3"}, {"method": "zzz"}, {"method": 1},
    {"no_weak": 1}, {"unit": "grapheme"}, {"unit": "zzz"}, {"sources": []}, {"sources": {}}, {"sources": [1]},
    {"sources": [{"text": ""}]}, {"sources": [{"id": "a", "text": "x"}] * 2}, {"query": " "},
])  # fmt: skip
def test_a_setting_that_is_none_is_bad_input(client, change):
    answer = client.post("/api/find", json={"query": "苹果", **change})
    assert (answer.status_code, answer.json()["error"]["code"]) == (400, "bad_input")


@pytest.mark.parametrize("kind", ["text/plain", "application/x-www-form-urlencoded", "", "application/jsonx"])
def test_another_media_type_is_refused(client, kind):
    # A form of another site's page can send these without a preflight.
    answer = client.post("/api/ask", content=b'{"question": "a"}', headers={"Content-Type": kind})
    assert (answer.status_code, answer.json()["error"]["code"]) == (415, "unsupported_media_type")


def test_the_description_and_the_routes_are_the_same_both_ways(app):
    served = {
        (route.path, method.lower())
        for route in app.routes
        if route.path.startswith("/api/")
        for method in route.methods - {"HEAD"}
    }
    described = {(path, method) for path, item in OPENAPI["paths"].items() for method in item}
    assert described == served


def test_the_description_is_served_and_lists_every_error_code(client):
    assert client.get("/api/openapi.json").json() == OPENAPI
    codes = OPENAPI["components"]["schemas"]["Error"]["properties"]["error"]["properties"]["code"]["enum"]
    assert codes == [*CODES.values(), BUSY]


HOST = {"Host": "127.0.0.1"}
schema = schemathesis.openapi.from_asgi("/api/openapi.json", create_app(Settings()), headers=HOST)


@schema.parametrize()
@settings(max_examples=40, suppress_health_check=list(HealthCheck), derandomize=True)
def test_generated_requests_get_answers_as_described(case):
    answer = case.call(headers=HOST)
    case.validate_response(
        answer,
        checks=[
            chosen.not_a_server_error,
            chosen.status_code_conformance,
            chosen.content_type_conformance,
            chosen.response_schema_conformance,
            chosen.negative_data_rejection,
            chosen.unsupported_method,
        ],
    )
