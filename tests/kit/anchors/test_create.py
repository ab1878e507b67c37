"""Receipts as they are made: span, context, uniqueness, and what may not be written down."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evidence_kit.anchors.anchor import CorruptAnchor, QuoteMismatchError, SpanError, create_anchor
from evidence_kit.anchors.anchor_json import anchor_to_json, parse_anchor
from evidence_kit.anchors.resolve import resolve
from evidence_kit.sources.model import Representation, Source, SourceError, decode_text
from evidence_kit.sources.strict_json import JsonInputError


def source(text):
    return Source("s", "t", "1", text, Representation("plain_text", "1", (), "16.0"))


def counted(text, piece):
    return sum(text.startswith(piece, start) for start in range(len(text)))


def test_the_article_s_example_in_three_units():
    text = "说明😀：仅限室内。"
    for unit, start, end in [("codepoint", 4, 8), ("utf16", 5, 9), ("utf8", 13, 25)]:
        anchor = create_anchor(source(text), start, end, unit)
        assert (anchor.exact, anchor.prefix, anchor.suffix, anchor.unique) == (
            "仅限室内",
            "说明😀：",
            "。",
            True,
        )


def test_context_is_thirty_two_code_points_where_that_is_enough():
    text = "".join(chr(0x4E00 + number) for number in range(200))
    anchor = create_anchor(source(text), 100, 110)
    assert (anchor.prefix, anchor.suffix) == (text[68:100], text[110:142])


def test_context_grows_by_doubling_until_the_passage_stands_once():
    block = "".join(chr(0x4E00 + number) for number in range(100))
    text = f"甲{block}{block}乙"
    # Within one block nothing tells the first copy from the second before 50 + 1 code points to the left.
    anchor = create_anchor(source(text), 51, 55)
    assert len(anchor.prefix) == 51
    assert len(anchor.suffix) == 64
    assert anchor.unique
    assert counted(text, anchor.prefix + anchor.exact + anchor.suffix) == 1


def test_context_that_must_grow_further_doubles_again():
    block = "".join(chr(0x4E00 + number) for number in range(300))
    anchor = create_anchor(source(f"甲{block}{block}乙"), 151, 155)
    assert (len(anchor.prefix), len(anchor.suffix)) == (151, 256)


def test_a_quote_that_no_context_of_4096_can_single_out_is_not_unique():
    anchor = create_anchor(source("春夏秋冬" * 500_000), 1_000_000, 1_000_004)
    assert (len(anchor.prefix), len(anchor.suffix), anchor.unique) == (4096, 4096, False)


def test_overlapping_occurrences_count_when_asking_for_uniqueness():
    text = "哈" * 50
    anchor = create_anchor(source(text), 10, 12)
    assert (anchor.prefix, anchor.suffix, anchor.unique) == ("哈" * 10, "哈" * 38, True)


def test_sides_are_cut_at_grapheme_borders_and_never_emptied():
    cluster = "e" + "\u0301" * 3
    text = "頭" + cluster * 20 + "引文" + cluster * 20 + "尾"
    start = text.index("引文")
    anchor = create_anchor(source(text), start, start + 2)
    assert (anchor.prefix, anchor.suffix) == (cluster * 8, cluster * 8)
    giant = "e" + "\u0301" * 100
    text = "頭" + giant + "引文" + giant + "尾"
    start = text.index("引文")
    anchor = create_anchor(source(text), start, start + 2)
    assert (anchor.prefix, anchor.suffix) == (giant, giant)


@given(st.text(alphabet="ab哈e\u0301😀\r\n", min_size=1, max_size=80), st.data())
def test_every_receipt_holds_its_own_slice_and_resolves_exact(text, data):
    start = data.draw(st.integers(0, len(text) - 1))
    end = data.draw(st.integers(start + 1, len(text)))
    anchor = create_anchor(source(text), start, end)
    passage = anchor.prefix + anchor.exact + anchor.suffix
    left = start - len(anchor.prefix)
    assert text[left : left + len(passage)] == passage
    assert anchor.unique == (counted(text, passage) == 1)
    assert resolve(parse_anchor(anchor_to_json(anchor).encode(), "a"), text).status == "exact"


def test_a_receipt_without_its_quote_holds_no_word_of_the_text():
    text = "绝密代号长江大桥，请勿外传本页任何文字。"
    written = anchor_to_json(create_anchor(source(text), 4, 8, withhold=True))
    assert not set(text) & set(written)
    assert json.loads(written)["exact"] is None
    assert resolve(parse_anchor(written.encode(), "a"), text).status == "exact"


def test_a_stated_quote_that_does_not_stand_there_is_refused():
    assert create_anchor(source("甲乙丙"), 1, 2, "textElements", quote="乙").unit == "textElements"
    with pytest.raises(QuoteMismatchError):
        create_anchor(source("甲乙丙"), 0, 1, "textElements", quote="乙")


@pytest.mark.parametrize(("start", "end"), [(1, 1), (2, 1)])
def test_an_empty_or_reversed_span_makes_no_receipt(start, end):
    with pytest.raises(SpanError):
        create_anchor(source("甲乙丙"), start, end)


@pytest.mark.parametrize(
    "change",
    [
        {"start": 3},
        {"end": 9},
        {"start": -1, "end": 1},
        {"start": 4, "end": 2},
        {"unit": "grapheme", "start": 2, "end": 2},
        {"exact": "", "end": 1},
        {"unit": "utf8"},
    ],
)
def test_a_receipt_that_contradicts_itself_is_corrupt(change):
    record = json.loads(anchor_to_json(create_anchor(source("甲乙丙丁"), 1, 3))) | change
    with pytest.raises(CorruptAnchor) as caught:
        parse_anchor(json.dumps(record).encode(), "a.json")
    assert caught.value.exit_code == 1


@pytest.mark.parametrize(
    "change",
    [
        {"schema": "evidence-anchor/2"},
        {"start": True},
        {"start": 1.0},
        {"start": "1"},
        {"unit": "char"},
        {"unique": 1},
        {"text_sha256": "ABC"},
        {"representation": []},
        {"exact": None},
        {"prefix": None},
    ],
)
def test_a_receipt_of_another_shape_is_bad_input(change):
    record = json.loads(anchor_to_json(create_anchor(source("甲乙丙丁"), 1, 3))) | change
    with pytest.raises(JsonInputError) as caught:
        parse_anchor(json.dumps(record).encode(), "a.json")
    assert caught.value.exit_code == 2
    assert "a.json" in caught.value.message


@pytest.mark.parametrize(
    ("data", "code"),
    [
        (b'{"a":1,"a":2}', "duplicate_key"),
        (b'{"a":{"b":1,"b":1}}', "duplicate_key"),
        (b'{"a":NaN}', "invalid_json"),
        (b'{"a":-Infinity}', "invalid_json"),
        (b'{"a":"\\ud83d"}', "lone_surrogate"),
        (b'{"\\udc00":1}', "lone_surrogate"),
        (b'{"a":9007199254740992}', "integer_out_of_range"),
        (b'{"a":' + b"1" * 5000 + b"}", "integer_out_of_range"),
        (b"[" * 65 + b"]" * 65, "too_deep"),
        (b"[" * 100_000, "too_deep"),
        (b'{"a":"\xc0\x80"}', "not_utf8"),
        (b'{"a":1} x', "invalid_json"),
        (b"\xef\xbb\xbf\xef\xbb\xbf{}", "invalid_json"),
    ],
)
def test_json_that_readers_would_read_differently_is_refused(data, code):
    with pytest.raises(JsonInputError) as caught:
        parse_anchor(data, "a.json")
    assert caught.value.code == code


def test_a_bom_is_taken_off_recorded_and_no_part_of_the_digest():
    plain, marked = (
        decode_text("甲\r\n乙".encode(), "a"),
        decode_text(b"\xef\xbb\xbf" + "甲\r\n乙".encode(), "a"),
    )
    assert plain.text == marked.text == "甲\r\n乙"
    assert (plain.transformations, marked.transformations) == ((), ("bom_removed",))
    assert plain.sha256 == marked.sha256


def test_bytes_that_are_no_utf8_are_refused_with_their_offset_in_the_file():
    with pytest.raises(SourceError, match="第 6 个字节"):
        decode_text(b"\xef\xbb\xbfabc\xff", "a")


def test_a_source_with_half_a_surrogate_pair_is_refused():
    with pytest.raises(SourceError):
        source("甲\ud83d")
