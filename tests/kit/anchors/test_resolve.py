"""The agreement rule: where a quote is said to stand in another version, and where nothing is said."""

import dataclasses

import pytest
import regex
from hypothesis import example, given, settings
from hypothesis import strategies as st

from evidence_kit.anchors.anchor import CorruptAnchor, create_anchor
from evidence_kit.anchors.resolve import resolve
from evidence_kit.sources.model import Representation, Source
from evidence_kit.sources.unicode_rules import unicode_version

FAR = "东南西北春夏秋冬"


def anchor_of(text, quote, unit="codepoint", rules="16.0", **options):
    representation = Representation("plain_text", "1", (), rules)
    start = text.index(quote)
    if unit == "utf16":
        before = len(text[:start].encode("utf-16-le")) // 2
        length = len(quote.encode("utf-16-le")) // 2
        return create_anchor(Source("s", "t", "1", text, representation), before, before + length, unit)
    return create_anchor(
        Source("s", "t", "1", text, representation), start, start + len(quote), unit, **options
    )


def outcome(anchor, text, **options):
    resolution = resolve(anchor, text, **options)
    span = (resolution.span.start, resolution.span.end) if resolution.span else None
    return resolution.status, span, [(one.start, one.end) for one in resolution.candidates]


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        # Four code points of context in all are enough when both sides stand, three are not.
        ("甲乙【引】丙丁", "。甲乙【引】丙丁。", ("moved", (3, 6), [])),
        ("甲乙【引】丙", "。甲乙【引】丙。", ("stale", None, [(3, 6)])),
        # One whole side of eight, not of seven.
        (f"{FAR}【引】丙", f"{FAR}【引】丁", ("moved", (8, 11), [])),
        (f"{FAR[1:]}【引】丙", f"{FAR[1:]}【引】丁", ("stale", None, [(7, 10)])),
        (f"丙【引】{FAR}", f"丁【引】{FAR}", ("moved", (1, 4), [])),
        (f"丙【引】{FAR[1:]}", f"丁【引】{FAR[1:]}", ("stale", None, [(1, 4)])),
        # An empty side agrees at the text's own edge only.
        ("【引】甲乙丙丁", "【引】甲乙丙丁戊", ("moved", (0, 3), [])),
        ("【引】甲乙丙丁", "子【引】甲乙丙丁戊", ("stale", None, [(1, 4)])),
        ("甲乙丙丁【引】", "子甲乙丙丁【引】", ("moved", (5, 8), [])),
        ("甲乙丙丁【引】", "甲乙丙丁【引】子", ("stale", None, [(4, 7)])),
        # A quote that was the whole text has no context to agree.
        ("【引】", "【引】【引】", ("ambiguous", None, [(0, 3), (3, 6)])),
        # Both sides win over one side; two of the same strength are a tie.
        (f"{FAR}【引】丙", f"{FAR}【引】丁{FAR}【引】丙", ("moved", (20, 23), [])),
        (f"{FAR}【引】丙", f"{FAR}【引】丁{FAR}【引】戊", ("ambiguous", None, [(8, 11), (20, 23)])),
        (f"{FAR}【引】丙", f"{FAR}【引】丙{FAR}【引】丙", ("ambiguous", None, [(8, 11), (20, 23)])),
        # The quote stands several times and nowhere agrees: all places, none chosen.
        (f"{FAR}【引】丙", "【引】【引】", ("ambiguous", None, [(0, 3), (3, 6)])),
        (f"{FAR}【引】丙", "别的内容", ("stale", None, [])),
    ],
)
def test_the_rule_at_its_thresholds(old, new, expected):
    assert outcome(anchor_of(old, "【引】"), new) == expected


def test_overlapping_places_are_all_found():
    anchor = anchor_of("甲乙哈哈丙丁", "哈哈")
    assert outcome(anchor, "哈哈哈") == ("ambiguous", None, [(0, 2), (1, 3)])


def test_a_place_inside_a_grapheme_is_no_place():
    anchor = anchor_of("价格abcde为四元整", "abcde")
    assert outcome(anchor, "价格abcde\u0301为四元整") == ("stale", None, [])
    line_end = anchor_of("甲乙丙丁\n戊", "\n")
    assert outcome(line_end, "甲乙丙丁\r\n己") == ("stale", None, [])


def test_an_edited_quote_between_both_sides_is_a_candidate_and_no_position():
    anchor = anchor_of(f"{FAR}仅限室内{FAR[::-1]}", "仅限室内")
    assert outcome(anchor, f"前{FAR}仅限室外{FAR[::-1]}") == ("stale", None, [(9, 13)])


def test_a_lone_agreeing_place_is_not_chosen_when_the_receipt_was_never_unique():
    anchor = dataclasses.replace(anchor_of(f"{FAR}【引】丙", "【引】"), unique=False)
    assert outcome(anchor, f"。{FAR}【引】丙") == ("ambiguous", None, [(9, 12)])


def test_without_leave_to_move_the_new_place_is_a_candidate():
    anchor = anchor_of(f"{FAR}【引】丙", "【引】")
    assert outcome(anchor, f"。{FAR}【引】丙", allow_moved=False) == ("stale", None, [(9, 12)])


