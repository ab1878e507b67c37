"""Terms and where they stand in the original."""

import unicodedata
from itertools import pairwise

import pytest
from hypothesis import given
from text_strategies import texts

from evidence_kit.text.analysis import AnalyzerError, Term, char_ngrams, parse_analyzer, words_han

BOTH = [char_ngrams(2, 3), words_han]


def shown(analyzer, text):
    return [(term.text, text[term.start : term.end]) for term in analyzer.terms(text)]


class TestCharNgrams:
    def test_all_pairs_then_all_triples(self):
        assert char_ngrams(2, 3).terms("甲乙丙丁") == [
            Term("甲乙", 0, 2),
            Term("乙丙", 1, 3),
            Term("丙丁", 2, 4),
            Term("甲乙丙", 0, 3),
            Term("乙丙丁", 1, 4),
        ]

    def test_a_dropped_character_stays_inside_the_span(self):
        assert shown(char_ngrams(2), "甲，乙 A+b") == [("甲乙", "甲，乙"), ("乙a", "乙 A"), ("ab", "A+b")]

    def test_a_letter_that_grows_is_covered_whole_by_each_part(self):
        assert char_ngrams(2).terms("İx") == [Term("i\u0307", 0, 1), Term("\u0307x", 0, 2)]

    @pytest.mark.parametrize("text", ["", "甲", "。！ \n", "甲。"])
    def test_a_text_shorter_than_the_size_gives_none(self, text):
        assert char_ngrams(2, 3).terms(text) == []

    def test_full_width_forms_and_numbers_stay_as_they_are(self):
        assert char_ngrams(2).texts("Ａ１²Ⅷ") == ["ａ１", "１²", "²ⅷ"]

    @pytest.mark.parametrize("sizes", [(), (0,), (3, 2), (2, 2), (1.5,), (True,), (-1,)])
    def test_impossible_sizes_are_refused(self, sizes):
        with pytest.raises(AnalyzerError, match="正整数"):
            char_ngrams(*sizes)

    @given(texts)
    def test_grams_are_those_of_the_definition(self, text):
        clean = "".join(c for c in text.lower() if unicodedata.category(c)[0] not in "PSZC")
        grams = [clean[i : i + n] for n in (2, 3) for i in range(len(clean)) if i + n <= len(clean)]
        assert char_ngrams(2, 3).texts(text) == grams

    @given(texts)
    def test_grams_equal_those_of_the_course_core(self, text):
        core = pytest.importorskip("evidence_assistant", reason="the course core is not on the path")
        assert char_ngrams(2, 3).texts(text) == core.character_ngrams(text)


class TestWordsHan:
    def test_each_character_and_each_adjacent_pair(self):
        assert words_han.terms("仅限室内") == [
            Term("仅", 0, 1),
            Term("仅限", 0, 2),
            Term("限", 1, 2),
            Term("限室", 1, 3),
            Term("室", 2, 3),
            Term("室内", 2, 4),
            Term("内", 3, 4),
        ]

    def test_words_numbers_and_underscore_stay_whole(self):
        assert words_han.texts("Router_v2 第3章 don't") == ["router_v2", "第", "3", "章", "don", "t"]

    def test_runs_do_not_pair_across_anything(self):
        assert words_han.texts("甲，乙a丙") == ["甲", "乙", "a", "丙"]

    @pytest.mark.parametrize(
        ("text", "characters"),
        [
            ("コーヒー", ["コ", "ー", "ヒ", "ー"]),
            ("人々", ["人", "々"]),
            ("二〇二四", ["二", "〇", "二", "四"]),
            ("〆切", ["〆", "切"]),
            ("ｶﾞｽ", ["ｶﾞ", "ｽ"]),
            ("한글", ["한", "글"]),
            ("ひらカタ", ["ひ", "ら", "カ", "タ"]),
            ("⼈⺠", ["⼈", "⺠"]),  # radicals, as text extracted from a PDF often has them
            ("葛\U000e0100城", ["葛\U000e0100", "城"]),
            ("\U00020000中", ["\U00020000", "中"]),
            ("カ\u309aキ", ["カ\u309a", "キ"]),  # no composed form exists
        ],
    )
    def test_what_is_a_character_of_a_run(self, text, characters):
        terms = words_han.texts(text)
        assert terms[::2] == characters
        assert terms[1::2] == [a + b for a, b in pairwise(characters)]

    def test_a_voicing_mark_composes_and_maps_back(self):
        assert words_han.terms("か\u3099く") == [Term("が", 0, 2), Term("がく", 0, 3), Term("く", 2, 3)]

    def test_conjoining_jamo_compose_to_a_syllable(self):
        assert words_han.terms("\u1112\u1161\u11ab") == [Term("한", 0, 3)]

    def test_a_mark_after_a_latin_letter_is_part_of_its_word(self):
        assert words_han.texts("a\u302eb \u3099c") == ["a\u302eb", "\u3099c"]

    def test_composed_and_decomposed_letters_are_one_term(self):
        assert words_han.terms("Cafe\u0301!") == [Term("café", 0, 5)]
        assert words_han.terms("CAFÉ!") == [Term("café", 0, 4)]

    def test_composition_before_growth_maps_back_through_both(self):
        assert words_han.terms("aI\u0307 b") == [Term("ai\u0307", 0, 3), Term("b", 4, 5)]

    @pytest.mark.parametrize("text", ["", " \n", "。，!?", "😀"])
    def test_a_text_without_words_has_no_terms(self, text):
        assert words_han.terms(text) == []


@pytest.mark.parametrize("analyzer", BOTH, ids=lambda a: a.name)
class TestEveryAnalyzer:
    @given(text=texts)
    def test_texts_are_the_terms_alone(self, analyzer, text):
        assert analyzer.texts(text) == [term.text for term in analyzer.terms(text)]

    @given(text=texts)
    def test_a_span_lies_in_the_text_and_gives_its_term_again(self, analyzer, text):
        for term in analyzer.terms(text):
            assert 0 <= term.start < term.end <= len(text)
            folded = unicodedata.normalize("NFC", text[term.start : term.end]).lower()
            original = unicodedata.normalize("NFC", term.text).lower()
            kept = "".join(c for c in folded if unicodedata.category(c)[0] not in "PSZC")
            assert original in folded or original in unicodedata.normalize("NFC", kept)

    def test_the_name_makes_the_same_analyzer(self, analyzer):
        assert parse_analyzer(analyzer.name) == analyzer


def test_names():
    assert [analyzer.name for analyzer in BOTH] == ["char_ngrams(2,3)", "words_han"]


@pytest.mark.parametrize(
    "name", ["", "words", "char_ngrams()", "char_ngrams(3,2)", "char_ngrams(2, 3)", "char_ngrams(0)"]
)
def test_an_unknown_analyzer_is_refused(name):
    with pytest.raises(AnalyzerError):
        parse_analyzer(name)
