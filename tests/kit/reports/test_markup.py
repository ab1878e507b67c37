"""Markup holds its text and nothing else, however excerpts overlap; test_in_browser has a browser say so."""

import html
import re

from hypothesis import given
from hypothesis import strategies as st

from evidence_kit.reports.markup import exact, inline, marked

TEXTS = st.lists(
    st.sampled_from(["\0", "\r", "\r\n", "\n", "<", "&", "</mark>", "\u202e"])
    | st.characters(exclude_categories=["Cs"], exclude_characters="\x80\x9f"),
    max_size=20,
).map("".join)
MARK = re.compile(r'<mark id="m7-(\d+)" data-excerpts="([^"]*)">(.*?)</mark>', re.DOTALL)


def content(markup):
    """What a parser makes of it: tags off, NUL put back, references resolved."""
    filled = re.sub(r'<span class="hidden nul"[^>]*></span>', "\0", str(markup))
    return html.unescape(re.sub(r"<[^>]*>", "", filled))


@given(TEXTS, st.data())
def test_marks_that_name_an_excerpt_join_to_its_quote_however_excerpts_overlap(text, data):
    spans = []
    for number in range(data.draw(st.integers(0, 4)) if text else 0):
        start = data.draw(st.integers(0, len(text) - 1))
        spans.append((start, data.draw(st.integers(start + 1, len(text))), number))
    markup = marked(text, spans, 7)
    marks = MARK.findall(str(markup))
    assert content(markup) == text
    for start, end, number in spans:
        own = [(at, body) for at, names, body in marks if str(number) in names.split(" ")]
        assert "".join(content(body) for _, body in own) == text[start:end]
        assert own[0][0] == str(start)
    for _, names, _ in marks:
        assert names


def test_text_that_needs_nothing_stands_as_it_is():
    assert exact("今天，A_1。\n\t二") == "今天，A_1。\n\t二"


def test_markup_in_a_text_is_text():
    assert exact("<b>&") == "&lt;b&gt;&amp;"
    assert inline('"<i>\u202e\n') == "<bdi>&#34;&lt;i&gt;\\u202e\\u000a</bdi>"


def test_character_that_acts_stands_isolated_under_its_number():
    assert exact("a\u202eb") == 'a<span class="hidden" data-number="U+202E">\u202e</span>b'
