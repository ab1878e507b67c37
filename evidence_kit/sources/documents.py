"""What readers give: documents with their stored text, and what was left out on the way."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import date
from typing import Literal, get_args

from evidence_kit.sources.encodings import Decoded
from evidence_kit.sources.model import Representation, Source, text_digest
from evidence_kit.sources.validity import Validity, absences

LeftOut = Literal["expired", "not_yet", "ended", "superseded", "other_type", "other_json", "link"]
REASONS: tuple[LeftOut, ...] = get_args(LeftOut)


@dataclass(frozen=True)
class Document:
    """One source as it was read: `text` is the stored text, of which only `text[body_start:]` is indexed.

    What stands before the body is blank or the title. `transformations` names what decoding changed.
    `encoding` is that of the file, `origin` the file's name, inside a folder its path from there; empty where
    there was no file.
    """

    source_id: str
    title: str
    version: str
    text: str
    body_start: int
    extractor: str
    extractor_version: str
    transformations: tuple[str, ...] = ()
    encoding: str = "utf-8"
    validity: Validity = field(default_factory=Validity)
    origin: str = ""

    def source(self) -> Source:
        """Return the document as a citable source of the model."""
        from evidence_kit.sources.unicode_rules import unicode_version  # slow: only where it is needed

        representation = Representation(
            self.extractor, self.extractor_version, self.transformations, unicode_version()
        )
        return Source(self.source_id, self.title, self.version, self.text, representation)


@dataclass(frozen=True)
class FileDecoding:
    """How the bytes of one file were read; `file` is its path as errors show it."""

    file: str
    decoded: Decoded


@dataclass(frozen=True)
class Skipped:
    """A file that was left out, as errors show it, and why."""

    file: str
    reason: LeftOut


@dataclass(frozen=True)
class Unused:
    """The columns of a CSV file, or the keys of JSON documents, that reading made no use of."""

    file: str
    names: tuple[str, ...]


@dataclass(frozen=True)
class Reading:
    """The documents in reading order, and how many things were left out for which reason.

    `expired`: passages of a corpus that are no longer in force. In folders: files of other types
    (`other_type`), JSON files that hold no documents (`other_json`) and symbolic links (`link`).
    `decodings` has the files that are not beyond doubt UTF-8, in reading order; `skipped` the files that
    `left_out` counts, by name.
    """

    documents: tuple[Document, ...]
    left_out: Mapping[str, int]
    decodings: tuple[FileDecoding, ...] = ()
    skipped: tuple[Skipped, ...] = ()
    unused: tuple[Unused, ...] = ()

    def unknown_predecessors(self) -> tuple[tuple[str, str], ...]:
        """Return (source id, id that it supersedes) wherever there is no document with that id."""
        known = {document.source_id for document in self.documents}
        return tuple(
            (document.source_id, name)
            for document in self.documents
            for name in document.validity.supersedes
            if name not in known
        )

    def in_force(self, day: date) -> Reading:
        """Return the reading without the documents that are not in force on `day`, which are counted.

        The reasons are those of `absences`, which says when a source is in force; SourceError as there.
        """
        absent = absences({document.source_id: document.validity for document in self.documents}, day)
        kept = tuple(document for document in self.documents if document.source_id not in absent)
        left_out = Counter(self.left_out) + Counter(absent.values())
        return replace(self, documents=kept, left_out=dict(left_out))


def text_version(text: str) -> str:
    """Return the version of a text that states none: the beginning of its digest."""
    return f"sha256:{text_digest(text)[:12]}"
