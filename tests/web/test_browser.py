"""The pages in Chromium: each page's main job, highlights, the keyboard, and texts that mean harm."""

import json
import shutil
import subprocess
from urllib.parse import quote

import pytest
from workbench import HOSTILE, ODD_TEXTS, ROOT, hostile_course, odd_course

from evidence_kit.anchors.anchor import create_anchor
from evidence_kit.anchors.bundle import parse_bundle
from evidence_kit.anchors.bundle_check import verify_bundle
from evidence_kit.anchors.token import anchor_to_token
from evidence_kit.course import Course, examples, source_of

DEMONSTRATION = examples()[0]


def marks(page):
    return page.eval_on_selector_all("mark", "found => found.map(mark => mark.textContent)")


def shown_text(page):
    return page.eval_on_selector(".text", "box => box.textContent")


SPANS = [
    ("C101", "仅限室内😀使用"),
    ("C101", "一行\r\n第二"),
    ("C101", "。\r单独"),
    ("C102", "e\u0301"),
    ("C102", "👨\u200d👩\u200d👧 家庭装"),
    ("C103", "仅限室内使用"),
    ("C103", "سنتان، 仅限"),
    ("C104", HOSTILE[5:60]),
    ("C104", "\u202e反向\u202c"),
    ("C105", "W" * 300),
    ("C106", "\n\n  开头有换行"),
    ("C106", "\t制表\u00a0空格  "),
]


@pytest.mark.parametrize(("chunk_id", "quoted"), SPANS)
def test_the_one_mark_is_the_receipt_s_quote_and_the_source_is_whole(page, odd_server, chunk_id, quoted):
    course = odd_course()
    text = ODD_TEXTS[chunk_id]
    start = text.index(quoted)
    receipt = create_anchor(source_of(course.chunk(chunk_id)), start, start + len(quoted), withhold=True)
    page.goto(f"{odd_server}/sources/{chunk_id}?receipt={anchor_to_token(receipt)}")
    assert marks(page) == [quoted]
    assert shown_text(page) == text


@pytest.mark.parametrize("chunk_id", sorted(ODD_TEXTS))
def test_a_source_is_shown_character_by_character(page, odd_server, chunk_id):
    page.goto(f"{odd_server}/sources/{chunk_id}")
    assert shown_text(page) == ODD_TEXTS[chunk_id]
    assert marks(page) == []


def test_from_a_question_to_the_quote_in_its_source_and_back(page, server):
    page.goto(server)
    page.get_by_label("问题").fill(DEMONSTRATION)
    page.get_by_role("button", name="提问").click()
    page.wait_for_selector(".route")
    asked = page.url
    assert asked.endswith("/ask?q=" + quote(DEMONSTRATION))
    assert page.locator(".route .word").all_inner_texts() == ["回答", "回答"]
    page.get_by_role("link", name="在原文中定位").first.click()
    page.wait_for_selector("mark")
    assert marks(page) == [Course.load().chunk("C003")["text"]]
    assert "原版原位" in page.inner_text("[role=status]")
    page.go_back()
    assert page.url == asked
    assert page.get_by_label("问题").input_value() == DEMONSTRATION
    page.go_forward()
    assert len(marks(page)) == 1
    page.reload()
    assert len(marks(page)) == 1


def test_what_shines_is_what_the_question_shares(page, server):
    page.goto(f"{server}/ask?q={quote(DEMONSTRATION)}")
    baseline, tfidf = page.locator(".card").all()
    assert set(baseline.locator("[class^=glow-]").all_inner_texts()) == {"标准配件", "签收", "换货"}
    text = Course.load().chunk("C003")["text"]
    for card in (baseline, tfidf):
        assert card.locator(".evidence .text").evaluate("box => box.textContent") == text
    for piece in tfidf.locator("[class^=glow-]").all_inner_texts():
        assert all(char in DEMONSTRATION for char in piece)


