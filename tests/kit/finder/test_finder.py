"""What is found, where it stands and why: places by hand, shares by hand, order by a plain sort."""

import math
import random

import pytest

from evidence_kit.errors import EvidenceError
from evidence_kit.finder import finder as finder_module
from evidence_kit.finder.errors import FinderError
from evidence_kit.finder.finder import MOST_QUESTION, Finder
from evidence_kit.finder.passages import cut_document
from evidence_kit.finder.stored import build_stored, open_stored
from evidence_kit.sources.documents import Document
from evidence_kit.sources.given import documents_given
from evidence_kit.text.analysis import words_han

METHODS = ("bm25", "tfidf_log", "tfidf_course")


def document(source_id, text, body_start=0):
    return Document(source_id, f"title of {source_id}", "1", text, body_start, "plain_text", "1")


def documents(**texts):
    return [document(name, text) for name, text in texts.items()]


def finder(method="bm25", **texts):
    return Finder.of(documents(**texts), method)


def ids(findings):
    return [finding.passage.source_id for finding in findings.findings]


def test_place_of_a_finding_in_three_units():
    (finding,) = finder(a="e\u0301😀。\r\n甲乙😀丙\n").find("乙").findings
    assert finding.passage.quote == "甲乙😀丙"
    # Before it stand e, the accent, the emoji, the full stop, CR and LF.
    assert finding.passage.spans == {"codepoint": (6, 10), "utf16": (7, 12), "utf8": (12, 25)}
    assert [term.spans for term in finding.terms] == [((1, 2),)]


def test_passage_leaves_off_the_line_ends_around_it_and_blank_ones_are_none():
    assert cut_document(document("a", "\n\n甲 \r\n\r\n 乙\n\n")) == [(2, 4), (8, 10)]
    assert cut_document(document("a", "\n\r\n")) == []


def test_long_line_is_cut_into_passages_that_join_to_it():
    text = "甲" * 499 + "e\u0301" + "乙" * 600
    spans = cut_document(document("a", text))
    assert spans == [(0, 499), (499, 999), (999, 1101)]


@pytest.mark.parametrize("method", METHODS)
def test_title_is_not_found_though_it_stands_in_the_stored_text(method):
    where = [document("a", "\n\n# 标题就是标题\nplain body\n", 11), document("b", "plain other")]
    assert Finder.of(where, method).find("标题就是标题").findings == ()
    (finding,) = Finder.of(where, method).find("body").findings
    assert finding.passage.spans["codepoint"] == (11, 21)


def test_bm25_shares_of_two_words_by_hand():
    (finding, other) = finder(a="cat dog", b="cat cat fish", c="bird").find("dog cat cat").findings
    # N 3, mean length 2. dog: df 1, idf ln(1 + 2.5/1.5); cat: df 2, idf ln(1 + 1.5/2.5); both tf 1 and K 1.2.
    dog, cat = math.log(8 / 3), math.log(8 / 5)
    assert [term.text for term in finding.terms] == ["dog", "cat"]
    assert [term.share for term in finding.terms] == pytest.approx([dog / (dog + cat), cat / (dog + cat)])
    assert finding.score == pytest.approx(dog + cat)
    # K = 1.2 (0.25 + 0.75 * 3/2) = 1.65
    assert other.score == pytest.approx(cat * 2 * 2.2 / (2 + 1.65))
    assert [(term.text, term.share, term.spans) for term in other.terms] == [("cat", 1.0, ((0, 3), (4, 7)))]


def test_cosine_shares_of_two_words_by_hand():
    (finding, _) = finder("tfidf_log", a="cat dog", b="cat cat fish", c="bird").find("dog cat cat").findings
    # idf = ln((N + 1)/(df + 1)) + 1; the question counts cat twice: 1 + ln 2.
    dog = (math.log(4 / 2) + 1) ** 2
    cat = (1 + math.log(2)) * (math.log(4 / 3) + 1) ** 2
    assert {term.text: term.share for term in finding.terms} == pytest.approx(
        {"dog": dog / (dog + cat), "cat": cat / (dog + cat)}
    )


