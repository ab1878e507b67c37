"""Findings as a bundle of citations that anyone can check without this package."""

from __future__ import annotations

from collections.abc import Iterable

from evidence_kit.anchors.anchor import create_anchor
from evidence_kit.anchors.bundle import Bundle, make_bundle
from evidence_kit.finder.finder import Findings
from evidence_kit.sources.documents import Document


def bundle_findings(documents: Iterable[Document], findings: Findings, unit: str) -> Bundle:
    """Return the bundle of all documents, searched as they are, and a citation `hit-N` for each finding.

    The documents without a hit belong to it: the scores depend on them.
    """
    sources = [document.source() for document in documents]
    by_id = {source.source_id: source for source in sources}
    anchors = []
    for finding in findings.findings:
        passage = finding.passage
        start, end = passage.spans["codepoint"]
        anchor = create_anchor(by_id[passage.source_id], start, end, quote=passage.quote)
        anchors.append((f"hit-{finding.rank}", anchor))
    return make_bundle(sources, anchors, unit)