def test_a_conflict_stands_side_by_side_with_its_differences(page, server):
    page.goto(f"{server}/ask?q={quote(examples()[3])}")
    card = page.locator(".card").last
    boxes = [box.bounding_box() for box in card.locator(".conflict .passage").all()]
    assert len(boxes) == 2
    assert boxes[0]["y"] == boxes[1]["y"]
    assert boxes[0]["x"] < boxes[1]["x"]
    differing = card.locator(".conflict .text .differs").all_inner_texts()
    assert "30" in differing
    assert "15" in differing


def test_the_keyboard_alone_asks_a_question(page, server):
    page.goto(server)
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.id") == "question"
    page.keyboard.type("有没有适合学生的优惠")
    page.keyboard.press("Enter")
    page.wait_for_selector(".route")
    assert page.locator(".route .word").all_inner_texts() == ["拒答", "拒答"]
    page.keyboard.press("/")
    assert page.evaluate("document.activeElement.id") == "question"
    assert page.get_by_label("问题").input_value() == "有没有适合学生的优惠"
    page.get_by_label("按键操作").uncheck()  # for every page, from now on
    for path in ("/ask", "/find"):
        page.goto(server + path)
        page.keyboard.press("/")
        assert page.evaluate("document.activeElement === document.body")
    page.goto(f"{server}/evaluate")
    assert not page.locator("#keys").is_checked()


def test_everything_that_can_be_worked_can_be_reached_by_tab(page, server):
    for path in ("/ask?q=" + quote(DEMONSTRATION), "/find?q=" + quote("急救箱"), "/acceptance", "/sources"):
        page.goto(server + path)
        wanted = page.eval_on_selector_all(
            "a, button, summary, input:not([type=hidden]), select, textarea, [tabindex='0']",
            "found => found.filter(item => item.checkVisibility()).length",
        )
        reached = 0
        for _ in range(wanted + 5):  # a date field takes several presses
            page.keyboard.press("Tab")
            reached += page.evaluate(
                "() => { const at = document.activeElement; const seen = at.dataset.seen;"
                " at.dataset.seen = 'yes'; return at === document.body || seen ? 0 : 1; }"
            )
        assert reached == wanted, path


# A word that no source of the sample holds.
ODD_SOURCE = "雪橇犬😀在门后。\n\ne\u0301雪橇犬👨\u200d👩\u200d👧\n\nالإسعاف 雪橇犬 שלום"


@pytest.mark.skipif(shutil.which("node") is None, reason="node is not installed")
def test_find_in_edited_sources_and_download_a_bundle_for_both_verifiers(page, server, tmp_path):
    page.goto(f"{server}/find")
    page.get_by_role("button", name="再加一份资料").click()
    assert page.evaluate("document.activeElement.name") == "title"
    last = page.locator(".source").last
    last.get_by_label("标题").fill("我的资料")
    last.get_by_label("正文").fill(ODD_SOURCE)
    page.get_by_label("问题").fill("雪橇犬")
    page.get_by_label("问题").press("Enter")
    page.wait_for_selector(".hits")
    with page.expect_download() as downloading:
        page.get_by_role("button", name="下载引用包").click()
    path = tmp_path / downloading.value.suggested_filename
    downloading.value.save_as(path)
    report = verify_bundle(parse_bundle(path.read_bytes(), path.name))
    assert (report.citations, report.exact, report.failures) == (3, 3, ())
    script = ROOT / "verifiers" / "verify_bundle.mjs"
    shown = subprocess.run(["node", str(script), str(path)], capture_output=True, check=False)
    assert shown.returncode == 0
    assert json.loads(shown.stdout)["exact"] == 3
    citations = json.loads(path.read_bytes())["citations"]
    for number, citation in enumerate(citations, 1):
        assert page.eval_on_selector(f"#place-{number}", "mark => mark.textContent") == citation["quote"]
        quoted = page.eval_on_selector(f"#hit-{number} .text", "box => box.textContent")
        assert quoted == citation["quote"]
        # What the browser itself cuts at the UTF-16 positions of the bundle.
        field = "[...document.querySelectorAll('textarea')].map(field => field.value)"
        place = [citation["start"], citation["end"]]
        cuts = page.evaluate(f"place => {field}.map(text => text.slice(...place))", place)
        assert citation["quote"] in cuts