def test_share_grows_with_how_often_a_term_stands_in_the_passage():
    # One passage: both words have one idf, and its length is the mean. K 1.2: tf 2 counts 4.4/3.2, tf 1 one.
    (finding,) = finder(a="cat cat dog").find("dog cat").findings
    twice = 2 * 2.2 / (2 + 1.2)
    assert {term.text: term.share for term in finding.terms} == pytest.approx(
        {"cat": twice / (twice + 1), "dog": 1 / (twice + 1)}
    )


@pytest.mark.parametrize("method", METHODS)
def test_shares_add_up_to_one_and_every_span_holds_its_term(method):
    searched = finder(method, a="Straße 今天有课。", b="明天没有课，今天有。", c="课程")
    found = searched.find("今天 课 STRASSE 有课")
    assert found.findings
    for finding in found.findings:
        assert math.fsum(term.share for term in finding.terms) == pytest.approx(1)
        for term in finding.terms:
            pieces = {finding.passage.quote[start:end] for start, end in term.spans}
            assert {"".join(filter(str.isalnum, piece.lower())) for piece in pieces} == {term.text}


def test_hit_on_a_single_character_is_weak_and_one_on_a_pair_is_not():
    found = finder(a="借期为七天", b="咖啡很香", c="火花").find("今天火星咖啡价格")
    assert {finding.passage.source_id: finding.weak for finding in found.findings} == {
        "a": True,
        "b": False,
        "c": True,
    }


@pytest.mark.parametrize("method", METHODS)
def test_shares_are_the_same_bits_plain_in_arrays_and_stored(method, tmp_path, monkeypatch):
    pytest.importorskip("numpy")
    draw = random.Random(3)
    letters = "一二三四五六ab ，か\uff9e"
    given = [
        document(f"d{n}", "".join(draw.choices(letters, k=draw.randrange(1, 60))) + "一") for n in range(300)
    ]
    plain = Finder.of(given, method)
    build_stored(given, {}, tmp_path / "ix", method, lambda done, whole: None)
    monkeypatch.setattr("evidence_kit.index.index.PLAIN_PASSAGES", 1)
    arrays = Finder.of(given, method)
    stored, _ = open_stored(tmp_path / "ix")
    for _ in range(20):
        question = "一" + "".join(draw.choices(letters, k=8))
        found = plain.find(question, 20)
        assert found.findings
        assert arrays.find(question, 20) == found == stored.find(question, 20)


@pytest.mark.parametrize(("query", "text", "weak"), [("のは", "山の上", True), ("a b", "a c", False)])
def test_weakness_is_of_east_asian_characters_not_of_letters(query, text, weak):
    (finding,) = finder(a=text).find(query).findings
    assert finding.weak is weak


def test_character_ngrams_are_never_single():
    (finding,) = finder("tfidf_course", a="七天").find("七天").findings
    assert not finding.weak


def test_no_weak_looks_below_the_weak_ones_and_ranks_anew():
    # 山 stands alone in six short passages and outranks the pair in two long ones; the others hold neither.
    texts = {f"w{n}": "山" for n in range(6)} | {f"x{n:02}": "丁" * 9 for n in range(30)}
    everything = finder(**texts, long="今天" + "乙" * 400, longer="今天" + "丙" * 450)
    assert ids(everything.find("山，今天", 2)) == ["w0", "w1"]
    found = everything.find("山，今天", 2, no_weak=True)
    assert ids(found) == ["long", "longer"]
    assert [finding.rank for finding in found.findings] == [1, 2]
    assert found.weak_left_out == 6


def test_weak_findings_passed_over_are_counted_down_to_the_last_one_shown():
    texts = {"a": "今天", "b": "今" + "乙" * 400, "c": "今" + "丙" * 400}
    found = finder(**texts).find("今天", 1, no_weak=True)
    assert (ids(found), found.weak_left_out) == (["a"], 0)
    found = finder(**texts).find("今天", 2, no_weak=True)
    assert (ids(found), found.weak_left_out) == (["a"], 2)


@pytest.mark.parametrize("method", METHODS)
def test_equal_scores_go_by_code_points_of_the_id_then_by_start(method):
    texts = {"😀": "甲乙\n甲乙", "乙": "甲乙", "b": "甲乙", "Z": "甲乙", "a10": "甲乙", "a9": "甲乙"}
    found = finder(method, **texts).find("甲乙", 20).findings
    places = [(finding.passage.source_id, finding.passage.spans["codepoint"].start) for finding in found]
    assert places == [("Z", 0), ("a10", 0), ("a9", 0), ("b", 0), ("乙", 0), ("😀", 0), ("😀", 3)]


