"""Receipts as W3C web annotations and back: a quote selector, a position selector in code points, and a
state.

Web Annotation Data Model (W3C Recommendation, 2017-02-23), sections 4.2.4, 4.2.5 and 4.3. What the model
has no term for (text digest, version, representation) stands in the state under the prefix `evidence:`.
"""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import quote as percent_encode

from evidence_kit.anchors.agreement import Remembered, find_places, strongest
from evidence_kit.anchors.anchor import Anchor, CorruptAnchor, create_anchor, own_place
from evidence_kit.anchors.anchor_json import anchor_to_json, representation_record
from evidence_kit.anchors.fragment import Fragment
from evidence_kit.anchors.resolve import Span, Status
from evidence_kit.errors import EvidenceError
from evidence_kit.sources.model import Source, text_digest
from evidence_kit.sources.strict_json import Fields, parse_json
from evidence_kit.text.coordinates import TextIndex

CONTEXT = ["http://www.w3.org/ns/anno.jsonld", {"evidence": "urn:x-evidence:"}]

# Unreserved and reserved characters of RFC 3986: what may stand in an IRI as it is.
_IRI_SAFE = ":/?#[]@!$&'()*+,;=-._~%"


class W3CError(EvidenceError):
    """A receipt that cannot be written as a web annotation, or an annotation that is about something else."""


@dataclass(frozen=True)
class W3CImport:
    """What an imported annotation selects in a source: a status as `resolve` gives it, spans in code points.

    `anchor` is a fresh receipt on the source when the status is exact or moved.
    """

    status: Status
    candidates: tuple[Span, ...] = ()
    anchor: Anchor | None = None


@dataclass(frozen=True)
class _Selection:
    """The selectors of one annotation, positions in code points; `text_sha256` comes from its state."""

    remembered: Remembered
    position: Span | None
    text_sha256: str | None


def to_w3c(anchor: Anchor, text: str) -> dict[str, object]:
    """The annotation of an anchor on `text`, the text of the anchor's own version, as a JSON-LD object.

    Its `id` is a name-based UUID of the receipt. Raises W3CError when the text may not be copied or is
    another version, CorruptAnchor when the quote does not stand there.
    """
    import uuid

    if anchor.exact is None:
        raise W3CError(f"资料 {anchor.source_id} 的原话不得复制：W3C 引文选择器必须带原话，不能导出。")
    if text_digest(text) != anchor.text_sha256:
        raise W3CError(
            f"资料 {anchor.source_id} 的正文不是凭条所指的版本；请给出版本 {anchor.source_version} 的正文。"
        )
    span = own_place(anchor, TextIndex(text))
    if span is None:
        raise CorruptAnchor(anchor.source_id, f"[{anchor.start}, {anchor.end}) 处不是凭条里的原话")
    return {
        "@context": CONTEXT,
        "id": f"urn:uuid:{uuid.uuid5(uuid.NAMESPACE_URL, anchor_to_json(anchor))}",
        "type": "Annotation",
        "target": {
            "type": "SpecificResource",
            "source": source_iri(anchor.source_id),
            "state": {
                "type": "State",
                "evidence:textSha256": anchor.text_sha256,
                "evidence:sourceVersion": anchor.source_version,
                "evidence:representation": representation_record(anchor.representation),
            },
            "selector": [
                {
                    "type": "TextQuoteSelector",
                    "exact": anchor.exact,
                    "prefix": anchor.prefix,
                    "suffix": anchor.suffix,
                },
                {"type": "TextPositionSelector", "start": span[0], "end": span[1]},
            ],
        },
    }


def source_iri(source_id: str) -> str:
    """The source id as an IRI reference: what no IRI may hold is percent-encoded."""
    return percent_encode(source_id, safe=_IRI_SAFE)


def from_w3c(data: bytes, name: str, source: Source) -> W3CImport:
    """What the annotation in JSON bytes selects in `source`; `name` is the file that errors speak of.

    Several places with its quote, prefix and suffix are `ambiguous`, whatever its position says. One place
    is `exact` where the state has the source's digest and the position selects it; `moved` where the rule
    of `resolve` agrees; otherwise a candidate of `stale`. Raises JsonInputError on another shape, W3CError
    on another source, CorruptAnchor when the digest is the source's and the position selects another text.
    """
    selection = _parse(data, name, source)
    text, remembered = source.text, selection.remembered
    index = TextIndex(text)
    matches = [
        Span(start, start + remembered.quote.length)
        for start in remembered.quote.places(text)
        if remembered.before.stands_at(text, start - remembered.before.length)
        and remembered.after.stands_at(text, start + remembered.quote.length)
    ]
    if len(matches) > 1:
        return W3CImport("ambiguous", tuple(matches))
    position = selection.position
    if position is not None and selection.text_sha256 == source.text_sha256:
        if matches != [position]:
            raise CorruptAnchor(source.source_id, f"{name} 的位置选择器选中的不是它的引文")
        return W3CImport("exact", anchor=create_anchor(source, position.start, position.end))
    places = find_places(text, index, remembered)
    agreeing = strongest(places)
    if len(agreeing) == 1:
        return W3CImport("moved", anchor=create_anchor(source, agreeing[0].start, agreeing[0].end))
    candidates = tuple(Span(place.start, place.end) for place in agreeing or places)
    return W3CImport("ambiguous" if len(candidates) > 1 else "stale", candidates)


def _parse(data: bytes, name: str, source: Source) -> _Selection:
    annotation = Fields(parse_json(data, name), name)
    target = annotation.record("target")
    subject = target.string("source")
    if subject not in (source.source_id, source_iri(source.source_id)):
        raise W3CError(f"{name} 批注的是 {subject}，不是资料 {source.source_id}；请换用对应的资料。")
    selectors = target.records("selector") if target.holds_array("selector") else [target.record("selector")]
    by_type = {selector.string("type"): selector for selector in selectors}
    quote = by_type.get("TextQuoteSelector")
    if quote is None:
        raise target.wrong("selector", "应含 TextQuoteSelector")
    if not quote.string("exact"):
        raise quote.wrong("exact", "不能为空")
    before, after = (Fragment.of(quote.string(key) if quote.has(key) else "") for key in ("prefix", "suffix"))
    remembered = Remembered(Fragment.of(quote.string("exact")), before, after)
    position = by_type.get("TextPositionSelector")
    span = Span(position.integer("start"), position.integer("end")) if position is not None else None
    return _Selection(remembered, span, _state_digest(target))


def _state_digest(target: Fields) -> str | None:
    if not target.has("state") or target.holds_array("state"):
        return None
    state = target.record("state")
    return state.string("evidence:textSha256") if state.has("evidence:textSha256") else None
