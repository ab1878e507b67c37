"""Texts side by side: the stretches are the text, and what is shared stands in all of them."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evidence_kit.text.differences import Stretch, compare

SMALL = st.lists(st.text(alphabet="甲乙丙，\r\n😀e\u0301", max_size=30), min_size=1, max_size=4)


def test_two_rules_differ_in_the_number_of_days():
    first, second = compare(["免费保管30天，逾期收费", "免费保管15天，逾期收费"])
    assert first == (Stretch("免费保管", True), Stretch("30", False), Stretch("天，逾期收费", True))
    assert second == (Stretch("免费保管", True), Stretch("15", False), Stretch("天，逾期收费", True))


def test_a_single_text_is_shared_as_a_whole():
    assert compare(["甲乙"]) == [(Stretch("甲乙", True),)]


def test_no_texts_and_an_empty_text():
    assert compare([]) == []
    assert compare(["", "甲乙"]) == [(), (Stretch("甲乙", False),)]


def test_a_lone_shared_character_is_chance():
    assert compare(["甲的乙", "丙的丁"])[0] == (Stretch("甲的乙", False),)


def test_in_three_texts_only_what_all_hold_is_shared():
    first, _, third = compare(["甲乙丙丁", "甲乙戊己", "甲乙丙丁"])
    assert first == third == (Stretch("甲乙", True), Stretch("丙丁", False))


@given(SMALL)
def test_the_stretches_joined_are_the_text_and_alternate(texts):
    for text, stretches in zip(texts, compare(texts), strict=True):
        assert "".join(stretch.text for stretch in stretches) == text
        assert all(a.shared != b.shared for a, b in itertools.pairwise(stretches))
        assert all(stretch.text for stretch in stretches)


@given(SMALL)
def test_what_is_shared_stands_in_every_other_text(texts):
    for n, stretches in enumerate(compare(texts)):
        for other in texts[:n] + texts[n + 1 :]:
            # Runs of two matches may be joined in one stretch: each character stands there all the same.
            assert all(char in other for s in stretches if s.shared for char in s.text)


@pytest.mark.parametrize("clause", ["保管期为三十天，", "a" * 40 + "，"])
def test_long_texts_are_compared_clause_by_clause(clause):
    text = clause * (2000 // len(clause)) + "甲。"
    other = clause * (2000 // len(clause)) + "乙。"
    first, _ = compare([text, other])
    assert first[-1] == Stretch("甲。", False)
    assert "".join(stretch.text for stretch in first) == text
