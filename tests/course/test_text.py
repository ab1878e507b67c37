"""Normalisation and character n-grams, the ground of every score."""

from __future__ import annotations

import itertools
import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evidence_assistant import character_ngrams, normalize

EXACT = settings(derandomize=True, deadline=None, database=None, max_examples=150)
SCRIPTS = "".join(
    map(chr, [*range(0x600), *range(0x1E00, 0x2800), *range(0x3000, 0x3100), *range(0xFF00, 0xFFF0)])
)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("  客户，账号。\n", "客户账号"),
        ("USB-C 接口", "usbc接口"),
        ("9:00 至 18:00", "900至1800"),
        ("价格 ￥15＋3=18", "价格15318"),
        ("零\u200b宽\u2060和\ufeff控\x00制", "零宽和控制"),
        ("", ""),
        ("……！？", ""),
    ],
)
def test_punctuation_symbols_separators_and_controls_go(text: str, expected: str) -> None:
    assert normalize(text) == expected


def test_full_width_letters_and_digits_are_not_folded() -> None:
    assert normalize("ＡＢ１２㎡ﬁ") == "ａｂ１２ﬁ"


def test_combining_marks_stay() -> None:
    assert normalize("e\u0301") == "e\u0301"


@EXACT
@given(st.text(SCRIPTS + "中文字İΣςẞ𐐀\U000e0001\ud800"))
def test_normalised_text_holds_only_letters_marks_and_numbers(text: str) -> None:
    clean = normalize(text)
    assert {unicodedata.category(c)[0] for c in clean} <= {"L", "M", "N"}
    assert normalize(clean) == clean


@EXACT
@given(st.text(alphabet="甲乙丙a1，。 \n", max_size=12))
def test_ngrams_are_every_window_of_two_then_of_three(text: str) -> None:
    clean = [c for c in text if c not in "，。 \n"]
    pairs = [a + b for a, b in itertools.pairwise(clean)]
    triples = [ab + c for ab, c in zip(pairs, clean[2:], strict=False)]
    assert character_ngrams(text) == pairs + triples


def test_repeated_ngrams_are_kept_as_often_as_they_occur() -> None:
    assert character_ngrams("哈哈哈哈") == ["哈哈"] * 3 + ["哈哈哈"] * 2


def test_one_character_has_no_ngram() -> None:
    assert character_ngrams("甲") == []
    assert character_ngrams("甲乙") == ["甲乙"]
