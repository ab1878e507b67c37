"""Composition and lowercase keep the way back."""

import unicodedata

from hypothesis import given
from text_strategies import joining_texts, texts

from evidence_kit.text.normalization import composed, lowercased
from evidence_kit.text.offset_map import MappedSpan


def test_dotted_capital_i_grows_and_maps_back_whole():
    lower, offsets = lowercased("Aİb")
    assert lower == "ai\u0307b"
    assert [offsets.to_original(i, i + 1) for i in range(4)] == [
        MappedSpan(0, 1, False),
        MappedSpan(1, 2, False),
        MappedSpan(1, 2, False),
        MappedSpan(2, 3, False),
    ]


def test_a_final_sigma_is_one_code_point_in_place():
    lower, offsets = lowercased("ΟΔΟΣ")
    assert lower == "οδος"
    assert offsets.is_identity


def test_dotted_capital_i_is_the_only_code_point_whose_lowercase_grows():
    grown = [c for c in range(0x110000) if not 0xD800 <= c < 0xE000 and len(chr(c).lower()) != 1]
    assert grown == [0x130]


def test_a_composed_letter_covers_both_code_points():
    clean, offsets = composed("甲e\u0301乙")
    assert clean == "甲é乙"
    assert offsets.to_original(1, 2) == MappedSpan(1, 3, False)
    assert offsets.to_original(2, 3) == MappedSpan(3, 4, False)


def test_reordered_marks_are_covered_whole():
    clean, offsets = composed("q\u0301\u0323")
    assert clean == "q\u0323\u0301"
    assert offsets.to_original(1, 2) == MappedSpan(0, 3, False)


@given(texts)
def test_composition_by_grapheme_is_nfc_of_the_whole(text):
    clean, offsets = composed(text)
    assert clean == unicodedata.normalize("NFC", text)
    assert (offsets.length, offsets.source_length) == (len(clean), len(text))


@given(joining_texts)
def test_composition_by_grapheme_is_nfc_where_everything_joins(text):
    assert composed(text)[0] == unicodedata.normalize("NFC", text)


def test_no_character_composes_across_a_grapheme_border():
    # Every canonical composition, decomposed between ideographs.
    pairs = [
        unicodedata.normalize("NFD", chr(c)) for c in range(0x110000) if unicodedata.decomposition(chr(c))
    ]
    text = "甲".join(pairs)
    assert composed(text)[0] == unicodedata.normalize("NFC", text)


@given(texts)
def test_lowercase_with_a_map_is_plain_lowercase(text):
    lower, offsets = lowercased(text)
    assert lower == text.lower()
    assert (offsets.length, offsets.source_length) == (len(lower), len(text))
