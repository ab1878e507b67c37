"""A report in a real browser, opened from disk without a network: what is marked is what was cited."""

import shutil
from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from evidence_kit.reports.html import build_report
from evidence_kit.reports.markup import exact

BROWSER = shutil.which("chromium") or shutil.which("chromium-browser")
sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
pytestmark = [
    pytest.mark.once,
    pytest.mark.skipif(BROWSER is None, reason="there is no chromium on PATH"),
]

TEXTS = st.lists(
    st.sampled_from([*"\0\r\n\t<&\ufeff\u202e\x80", "\r\n", "&#0;", "]]>", "👩\u200d🚀"])
    | st.characters(exclude_categories=["Cs"]),
    max_size=20,
).map("".join)


@pytest.fixture(scope="module")
def chromium():
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=BROWSER, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture
def show(chromium, tmp_path):
    """Open HTML by its file; the page's complaints are in `.complaints`."""
    opened = []

    def call(html, **options):
        path = tmp_path / f"report-{len(opened)}.html"
        path.write_bytes(html.encode("utf-8"))
        context = chromium.new_context(offline=True, **options)
        page = context.new_page()
        page.complaints = []
        page.on("console", lambda message: page.complaints.append(message.text))
        page.on("pageerror", lambda error: page.complaints.append(str(error)))
        page.on("dialog", lambda dialog: (page.complaints.append(dialog.message), dialog.dismiss()))
        page.goto(path.as_uri())
        opened.append(context)
        return page

    yield call
    for context in opened:
        context.close()


def texts(page, selector):
    return page.eval_on_selector_all(selector, "places => places.map(place => place.textContent)")


def test_every_source_quote_and_mark_is_what_was_cited_character_by_character(experiment, run, show):
    page = show(build_report(experiment, run))
    assert page.complaints == []
    assert page.inner_text("#check") == "摘录核对：4 / 4 与原文逐字相符。"
    assert "right" in page.get_attribute("#check", "class")
    assert texts(page, ".text") == [source.text for source in experiment.sources]
    assert texts(page, ".asked") == [question.text for question in experiment.questions]
    cited = [hit.best for result in run.results for hit in result.documents]
    assert texts(page, "blockquote") == [hit.quote for hit in cited]
    for number, hit in enumerate(cited, start=1):
        assert "".join(texts(page, f'mark[data-excerpts~="{number}"]')) == hit.quote


def test_excerpt_that_overlaps_no_other_is_one_mark(experiment, run, show):
    first = run.results[0]
    others = (replace(result, documents=()) for result in run.results[1:])
    alone = replace(run, results=(replace(first, documents=first.documents[:1]), *others))
    page = show(build_report(experiment, alone))
    assert texts(page, "mark") == [first.documents[0].best.quote]
    assert page.inner_text("#check") == "摘录核对：1 / 1 与原文逐字相符。"


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("周一闭馆。", "周一开馆。", None),  # outside all excerpts: nothing cited has changed
        ("提前三天预约", "提前五天预约", "3 / 4 与原文逐字相符。不符的摘录：第 1 条。"),
        ("天文馆周二", "馆周二", "2 / 4 与原文逐字相符。不符的摘录：第 1 条、第 4 条。"),
        ('data-start="31"', 'data-start="32"', "3 / 4 与原文逐字相符。不符的摘录：第 4 条。"),
        ("<blockquote ", "<p ", "3 / 4 与原文逐字相符。页面上有 3 条，应有 4 条。"),
        ('data-excerpts="1 4"', 'data-excerpts="1"', "3 / 4 与原文逐字相符。不符的摘录：第 4 条。"),
    ],
)
def test_page_that_was_changed_after_it_was_written_says_which_excerpts_fail(
    experiment, run, show, old, new, message
):
    html = build_report(experiment, run)
    page = show(html.replace(old, new, 1))
    if message is None:
        assert "4 / 4" in page.inner_text("#check")
        return
    assert page.inner_text("#check") == f"摘录核对：{message}"
    assert "wrong" in page.get_attribute("#check", "class")
    assert page.eval_on_selector("#check", "place => getComputedStyle(place).color") == "rgb(179, 38, 30)"


def test_script_that_found_its_way_into_the_page_does_not_run(experiment, run, show):
    html = build_report(experiment, run)
    run_it = "document.title='run'"
    attack = f'<script>{run_it}</script><img src=x onerror="{run_it}"><p style="color:red" id="x">'
    page = show(html.replace("<main>", f"<main>{attack}", 1))
    assert page.title() == "评测报告"
    assert any("Content Security Policy" in complaint for complaint in page.complaints)
    assert page.eval_on_selector("#x", "place => getComputedStyle(place).color") != "rgb(255, 0, 0)"


def test_page_without_its_script_says_that_nothing_was_checked(experiment, run, show):
    page = show(build_report(experiment, run), java_script_enabled=False)
    assert page.locator("#check").inner_text().startswith("4 条摘录尚未核对")


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [360, 1440])
def test_page_is_no_wider_than_its_window(experiment, run, show, width, scheme):
    page = show(build_report(experiment, run), viewport={"width": width, "height": 800}, color_scheme=scheme)
    assert page.evaluate("document.documentElement.scrollWidth") == width


def test_link_of_an_excerpt_leads_to_the_mark_where_it_begins(experiment, run, show):
    page = show(build_report(experiment, run))
    for place in page.locator(".excerpts > li > a").all():
        place.click()
        target = page.eval_on_selector("mark:target", "place => place.dataset.excerpts").split()
        assert place.get_attribute("aria-label") in [f"在原文中定位第 {number} 条摘录" for number in target]


def test_page_has_one_heading_of_the_first_level_and_skips_none_and_names_its_tables(experiment, run, show):
    page = show(build_report(experiment, run))
    levels = page.eval_on_selector_all("h1, h2, h3, h4", "places => places.map(place => +place.tagName[1])")
    assert levels.count(1) == 1 and levels[0] == 1
    assert all(after <= before + 1 for before, after in pairwise(levels))
    assert page.get_attribute("html", "lang") == "zh-CN"
    tables = page.locator("table").count()
    assert tables == page.locator("table > caption").count() == 4
    assert page.locator("th:not([scope])").count() == 0


# Few pages of many texts each: what takes time is opening a page.
@settings(max_examples=8, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(st.lists(TEXTS, min_size=20, max_size=60))
@example(["\n", "\r", "\r\n\r", "\n\n", "\0\0", "\x80\x9f", "\ufffe\uffff", "&#13;", "</div><script>"])
def test_browser_holds_every_text_exactly(show, written):
    fill = "<script>for (const p of document.querySelectorAll('.nul')) p.textContent = '\\0'</script>"
    body = "".join(f"<div>{exact(text)}</div>" for text in written)
    page = show(f"<!DOCTYPE html><meta charset=utf-8>{body}{fill}")
    assert texts(page, "div") == written
