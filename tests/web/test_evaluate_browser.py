"""The Evaluate pages in Chromium: from an empty file to exports, by keyboard, in two tabs, across a crash."""

import io
import json
import os
import re
import signal
import socket
import subprocess
import sys

import pytest
from experiments import app_on, demo_file, empty_file, hostile_file, slow_searches, stands
from test_accessibility import LOOKS, violations
from workbench import HOSTILE, ROOT, serving

from evidence_kit.experiments.run import run
from evidence_kit.experiments.store import ExperimentStore
from evidence_kit.sources.days import today


@pytest.fixture
def address(path):
    with serving(app_on(path)) as found:
        yield found


def grades(path):
    return {(j.question_id, j.source_id): j.grade for j in stands(path).judgments}


def download(page, link, path):
    with page.expect_download() as downloading:
        page.locator(f"a[href*='{link}']").click()
    downloading.value.save_as(path / link)
    return (path / link).read_bytes()


def quotes_checked(page):
    """What the report says of itself once its script has run: quotes that check, quotes in all."""
    page.wait_for_selector("#check:has-text('摘录核对')")
    return tuple(map(int, re.search(r"摘录核对：(\d+) / (\d+)", page.inner_text("#check")).groups()))


def test_from_an_empty_file_to_every_export(page, tmp_path):
    image = pytest.importorskip("PIL.Image", reason="pillow is not installed")
    path = empty_file(tmp_path / "new.db")
    (tmp_path / "甲.txt").write_bytes("借用备用车要押金三百元。".encode("gb18030") * 3)
    (tmp_path / "乙.md").write_text("# 修车\n\n修好以后十四天内取车。", encoding="utf-8")
    with serving(app_on(path)) as address:
        page.goto(f"{address}/evaluate")
        page.get_by_role("link", name="导入或粘贴资料").click()
        page.set_input_files("#files", [tmp_path / "甲.txt", tmp_path / "乙.md"])
        page.get_by_role("button", name="导入", exact=True).click()
        page.wait_for_selector(".decodings")
        assert "GB18030" in page.inner_text(".decodings")
        page.get_by_label("标题").fill("粘贴的")
        page.get_by_label("正文", exact=True).fill("会员借车押金减半。")
        page.get_by_role("button", name="新增资料").click()
        page.wait_for_url("**/evaluate/source?id=S003")
        page.locator(".tabs").get_by_role("link", name="问题").click()
        page.get_by_label("新增问题，每行一个").fill("借车押金多少\n多久取车")
        page.get_by_role("button", name="新增并检索").click()
        page.wait_for_url("**/evaluate?q=Q001")
        page.keyboard.press("3")
        page.wait_for_selector("button.grade[aria-pressed=true]")
        page.locator(".tabs").get_by_role("link", name="参数与指标").click()
        assert page.locator(".mean td").first.inner_text() == "1.000000"
        page.get_by_role("link", name="冻结为基线").click()
        page.get_by_label("名称").fill("起点")
        page.get_by_role("button", name="冻结现在的结果").click()
        page.get_by_role("link", name="与 起点 比较").click()
        assert "条件全部相同" in page.inner_text("main")
        page.locator(".tabs").get_by_role("link", name="导出与还原").click()
        picture = image.open(io.BytesIO(download(page, "figure.png", tmp_path)))
        picture.load()
        assert min(picture.size) > 200
        colours = picture.convert("RGB").getcolors(1 << 24)
        assert len(colours) > 10
        exported = download(page, "experiment.json", tmp_path)
        assert json.loads(exported)["baselines"][0]["name"] == "起点"
        assert "粘贴的" in download(page, "hits.csv", tmp_path).decode("utf-8-sig")
        download(page, "report.html", tmp_path)
        page.goto((tmp_path / "report.html").as_uri())
        assert quotes_checked(page)[0] > 0
        assert "借用备用车" in page.inner_text("body")


def test_the_report_from_the_disk_checks_all_its_quotes(page, address, path, tmp_path):
    page.goto(f"{address}/evaluate/exports")
    download(page, "report.html", tmp_path)
    page.goto((tmp_path / "report.html").as_uri())
    right, all_of_them = quotes_checked(page)
    assert (
        right
        == all_of_them
        == sum(len(result.documents[:3]) for result in run(stands(path), today()).results)
    )