def test_order_in_which_documents_are_given_changes_nothing():
    given = documents(b="甲乙 丙", a="乙丙 甲", c="丙")
    assert Finder.of(given).find("甲 乙丙") == Finder.of(given[::-1]).find("甲 乙丙")


def test_seed_score_of_one_character_follows_from_lengths_alone():
    # 14 passages of 1885 terms in all; the one that holds 天, once, has 280: 1.597193.
    texts = {f"p{n}": han(123 + (n < 6), 0x8000 + 200 * n) for n in range(13)}
    texts["seed"] = "天 " + han(279, 0x4E00)
    assert sum(len(words_han.texts(text)) for text in texts.values()) == 1885
    (finding,) = finder(**texts).find("今天火星咖啡价格").findings
    assert round(finding.score, 6) == 1.597193
    assert finding.weak


def han(terms, first):
    """A text of so many terms: a run of n characters gives 2n - 1, a letter beside it one more."""
    run = "".join(chr(first + i) for i in range((terms + 1) // 2))
    return run if terms % 2 else run + " x"


@pytest.mark.parametrize("method", METHODS)
def test_question_without_a_term_or_without_a_match_finds_nothing(method):
    assert finder(method, a="甲乙").find("？！").findings == ()
    assert finder(method, a="甲乙").find("丙丁").findings == ()


@pytest.mark.parametrize("method", METHODS)
def test_question_of_ten_thousand_characters_is_answered_as_its_terms_are(method):
    texts = {"a": "甲乙丙", "b": "丁"}
    long = "，".join(["甲乙"] * 3333) + "。"
    found = finder(method, **texts).find(long)
    assert len(long) >= 9999
    assert ids(found) == ["a"]
    if method == "bm25":  # each term of the question counts once
        assert found.findings[0].score == finder(**texts).find("甲乙").findings[0].score


@pytest.mark.parametrize(
    ("query", "top", "said"),
    [
        ("", 5, "空"),
        (" \n", 5, "空"),
        ("甲\udcff", 5, "第 2 个字符"),
        ("甲", 0, "1 到 20"),
        ("甲", 21, "1 到 20"),
        ("甲", True, "1 到 20"),
    ],
)
def test_question_that_cannot_be_asked_is_refused(query, top, said):
    with pytest.raises(EvidenceError, match=said) as caught:
        finder(a="甲").find(query, top)
    assert caught.value.exit_code == 2


def test_unknown_method_and_sources_without_a_body_are_refused():
    with pytest.raises(EvidenceError, match="bm25、tfidf_log、tfidf_course"):
        finder("semantic", a="甲")
    for given in ([], documents(a="", b="\n\n"), [document("a", "# 题", 3)]):
        with pytest.raises(EvidenceError, match="没有可检索的正文"):
            Finder.of(given)


def test_strange_characters_are_kept_in_the_quote():
    (finding,) = finder(a="\0甲\uffff\u202e\u05d0😀").find("甲").findings
    assert finding.passage.quote == "\0甲\uffff\u202e\u05d0😀"


def test_a_question_is_as_long_as_the_limit_and_no_longer():
    found = Finder.of(documents_given([{"text": "山"}], "资料"))
    assert found.find("山" * MOST_QUESTION).findings
    with pytest.raises(FinderError, match="最多 10000 个"):
        found.find("山" * (MOST_QUESTION + 1))


def test_weak_findings_that_are_left_out_are_counted_and_not_explained(monkeypatch):
    texts = ["的"] * 98 + ["今天"] * 2
    found = Finder.of(documents_given([{"text": text} for text in texts], "资料"))
    explained = []
    explain = finder_module.explain
    monkeypatch.setattr(finder_module, "explain", lambda *args: explained.append(args) or explain(*args))
    findings = found.find("今天的", 5, no_weak=True)
    assert (len(findings.findings), findings.weak_left_out, len(explained)) == (2, 98, 2)
