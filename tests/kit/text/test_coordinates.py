"""Positions in four units: the worked example, hand-counted values, refusals and round trips."""

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st
from text_strategies import borders, clusters, texts

from evidence_kit.errors import EvidenceError
from evidence_kit.text.coordinates import (
    UNITS,
    LoneSurrogateError,
    PositionError,
    Positions,
    TextIndex,
    UnitError,
)

TEXT = "说明😀：仅限室内。"
QUOTE = "仅限室内"


class TestWorkedExample:
    """The published experiment: the same quote in three units, and what goes wrong between them."""

    def test_the_quote_has_three_addresses(self):
        index = TextIndex(TEXT)
        start = TEXT.index(QUOTE)
        ends = {u: tuple(index.convert(p, "codepoint", u) for p in (start, start + 4)) for u in UNITS}
        assert ends == {"codepoint": (4, 8), "utf16": (5, 9), "utf8": (13, 25), "grapheme": (4, 8)}

    def test_utf16_units_taken_as_code_points_select_the_wrong_text(self):
        assert TEXT[5:9] == "限室内。"

    @pytest.mark.parametrize(
        ("unit", "start", "end"), [("utf16", 5, 9), ("utf8", 13, 25), ("codepoint", 4, 8)]
    )
    def test_every_unit_converted_selects_the_quote(self, unit, start, end):
        index = TextIndex(TEXT)
        assert TEXT[index.convert(start, unit, "codepoint") : index.convert(end, unit, "codepoint")] == QUOTE

    def test_an_old_position_in_a_new_version_is_valid_and_wrong(self):
        changed = "新版：" + TEXT
        assert TextIndex(changed).is_border(4, "codepoint")
        assert changed[4:8] == "明😀：仅"

    def test_a_quote_may_stand_twice_where_its_context_stands_once(self):
        repeated = "甲型：仅限室内。乙型：仅限室内。"
        assert repeated.count(QUOTE) == 2
        assert repeated.count("乙型：" + QUOTE + "。") == 1


def test_positions_count_a_mixed_text_in_all_units():
    # é as two code points, a flag of two, CR LF: 甲 | e ́ | 🇨 🇳 | CR LF | 乙
    index = TextIndex("甲e\u0301🇨🇳\r\n乙")
    rows = [index.positions(p, "codepoint") for p in range(9)]
    assert rows == [
        Positions(0, 0, 0, 0, False),
        Positions(1, 1, 3, 1, False),
        Positions(2, 2, 4, 1, True),
        Positions(3, 3, 6, 2, False),
        Positions(4, 5, 10, 2, True),
        Positions(5, 7, 14, 3, False),
        Positions(6, 8, 15, 3, True),
        Positions(7, 9, 16, 4, False),
        Positions(8, 10, 19, 5, False),
    ]
    assert {unit: index.length(unit) for unit in UNITS} == {
        "codepoint": 8, "utf16": 10, "utf8": 19, "grapheme": 5,
    }  # fmt: skip
    assert index.positions(16, "utf8") == rows[7]
    assert index.positions(3, "grapheme") == rows[5]


def test_ascii_differs_only_at_line_ends():
    index = TextIndex("a\r\nb")
    assert [index.convert(p, "utf8", "utf16") for p in range(5)] == [0, 1, 2, 3, 4]
    assert [index.convert(p, "codepoint", "grapheme") for p in range(5)] == [0, 1, 1, 2, 3]
    assert [index.convert(p, "grapheme", "codepoint") for p in range(4)] == [0, 1, 3, 4]
    assert [index.splits_grapheme(p) for p in range(5)] == [False, False, True, False, False]
    assert (index.grapheme_floor(2), index.grapheme_ceil(2)) == (1, 3)


def test_a_floor_and_a_ceil_stand_around_a_split_grapheme():
    index = TextIndex("甲👩\u200d👧乙")
    assert [index.grapheme_floor(p) for p in range(6)] == [0, 1, 1, 1, 4, 5]
    assert [index.grapheme_ceil(p) for p in range(6)] == [0, 1, 4, 4, 4, 5]


@given(texts)
def test_floor_and_ceil_do_not_depend_on_what_was_asked_before(text):
    fresh, segmented = TextIndex(text), TextIndex(text)
    segmented.length("grapheme")
    for position in range(len(text) + 1):
        assert fresh.grapheme_floor(position) == segmented.grapheme_floor(position)
        assert fresh.grapheme_ceil(position) == segmented.grapheme_ceil(position)


def test_azure_names_convert_like_ours():
    index = TextIndex(TEXT)
    assert index.convert(5, "utf16CodeUnit", "unicodeCodePoint") == 4
    assert index.convert(4, "textElements", "utf8") == 13


def test_block_borders_are_no_border_of_the_answer():
    # Longer than several blocks, with an astral character on each side of the 512th and 1024th code point.
    text = "甲" * 511 + "😀😀" + "b" * 510 + "𠀀𠀀" + "丙" * 600
    index = TextIndex(text)
    for position in (0, 510, 511, 512, 513, 514, 1022, 1023, 1024, 1025, 1026, len(text)):
        utf16 = len(text[:position].encode("utf-16-le")) // 2
        utf8 = len(text[:position].encode())
        assert index.positions(position, "codepoint") == Positions(position, utf16, utf8, position, False)
        assert index.convert(utf16, "utf16", "codepoint") == position
        assert index.convert(utf8, "utf8", "codepoint") == position


