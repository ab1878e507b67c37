"""Grapheme borders: the shortcuts against the plain pattern, the pattern against Unicode's test file."""

import os
import re
from importlib.metadata import version
from itertools import pairwise
from pathlib import Path

import pytest
import regex
from hypothesis import given
from text_strategies import borders, clusters, joining_texts, texts

from evidence_kit.text.coordinates import TextIndex
from evidence_kit.text.graphemes import cluster_around, grapheme_rules, inner_positions

DEBIAN_FILE = Path("/usr/share/unicode/auxiliary/GraphemeBreakTest.txt")


def own_clusters(text):
    inner = set(inner_positions(text))
    ends = [p for p in range(len(text) + 1) if p not in inner]
    return [text[a:b] for a, b in pairwise(ends)]


@pytest.mark.parametrize(
    "cluster",
    [
        pytest.param("\r\n", id="CRLF"),
        pytest.param("e\u0301", id="combining mark"),
        pytest.param("👩\u200d👩\u200d👧", id="ZWJ family"),
        pytest.param("❤\ufe0f", id="variation selector"),
        pytest.param("👍🏽", id="skin tone"),
        pytest.param("🇨🇳", id="flag"),
        pytest.param("ᄒ\u1161\u11ab", id="jamo"),
        pytest.param("\u0915\u094d\u0924", id="Indic conjunct"),
        pytest.param("\u0600१", id="prepended sign"),
        pytest.param("葛\U000e0100", id="ideographic variation"),
        pytest.param("か\u3099", id="kana voicing mark"),
    ],
)
def test_a_cluster_between_ideographs_is_one_grapheme(cluster):
    text = f"甲{cluster}乙"
    assert own_clusters(text) == ["甲", cluster, "乙"]
    for position in range(1, len(text) - 1):
        assert cluster_around(text, position) == (1, 1 + len(cluster))


def test_lf_cr_is_two_graphemes():
    assert own_clusters("\n\r") == ["\n", "\r"]


def test_flags_pair_from_the_start_of_their_run():
    assert own_clusters("🇨🇳🇺🇸🇫") == ["🇨🇳", "🇺🇸", "🇫"]
    assert cluster_around("🇨🇳🇺🇸🇫", 3) == (2, 4)


def test_a_page_of_flags_is_cut_in_pairs():
    text = "甲" + "🇨🇳" * 20_000 + "🇨"
    index = TextIndex(text)
    assert index.grapheme_floor(20_002) == 20_001
    assert index.length("grapheme") == 20_002


def test_a_long_run_of_marks_is_one_grapheme():
    text = "甲" + "\u0301" * 1000 + "乙"
    assert cluster_around(text, 700) == (0, 1001)
    assert TextIndex(text).length("grapheme") == 2


@given(texts)
def test_borders_agree_with_the_plain_pattern(text):
    assert own_clusters(text) == clusters(text)


@given(joining_texts)
def test_borders_agree_where_everything_joins(text):
    assert own_clusters(text) == clusters(text)


@given(joining_texts)
def test_one_cluster_agrees_with_the_whole_segmentation(text):
    ends = borders(text)
    for position in range(len(text)):
        start = max(b for b in ends if b <= position)
        assert cluster_around(text, position) == (start, min(b for b in ends if b > position))


def test_every_bmp_character_between_marks_agrees_with_the_plain_pattern():
    text = "".join(f"{chr(c)}甲{chr(c)}\u0301" for c in range(0x10000) if not 0xD800 <= c < 0xE000)
    assert own_clusters(text) == clusters(text)


def test_the_rules_name_their_package_and_unicode_version():
    rules = grapheme_rules()
    assert re.fullmatch(rf"regex {re.escape(version('regex'))}, Unicode (1[5-8]\.\d\+?|<15\.1)", rules)
    # U+1C89 came with 16.0: rules that know it may not claim to be older.
    knows_16 = regex.match(r"\P{Cn}", "\u1c89") is not None
    assert knows_16 == (float(rules.split()[-1].strip("<+")) >= 16)


def break_tests():
    """Return (file name, its cases as (line, clusters)), or skip with the reason."""
    path = Path(os.environ.get("GRAPHEME_BREAK_TEST", DEBIAN_FILE))
    if not path.is_file():
        pytest.skip(f"no {path}: install unicode-data or set GRAPHEME_BREAK_TEST")
    lines = path.read_text(encoding="utf-8").splitlines()
    cases = []
    for line in lines:
        fields = line.partition("#")[0].split("÷")
        found = ["".join(chr(int(code, 16)) for code in f.replace("×", " ").split()) for f in fields]
        if any(found):
            cases.append((line, [cluster for cluster in found if cluster]))
    return lines[0], cases


def is_outdated(expected):
    """Return whether the rules in use are newer than the file and rightly give another answer.

    U+2701 was Extended_Pictographic up to 16.0 at least; later data took the property from what is no
    emoji, so GB11 no longer joins the sequence 2701 ZWJ 2701.
    """
    is_emoji = regex.match(r"\p{Extended_Pictographic}", "\u2701")
    return "".join(expected) == "\u2701\u200d\u2701" and not is_emoji


def test_unicode_grapheme_break_test():
    title, cases = break_tests()
    assert len(cases) > 500, title
    wrong = [
        line
        for line, expected in cases
        if own_clusters("".join(expected)) != expected and not is_outdated(expected)
    ]
    assert wrong == []


@pytest.mark.parametrize("before", ["", "x", "\u0600", "\U0001f1e6", "\u0301", "\r"])
@pytest.mark.parametrize("after", ["", "x", "\u0301", "\u200d", "\u0301\U0001f1e6\U0001f1e7\U0001f1e8"])
def test_flag_letters_pair_up_from_the_start_of_their_run(before, after):
    for letters in range(8):
        text = before + "".join(chr(0x1F1E6 + n) for n in range(letters)) + after
        clusters = [match.span() for match in regex.finditer(r"\X", text)]
        inner = [position for start, end in clusters for position in range(start + 1, end)]
        assert list(inner_positions(text + "甲"))[: len(inner)] == inner
        for start, end in clusters:
            for position in range(start, end):
                assert cluster_around(text, position) == (start, end)
