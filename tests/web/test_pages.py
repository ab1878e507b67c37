"""The pages without a browser: what stands on them, and what their addresses mean."""

import base64
import dataclasses
import json
import re
import shutil
import subprocess
from html.parser import HTMLParser
from itertools import pairwise

import pytest
from starlette.testclient import TestClient
from workbench import BASE, HOSTILE, ROOT, hostile_course

import evaluate
from evidence_kit.anchors.anchor import create_anchor
from evidence_kit.anchors.bundle import parse_bundle
from evidence_kit.anchors.bundle_check import verify_bundle
from evidence_kit.anchors.token import anchor_to_token
from evidence_kit.course import Course, examples, sample_documents, source_of
from evidence_kit.course_record import read_record
from evidence_kit.formats.words import ABSENCE_WORDS
from evidence_kit.web.app import create_app
from evidence_kit.web.pages import PAGES
from evidence_kit.web.rendering import exact
from evidence_kit.web.settings import Settings

FROZEN = json.loads((ROOT / "data" / "fixed_qa.json").read_text(encoding="utf-8"))["items"]


def test_the_first_page_is_the_first_of_the_registry(client):
    answer = client.get("/")
    assert (answer.status_code, answer.headers["location"]) == (303, PAGES[0].path)


def test_every_page_is_in_the_navigation_of_every_page(client):
    for page in PAGES:
        text = client.get(page.path).text
        for other in PAGES:
            assert f'<a href="{other.path}"' in text
        (current,) = re.findall(r'<a href="([^"]+)" aria-current="page">', text)
        assert current == page.path


def test_the_examples_are_links_to_questions_and_none_is_a_frozen_one(client):
    text = client.get("/ask").text
    for example in examples():
        assert f">{example}</a>" in text
    for item in FROZEN:
        assert item["question"] not in text
        assert not any(evaluate.questions_leak(item["question"], example) for example in examples())


def test_an_answer_page_shows_what_the_core_says(client):
    question = examples()[0]
    text = client.get("/ask", params={"q": question}).text
    for result in Course.load().results(question):
        assert f"<code>{result['route']}</code>" in text
        assert result["answer"] in text
        assert f"{result['evidence'][0]['score']:.6f}" in text
        assert result["review_reason"] in text


def test_acceptance_runs_no_system(client, monkeypatch):
    import evidence_assistant as core

    def forbidden(*_args, **_options):
        raise AssertionError("a retriever was asked")

    for retriever in (core.TfidfIndex, core.KeywordBaseline):
        monkeypatch.setattr(retriever, "search", forbidden)
        monkeypatch.setattr(retriever, "nearest", forbidden)
    text = client.get("/acceptance").text
    assert '<p class="word">not_ready_for_use</p>' in text
    for item in FROZEN:
        assert f"<bdi>{item['question']}</bdi>" in text


def test_the_heat_map_has_the_same_figures_as_its_text_in_shades_of_their_own(client):
    text = client.get("/acceptance").text
    cells = re.findall(r'<td class="heat-(\d)[^"]*">(\d/8)', text)
    twins = re.findall(r"top_k=\d、min_score=[0-9.]+：(\d/8)", text)
    assert [figures for _, figures in cells] == twins
    assert len(cells) == 9
    assert [f"{level}/8" for level, _ in cells] == twins


def blended(over, under, share):
    return tuple(share * a + (1 - share) * b for a, b in zip(over, under, strict=True))


def contrast(*colours):
    """The contrast of two colours as WCAG 2.2 defines it."""

    def luminance(colour):
        parts = [c / 255 for c in colour]
        linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
        return sum(w * c for w, c in zip((0.2126, 0.7152, 0.0722), linear, strict=True))

    low, high = sorted(map(luminance, colours))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("dark", [False, True])
def test_more_passed_is_another_and_heavier_shade_and_each_is_readable(client, dark):
    style = client.get("/static/style.css").text

    def variable(name):
        return re.findall(rf"--{name}: ([^;]+);", style)[dark]

    def colour(value):
        return tuple(bytes.fromhex(value[1:]))

    card, ink, full = map(colour, map(variable, ("card", "ink", "heat-ink-high")))
    heat = tuple(map(int, variable("heat").split()))
    rule = r"\.heat-{} {{ background: rgb\(var\(--heat\)(?: / ([0-9.]+))?\)"
    shares = [re.search(rule.format(level), style)[1] for level in range(9)]
    shades = [blended(heat, card, float(share or 1)) for share in shares]
    weights = [contrast(shade, card) for shade in shades]
    assert all(more > 1.04 * less for less, more in pairwise(weights))
    assert all(contrast(shade, ink) >= 4.5 for shade in shades[:8])
    assert contrast(shades[8], full) >= 4.5