def test_keys_judge_and_move_and_the_next_source_has_the_focus(page, address, path):
    page.goto(f"{address}/evaluate?q=q2")
    order = page.eval_on_selector_all("[data-row] input[name=source_id]", "found => found.map(f => f.value)")
    page.keyboard.type("302")  # faster than an answer comes: each is about the page that the one before gave
    page.wait_for_selector("#row-4:focus")
    assert [grades(path)["q2", source] for source in order[:3]] == [3, 0, 2]
    page.keyboard.press("ArrowUp")
    assert page.evaluate("document.activeElement.id") == "row-3"
    page.keyboard.press("j")
    page.keyboard.press("j")
    assert page.evaluate("document.activeElement.id") == "row-5"
    page.keyboard.press("k")
    assert page.evaluate("document.activeElement.id") == "row-4"
    page.wait_for_url(lambda url: url.endswith("/evaluate?q=q2"))


def test_keys_do_nothing_in_a_field_or_when_they_are_off(page, address, path):
    before = grades(path)
    page.goto(f"{address}/evaluate?q=q2")
    page.locator("input[type=date]").focus()
    page.keyboard.press("3")
    page.locator("#keys").uncheck()
    page.locator("h1").click()
    page.keyboard.press("3")
    page.reload()
    assert not page.locator("#keys").is_checked()
    page.keyboard.press("3")
    page.goto(f"{address}/evaluate/history")
    assert grades(path) == before


def test_the_marked_quote_is_the_receipt_s(page, address, path):
    page.goto(f"{address}/evaluate")
    hits = run(stands(path), today()).results[0].documents
    marked = page.eval_on_selector_all("[data-row] mark", "found => found.map(mark => mark.textContent)")
    assert marked == [hit.best.quote for hit in hits]
    page.get_by_role("link", name="在原文中定位").first.click()
    assert page.locator("[data-status=exact]").count() == 1
    assert violations(page) == []
    assert page.eval_on_selector("#quote", "mark => mark.textContent") == hits[0].best.quote
    source = next(source for source in stands(path).sources if source.source_id == hits[0].best.source_id)
    assert page.eval_on_selector(".text", "box => box.textContent") == source.text


def test_back_and_forward_keep_question_and_comparison(page, address):
    page.goto(f"{address}/evaluate")
    page.locator(".list a").nth(2).click()
    page.wait_for_url("**?q=q3")
    page.keyboard.press("1")
    page.wait_for_selector(".row:first-child button[value='1'][aria-pressed=true]")
    page.locator(".list a").nth(3).click()
    page.wait_for_url("**?q=q4")
    page.go_back()
    page.wait_for_url(lambda url: url.endswith("?q=q3"))
    page.go_back()
    page.wait_for_url(lambda url: url.endswith("/evaluate"))
    page.go_forward()
    page.wait_for_url(lambda url: url.endswith("?q=q3"))
    assert "加入会员" in page.inner_text("h1")


def test_a_reload_in_the_middle_of_an_edit_loses_nothing(page, address, path):
    page.goto(f"{address}/evaluate/source/edit?id=repair.md")
    page.get_by_label("正文").fill("写了一半😀\n第二行")
    page.reload()
    assert page.get_by_label("正文").input_value() == "写了一半😀\n第二行"
    assert "没有保存的文字" in page.inner_text("main")
    page.get_by_role("button", name="放弃没有保存的改动").click()
    page.wait_for_load_state()
    assert "自己没有时间修" in page.get_by_label("正文").input_value()
    page.get_by_label("正文").fill("写完了")
    page.get_by_role("button", name="保存").click()
    page.wait_for_url("**/evaluate/source?id=repair.md")
    assert next(s.text for s in stands(path).sources if s.source_id == "repair.md") == "写完了"
    page.goto(f"{address}/evaluate/source/edit?id=repair.md")
    assert "没有保存的文字" not in page.inner_text("main")


