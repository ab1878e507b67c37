"""What readers give: documents with their stored text, and what was left out on the way."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, get_args

from evidence_kit.sources.model import Representation, Source, text_digest

LeftOut = Literal["expired", "other_type", "other_json", "link"]
REASONS: tuple[LeftOut, ...] = get_args(LeftOut)


@dataclass(frozen=True)
class Document:
    """One source as it was read: `text` is the stored text, of which only `text[body_start:]` is indexed.

    What stands before the body is blank or the title. `transformations` names what decoding changed.
    """

    source_id: str
    title: str
    version: str
    text: str
    body_start: int
    extractor: str
    extractor_version: str
    transformations: tuple[str, ...] = ()

    def source(self) -> Source:
        """Return the document as a citable source of the model."""
        from evidence_kit.sources.unicode_rules import unicode_version  # slow: only where it is needed

        representation = Representation(
            self.extractor, self.extractor_version, self.transformations, unicode_version()
        )
        return Source(self.source_id, self.title, self.version, self.text, representation)


@dataclass(frozen=True)
class Reading:
    """The documents in reading order, and how many things were left out for which reason.

    `expired`: passages of a corpus that are no longer in force. In folders: files that are not .txt, .md or
    .json (`other_type`), JSON files that hold no documents (`other_json`) and symbolic links (`link`).
    """

    documents: tuple[Document, ...]
    left_out: Mapping[str, int]


def text_version(text: str) -> str:
    """Return the version of a text that states none: the beginning of its digest."""
    return f"sha256:{text_digest(text)[:12]}"