def recorded(monkeypatch, **change):
    record = dataclasses.replace(read_record(), **change)
    monkeypatch.setattr("evidence_kit.web.acceptance.read_record", lambda: record)
    return record


@pytest.mark.parametrize(("current", "box"), [(True, "good"), (False, "bad")])
def test_a_stored_decision_that_no_longer_counts_lets_nothing_pass(client, monkeypatch, current, box):
    recorded(monkeypatch, decision="ready_for_use", verdict="可用", current=current)
    text = client.get("/acceptance").text
    (found,) = re.findall(r'<section class="decision (\w+)"', text)
    (word,) = re.findall(r'<p class="word">(.*?)</p>', text)
    assert (found, word) == (box, "ready_for_use" if current else "须重新验收")
    assert "<code>ready_for_use</code>" in text or current


def test_what_calibration_chose_and_what_is_in_use_are_two_things(client, monkeypatch):
    record = read_record()
    cells = tuple(dataclasses.replace(c, in_use=(c.top_k, c.min_score) == (1, 0.08)) for c in record.grid)
    recorded(monkeypatch, grid=cells, in_use=(1, 0.08), calibrated=False)
    text = client.get("/acceptance").text
    assert re.findall(r"top_k=(\d)、min_score=([0-9.]+)：[^<]*（程序当前使用）", text) == [("1", "0.08")]
    assert re.findall(r"top_k=(\d)、min_score=([0-9.]+)：[^<]*（校准选出）", text) == [("3", "0.08")]
    assert "须重新校准" in text
    recorded(monkeypatch, in_use=(2, 0.5), grid=tuple(dataclasses.replace(c, in_use=False) for c in cells))
    text = client.get("/acceptance").text
    assert "程序当前使用 top_k=2、min_score=0.5，不在这些组里" in text


def test_a_column_without_anything_near_speaks_for_itself_alone(client):
    # No keyword, but shared pairs: the other column lists passages.
    text = client.get("/ask", params={"q": "配件怎么安装"}).text
    baseline, other = text.split('<section class="card"')[1:]
    assert "没有命中任何关键词。" in baseline
    assert '<ul class="near">' in other
    assert "共同的字词" not in baseline


def test_sources_lists_what_is_in_force_and_why_the_rest_is_not(client):
    text = client.get("/sources?day=2026-11-30").text
    assert "共 9 块，现行 8 块" in text
    row = text[text.index('class="absent"') :]
    assert row.index("C008") < row.index("已停用") < row.index("</tr>")


def test_why_a_passage_is_not_in_use_is_said_in_the_words_of_every_table(client):
    assert ABSENCE_WORDS["expired"] in client.get("/sources").text


def test_today_is_the_day_in_the_zone_that_days_are_counted_in(client, monkeypatch):
    days = []
    for zone in ("Etc/GMT+12", "Pacific/Kiritimati"):  # 26 hours apart: never the same day
        monkeypatch.setenv("EVIDENCE_TIMEZONE", zone)
        days += re.findall(r'name="day" type="date" value="([^"]+)"', client.get("/sources").text)
    assert days[0] < days[1]


def test_a_passage_without_a_receipt_marks_nothing(client):
    assert "<mark" not in client.get("/sources/C001").text


def token_of(chunk_id, start, end):
    course = Course.load()
    return anchor_to_token(create_anchor(source_of(course.chunk(chunk_id)), start, end, withhold=True))


def changed(text):
    course = Course.load()
    chunks = tuple({**c, "text": text(c["text"])} if c["chunk_id"] == "C003" else c for c in course.chunks)
    return TestClient(create_app(Settings(), dataclasses.replace(course, chunks=chunks)), base_url=BASE)


def test_a_moved_quote_is_marked_and_says_from_where_to_where():
    text = (
        changed(lambda old: "新增的一句。" + old)
        .get(f"/sources/C003?receipt={token_of('C003', 20, 30)}")
        .text
    )
    quote = Course.load().chunk("C003")["text"][20:30]
    assert re.findall(r"<mark[^>]*>(.*?)</mark>", text) == [quote]
    assert "已迁移" in text
    assert "[20, 30)" in text
    assert "[26, 36)" in text


@pytest.mark.parametrize(
    ("text", "status"),
    [
        (lambda old: "别的话", "stale"),
        (lambda old: old[20:30] * 2, "ambiguous"),
        (lambda old: old[20:30], "stale"),
    ],
)
def test_any_other_status_falls_back_to_the_source_and_marks_nothing(text, status):
    answer = changed(text).get(f"/sources/C003?receipt={token_of('C003', 20, 30)}")
    assert answer.status_code == 200
    assert f'data-status="{status}"' in answer.text
    assert "没有精确位置" in answer.text
    assert "<mark" not in answer.text
    assert exact(text(Course.load().chunk("C003")["text"])) in answer.text


