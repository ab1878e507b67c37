"""What a terminal might obey is shown as an escape; what people read is shown as it is."""

import json
import sys
import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evidence_kit.sources.visible import visible, visible_json


@pytest.mark.parametrize(
    "text", ["今天，A_1。", "é e\u0301", "אבג", "👩\u200d🚀", "に゙ほん", "\u3000", "a\\b", "￥１"]
)
def test_text_of_any_script_stays(text):
    assert visible(text) == text


@pytest.mark.parametrize(
    ("char", "shown"),
    [
        ("\0", "\\u0000"),
        ("\x1b", "\\u001b"),
        ("\x7f", "\\u007f"),
        ("\x9b", "\\u009b"),
        ("\n", "\\u000a"),
        ("\t", "\\u0009"),
        ("\u061c", "\\u061c"),
        ("\u200e", "\\u200e"),
        ("\u202e", "\\u202e"),
        ("\u2066", "\\u2066"),
        ("\u2028", "\\u2028"),
        ("\ufeff", "\\ufeff"),
        ("\uffff", "\\uffff"),
        ("\udc80", "\\udc80"),
        ("\U000e0041", "\\U000e0041"),
    ],
)
def test_character_that_acts_or_hides_is_escaped(char, shown):
    assert visible(f"甲{char}乙") == f"甲{shown}乙"


@settings(deadline=None)
@given(st.text())
def test_json_made_visible_means_the_same_and_holds_no_such_character(text):
    shown = visible_json(json.dumps({text: [text]}, ensure_ascii=False, indent=2))
    assert json.loads(shown) == {text: [text]}
    assert visible(shown.replace("\n", "")) == shown.replace("\n", "")


def test_every_control_and_format_character_is_hidden_but_the_two_joiners():
    hidden = {chr(point) for point in range(sys.maxunicode + 1) if visible(chr(point)) != chr(point)}
    for point in range(sys.maxunicode + 1):
        char = chr(point)
        acts = unicodedata.category(char) in ("Cc", "Cf", "Cs", "Co", "Zl", "Zp") or point & 0xFFFE == 0xFFFE
        if acts and char not in "\u200c\u200d":
            assert char in hidden, hex(point)
    shown = {char for char in hidden if unicodedata.category(char)[0] not in "CZ"}
    assert shown == set()
