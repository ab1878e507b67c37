"""Findings in the whole text of their source."""

from evidence_kit.finder.finder import Finder
from evidence_kit.finder.placing import Part, place_findings, shining_quotes
from evidence_kit.sources.given import documents_given

DOCUMENTS = documents_given(
    [{"id": "b", "text": "无关的话"}, {"id": "a", "text": "苹果😀很甜。\n\n梨不甜。\n\n苹果也红。"}], "资料"
)


def test_quotes_are_parts_with_their_rank_and_the_parts_are_the_text():
    findings = Finder.of(DOCUMENTS).find("苹果很甜", 5)
    (placed,) = place_findings(DOCUMENTS, findings)
    assert placed.document.source_id == "a"
    assert "".join(part.text for part in placed.parts) == placed.document.text
    marked = {part.rank: part.text for part in placed.parts if part.rank}
    assert marked == {f.rank: f.passage.quote for f in findings.findings}
    assert placed.parts[0] == Part("苹果😀很甜。", 1)


def test_a_question_that_finds_nothing_places_nothing():
    findings = Finder.of(DOCUMENTS).find("zzz", 5)
    assert place_findings(DOCUMENTS, findings) == []
    assert shining_quotes(findings) == []


def test_every_finding_has_its_quote_in_pieces():
    findings = Finder.of(DOCUMENTS).find("苹果很甜", 5)
    for finding, pieces in shining_quotes(findings):
        assert "".join(piece.text for piece in pieces) == finding.passage.quote
        assert any(piece.level for piece in pieces)