def test_a_receipt_that_contradicts_the_text_leads_to_the_source_without_a_mark(client):
    padded = token_of("C003", 20, 30)
    record = json.loads(base64.urlsafe_b64decode(padded + "=" * (-len(padded) % 4)))
    record |= {"start": 21, "end": 31}
    token = base64.urlsafe_b64encode(json.dumps(record).encode()).decode().rstrip("=")
    answer = client.get(f"/sources/C003?receipt={token}")
    assert answer.status_code == 409
    assert "已损坏" in answer.text
    assert "没有精确位置" in answer.text
    assert "<mark" not in answer.text
    assert Course.load().chunk("C003")["text"] in answer.text


def test_a_receipt_of_another_passage_is_bad_input(client):
    answer = client.get(f"/sources/C001?receipt={token_of('C003', 20, 30)}")
    assert answer.status_code == 400
    assert "C003" in answer.text


def form(records, **fields):
    pairs = [("id", "title", "text")]
    columns = {key: [record.get(key, "") for record in records] for key in pairs[0]}
    return {"method": "bm25", "top": "5", "q": "急救箱", **columns, **fields}


def sample_form(**fields):
    records = [{"id": d.source_id, "title": d.title, "text": d.text} for d in sample_documents()]
    return form([*records, {}], **fields)


def test_a_question_over_the_sample_has_an_address_of_its_own(client):
    answer = client.post("/find", data=sample_form(no_weak="1"))
    assert answer.status_code == 303
    location = answer.headers["location"]
    assert location == "/find?q=%E6%80%A5%E6%95%91%E7%AE%B1&method=bm25&top=5&no_weak=1"
    assert 'id="hit-1"' in client.get(location).text


def test_edited_sources_are_searched_and_stay_in_the_form(client):
    answer = client.post(
        "/find", data=form([{"title": "甲", "text": "急救箱在门后。"}, {}, {"text": " \r\n"}])
    )
    assert answer.status_code == 200
    assert re.findall(r"<mark[^>]*>(.*?)</mark>", answer.text) == ["急救箱在门后。"]
    assert answer.text.count('name="text"') == 2  # the source, and a blank one


def test_line_ends_of_what_is_typed_are_those_of_the_field(client):
    answer = client.post("/find/bundle", data=form([{"title": "甲", "text": "一\r\n\r\n急救箱"}]))
    bundle = parse_bundle(answer.content, "引用包")
    assert bundle.sources[0].text == "一\n\n急救箱"
    assert (bundle.citations[0].start, bundle.citations[0].end) == (3, 6)


def test_the_bundle_of_the_sample_is_of_the_sample_and_of_what_is_shown(client):
    shown = client.get("/find", params={"q": "急救箱"}).text
    bundle = parse_bundle(client.post("/find/bundle", data=sample_form()).content, "引用包")
    stored = {document.source_id: document.source() for document in sample_documents()}
    assert {source.source_id: source.sha256 for source in bundle.sources} == {
        key: source.text_sha256 for key, source in stored.items()
    }
    places = re.findall(r'UTF-16 <span class="number">\[(\d+), (\d+)\)', shown)
    assert places == [(str(cited.start), str(cited.end)) for cited in bundle.citations]


EDIT = [{"id": "自己的", "title": "我的标题", "text": "我改过的急救箱正文"}, {"title": "只有标题"}]
BAD_FIND = [
    {"q": " "}, {"q": "长" * 10_001}, {"method": "zzz"}, {"top": "abc"}, {"top": "0"}, {"of": "nowhere"},
    {"text": ["长" * 100_001, ""]}, {"id": ["同", "同"], "text": ["甲", "乙"]},
]  # fmt: skip


@pytest.mark.parametrize("path", ["/find", "/find/bundle"])
@pytest.mark.parametrize("bad", BAD_FIND, ids=[next(iter(bad)) for bad in BAD_FIND])
def test_what_was_typed_survives_every_error(client, path, bad):
    data = {**form(EDIT), **bad}
    answer = client.post(path, data=data)
    assert (answer.status_code, 'data-code="bad_input"' in answer.text) == (400, True)
    assert re.findall(r'name="title" value="([^"]*)"', answer.text) == [*data["title"], ""]
    assert re.findall(r'name="text"[^>]*>\n(.*?)</textarea>', answer.text) == [*data["text"], ""]
    assert re.findall(r'name="id" value="([^"]*)"', answer.text) == [*data["id"], ""]


def test_as_many_characters_as_the_page_says_can_be_searched_whatever_they_are(client):
    # Four bytes each, escaped as twelve: more than a megabyte on its way.
    text = "急救箱" + "😀" * 99_997
    answer = client.post("/find", data=form([{"title": "长", "text": text}]))
    assert (answer.status_code, text in answer.text) == (200, True)
    assert 'id="hit-1"' in answer.text


