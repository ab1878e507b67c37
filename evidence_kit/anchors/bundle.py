"""A bundle: sources with their whole text and citations into them, which anyone can check without this
package.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from evidence_kit.anchors.anchor import Anchor, CorruptAnchor, own_place
from evidence_kit.anchors.anchor_json import to_json
from evidence_kit.errors import EvidenceError
from evidence_kit.sources.model import Source
from evidence_kit.sources.strict_json import Fields, parse_json
from evidence_kit.sources.unicode_rules import unicode_version
from evidence_kit.text.coordinates import TextIndex

SCHEMA = "evidence-bundle/1"
CODE_UNITS = ("codepoint", "utf16", "utf8")


class BundleError(EvidenceError):
    """A bundle cannot be made of what was given."""


@dataclass(frozen=True)
class BundledSource:
    """A source's text; `sha256` is over its UTF-8 encoding (see `text_digest`)."""

    source_id: str
    title: str
    version: str
    text: str
    sha256: str


@dataclass(frozen=True)
class Citation:
    """A quote and the span `[start, end)` where it is said to stand, counted in `unit`.

    The fields are as the bundle states them; only `verify_bundle` says whether they are true.
    """

    citation_id: str
    source_id: str
    start: int
    end: int
    unit: str
    quote: str


@dataclass(frozen=True)
class Bundle:
    """Sources and citations as stated; `unicode_version` is that of the maker's grapheme rules."""

    unicode_version: str
    sources: tuple[BundledSource, ...]
    citations: tuple[Citation, ...]


def make_bundle(
    sources: Sequence[Source], anchors: Iterable[tuple[str, Anchor]], unit: str = "utf16"
) -> Bundle:
    """The bundle of the sources and of the (citation id, anchor) pairs, with positions in one code unit.

    Every anchor must resolve `exact` in its own source. Raises BundleError on an anchor whose source is
    missing or another version, or whose text may not be copied; CorruptAnchor as `resolve` does.
    """
    if unit not in CODE_UNITS:
        raise BundleError(f"引用包不能用单位 {unit} 导出：请改用 {'、'.join(CODE_UNITS)} 之一。")
    by_id = {source.source_id: source for source in sources}
    indexes = {source.source_id: TextIndex(source.text) for source in sources}
    citations = []
    for citation_id, anchor in anchors:
        if anchor.source_id not in by_id:
            raise BundleError(
                f"引用 {citation_id} 的资料 {anchor.source_id} 不在引用包里：请一并给出该资料。"
            )
        index = indexes[anchor.source_id]
        citations.append(_cite(citation_id, anchor, by_id[anchor.source_id], index, unit))
    bundled = tuple(
        BundledSource(source.source_id, source.title, source.version, source.text, source.text_sha256)
        for source in sources
    )
    return Bundle(unicode_version(), bundled, tuple(citations))


def bundle_to_json(bundle: Bundle) -> str:
    """The bundle as indented JSON of schema `evidence-bundle/1`, ending in a line break."""
    return to_json(
        {
            "schema": SCHEMA,
            "unicode_version": bundle.unicode_version,
            "sources": [
                {
                    "id": source.source_id,
                    "title": source.title,
                    "version": source.version,
                    "text": source.text,
                    "sha256": source.sha256,
                }
                for source in bundle.sources
            ],
            "citations": [
                {
                    "id": citation.citation_id,
                    "source_id": citation.source_id,
                    "start": citation.start,
                    "end": citation.end,
                    "unit": citation.unit,
                    "quote": citation.quote,
                }
                for citation in bundle.citations
            ],
        }
    )


def parse_bundle(data: bytes, name: str) -> Bundle:
    """The bundle in JSON bytes, its statements unchecked; `name` is the file that errors speak of.

    Keys beyond the schema's are ignored. Raises JsonInputError where the shape is not `evidence-bundle/1`.
    """
    fields = Fields(parse_json(data, name), name)
    if fields.string("schema") != SCHEMA:
        raise fields.wrong("schema", f"应是 {SCHEMA}（别的版本请用相应版本的工具核对）")
    return Bundle(
        unicode_version=fields.string("unicode_version"),
        sources=tuple(
            BundledSource(
                source_id=source.string("id"),
                title=source.string("title"),
                version=source.string("version"),
                text=source.string("text"),
                sha256=source.string("sha256"),
            )
            for source in fields.records("sources")
        ),
        citations=tuple(
            Citation(
                citation_id=citation.string("id"),
                source_id=citation.string("source_id"),
                start=citation.integer("start"),
                end=citation.integer("end"),
                unit=citation.string("unit"),
                quote=citation.string("quote"),
            )
            for citation in fields.records("citations")
        ),
    )


def _cite(citation_id: str, anchor: Anchor, source: Source, index: TextIndex, unit: str) -> Citation:
    if anchor.exact is None:
        raise BundleError(f"引用 {citation_id} 的原话不得复制：引用包必须带原文，请不要导出这条引用。")
    if anchor.text_sha256 != source.text_sha256:
        raise BundleError(
            f"引用 {citation_id} 的凭条不属于资料 {source.source_id} 的这个版本：请先重新定位。"
        )
    span = own_place(anchor, index)
    if span is None:
        raise CorruptAnchor(anchor.source_id, f"[{anchor.start}, {anchor.end}) 处不是凭条里的原话")
    start, end = (index.convert(position, "codepoint", unit) for position in span)
    return Citation(citation_id, source.source_id, start, end, unit, anchor.exact)