def test_positions_come_back_in_the_unit_of_the_receipt():
    text = f"😀{FAR}😀【引】丙"
    anchor = anchor_of(text, "【引】", "utf16")
    assert outcome(anchor, text) == ("exact", (12, 15), [])
    assert outcome(anchor, "😀" + text) == ("moved", (14, 17), [])


def test_the_migration_record_says_from_where_to_where_and_why():
    migration = resolve(anchor_of(f"{FAR}【引】丙", "【引】"), f"。{FAR}【引】丁").migration
    assert (migration.from_span.start, migration.to_span.start) == (8, 9)
    assert (migration.agreement, migration.reason, migration.from_version) == ("prefix", "text_changed", "1")
    assert migration.from_sha256 != migration.to_sha256


def test_the_same_digest_with_another_text_at_the_span_is_corrupt():
    anchor = dataclasses.replace(anchor_of("甲【引】乙【引】", "【引】"), start=2, end=5)
    with pytest.raises(CorruptAnchor) as caught:
        resolve(anchor, "甲【引】乙【引】")
    assert caught.value.exit_code == 1
    beyond = dataclasses.replace(anchor, start=90, end=93)
    with pytest.raises(CorruptAnchor):
        resolve(beyond, "甲【引】乙【引】")


def test_text_elements_counted_by_other_rules_are_checked_against_the_quote():
    text = f"e\u0301{FAR}【引】丙"
    anchor = anchor_of(text, "【引】", rules=unicode_version())
    # The other service took the combining mark for an element of its own: one more than our graphemes.
    foreign = dataclasses.replace(anchor, unit="textElements", start=10, end=13)
    resolution = resolve(foreign, text)
    assert (resolution.status, resolution.span.start, resolution.span.end) == ("moved", 9, 12)
    assert resolution.migration.reason == "unit_recounted"
    ours = dataclasses.replace(foreign, start=9, end=12)
    assert resolve(ours, text).status == "exact"


def test_graphemes_of_our_own_rules_are_taken_at_their_word():
    text = f"e\u0301{FAR}【引】丙"
    wrong = dataclasses.replace(
        anchor_of(text, "【引】", rules=unicode_version()), unit="grapheme", start=10, end=13
    )
    with pytest.raises(CorruptAnchor):
        resolve(wrong, text)


def test_digests_alone_find_the_quote_again_by_the_same_rule():
    anchor = anchor_of(f"{FAR}【引】丙", "【引】", withhold=True)
    assert outcome(anchor, f"{FAR}【引】丙") == ("exact", (8, 11), [])
    assert outcome(anchor, f"。{FAR}【引】丁") == ("moved", (9, 12), [])
    assert outcome(anchor, "【引】") == ("stale", None, [(0, 3)])
    assert outcome(anchor, f"{FAR}【弓】丙") == ("stale", None, [])


def test_a_side_shared_with_a_twin_does_not_vouch_alone_for_the_twin():
    boilerplate = "，如有疑问请拨打本手册封底所列的服务电话，工作时间为周一至周五上午。"
    section_a, section_b = f"甲款仅限室内{boilerplate}", f"乙款仅限室内{boilerplate}"
    anchor = anchor_of(section_a + section_b, "仅限室内")
    assert (anchor.unique, anchor.prefix_unique, anchor.suffix_unique) == (True, True, False)
    assert outcome(anchor, section_b) == ("stale", None, [(2, 6)])


def literal_rule(anchor, text):
    """The rule said again, over every start, with no code of the kit."""
    borders = {0, len(text), *(match.start() for match in regex.finditer(r"\X", text))}
    exact, prefix, suffix = anchor.exact, anchor.prefix, anchor.suffix
    found = {0: [], 1: [], 2: []}
    for start in range(len(text)):
        end = start + len(exact)
        if text[start:end] != exact or start not in borders or end not in borders:
            continue
        left = text[:start].endswith(prefix) if prefix else start == 0
        right = text[end:].startswith(suffix) if suffix else end == len(text)
        one = (left and len(prefix) >= 8 and anchor.prefix_unique) or (
            right and len(suffix) >= 8 and anchor.suffix_unique
        )
        strength = 2 if left and right and len(prefix + suffix) >= 4 else 1 if one else 0
        found[strength].append((start, end))
    best = found[2] or found[1]
    if len(best) == 1:
        return "moved", best[0]
    if best or len(found[0]) > 1:
        return "ambiguous", None
    return "stale", None


PIECES = st.lists(
    st.sampled_from(["a", "b", "ab", "abababab", "e\u0301", "\u0301", "哈", "\r", "\n"]), max_size=12
)


@settings(max_examples=400)
@given(PIECES, PIECES, PIECES, st.data())
@example(["abababab"], ["a"], ["b"], None)
def test_the_rule_against_a_literal_reading_of_it(before, after, inserted, data):
    old = "".join(before) + "a" + "".join(after)
    at = len("".join(before))
    cut = data.draw(st.integers(0, len(old))) if data else 0
    keep = data.draw(st.integers(cut, len(old))) if data else 0
    new = old[:cut] + "".join(inserted) + old[keep:]
    if new == old:
        return
    anchor = create_anchor(Source("s", "t", "1", old, Representation("p", "1", (), "16.0")), at, at + 1)
    status, span, _ = outcome(anchor, new)
    assert (status, span) == literal_rule(anchor, new)
