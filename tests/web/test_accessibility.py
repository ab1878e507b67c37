"""On every page in every state axe finds no violation of WCAG 2.2 AA, and nothing is too wide."""

from urllib.parse import quote

import pytest
from workbench import HOSTILE

from evidence_kit.anchors.anchor import create_anchor
from evidence_kit.anchors.token import anchor_to_token
from evidence_kit.course import Course, examples, source_of

RULES = {"runOnly": {"type": "tag", "values": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]}}


def receipt(start, end):
    return anchor_to_token(create_anchor(source_of(Course.load().chunk("C003")), start, end, withhold=True))


STATES = {
    "ask, empty": "/ask",
    "ask, answer": f"/ask?q={quote(examples()[0])}",
    "ask, conflict": f"/ask?q={quote(examples()[3])}",
    "ask, refusal": f"/ask?q={quote(examples()[4])}",
    "ask, error": "/ask?q=",
    "find, empty": "/find",
    "find, hits": f"/find?q={quote('割伤以后急救箱在哪里')}",
    "find, nothing": "/find?q=zzzz",
    "find, error": "/find?q=",
    "acceptance": "/acceptance",
    "sources": "/sources",
    "sources, error": "/sources?day=x",
    "passage": "/sources/C008",
    "passage, located": f"/sources/C003?receipt={receipt(20, 30)}",
    "passage, bad receipt": "/sources/C003?receipt=x",
    "no such page": "/nope",
}
LOOKS = [(360, "light"), (1440, "dark")]


@pytest.fixture(scope="module", params=LOOKS, ids=lambda look: f"{look[0]} {look[1]}")
def looking(request, browser):
    width, scheme = request.param
    context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme)
    yield context.new_page(), width
    context.close()


def violations(page):
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="axe is not installed").Axe()
    page.wait_for_load_state("load")  # what was waited for may stand before its style sheet does
    page.eval_on_selector_all("details", "found => found.forEach(item => { item.open = true; })")
    found = axe.run(page, options=RULES).response
    return [(item["id"], [node["html"] for node in item["nodes"]]) for item in found["violations"]]


@pytest.mark.parametrize("state", STATES)
def test_axe_finds_nothing_and_nothing_is_too_wide(looking, server, state):
    page, width = looking
    page.goto(server + STATES[state])
    assert violations(page) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width


@pytest.mark.parametrize(
    "path", ["/ask?q=" + quote("仅限室内使用"), "/sources", "/sources/C201", f"/find?q={quote(HOSTILE)}"]
)
def test_hostile_text_breaks_neither_structure_nor_width(looking, hostile_server, path):
    page, width = looking
    page.goto(hostile_server + path)
    assert violations(page) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.eval_on_selector_all("main", "found => found.length") == 1


@pytest.mark.parametrize("path", ["/ask?q=" + quote("仅限室内使用"), "/sources/C105", "/sources/C103"])
def test_odd_text_breaks_neither_structure_nor_width(looking, odd_server, path):
    page, width = looking
    page.goto(odd_server + path)
    assert violations(page) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width
