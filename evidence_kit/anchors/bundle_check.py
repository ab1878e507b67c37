"""Checking a bundle's statements: digests, spans, quotes and grapheme borders. Position, never support.

`verifiers/verify_bundle.mjs` is the twin of this module and of `strict_json`: same order, same reasons,
same output.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from evidence_kit.anchors.anchor_json import to_json
from evidence_kit.anchors.bundle import CODE_UNITS, Bundle, Citation
from evidence_kit.sources.model import text_digest
from evidence_kit.sources.unicode_rules import unicode_version
from evidence_kit.sources.visible import visible_json
from evidence_kit.text.coordinates import TextIndex

Reason = Literal[
    "duplicate_source_id",
    "source_digest_mismatch",
    "duplicate_citation_id",
    "source_missing",
    "source_not_verified",
    "unknown_unit",
    "span_reversed",
    "span_empty",
    "span_out_of_range",
    "span_splits_code_point",
    "quote_mismatch",
]

BorderState = Literal["whole", "split", "undetermined"]

# Characters whose neighbours were never joined to them, nor will be: in every Unicode version there is a
# border between two of these, except inside CR LF. ASCII, CJK punctuation, kana, Han, full-width forms.
_STANDS_ALONE = re.compile("[\u0000-\u007e\u3000-\u3029\u3041-\u3096\u30a1-\u30fa\u4e00-\u9fff\uff01-\uff60]")


@dataclass(frozen=True)
class Failure:
    """What failed, by the id of the citation or source, and why."""

    subject_id: str
    reason: Reason


@dataclass(frozen=True)
class BundleReport:
    """The counts of one check.

    `exact` citations have a verified source and their quote at their span. Of these `grapheme_split` have a
    border inside a grapheme, and `undetermined` a border on which Unicode versions may differ while ours is
    not the bundle's.
    """

    citations: int
    exact: int
    grapheme_split: int
    undetermined: int
    failures: tuple[Failure, ...]


def verify_bundle(bundle: Bundle) -> BundleReport:
    """The report on every source and citation, failures in the bundle's order, sources first."""
    failures = list(_source_failures(bundle))
    doubtful = {failure.subject_id for failure in failures}
    indexes = {source.source_id: TextIndex(source.text) for source in bundle.sources}
    for index in indexes.values():
        index.length("grapheme")  # all borders in one pass: many citations may lie in one long cluster
    same_rules = bundle.unicode_version == unicode_version()
    seen: set[str] = set()
    borders: Counter[str] = Counter()
    for citation in bundle.citations:
        reason = _citation_failure(citation, indexes, doubtful, citation.citation_id in seen)
        seen.add(citation.citation_id)
        if reason is not None:
            failures.append(Failure(citation.citation_id, reason))
            continue
        borders[_border_state(citation, indexes[citation.source_id], same_rules)] += 1
    return BundleReport(
        citations=len(bundle.citations),
        exact=sum(borders.values()),
        grapheme_split=borders["split"],
        undetermined=borders["undetermined"],
        failures=tuple(failures),
    )


def report_to_json(report: BundleReport) -> str:
    """The report as indented JSON, ending in a line break; what a terminal might obey stands as escapes."""
    return visible_json(
        to_json(
            {
                "citations": report.citations,
                "exact": report.exact,
                "grapheme_split": report.grapheme_split,
                "undetermined": report.undetermined,
                "failures": [
                    {"id": failure.subject_id, "reason": failure.reason} for failure in report.failures
                ],
            }
        )
    )


def _source_failures(bundle: Bundle) -> Iterator[Failure]:
    seen: set[str] = set()
    for source in bundle.sources:
        if source.source_id in seen:
            yield Failure(source.source_id, "duplicate_source_id")
        elif text_digest(source.text) != source.sha256:
            yield Failure(source.source_id, "source_digest_mismatch")
        seen.add(source.source_id)


def _citation_failure(
    citation: Citation, indexes: dict[str, TextIndex], doubtful: set[str], repeated: bool
) -> Reason | None:
    if repeated:
        return "duplicate_citation_id"
    if citation.source_id not in indexes:
        return "source_missing"
    if citation.source_id in doubtful:
        return "source_not_verified"
    if citation.unit not in CODE_UNITS:
        return "unknown_unit"
    return _span_failure(citation, indexes[citation.source_id])


def _span_failure(citation: Citation, index: TextIndex) -> Reason | None:
    start, end, unit = citation.start, citation.end, citation.unit
    if start > end:
        return "span_reversed"
    if start == end:
        return "span_empty"
    if start < 0 or end > index.length(unit):
        return "span_out_of_range"
    if not (index.is_border(start, unit) and index.is_border(end, unit)):
        return "span_splits_code_point"
    first, last = (index.convert(position, unit, "codepoint") for position in (start, end))
    # The length first: a slice is a copy, and many citations may span all of a long text.
    same = last - first == len(citation.quote) and index.text[first:last] == citation.quote
    return None if same else "quote_mismatch"


def _border_state(citation: Citation, index: TextIndex, same_rules: bool) -> BorderState:
    """Whether a verified citation's borders are grapheme borders; a sure split outweighs a doubt."""
    ends = (citation.start, citation.end)
    states = {_one_border(index.convert(end, citation.unit, "codepoint"), index, same_rules) for end in ends}
    return "split" if "split" in states else "undetermined" if "undetermined" in states else "whole"


def _one_border(position: int, index: TextIndex, same_rules: bool) -> BorderState:
    if same_rules:
        return "split" if index.splits_grapheme(position) else "whole"
    if position in (0, len(index.text)):
        return "whole"
    pair = index.text[position - 1 : position + 1]
    if pair == "\r\n":
        return "split"
    return "whole" if all(map(_STANDS_ALONE.fullmatch, pair)) else "undetermined"
