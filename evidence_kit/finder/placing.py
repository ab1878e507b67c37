"""Findings in the whole text of their source."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from evidence_kit.finder.finder import Finding, Findings
from evidence_kit.finder.shining import Piece, shine
from evidence_kit.sources.documents import Document


@dataclass(frozen=True)
class Part:
    """A stretch of a source's text: a finding's quote, with its rank, or what stands between quotes."""

    text: str
    rank: int | None


@dataclass(frozen=True)
class PlacedSource:
    """A document cut at its findings: the parts joined are its stored text."""

    document: Document
    parts: tuple[Part, ...]


def shining_quotes(findings: Findings) -> list[tuple[Finding, tuple[Piece, ...]]]:
    """Return each finding with its quote in pieces that shine."""
    return [(finding, shine(finding.passage.quote, finding.terms)) for finding in findings.findings]


def place_findings(documents: Iterable[Document], findings: Findings) -> list[PlacedSource]:
    """Return every document that has a finding, in the documents' order, its quotes marked by rank."""
    by_source: dict[str, list[Finding]] = {}
    for finding in findings.findings:
        by_source.setdefault(finding.passage.source_id, []).append(finding)
    return [
        PlacedSource(document, _parts(document.text, by_source[document.source_id]))
        for document in documents
        if document.source_id in by_source
    ]


def _parts(text: str, findings: list[Finding]) -> tuple[Part, ...]:
    parts = []
    at = 0
    for finding in sorted(findings, key=lambda found: found.passage.spans["codepoint"]):
        start, end = finding.passage.spans["codepoint"]
        parts += [Part(text[at:start], None), Part(text[start:end], finding.rank)]
        at = end
    return tuple(part for part in [*parts, Part(text[at:], None)] if part.text)
