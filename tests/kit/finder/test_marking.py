"""Marks around matched parts: overlapping parts are one, and no mark comes from the text."""

from evidence_kit.finder.marking import mark
from evidence_kit.finder.passages import Span


def test_parts_that_overlap_are_one_and_parts_that_touch_are_two():
    assert mark("今天火星", [Span(2, 3), Span(0, 1), Span(0, 2), Span(1, 2)]) == "⟦今天⟧⟦火⟧星"
    assert mark("abc", [Span(0, 3), Span(1, 2)]) == "⟦abc⟧"
    assert mark("abc", []) == "abc"


def test_marks_and_controls_of_the_text_itself_are_escaped():
    assert mark("⟦a⟧\x1b[0m\u202eb", [Span(1, 2)]) == "\\u27e6⟦a⟧\\u27e7\\u001b[0m\\u202eb"