def test_the_second_of_two_tabs_is_told_and_nothing_is_lost(page, address, path):
    other = page.context.new_page()
    for tab in (page, other):
        tab.goto(f"{address}/evaluate/source/edit?id=repair.md")
    page.get_by_label("正文").fill("第一个人写的")
    page.get_by_role("button", name="保存").click()
    page.wait_for_url("**/source?id=repair.md")
    other.get_by_label("正文").fill("第二个人写的")
    other.get_by_role("button", name="保存").click()
    other.wait_for_selector("[role=alert]")
    assert "已被改动" in other.inner_text("[role=alert]")
    assert other.inner_text(".now .text") == "第一个人写的"
    assert other.get_by_label("正文").input_value() == "第二个人写的"
    assert next(s.text for s in stands(path).sources if s.source_id == "repair.md") == "第一个人写的"
    other.locator(".tabs").get_by_role(
        "link", name="历史"
    ).click()  # a look, and what was typed is still there
    other.wait_for_selector("h1:has-text('历史')")
    other.goto(f"{address}/evaluate/source/edit?id=repair.md")
    assert other.get_by_label("正文").input_value() == "第二个人写的"
    other.get_by_role("button", name="保存", exact=True).click()
    other.wait_for_url("**/source?id=repair.md")
    assert next(s.text for s in stands(path).sources if s.source_id == "repair.md") == "第二个人写的"


def test_a_stale_key_press_in_a_second_tab_is_told(page, address, path):
    other = page.context.new_page()
    for tab in (page, other):
        tab.goto(f"{address}/evaluate?q=q2")
    source = page.locator("[data-row] input[name=source_id]").first.input_value()
    page.keyboard.press("2")
    page.wait_for_selector("#row-2:focus")
    press = "key => document.body.dispatchEvent(new KeyboardEvent('keydown', {key, bubbles: true}))"
    other.evaluate(f"['1', '3'].forEach({press})")  # the second one while the first is on its way
    other.wait_for_selector("#undelivered")
    assert "已被改动" in other.inner_text("[data-code=contradiction]")
    assert "后面的 1 次按键没有执行" in other.inner_text("#undelivered")
    assert grades(path)["q2", source] == 2


def test_the_pages_work_without_scripts(browser, address, path):
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(f"{address}/evaluate?q=q5")
    source = page.locator("[data-row] input[name=source_id]").nth(4).input_value()
    page.locator("[data-row]").nth(4).get_by_role("button", name="2 相关").click()
    page.wait_for_url(lambda url: url.endswith("?q=q5#row-6"))
    assert grades(path)["q5", source] == 2
    page.get_by_role("button", name="撤销").click()
    page.wait_for_url(lambda url: url.endswith("/evaluate/history"))
    context.close()


def serve(path, port):
    process = subprocess.Popen(
        [
            sys.executable,
            "-m",
            "evidence_kit.commands",
            "serve",
            "--no-open",
            "--port",
            str(port),
            "--db",
            str(path),
        ],
        stdout=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        text=True,
    )
    return process, process.stdout.readline().strip()


def test_what_was_typed_outlives_a_server_that_does_not_answer(page, path):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    process, address = serve(path, port)
    try:
        page.goto(f"{address}/question?id=q1")
        page.get_by_label("问题", exact=True).fill("写了很久的问题")
        process.kill()
        process.wait()
        page.get_by_role("button", name="保存", exact=True).click()
        page.wait_for_selector("#undelivered")
        assert "不知道写进去没有" in page.inner_text("#undelivered")
        process.stdout.close()
        process, _ = serve(path, port)
        page.goto(address)  # elsewhere: nothing has arrived by that
        page.goto(f"{address}/question?id=q1")
        assert page.get_by_label("问题", exact=True).input_value() == "写了很久的问题"
        page.get_by_role("button", name="保存", exact=True).click()
        page.wait_for_url("**/evaluate?q=q1")
        page.goto(f"{address}/question?id=q1")
        assert "没有保存的文字" not in page.inner_text("main")
        assert page.get_by_label("问题", exact=True).input_value() == "写了很久的问题"
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="processes are killed otherwise there")
def test_a_server_that_is_killed_and_started_again_has_every_acknowledged_judgment(page, path):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    process, address = serve(path, port)
    try:
        page.goto(f"{address}?q=q2")
        order = page.eval_on_selector_all(
            "[data-row] input[name=source_id]", "found => found.map(f => f.value)"
        )
        page.keyboard.press("1")
        page.wait_for_selector("#row-2:focus")
        process.kill()
        process.wait()
        page.keyboard.press("2")
        page.wait_for_selector("#undelivered")
        assert "不知道这次判断写进去没有" in page.inner_text("#undelivered")
        process, again = serve(path, port)
        assert again == address
        page.keyboard.press("2")
        page.wait_for_selector("#row-3:focus")
        assert page.locator("#undelivered").count() == 0
        process.kill()
        process.wait()
        assert [grades(path)["q2", source] for source in order[:2]] == [1, 2]
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


