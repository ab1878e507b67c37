"""Findings at the JSON edge."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict

from evidence_kit.finder.explanation import MatchedTerm
from evidence_kit.finder.finder import CAUTION, Finding, Findings
from evidence_kit.finder.passages import Span
from evidence_kit.sources.documents import FileDecoding, Skipped
from evidence_kit.sources.visible import visible_json

SCHEMA = "evidence-findings/1"


def findings_to_json(
    findings: Findings, unit: str, left_out: Mapping[str, int], decodings: Sequence[FileDecoding] = (),
    skipped: Sequence[Skipped] = (),
) -> str:  # fmt: skip
    """Return the findings as indented JSON of schema `evidence-findings/1`, ending in a line break.

    `start` and `end` count `unit`, `spans` every code unit; the spans of a term count code points of the
    quote. Scores and shares have six digits. `decodings` is there where a file was not UTF-8 beyond doubt,
    `skipped` where a file was left out, `title_matches` where nothing was found but in titles.
    """
    record = {
        "schema": SCHEMA,
        "query": findings.query,
        "method": findings.method,
        "analyzer": findings.analyzer,
        "corpus": {
            "sources": findings.sources,
            "passages": findings.passages,
            "left_out": dict(sorted(left_out.items())),
            **({"decodings": [decoding_record(decoding) for decoding in decodings]} if decodings else {}),
            **({"skipped": list(map(asdict, skipped))} if skipped else {}),
            **({"title_matches": _titled(findings)} if findings.titled else {}),
        },
        "hits": [_finding(finding, unit) for finding in findings.findings],
        "weak_left_out": findings.weak_left_out,
        "note": CAUTION,
    }
    return visible_json(json.dumps(record, ensure_ascii=False, indent=2, allow_nan=False)) + "\n"


def _titled(findings: Findings) -> list[dict[str, str]]:
    return [{"source_id": found.source_id, "title": found.title} for found in findings.titled]


def _finding(finding: Finding, unit: str) -> dict[str, object]:
    passage = finding.passage
    return {
        "rank": finding.rank,
        "score": round(finding.score, 6),
        "source_id": passage.source_id,
        "title": passage.title,
        "version": passage.version,
        "unit": unit,
        **_span(passage.spans[unit]),
        "spans": {name: _span(span) for name, span in passage.spans.items()},
        "quote": passage.quote,
        "weak": finding.weak,
        "terms": [_term(term) for term in finding.terms],
    }


def decoding_record(decoding: FileDecoding) -> dict[str, object]:
    """Return how a file was decoded, for JSON."""
    decoded, other = decoding.decoded, decoding.decoded.runner_up
    return {
        "file": decoding.file,
        "encoding": decoded.encoding,
        "evidence": decoded.evidence,
        "preview": decoded.preview,
        "runner_up": other and {"encoding": other.encoding, "preview": other.preview},
    }


def _term(term: MatchedTerm) -> dict[str, object]:
    return {
        "term": term.text,
        "share": round(term.share, 6),
        "spans": [_span(span) for span in term.spans],
    }


def _span(span: Span) -> dict[str, int]:
    return {"start": span.start, "end": span.end}