def test_find_marks_a_weak_hit_and_can_leave_it_out(page, server):
    page.goto(f"{server}/find")
    page.get_by_label("问题").fill("今天火星咖啡价格")
    page.get_by_role("button", name="查找", exact=True).click()
    page.wait_for_selector(".hits")
    assert page.locator(".hits .tag").all_inner_texts() == ["弱命中"]
    page.get_by_label("不要弱命中").check()
    page.get_by_role("button", name="查找", exact=True).click()
    page.wait_for_url("**no_weak=1")
    assert page.locator(".hits > li").count() == 0
    assert "略过弱命中 1 处" in page.inner_text("main")


def test_an_edit_survives_an_error(page, server):
    page.goto(f"{server}/find")
    first = page.locator(".source").first
    first.locator("summary").click()
    first.get_by_label("正文").fill("\n我改过的正文")
    page.get_by_label("问题").fill(" ")
    page.get_by_label("问题").press("Enter")
    assert "问题是空的" in page.inner_text("[role=alert]")
    assert page.locator("textarea").first.input_value() == "\n我改过的正文"


def test_the_pages_work_without_scripts(browser, server):
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(f"{server}/find")
    page.fill("#query", "今天火星咖啡价格")
    page.press("#query", "Enter")
    page.wait_for_selector(".hits")
    assert page.locator(".hits > li").count() == 1
    context.close()


HOSTILE_PATHS = [
    "/ask?q=" + quote("仅限室内使用"),
    "/ask?q=" + quote(HOSTILE[:150]),
    "/ask?q=" + quote(HOSTILE),
    "/find?q=" + quote(HOSTILE),
    "/sources",
    "/sources/C201",
    "/sources/C203",
    "/sources/" + quote(HOSTILE, safe=""),
    "/sources?day=" + quote(HOSTILE),
]


def test_hostile_text_runs_nothing_anywhere(page, hostile_server):
    dialogs = []
    page.on("dialog", lambda dialog: (dialogs.append(dialog.message), dialog.dismiss()))
    for path in HOSTILE_PATHS:
        page.goto(hostile_server + path)
        assert page.evaluate("window.hit") is None, path
        assert (
            page.eval_on_selector_all("img, iframe, b, style, script:not([src])", "found => found.length")
            == 0
        )
        addresses = page.eval_on_selector_all("a[href]", "found => found.map(link => link.protocol)")
        assert set(addresses) == {"http:"}
    assert dialogs == []


def test_hostile_sources_typed_into_the_page_stay_text(page, hostile_server):
    page.goto(f"{hostile_server}/find")
    row = page.locator(".source").last
    row.locator("summary").click()
    row.get_by_label("标题").fill(HOSTILE)
    row.get_by_label("正文").fill(HOSTILE)
    page.get_by_label("问题").fill("点这里")
    page.get_by_label("问题").press("Enter")
    page.wait_for_selector(".hits")
    assert page.evaluate("window.hit") is None
    assert HOSTILE in page.eval_on_selector_all("textarea", "found => found.map(field => field.value)")
    assert page.eval_on_selector("#place-1", "mark => mark.textContent") == HOSTILE


def test_a_hostile_conflict_is_shown_as_text(page, hostile_server):
    page.goto(hostile_server + HOSTILE_PATHS[0])
    assert page.locator(".route .word").first.inner_text() == "冲突"
    texts = page.eval_on_selector_all(".conflict .text", "found => found.map(box => box.textContent)")
    assert texts[:2] == [chunk["text"] for chunk in hostile_course().chunks[:2]]


def test_a_long_passage_scrolls_in_its_own_box_and_long_words_wrap(page, odd_server):
    page.set_viewport_size({"width": 360, "height": 740})
    page.goto(f"{odd_server}/sources/C105")
    box = page.locator(".text.long")
    height, content = box.evaluate("box => [box.clientHeight, box.scrollHeight]")
    assert height < 740 < content
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    assert box.evaluate("box => box.scrollWidth <= box.clientWidth")