@pytest.mark.parametrize(("host", "words"), [("127.0.0.1", "本机的程序"), ("192.168.1.5", "连接没有加密")])
def test_where_typed_sources_go_is_said_as_it_is(host, words):
    made = TestClient(create_app(Settings(host)), base_url=f"http://{host}")
    assert words in made.get("/find").text
    assert ("本机" in made.get("/find").text) == (host == "127.0.0.1")


def test_every_page_with_a_key_has_the_switch_for_it(client):
    for path in ("/ask", "/find", "/evaluate"):
        assert client.get(path).text.count('id="keys"') == 1, path


def test_nothing_found_is_said(client):
    answer = client.get("/find", params={"q": "zzzz"})
    assert answer.status_code == 200
    assert "没有命中" in answer.text


@pytest.mark.skipif(shutil.which("node") is None, reason="node is not installed")
def test_a_downloaded_bundle_passes_both_verifiers(client, tmp_path):
    records = [
        {"title": "表情", "text": "急救箱😀e\u0301👨\u200d👩\u200d👧在门后。"},
        {"text": "الإسعاف 急救箱"},
    ]
    answer = client.post("/find/bundle", data=form(records))
    assert answer.headers["content-disposition"] == 'attachment; filename="evidence-bundle.json"'
    report = verify_bundle(parse_bundle(answer.content, "引用包"))
    assert (report.citations, report.exact, report.failures) == (2, 2, ())
    (tmp_path / "b.json").write_bytes(answer.content)
    script = ROOT / "verifiers" / "verify_bundle.mjs"
    shown = subprocess.run(["node", str(script), str(tmp_path / "b.json")], capture_output=True, check=False)
    assert shown.returncode == 0, shown.stderr
    assert json.loads(shown.stdout)["exact"] == 2


def test_the_bundle_of_a_bad_question_is_an_error_page(client):
    answer = client.post("/find/bundle", data=form([{"text": "甲"}], q=" "))
    assert answer.status_code == 400
    assert 'data-code="bad_input"' in answer.text


HOSTILE_ADDRESSES = [
    "/ask?q={h}", "/ask?q=仅限室内使用{h}", "/find?q={h}", "/find?q=急救箱&method={h}",
    "/find?q=急救箱&top={h}", "/sources", "/sources/C201", "/sources/C203", "/sources/{h}",
    "/sources?day={h}", "/sources/C201?receipt={h}", "/acceptance", "/{h}",
]  # fmt: skip


@pytest.fixture(scope="module")
def hostile():
    return TestClient(create_app(Settings(), hostile_course()), base_url=BASE, follow_redirects=False)


class Elements(HTMLParser):
    """What a parser sees: the elements with their attributes, apart from the text."""

    def __init__(self, text):
        super().__init__()
        self.found = []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.found.append((tag, dict(attributes)))


def check_harmless(text):
    for tag, attributes in Elements(text).found:
        assert tag not in ("img", "b", "iframe", "style", "base", "object")
        assert tag != "script" or attributes == {"type": "module", "src": "/static/app.js"}
        assert not any(name.startswith("on") or name == "style" for name in attributes)
        for name in ("href", "src", "action", "formaction"):
            assert attributes.get(name, "/").startswith(("/", "#")), attributes
    assert "{{ 7*7 }}" in text or "49" not in re.sub("[0-9]{3,}", "", text)
    assert (text.count("<title>"), text.count("</title>")) == (1, 1)


@pytest.mark.parametrize("address", HOSTILE_ADDRESSES)
def test_hostile_text_is_text_on_every_page(hostile, address):
    from urllib.parse import quote

    answer = hostile.get(address.replace("{h}", quote(HOSTILE[:150], safe="")))
    assert answer.status_code in (200, 400, 404)
    check_harmless(answer.text)


def test_hostile_text_is_text_in_every_field_of_the_form(hostile):
    record = {"id": HOSTILE, "title": HOSTILE, "text": HOSTILE}
    for field in ("q", "method", "top", "no_weak"):
        answer = hostile.post("/find", data=form([record], **{field: HOSTILE}))
        check_harmless(answer.text)
        assert answer.text.count("</textarea>") == 2
    bundle = json.loads(hostile.post("/find/bundle", data=form([record], q="仅限点这里")).content)
    assert bundle["sources"][0]["text"] == HOSTILE


def test_a_title_cannot_turn_the_text_around_it(hostile):
    assert "\u202e" not in re.sub(
        r'<div class="(?:text|answer)[^>]*>.*?</div>', "", hostile.get("/sources/C201").text, flags=re.S
    )
    assert "改变书写方向" in hostile.get("/sources/C201").text
