"""Receipts of what a run found, and where they stand in the experiment's sources today."""

from __future__ import annotations

from functools import lru_cache

from evidence_kit.anchors.anchor import Anchor, create_anchor
from evidence_kit.anchors.placing import Placed, place
from evidence_kit.experiments.model import ExperimentError, ExperimentSource
from evidence_kit.sources.documents import text_version
from evidence_kit.sources.model import Representation, Source
from evidence_kit.sources.visible import visible


def citable(source: ExperimentSource) -> Source:
    """Return a source of an experiment as a citable source; its version is its text's digest."""
    from evidence_kit.sources.unicode_rules import unicode_version  # slow: only where it is needed

    made = Representation("experiment_source", "1", source.transformations, unicode_version())
    return Source(source.source_id, source.title, text_version(source.text), source.text, made)


@lru_cache(maxsize=1024)  # each judgment shows its page again, with the same receipts
def receipt_of(source: ExperimentSource, start: int, end: int) -> Anchor:
    """Return the receipt of [start, end) of a source's text in code points, its quote withheld: it fits into
    an address, and is still found in a later text.
    """
    return create_anchor(citable(source), start, end, withhold=True)


def place_in(source: ExperimentSource, receipt: Anchor) -> Placed:
    """Return where a receipt's quote stands in a source today.

    Raises ExperimentError where the receipt is of another source, CorruptAnchor as `resolve` does.
    """
    if receipt.source_id != source.source_id:
        own, other = visible(receipt.source_id), visible(source.source_id)
        raise ExperimentError(f"这张凭条属于 {own}，不是 {other}：请打开它自己的资料。")
    return place(receipt, source.text)
