"""The passages that are searched: where each begins and ends in the stored text of its source."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from evidence_kit.finder.errors import DamagedStoreError, FinderError
from evidence_kit.finder.units import CODE_UNITS
from evidence_kit.sources.documents import Document
from evidence_kit.sources.visible import visible
from evidence_kit.text.coordinates import TextIndex
from evidence_kit.text.passages import cut_lines


class Span(NamedTuple):
    """Half-open: [start, end)."""

    start: int
    end: int


@dataclass(frozen=True)
class Located:
    """A passage with its place in the stored text of its source, by code unit; `quote` is that slice."""

    source_id: str
    title: str
    version: str
    spans: dict[str, Span]
    quote: str


class Passages(Protocol):
    """All passages of one index, by position: by source id (code points), then by start."""

    @property
    def sources(self) -> int:
        """Return the number of sources."""

    def titles(self) -> Iterator[tuple[str, str]]:
        """Yield the id and the title of every source."""

    def __len__(self) -> int:
        """Return the number of passages."""

    def text(self, position: int) -> str:
        """Return the text of the passage at a position."""

    def locate(self, position: int) -> Located:
        """Return the passage at a position, its quote checked against the stored text."""


def cut_document(document: Document) -> list[Span]:
    """Return the spans of a document's passages, in code points of its stored text.

    They are those of `cut_lines` on the body, without the line ends around them; blank ones are left out.
    """
    spans = []
    for passage in cut_lines(document.text[document.body_start :]):
        kept = passage.text.lstrip("\r\n")
        start = document.body_start + passage.end - len(kept)
        kept = kept.rstrip("\r\n")
        if kept:
            spans.append(Span(start, start + len(kept)))
    return spans


class MemoryPassages:
    """The passages of documents in memory. Raises FinderError where there are none."""

    def __init__(self, documents: Iterable[Document]) -> None:
        self._documents = sorted(documents, key=lambda document: document.source_id)
        self._places = [
            (number, span)
            for number, document in enumerate(self._documents)
            for span in cut_document(document)
        ]
        self._indexes: dict[int, TextIndex] = {}
        if not self._places:
            raise FinderError("资料里没有可检索的正文：请检查文件是否为空、是否只有标题，或是否全部过期。")

    @property
    def documents(self) -> Sequence[Document]:
        """Return the documents, sorted by id."""
        return self._documents

    @property
    def sources(self) -> int:
        """Return the number of sources."""
        return len(self._documents)

    def titles(self) -> Iterator[tuple[str, str]]:
        """Yield the id and the title of every source."""
        return ((document.source_id, document.title) for document in self._documents)

    def __len__(self) -> int:
        """Return the number of passages."""
        return len(self._places)

    @property
    def places(self) -> Sequence[tuple[int, Span]]:
        """Return (number of the document, span in code points) of every passage, by position."""
        return self._places

    def texts(self) -> list[str]:
        """Return the passages' texts, by position."""
        return [self.text(position) for position in range(len(self))]

    def text(self, position: int) -> str:
        """Return the text of the passage at a position."""
        number, span = self._places[position]
        return self._documents[number].text[span.start : span.end]

    def locate(self, position: int) -> Located:
        """Return the passage at a position, its spans checked by slicing in every unit."""
        number, span = self._places[position]
        document = self._documents[number]
        index = self._indexes.setdefault(number, TextIndex(document.text))
        start, end = index.positions(span.start, "codepoint"), index.positions(span.end, "codepoint")
        spans = {unit: Span(getattr(start, unit), getattr(end, unit)) for unit in CODE_UNITS}
        quote = document.text[span.start : span.end]
        check_slices(document.source_id, document.text, spans, quote)
        return Located(document.source_id, document.title, document.version, spans, quote)


def check_slices(source_id: str, text: str, spans: dict[str, Span], quote: str) -> None:
    """Raise DamagedStoreError unless every span of `text` holds `quote`."""
    utf16, utf8 = spans["utf16"], spans["utf8"]
    slices = (
        text[spans["codepoint"].start : spans["codepoint"].end].encode("utf-8"),
        text.encode("utf-16-le")[2 * utf16.start : 2 * utf16.end].decode("utf-16-le").encode("utf-8"),
        text.encode("utf-8")[utf8.start : utf8.end],
    )
    if any(piece != quote.encode("utf-8") for piece in slices):
        raise DamagedStoreError(f"资料 {visible(source_id)} 的引文与原文切片不符：请重新读取资料。")
