"""The eight questions that a citation system should be asked before it goes live, one test each."""

import dataclasses

import pytest

from evidence_kit.anchors.anchor import SpanError, anchor_in_passage, create_anchor
from evidence_kit.anchors.bundle import Bundle, BundledSource, Citation
from evidence_kit.anchors.bundle_check import verify_bundle
from evidence_kit.anchors.resolve import resolve
from evidence_kit.sources.model import Representation, Source, text_digest
from evidence_kit.sources.unicode_rules import unicode_version
from evidence_kit.text.coordinates import PositionError
from evidence_kit.text.offset_map import OffsetMap, deleted, replaced, verbatim

QUOTE = "仅限室内"


def source(text, version="1", transformations=()):
    return Source("手册", "手册", version, text, Representation("plain_text", "1", transformations, "16.0"))


@pytest.mark.parametrize(
    "before",
    ["说明：", "说明😀：", "说明e\u0301：", "第一行\r\n第二行\n", "👨‍👩‍👧家用："],
    ids=["chinese", "non_bmp", "combining", "line_ends", "zwj"],
)
@pytest.mark.parametrize("unit", ["codepoint", "utf16", "utf8", "grapheme"])
def test_1_prefixes_of_every_kind_keep_the_quote_in_place(before, unit):
    text = f"{before}{QUOTE}。"
    lengths = {
        "codepoint": len(before),
        "utf16": len(before.encode("utf-16-le")) // 2,
        "utf8": len(before.encode()),
        "grapheme": {
            "说明：": 3,
            "说明😀：": 4,
            "说明e\u0301：": 4,
            "第一行\r\n第二行\n": 8,
            "👨‍👩‍👧家用：": 4,
        }[before],
    }
    start = lengths[unit]
    end = start + (12 if unit == "utf8" else 4)
    anchor = create_anchor(source(text), start, end, unit)
    assert anchor.exact == QUOTE
    assert resolve(anchor, text).status == "exact"


def test_2_the_unit_is_named_and_a_swapped_one_is_caught():
    text = f"说明😀：{QUOTE}。"
    anchor = create_anchor(source(text), 5, 9, "utf16")
    assert (anchor.unit, anchor.exact) == ("utf16", QUOTE)
    assert create_anchor(source(text), 5, 9, "codepoint").exact == "限室内。"
    digest = text_digest(text)
    swapped = Citation("c", "s", 5, 9, "codepoint", QUOTE)
    bundle = Bundle(unicode_version(), (BundledSource("s", "", "1", text, digest),), (swapped,))
    assert [failure.reason for failure in verify_bundle(bundle).failures] == ["quote_mismatch"]


def test_3_borders_inside_sequences_are_refused_and_inside_graphemes_counted():
    text = f"😀e\u0301{QUOTE}"
    for position, unit in [(1, "utf16"), (1, "utf8"), (2, "utf8"), (3, "utf8")]:
        with pytest.raises(PositionError):
            create_anchor(source(text), position, 7, unit)
    citation = Citation("c", "s", 2, 4, "codepoint", "\u0301仅")
    bundle = Bundle(unicode_version(), (BundledSource("s", "", "1", text, text_digest(text)),), (citation,))
    report = verify_bundle(bundle)
    assert (report.exact, report.grapheme_split, report.failures) == (1, 1, ())


def test_4_a_sentence_that_stands_twice_is_reported_with_all_its_places():
    anchor = create_anchor(source(f"型号甲：{QUOTE}。"), 4, 8)
    resolution = resolve(anchor, f"乙：{QUOTE}！丙：{QUOTE}？")
    assert resolution.status == "ambiguous"
    assert resolution.span is None
    assert [(span.start, span.end) for span in resolution.candidates] == [(2, 6), (9, 13)]


def test_5_a_changed_version_never_stays_exact():
    text = f"说明😀：{QUOTE}。"
    anchor = create_anchor(source(text), 4, 8)
    moved = resolve(anchor, "新版：" + text)
    assert (moved.status, moved.span.start, moved.span.end) == ("moved", 7, 11)
    assert moved.migration.from_sha256 == text_digest(text)
    # Nothing but a trailing space changed, the quote stands at its old span: still another version.
    assert resolve(anchor, text + " ").status == "moved"
    cleaned = dataclasses.replace(anchor, start=4, end=8)
    assert resolve(cleaned, text.replace("😀", "☺")).status != "exact"


def test_6_a_passage_maps_back_to_the_version_or_names_the_seam():
    version = f"页眉一\n甲&amp;乙：\n页眉二\n{QUOTE}。"
    # The passage lost both running heads and had an entity decoded: 甲&乙：\n仅限室内。
    steps = OffsetMap([deleted(4), verbatim(1), replaced(1, 5), verbatim(3), deleted(4), verbatim(5)])
    passage = f"甲&乙：\n{QUOTE}。"
    start = passage.index(QUOTE)
    anchor = anchor_in_passage(source(version), steps, start, start + 4)
    assert anchor.exact == QUOTE
    assert version[anchor.start : anchor.end] == QUOTE
    assert anchor_in_passage(source(version), steps, 0, 3).exact == "甲&amp;乙"
    with pytest.raises(SpanError):
        anchor_in_passage(source(version), steps, 0, len(passage))
    with pytest.raises(SpanError):
        anchor_in_passage(source(version + "。"), steps, start, start + 4)


def test_7_a_located_quote_claims_nothing_about_support():
    anchor = create_anchor(source(f"甲型：{QUOTE}。"), 3, 7)
    resolution = resolve(anchor, f"甲型：{QUOTE}。")
    fields = {field.name for field in dataclasses.fields(resolution)}
    assert fields == {"status", "unit", "span", "candidates", "candidate_count", "migration"}


def test_8_withdrawn_unreadable_or_forbidden_sources_show_no_position():
    text = f"说明：{QUOTE}。"
    anchor = create_anchor(source(text), 3, 7)
    gone = resolve(anchor, None)
    forbidden = resolve(anchor, text, access=lambda receipt: receipt.source_id != "手册")
    for resolution in (gone, forbidden):
        assert resolution.status == "source_only"
        assert (resolution.span, resolution.candidates, resolution.migration) == (None, (), None)
