"""Cuts that lose nothing and split no grapheme."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from text_strategies import borders, texts

from evidence_kit.text.passages import Passage, PassageError, count_windows, cut_lines, cut_windows


def utf16(text):
    return len(text.encode("utf-16-le")) // 2


def spans(passages):
    return [(p.start, p.end) for p in passages]


class TestCutLines:
    def test_a_cluster_over_the_limit_moves_the_cut_back(self):
        # 502 units whose last cluster is units 499 to 502.
        text = "a" * 499 + "e\u0301\u0302"
        assert utf16(text) == 502
        assert cut_lines(text) == [Passage(0, 499, "a" * 499), Passage(499, 502, "e\u0301\u0302")]

    def test_the_limit_counts_utf16_units(self):
        text = "😀" * 251
        assert spans(cut_lines(text)) == [(0, 250), (250, 251)]

    def test_a_surrogate_pair_over_the_limit_moves_the_cut_back(self):
        assert spans(cut_lines("a" + "😀" * 3, limit=4)) == [(0, 2), (2, 4)]

    def test_a_line_of_exactly_the_limit_is_one_passage(self):
        assert spans(cut_lines("甲" * 500)) == [(0, 500)]

    def test_lines_are_cut_first_and_keep_their_ends(self):
        assert [p.text for p in cut_lines("甲\r\n\r\n乙\r丙\n")] == ["甲\r\n\r\n", "乙\r", "丙\n"]

    def test_leading_line_ends_stay_with_the_first_line(self):
        assert [p.text for p in cut_lines("\n\n甲\n乙")] == ["\n\n甲\n", "乙"]

    def test_a_grapheme_over_the_limit_is_a_flagged_passage(self):
        family = "👩\u200d👩\u200d👧"
        assert utf16(family) == 8
        assert cut_lines(f"甲{family}乙", limit=5) == [
            Passage(0, 1, "甲"),
            Passage(1, 6, family, oversized=True),
            Passage(6, 7, "乙"),
        ]

    @pytest.mark.parametrize("limit", [0, -1, 1.5, True, None])
    def test_an_impossible_limit_is_refused(self, limit):
        with pytest.raises(PassageError, match="limit"):
            cut_lines("甲", limit)

    @given(texts, st.integers(1, 12))
    def test_passages_join_to_the_text_within_the_limit(self, text, limit):
        passages = cut_lines(text, limit)
        assert "".join(p.text for p in passages) == text
        assert [p.start for p in passages] == [0, *(p.end for p in passages)][:-1] if passages else text == ""
        assert {p.end for p in passages} <= set(borders(text))
        for passage in passages:
            assert text[passage.start : passage.end] == passage.text
            assert passage.oversized == (utf16(passage.text) > limit)
            if passage.oversized:
                assert borders(passage.text) == [0, len(passage.text)]

    @given(texts, st.integers(1, 12))
    def test_no_cut_is_earlier_than_it_must_be(self, text, limit):
        for passage in cut_lines(text, limit):
            following = [b for b in borders(text) if b > passage.end]
            if following and text[passage.end - 1] not in "\r\n":
                assert utf16(text[passage.start : following[0]]) > limit


class TestCutWindows:
    def test_windows_of_plain_text_step_by_window_minus_overlap(self):
        assert spans(cut_windows("甲" * 25, 10, 3)) == [(0, 10), (7, 17), (14, 24), (21, 25)]

    def test_the_last_window_ends_the_text_once(self):
        assert spans(cut_windows("甲" * 20, 10, 5)) == [(0, 10), (5, 15), (10, 20)]

    def test_both_ends_move_back_to_a_grapheme_border(self):
        # abc | e ́ | def: the first window would end, the second would begin, inside the letter.
        assert spans(cut_windows("abce\u0301def", 4, 0)) == [(0, 3), (3, 7), (7, 8)]
        assert spans(cut_windows("abce\u0301def", 6, 2)) == [(0, 6), (3, 8)]

    def test_a_grapheme_over_the_window_is_a_flagged_passage(self):
        assert cut_windows("甲e\u0301\u0302乙", 2, 1) == [
            Passage(0, 1, "甲"),
            Passage(1, 4, "e\u0301\u0302", oversized=True),
            Passage(4, 5, "乙"),
        ]

    def test_an_empty_text_has_no_passages(self):
        assert cut_windows("", 10) == cut_lines("") == []

    @pytest.mark.parametrize(
        ("window", "overlap", "name"),
        [
            (0, 0, "window"),
            (-5, 0, "window"),
            (2.0, 0, "window"),
            (10, 10, "overlap"),
            (10, 11, "overlap"),
            (10, -1, "overlap"),
        ],
    )
    def test_impossible_parameters_are_refused(self, window, overlap, name):
        with pytest.raises(PassageError, match=name):
            cut_windows("甲", window, overlap)

    @given(texts, st.integers(1, 12))
    def test_windows_without_overlap_join_to_the_text(self, text, window):
        assert "".join(p.text for p in cut_windows(text, window)) == text

    @given(texts, st.integers(1, 12), st.data())
    def test_windows_cover_the_text_and_split_no_grapheme(self, text, window, data):
        passages = cut_windows(text, window, data.draw(st.integers(0, window - 1)))
        ends = set(borders(text))
        covered = 0
        for passage in passages:
            assert passage.start in ends and passage.end in ends
            assert passage.start <= covered < passage.end
            assert text[passage.start : passage.end] == passage.text
            assert passage.oversized == (len(passage.text) > window)
            covered = passage.end
        assert covered == len(text)
        starts = [p.start for p in passages]
        assert starts == sorted(set(starts))


def test_a_passage_whose_text_does_not_fit_its_span_is_refused():
    for start, end, text in [(0, 2, "甲"), (3, 3, ""), (-1, 0, "甲")]:
        with pytest.raises(PassageError):
            Passage(start, end, text)


@given(texts, st.integers(1, 12), st.integers(0, 11))
def test_windows_are_counted_as_they_are_cut(text, window, overlap):
    overlap = min(overlap, window - 1)
    assert count_windows(text, window, overlap) == len(cut_windows(text, window, overlap))