@pytest.mark.parametrize("unit", UNITS)
def test_an_empty_text_has_one_position(unit):
    index = TextIndex("")
    assert index.length(unit) == 0
    assert index.positions(0, unit) == Positions(0, 0, 0, 0, False)
    with pytest.raises(PositionError):
        index.convert(1, unit, "codepoint")


class TestRefusals:
    @pytest.mark.parametrize(
        ("unit", "position", "before", "after"),
        [
            ("utf16", 3, 2, 4),  # between the surrogates of 😀
            ("utf8", 7, 6, 10),  # 😀 is bytes 6 to 10
            ("utf8", 9, 6, 10),
            ("utf8", 1, 0, 3),
            ("codepoint", 10, 9, 9),
            ("codepoint", -1, 0, 0),
            ("utf16", 11, 10, 10),
            ("utf8", 29, 28, 28),
            ("grapheme", 10, 9, 9),
        ],
    )
    def test_a_position_that_is_no_border_names_the_nearest(self, unit, position, before, after):
        index = TextIndex(TEXT)
        with pytest.raises(PositionError) as caught:
            index.convert(position, unit, "codepoint")
        error = caught.value
        assert isinstance(error, EvidenceError)
        assert (error.before, error.after) == (before, after)
        assert unit in error.message and str(position) in error.message
        assert str(before) in error.message and str(after) in error.message
        assert "\n" not in error.message
        assert not index.is_border(position, unit)

    @pytest.mark.parametrize("position", [1.0, "1", None, True])
    def test_what_is_no_integer_is_no_position(self, position):
        with pytest.raises(PositionError, match="不是整数"):
            TextIndex(TEXT).convert(position, "codepoint", "utf8")

    def test_the_unit_converted_to_itself_is_checked_too(self):
        with pytest.raises(PositionError):
            TextIndex(TEXT).convert(3, "utf16", "utf16")

    def test_grapheme_questions_out_of_range_are_refused(self):
        for question in (TextIndex.splits_grapheme, TextIndex.grapheme_floor, TextIndex.grapheme_ceil):
            with pytest.raises(PositionError):
                question(TextIndex("甲"), 2)

    def test_an_unknown_unit_is_refused(self):
        with pytest.raises(UnitError):
            TextIndex(TEXT).convert(0, "codepoint", "chars")

    @pytest.mark.parametrize(
        ("text", "offset"), [("甲乙\ud83d", 2), ("\ude00😀", 0), ("a" * 600 + "\ud800", 600)]
    )
    def test_a_lone_surrogate_is_refused_at_its_offset(self, text, offset):
        with pytest.raises(LoneSurrogateError) as caught:
            TextIndex(text)
        assert caught.value.offset == offset
        assert str(offset) in caught.value.message and "U+D" in caught.value.message


def in_unit(text, codepoint, unit):
    """Return `codepoint` counted in `unit` by encoding the text before it: slow and obvious."""
    head = text[:codepoint]
    if unit == "grapheme":
        return sum(1 for border in borders(text)[1:] if border <= codepoint)
    return {"codepoint": len(head), "utf16": len(head.encode("utf-16-le")) // 2, "utf8": len(head.encode())}[
        unit
    ]


@given(texts)
def test_every_position_agrees_with_encoding_the_text_before_it(text):
    index = TextIndex(text)
    for position, unit in product(range(len(text) + 1), UNITS):
        assert index.convert(position, "codepoint", unit) == in_unit(text, position, unit)


@given(texts)
def test_every_pair_of_units_round_trips_on_grapheme_borders(text):
    index = TextIndex(text)
    for border, (source, target) in product(borders(text), product(UNITS, UNITS)):
        there = index.convert(in_unit(text, border, source), source, target)
        assert there == in_unit(text, border, target)
        assert index.convert(there, target, source) == in_unit(text, border, source)


@given(texts)
def test_exactly_the_encodable_positions_are_borders(text):
    index = TextIndex(text)
    for unit in ("utf16", "utf8"):
        valid = {in_unit(text, p, unit) for p in range(len(text) + 1)}
        for position in range(-1, index.length(unit) + 2):
            assert index.is_border(position, unit) == (position in valid)


@given(texts)
def test_splits_floor_and_ceil_agree_with_the_clusters(text):
    index, ends = TextIndex(text), borders(text)
    assert index.length("grapheme") == len(clusters(text))
    for position in range(len(text) + 1):
        assert index.splits_grapheme(position) == (position not in ends)
        assert index.grapheme_floor(position) == max(b for b in ends if b <= position)
        assert index.grapheme_ceil(position) == min(b for b in ends if b >= position)


@given(st.text("甲😀a\u0301\r\n", min_size=500, max_size=1200))
def test_long_texts_round_trip_over_block_borders(text):
    index = TextIndex(text)
    for position in range(0, len(text) + 1, 7):
        for unit in ("utf16", "utf8"):
            assert index.convert(in_unit(text, position, unit), unit, "codepoint") == position
