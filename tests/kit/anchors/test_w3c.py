"""Receipts as web annotations and back."""

import json

import pytest

from evidence_kit.anchors.anchor import CorruptAnchor, create_anchor
from evidence_kit.anchors.w3c import W3CError, from_w3c, to_w3c
from evidence_kit.sources.model import Representation, Source
from evidence_kit.sources.strict_json import JsonInputError

TEXT = "说明😀：仅限室内。乙型：仅限室内。"


def source(text=TEXT, source_id="手册 1"):
    return Source(source_id, "手册", "v2", text, Representation("plain_text", "1", (), "16.0"))


def annotation(selector, state=None, about="手册 1"):
    target = {"type": "SpecificResource", "source": about, "selector": selector}
    if state:
        target["state"] = state
    return json.dumps({"type": "Annotation", "target": target}).encode()


def quote(exact, **sides):
    return {"type": "TextQuoteSelector", "exact": exact, **sides}


def position(start, end):
    return {"type": "TextPositionSelector", "start": start, "end": end}


def test_a_receipt_in_utf16_becomes_an_annotation_in_code_points():
    anchor = create_anchor(source(), 5, 9, "utf16")
    made = to_w3c(anchor, TEXT)
    target = made["target"]
    assert made["@context"][0] == "http://www.w3.org/ns/anno.jsonld"
    assert made["type"] == "Annotation"
    assert made["id"].startswith("urn:uuid:")
    assert target["source"] == "%E6%89%8B%E5%86%8C%201"
    assert target["selector"] == [
        quote("仅限室内", prefix="说明😀：", suffix="。乙型：仅限室内。"),
        position(4, 8),
    ]
    assert target["state"]["evidence:textSha256"] == source().text_sha256
    assert made == to_w3c(anchor, TEXT)


def test_an_exported_receipt_comes_back_exact_in_code_points():
    data = json.dumps(to_w3c(create_anchor(source(), 5, 9, "utf16"), TEXT)).encode()
    back = from_w3c(data, "a.json", source())
    assert back.status == "exact"
    assert (back.anchor.start, back.anchor.end, back.anchor.exact) == (4, 8, "仅限室内")


def test_an_exported_receipt_on_a_later_version_is_moved():
    data = json.dumps(to_w3c(create_anchor(source(), 4, 8), TEXT)).encode()
    later = from_w3c(data, "a.json", source("新版：" + TEXT))
    assert (later.status, later.anchor.start) == ("moved", 7)


def test_an_import_with_several_quote_matches_is_ambiguous_whatever_its_position():
    imported = from_w3c(annotation([quote("仅限室内"), position(4, 8)]), "a.json", source())
    assert imported.status == "ambiguous"
    assert [(span.start, span.end) for span in imported.candidates] == [(4, 8), (12, 16)]
    assert imported.anchor is None
    state = {"type": "State", "evidence:textSha256": source().text_sha256}
    imported = from_w3c(annotation([quote("仅限室内"), position(4, 8)], state), "a.json", source())
    assert imported.status == "ambiguous"


def test_prefix_and_suffix_tell_two_matches_apart():
    imported = from_w3c(annotation(quote("仅限室内", prefix="乙型：", suffix="。")), "a.json", source())
    assert (imported.status, imported.anchor.start) == ("moved", 12)


def test_one_match_with_too_little_context_is_a_candidate_only():
    imported = from_w3c(annotation(quote("说明")), "a.json", source())
    assert (imported.status, imported.anchor) == ("stale", None)
    assert [(span.start, span.end) for span in imported.candidates] == [(0, 2)]


def test_a_position_against_its_own_digest_and_quote_is_corrupt():
    state = {"type": "State", "evidence:textSha256": source().text_sha256}
    selectors = [quote("仅限室内", prefix="乙型："), position(4, 8)]
    with pytest.raises(CorruptAnchor):
        from_w3c(annotation(selectors, state), "a.json", source())


def test_an_annotation_of_another_source_or_shape_is_refused():
    with pytest.raises(W3CError):
        from_w3c(annotation(quote("说明"), about="别的"), "a.json", source())
    for selector in (
        [],
        position(0, 2),
        quote(""),
        [quote("说明"), position(True, 2)],
        {"type": "XPathSelector"},
    ):
        with pytest.raises(JsonInputError):
            from_w3c(annotation(selector), "a.json", source())


def test_a_withheld_quote_or_another_version_is_not_exported():
    with pytest.raises(W3CError):
        to_w3c(create_anchor(source(), 4, 8, withhold=True), TEXT)
    with pytest.raises(W3CError):
        to_w3c(create_anchor(source(), 4, 8), TEXT + "。")
