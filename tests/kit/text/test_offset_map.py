"""The way back from a changed text to its original."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evidence_kit.text.offset_map import (
    MappedSpan,
    OffsetMap,
    OffsetMapError,
    deleted,
    replaced,
    verbatim,
)

# "甲乙&amp;页眉\n丙丁" -> "甲乙&丙丁": an entity decoded (5 to 1), a header of three code points removed.
CLEANED = OffsetMap([verbatim(2), replaced(1, 5), deleted(3), verbatim(2)])


@pytest.mark.parametrize(
    ("span", "original"),
    [
        ((0, 2), MappedSpan(0, 2, False)),
        ((1, 2), MappedSpan(1, 2, False)),
        ((2, 3), MappedSpan(2, 7, False)),  # & is the whole entity
        ((1, 3), MappedSpan(1, 7, False)),
        ((3, 5), MappedSpan(10, 12, False)),  # the header before it is left out
        ((4, 5), MappedSpan(11, 12, False)),
        ((2, 4), MappedSpan(2, 11, True)),
        ((0, 5), MappedSpan(0, 12, True)),
        ((0, 0), MappedSpan(0, 0, False)),
        ((3, 3), MappedSpan(10, 10, False)),
        ((5, 5), MappedSpan(12, 12, False)),
    ],
)
def test_spans_of_a_cleaned_text(span, original):
    assert CLEANED.to_original(*span) == original
    assert (CLEANED.length, CLEANED.source_length) == (5, 12)


def test_part_of_a_replacement_covers_the_whole():
    grown = OffsetMap([verbatim(1), replaced(3, 2), verbatim(1)])
    assert grown.to_original(2, 3) == MappedSpan(1, 3, False)
    assert grown.to_original(3, 5) == MappedSpan(1, 4, False)
    assert grown.to_original(2, 2) == MappedSpan(1, 3, False)


def test_inserted_text_has_an_empty_original():
    joined = OffsetMap([verbatim(2), replaced(1, 0), verbatim(2)])
    assert joined.to_original(2, 3) == MappedSpan(2, 2, False)
    assert joined.to_original(1, 4) == MappedSpan(1, 3, False)


def test_a_deletion_at_either_end_is_no_seam():
    trimmed = OffsetMap([deleted(4), verbatim(3), deleted(2)])
    assert trimmed.to_original(0, 3) == MappedSpan(4, 7, False)
    assert trimmed.source_length == 9


@pytest.mark.parametrize("span", [(-1, 2), (0, 6), (3, 2)])
def test_a_span_outside_the_derived_text_is_refused(span):
    with pytest.raises(OffsetMapError, match="超出文本"):
        CLEANED.to_original(*span)


def test_impossible_pieces_are_refused():
    for piece in (lambda: verbatim(-1), lambda: replaced(-1, 2), lambda: deleted(-3)):
        with pytest.raises(OffsetMapError):
            piece()


def test_equal_changes_are_equal_maps():
    split = OffsetMap([verbatim(1), replaced(0, 0), verbatim(1), verbatim(0)])
    assert split == OffsetMap([verbatim(2)])
    assert split.is_identity and not CLEANED.is_identity


def test_composition_joins_replacements_that_overlap():
    # 0123456 --(12 becomes X)--> 0X3456 --(X3 becomes YZ)--> 0YZ456
    first = OffsetMap([verbatim(1), replaced(1, 2), verbatim(4)])
    second = OffsetMap([verbatim(1), replaced(2, 2), verbatim(3)])
    assert second.compose(first) == OffsetMap([verbatim(1), replaced(2, 3), verbatim(3)])


def test_composition_keeps_a_deletion_before_a_deletion():
    first = OffsetMap([verbatim(3), deleted(2), verbatim(3)])
    second = OffsetMap([verbatim(1), deleted(4), verbatim(1)])
    both = second.compose(first)
    assert both.to_original(0, 1) == MappedSpan(0, 1, False)
    assert both.to_original(1, 2) == MappedSpan(7, 8, False)
    assert both.to_original(0, 2) == MappedSpan(0, 8, True)


def test_a_seam_inside_a_joined_replacement_is_still_a_seam():
    first = OffsetMap([verbatim(1), deleted(2), verbatim(1)])
    second = OffsetMap([replaced(1, 2)])
    assert second.compose(first).to_original(0, 1) == MappedSpan(0, 4, True)


def test_maps_that_do_not_meet_are_refused():
    with pytest.raises(OffsetMapError, match="接不上"):
        CLEANED.compose(CLEANED)


pieces = st.one_of(
    st.builds(verbatim, st.integers(1, 4)),
    st.builds(deleted, st.integers(1, 3)),
    st.builds(replaced, st.integers(0, 3), st.integers(0, 3)),
)


@st.composite
def two_changes(draw):
    """Draw (later, earlier) with as many code points between them."""
    earlier = OffsetMap(draw(st.lists(pieces, max_size=6)))
    later, left = [], earlier.length
    for piece in draw(st.lists(pieces, max_size=8)):
        if piece.source_length <= left:
            later.append(piece)
            left -= piece.source_length
    return OffsetMap([*later, verbatim(left)]), earlier


@given(two_changes())
def test_a_composed_map_covers_what_two_steps_cover(changes):
    later, earlier = changes
    both = later.compose(earlier)
    assert (both.length, both.source_length) == (later.length, earlier.source_length)
    for start in range(both.length):
        for end in range(start + 1, both.length + 1):
            middle = later.to_original(start, end)
            if middle.start == middle.end:
                continue
            stepwise = earlier.to_original(middle.start, middle.end)
            direct = both.to_original(start, end)
            assert direct.start <= stepwise.start and stepwise.end <= direct.end
            assert direct.crosses_seam or not stepwise.crosses_seam
            # What only the step between held, and was left out again, is missing from nothing.
            for left_out in deletions(later, middle.start, middle.end):
                lost = earlier.to_original(*left_out)
                assert direct.crosses_seam or lost.start == lost.end


def deletions(change, start, end):
    """Where the source of a change was left out within [start, end)."""
    at = 0
    for piece in change.pieces:
        if piece.seam and start <= at and at + piece.source_length <= end:
            yield at, at + piece.source_length
        at += piece.source_length


def test_text_that_one_step_inserts_and_the_next_leaves_out_makes_no_seam():
    first = OffsetMap([verbatim(1), replaced(1, 0), verbatim(1)])
    second = OffsetMap([verbatim(1), deleted(1), verbatim(1)])
    assert second.to_original(0, 2) == MappedSpan(0, 3, True)
    assert second.compose(first).to_original(0, 2) == MappedSpan(0, 2, False)


@given(two_changes())
def test_composing_with_no_change_changes_nothing(changes):
    later, _ = changes
    assert later.compose(OffsetMap([verbatim(later.source_length)])) == later
    assert OffsetMap([verbatim(later.length)]).compose(later) == later