HOSTILE_PAGES = [
    *("", "?q=Q002", "/measures", "/sources", "/source?id=S001", "/source?id=S003", "/questions"),
    *("/question?id=Q001", "/source/edit?id=S001", "/source/edit?id=S003", "/prompt?q=Q001", "/history"),
    *("/baselines", "/exports"),
]


def test_hostile_text_runs_nothing_and_stays_text(page, tmp_path):
    dialogs = []
    page.on("dialog", lambda dialog: (dialogs.append(dialog.message), dialog.dismiss()))
    path = hostile_file(tmp_path / "hostile.db")
    with serving(app_on(path)) as address:
        for where in HOSTILE_PAGES:
            page.goto(f"{address}/evaluate{where}")
            assert page.evaluate("window.hit") is None, where
            assert (
                page.eval_on_selector_all("img, iframe, b, style, main script", "found => found.length") == 0
            )
            protocols = page.eval_on_selector_all("a[href]", "found => found.map(link => link.protocol)")
            assert set(protocols) == {"http:"}
        page.goto(f"{address}/evaluate/baselines")
        page.get_by_label("名称").fill(HOSTILE[:80])
        page.get_by_role("button", name="冻结现在的结果").click()
        page.get_by_role("link", name=re.compile("比较$")).first.click()
        assert page.evaluate("window.hit") is None
        page.goto(f"{address}/evaluate?q=Q001")
        page.keyboard.press("2")
        page.wait_for_selector("#row-2:focus")
        assert page.evaluate("window.hit") is None
        texts = {source.text for source in stands(path).sources}
        page.goto(f"{address}/evaluate/source?id=S002")
        assert page.eval_on_selector(".text", "box => box.textContent") in texts
    assert dialogs == []


@pytest.fixture
def slow(path, monkeypatch):
    """The address of a server whose searches wait until the event is set."""
    go = slow_searches(monkeypatch)
    with serving(app_on(path)) as address:
        yield address, go
        go.set()


def test_a_long_search_shows_how_far_it_is_and_then_what_it_found(page, slow):
    address, go = slow
    page.goto(f"{address}/evaluate?q=q3")
    page.wait_for_selector("#job-state:has-text('已完成 3 / 7')")
    assert violations(page) == []
    go.set()
    page.wait_for_selector("#row-1")
    assert "加入会员" in page.inner_text("h1")
    page.wait_for_url(lambda url: url.endswith("/evaluate?q=q3"))


def test_a_judgment_whose_page_needs_a_new_search_is_followed_to_the_question(page, path, slow):
    address, go = slow
    go.set()
    page.goto(f"{address}/evaluate?q=q2")
    page.wait_for_selector("#row-1")
    source = page.locator("[data-row] input[name=source_id]").first.input_value()
    go.clear()
    store = ExperimentStore.open(path)
    store.add_questions(["别人的问题"])  # another process: what is found is searched again
    store.close()
    page.keyboard.press("3")
    page.wait_for_selector("#job-state:has-text('已完成 3 / 7')")
    assert grades(path)["q2", source] == 3
    go.set()
    page.wait_for_selector("#row-2")
    page.wait_for_url(lambda url: url.endswith("/evaluate?q=q2#row-2"))


def test_a_long_search_is_cancelled_and_begun_again(page, slow):
    address, go = slow
    page.goto(f"{address}/evaluate/measures")
    page.get_by_role("button", name="取消").click()
    page.wait_for_selector("h1:has-text('已取消')")
    assert violations(page) == []
    go.set()
    page.get_by_role("link", name="重新计算").click()
    page.wait_for_selector(".figures")


# Accessibility, and how wide it is.

