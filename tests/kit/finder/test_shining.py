"""Quotes in pieces that shine by their terms' share."""

import math

from hypothesis import given
from hypothesis import strategies as st

from evidence_kit.finder.explanation import MatchedTerm
from evidence_kit.finder.passages import Span
from evidence_kit.finder.shining import LEVELS, Piece, shine


def term(share, *spans):
    return MatchedTerm("x", tuple(Span(*span) for span in spans), share, False)


def test_levels_follow_the_sums_of_shares_by_hand():
    # 甲 0.1, 乙 0.1 + 0.3 = 0.4 (the greatest), 丙 0.3, 丁 nothing: of four steps 1, 4, 3, 0.
    pieces = shine("甲乙丙丁", [term(0.1, (0, 2)), term(0.3, (1, 3))])
    assert pieces == (Piece("甲", 1), Piece("乙", 4), Piece("丙", 3), Piece("丁", 0))


def test_a_term_that_stands_twice_over_a_character_weighs_once():
    assert shine("aaa", [term(1.0, (0, 2), (1, 3))]) == (Piece("aaa", LEVELS),)


def test_without_terms_nothing_shines():
    assert shine("甲乙", []) == (Piece("甲乙", 0),)
    assert shine("", []) == ()


@given(st.text(max_size=20), st.lists(st.tuples(st.floats(0.001, 1), st.integers(0, 20), st.integers(1, 6))))
def test_the_pieces_joined_are_the_quote(quote, found):
    terms = [term(share, (start, min(start + size, len(quote)))) for share, start, size in found]
    terms = [t for t in terms if t.spans[0].start < t.spans[0].end]
    pieces = shine(quote, terms)
    assert "".join(piece.text for piece in pieces) == quote
    assert all(0 <= piece.level <= LEVELS for piece in pieces)
    covered = {point for t in terms for span in t.spans for point in range(*span)}
    assert sum(len(piece.text) for piece in pieces if piece.level) == len(covered)
    assert not terms or math.isclose(max(piece.level for piece in pieces), LEVELS)
