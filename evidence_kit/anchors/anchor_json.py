"""Receipts and resolutions at the JSON edge."""

from __future__ import annotations

import json

from evidence_kit.anchors.anchor import Anchor
from evidence_kit.anchors.fragment import Fragment
from evidence_kit.anchors.resolve import Migration, Resolution, Span
from evidence_kit.sources.model import Representation
from evidence_kit.sources.strict_json import Fields, parse_json
from evidence_kit.text.units import UnitError, parse_unit

SCHEMA = "evidence-anchor/1"

_HEX = frozenset("0123456789abcdef")


def anchor_to_json(anchor: Anchor) -> str:
    """The anchor as indented JSON of schema `evidence-anchor/1`, ending in a line break.

    Where the text may not be copied `exact`, `prefix` and `suffix` are null and `digests` holds the SHA-256
    (over UTF-8) and the length in code points of each.
    """
    return to_json(anchor_record(anchor))


def anchor_record(anchor: Anchor) -> dict[str, object]:
    """The anchor as the object that `anchor_to_json` writes."""
    record: dict[str, object] = {
        "schema": SCHEMA,
        "source_id": anchor.source_id,
        "source_version": anchor.source_version,
        "representation": representation_record(anchor.representation),
        "text_sha256": anchor.text_sha256,
        "unit": anchor.unit,
        "start": anchor.start,
        "end": anchor.end,
        "exact": anchor.exact,
        "prefix": anchor.prefix,
        "suffix": anchor.suffix,
        "unique": anchor.unique,
        "prefix_unique": anchor.prefix_unique,
        "suffix_unique": anchor.suffix_unique,
    }
    if anchor.exact is None:
        pieces = {"exact": anchor.quote, "prefix": anchor.before, "suffix": anchor.after}
        record["digests"] = {
            key: {"sha256": piece.sha256, "length": piece.length} for key, piece in pieces.items()
        }
    return record


def representation_record(representation: Representation) -> dict[str, object]:
    """The representation as a JSON object."""
    return {
        "extractor": representation.extractor,
        "extractor_version": representation.extractor_version,
        "transformations": list(representation.transformations),
        "unicode_version": representation.unicode_version,
    }


def parse_anchor(data: bytes, name: str) -> Anchor:
    """The anchor in JSON bytes; `name` is the file that errors speak of.

    Raises JsonInputError on anything that is not `evidence-anchor/1`, CorruptAnchor on a span that cannot be.
    """
    return anchor_of(Fields(parse_json(data, name), name))


def anchor_of(fields: Fields) -> Anchor:
    """The anchor in a JSON object that was read strictly; raises as `parse_anchor` does."""
    if fields.string("schema") != SCHEMA:
        raise fields.wrong("schema", f"应是 {SCHEMA}（别的版本请用相应版本的工具读取）")
    unit = fields.string("unit")
    try:
        parse_unit(unit)
    except UnitError:
        raise fields.wrong("unit", f"不是已知的坐标单位：{unit}") from None
    withheld = not fields.has("exact")
    return Anchor(
        source_id=fields.string("source_id"),
        source_version=fields.string("source_version"),
        representation=_representation(fields.record("representation")),
        text_sha256=_digest(fields, "text_sha256"),
        unit=unit,
        start=fields.integer("start"),
        end=fields.integer("end"),
        quote=_fragment(fields, "exact", withheld),
        before=_fragment(fields, "prefix", withheld),
        after=_fragment(fields, "suffix", withheld),
        unique=fields.boolean("unique"),
        prefix_unique=fields.boolean("prefix_unique"),
        suffix_unique=fields.boolean("suffix_unique"),
    )


def resolution_to_json(resolution: Resolution) -> str:
    """The resolution as indented JSON, ending in a line break; `start` and `end` are null unless exact or
    moved.
    """
    span, migration = resolution.span, resolution.migration
    return to_json(
        {
            "status": resolution.status,
            "start": span.start if span else None,
            "end": span.end if span else None,
            "unit": resolution.unit,
            "candidates": [_span_record(candidate) for candidate in resolution.candidates],
            "candidate_count": resolution.candidate_count,
            "migration": _migration_record(migration) if migration else None,
        }
    )


def to_json(value: object) -> str:
    """The value as JSON with an indent of two and a last line break: the form every command prints."""
    return json.dumps(value, ensure_ascii=False, indent=2) + "\n"


def _representation(fields: Fields) -> Representation:
    steps = fields.items("transformations")
    names = tuple(step for step in steps if isinstance(step, str))
    if len(names) < len(steps):
        raise fields.wrong("transformations", "应是字符串数组")
    return Representation(
        extractor=fields.string("extractor"),
        extractor_version=fields.string("extractor_version"),
        transformations=names,
        unicode_version=fields.string("unicode_version"),
    )


def _fragment(fields: Fields, key: str, withheld: bool) -> Fragment:
    if not withheld:
        return Fragment.of(fields.string(key))
    kept = fields.record("digests").record(key)
    length = kept.integer("length")
    if length < 0:
        raise kept.wrong("length", "不能为负")
    return Fragment(length, sha256=_digest(kept, "sha256"))


def _digest(fields: Fields, key: str) -> str:
    digest = fields.string(key)
    if len(digest) != 64 or not _HEX.issuperset(digest):
        raise fields.wrong(key, "应是 64 位小写十六进制的 SHA-256")
    return digest


def _span_record(span: Span) -> dict[str, int]:
    return {"start": span.start, "end": span.end}


def _migration_record(migration: Migration) -> dict[str, object]:
    return {
        "reason": migration.reason,
        "agreement": migration.agreement,
        "from": {
            "text_sha256": migration.from_sha256,
            "source_version": migration.from_version,
            "unit": migration.from_unit,
            **_span_record(migration.from_span),
        },
        "to": {"text_sha256": migration.to_sha256, **_span_record(migration.to_span)},
    }