STATES = [
    *("", "?q=q2", "?q=nope", "?day=1990-01-01", "/measures", "/measures?day=x", "/sources"),
    *(
        "/source?id=repair.md",
        "/source?id=repair.md&receipt=x",
    ),
    *("/source/edit?id=repair.md", "/questions", "/question?id=q1", "/baselines", "/compare?baseline=b"),
    *("/prompt?q=q1", "/exports", "/history", "/measures?change=1"),
]


@pytest.fixture(scope="module")
def judged(tmp_path_factory):
    """The demo with a baseline, an undefined question, stale judgments and a source out of force."""
    from evidence_kit.experiments.baseline import freeze
    from evidence_kit.sources.validity import Validity

    path = demo_file(tmp_path_factory.mktemp("judged") / "demo.db")
    store = ExperimentStore.open(path)
    store.add_baseline(freeze(store.snapshot(), today(), "b"))
    store.add_questions(["没有判断的问题"])
    store.edit_source("repair.md", text="修好以后十四天内取车。" + "W" * 300)
    store.edit_source("loaner.md", validity=Validity("expired"))
    store.close()
    with serving(app_on(path)) as address:
        yield address


@pytest.fixture(scope="module")
def bare(tmp_path_factory):
    with serving(app_on(empty_file(tmp_path_factory.mktemp("bare") / "new.db"))) as address:
        yield address


@pytest.fixture(scope="module")
def harmful(tmp_path_factory):
    with serving(app_on(hostile_file(tmp_path_factory.mktemp("harmful") / "x.db"))) as address:
        yield address


@pytest.fixture(scope="module", params=[*LOOKS, (360, "dark"), (1440, "light")], ids=str)
def looking(request, browser):
    width, scheme = request.param
    context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme)
    yield context.new_page(), width
    context.close()


# What is cut off at its side and cannot be scrolled by keyboard, and cells of figures beyond the window.
OUT_OF_REACH = """() => [
  ...[...document.querySelectorAll("main *")].filter((box) =>
    box.scrollWidth > box.clientWidth + 1 && /auto|scroll/.test(getComputedStyle(box).overflowX)
    && box.tabIndex < 0 && !box.matches("input, select, textarea")),
  ...[...document.querySelectorAll(".figures td")].filter((cell) =>
    innerWidth < 700 && cell.getBoundingClientRect().right > innerWidth),
].map((found) => found.outerHTML.slice(0, 200))"""


def check(page, width):
    assert violations(page) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.evaluate(OUT_OF_REACH) == []


@pytest.mark.parametrize("state", STATES)
def test_axe_finds_nothing_and_nothing_is_too_wide(looking, judged, state):
    page, width = looking
    page.goto(f"{judged}/evaluate{state}")
    check(page, width)


def test_axe_finds_nothing_where_the_experiment_s_sources_are_searched(looking, judged):
    page, width = looking
    page.goto(f"{judged}/find?of=experiment&q=%E5%8F%96%E8%BD%A6")
    assert page.locator("#hit-1").count() == 1
    check(page, width)


@pytest.mark.parametrize(
    "state", ["", "/measures", "/sources", "/questions", "/baselines", "/exports", "/history"]
)
def test_axe_finds_nothing_on_an_empty_experiment(looking, bare, state):
    page, width = looking
    page.goto(f"{bare}/evaluate{state}")
    check(page, width)


@pytest.mark.parametrize("state", ["", "/measures", "/sources", "/source?id=S001", "/source/edit?id=S003"])
def test_hostile_text_breaks_neither_structure_nor_width(looking, harmful, state):
    page, width = looking
    page.goto(f"{harmful}/evaluate{state}")
    check(page, width)


def test_axe_finds_nothing_on_a_refused_form(looking, judged):
    page, width = looking
    page.goto(f"{judged}/evaluate/measures")
    page.locator("input[name=k]").fill("0")
    page.get_by_role("button", name="应用并评测").click()
    page.wait_for_selector("[role=alert]")
    assert page.locator("input[name=k]").get_attribute("aria-invalid") == "true"
    check(page, width)


def test_the_first_screen_shows_the_question_and_its_first_three_hits(page, address):
    page.goto(f"{address}/evaluate")
    height = page.viewport_size["height"]
    for place in ("h1", "#row-1", "#row-2", "#row-3"):
        assert page.locator(place).bounding_box()["y"] < height, place
