"""Where a piece stands in a text: every place, and without looking at the same text again and again."""

from hypothesis import given
from hypothesis import strategies as st

from evidence_kit.anchors.agreement import Remembered, between_sides
from evidence_kit.anchors.fragment import Fragment

FEW = st.text("ab", max_size=60)


class Searched(str):
    """A text that counts how often it is searched."""

    searches = 0

    def find(self, *args):
        Searched.searches += 1
        return str.find(self, *args)


@given(FEW, st.text("ab", min_size=1, max_size=12))
def test_the_places_are_those_of_looking_everywhere(text, piece):
    everywhere = [at for at in range(len(text) - len(piece) + 1) if text[at : at + len(piece)] == piece]
    assert Fragment.of(piece).places(text) == everywhere
    assert Fragment.of(piece, withheld=True).places(text) == everywhere


def test_a_piece_that_overlaps_itself_thousands_of_times_is_found_in_a_few_searches():
    for unit in ("a", "ab", "aab"):
        Searched.searches = 0
        text = Searched(unit * 4000 + "。" + unit * 3000)
        assert Fragment.of(unit * 2000).places(text) == [
            *range(0, 2000 * len(unit) + 1, len(unit)),
            *range(4000 * len(unit) + 1, 5000 * len(unit) + 2, len(unit)),
        ]
        assert Searched.searches <= 8


def remembered(before, quote, after):
    return Remembered(Fragment.of(quote), Fragment.of(before), Fragment.of(after))


@given(FEW, st.text("ab", min_size=4, max_size=6), st.text("ab", min_size=4, max_size=6))
def test_what_two_sides_enclose_is_that_of_looking_everywhere(text, before, after):
    most = 2 * 3
    everywhere = []
    for left in range(len(text)):
        start = left + len(before)
        ends = [end for end in range(start + 1, start + most + 1) if text[end : end + len(after)] == after]
        if text[left:start] == before and ends:
            everywhere.append((start, ends[0]))
    assert between_sides(text, remembered(before, "xxx", after)) == everywhere


def test_a_side_that_is_nowhere_is_looked_for_once():
    Searched.searches = 0
    text = Searched("a" * 5000)
    assert between_sides(text, remembered("aaaa", "b" * 2000, "zzzz")) == []
    assert Searched.searches <= 5
