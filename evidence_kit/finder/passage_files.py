"""Passages in files, so that one can be shown without reading the others.

A folder holds, beside the manifest that a caller writes:

- `texts.utf8`: the stored texts of all sources, one after the other, sorted by source id;
- `sources.jsonl`: one line a source: id, title, version, the digest of its text, and where that begins;
- `sources.u64`: where each line begins in `sources.jsonl`, and where the last one ends;
- `passages.u64`: seven numbers a passage, by position: the number of its source, then start and end in code
  points, UTF-16 units and UTF-8 bytes of that source's text.

Numbers are 64 bits, little-endian.
"""

from __future__ import annotations

import json
import mmap
import struct
from collections.abc import Callable, Iterator
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple

from evidence_kit.finder.errors import DamagedStoreError
from evidence_kit.finder.passages import Located, MemoryPassages, Span
from evidence_kit.finder.units import CODE_UNITS
from evidence_kit.sources.model import text_digest

TEXTS, SOURCES, LINES, PASSAGES = "texts.utf8", "sources.jsonl", "sources.u64", "passages.u64"
FILES = (TEXTS, SOURCES, LINES, PASSAGES)

_NUMBER = struct.Struct("<Q")
_PASSAGE = struct.Struct("<7Q")

Progress = Callable[[int], None]


def write_passages(folder: Path, passages: MemoryPassages, progress: Progress) -> None:
    """Write the four files into a folder that has none; `progress` is told the passages done so far."""
    with (
        (folder / TEXTS).open("xb") as texts,
        (folder / SOURCES).open("xb") as sources,
        (folder / LINES).open("xb") as lines,
        (folder / PASSAGES).open("xb") as records,
    ):
        for document in passages.documents:
            record = {
                "id": document.source_id,
                "title": document.title,
                "version": document.version,
                "sha256": text_digest(document.text),
                "text_at": texts.tell(),
            }
            texts.write(document.text.encode("utf-8"))
            lines.write(_NUMBER.pack(sources.tell()))
            sources.write(json.dumps(record, ensure_ascii=False).encode("utf-8") + b"\n")
        lines.write(_NUMBER.pack(sources.tell()))
        done = 0
        for number, group in groupby(passages.places, key=lambda place: place[0]):
            spans = [span for _, span in group]
            for units in _in_all_units(passages.documents[number].text, spans):
                records.write(_PASSAGE.pack(number, *units))
            done += len(spans)
            progress(done)


def _in_all_units(text: str, spans: list[Span]) -> Iterator[tuple[int, ...]]:
    """Yield start and end in every code unit of spans that follow one another."""
    at = utf16 = utf8 = 0
    for start, end in spans:
        gap, quote = text[at:start], text[start:end]
        first16, first8 = utf16 + _utf16_length(gap), utf8 + len(gap.encode("utf-8"))
        at, utf16, utf8 = end, first16 + _utf16_length(quote), first8 + len(quote.encode("utf-8"))
        yield start, end, first16, utf16, first8, utf8


def _utf16_length(text: str) -> int:
    return len(text.encode("utf-16-le")) // 2


class _SourceLine(NamedTuple):
    source_id: str
    title: str
    version: str
    sha256: str
    text_at: int


class StoredPassages:
    """The passages of a folder. Raises DamagedStoreError wherever they are not what was written."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._maps = {name: _mapped(folder / name) for name in FILES}
        self._sources = len(self._maps[LINES]) // _NUMBER.size - 1
        self._passages = len(self._maps[PASSAGES]) // _PASSAGE.size

    @property
    def sources(self) -> int:
        """Return the number of sources."""
        return self._sources

    def titles(self) -> Iterator[tuple[str, str]]:
        """Yield the id and the title of every source."""
        return ((source.source_id, source.title) for source in map(self._source, range(self._sources)))

    def __len__(self) -> int:
        """Return the number of passages."""
        return self._passages

    def text(self, position: int) -> str:
        """Return the text of the passage at a position."""
        return self.locate(position).quote

    def locate(self, position: int) -> Located:
        """Return the passage at a position; its quote is the slice of the stored text, as long as it says."""
        number, spans = self._place(position)
        source = self._source(number)
        start, end = (source.text_at + offset for offset in spans["utf8"])
        try:
            quote = self._maps[TEXTS][start:end].decode("utf-8")
        except UnicodeDecodeError:
            raise self._damaged(TEXTS) from None
        lengths = (len(quote), _utf16_length(quote), len(quote.encode("utf-8")))
        if any(spans[unit].end - spans[unit].start != n for unit, n in zip(CODE_UNITS, lengths, strict=True)):
            raise self._damaged(PASSAGES)
        return Located(source.source_id, source.title, source.version, spans, quote)

    def verify(self) -> None:
        """Check every text against its digest, and every passage against its text in all units."""
        records = (_PASSAGE.unpack_from(self._maps[PASSAGES], i * _PASSAGE.size) for i in range(len(self)))
        checked = 0
        for number, group in groupby(records, key=lambda record: record[0]):
            if number < checked:
                raise self._damaged(PASSAGES)
            for skipped in range(checked, number):
                self._whole_text(skipped)
            places = [record[1:] for record in group]
            spans = [Span(*place[:2]) for place in places]
            if list(_in_all_units(self._whole_text(number), spans)) != places:
                raise self._damaged(PASSAGES)
            checked = number + 1
        for rest in range(checked, self._sources):
            self._whole_text(rest)

    def _place(self, position: int) -> tuple[int, dict[str, Span]]:
        if not 0 <= position < self._passages:
            raise self._damaged(PASSAGES)
        number, *ends = _PASSAGE.unpack_from(self._maps[PASSAGES], position * _PASSAGE.size)
        spans = (Span(start, end) for start, end in zip(ends[::2], ends[1::2], strict=True))
        return number, dict(zip(CODE_UNITS, spans, strict=True))

    def _source(self, number: int) -> _SourceLine:
        if not 0 <= number < self._sources:
            raise self._damaged(PASSAGES)
        start, end = struct.unpack_from("<2Q", self._maps[LINES], number * _NUMBER.size)
        try:
            record: Any = json.loads(self._maps[SOURCES][start:end])
            return _SourceLine(*(record[key] for key in ("id", "title", "version", "sha256", "text_at")))
        except (ValueError, KeyError, TypeError):
            raise self._damaged(SOURCES) from None

    def _whole_text(self, number: int) -> str:
        source = self._source(number)
        last = number + 1 == self._sources
        end = len(self._maps[TEXTS]) if last else self._source(number + 1).text_at
        try:
            text: str = self._maps[TEXTS][source.text_at : end].decode("utf-8")
        except UnicodeDecodeError:
            raise self._damaged(TEXTS) from None
        if text_digest(text) != source.sha256:
            raise self._damaged(TEXTS)
        return text

    def _damaged(self, name: str) -> DamagedStoreError:
        return DamagedStoreError(f"{self._folder.name}/{name} 已损坏：请用原来的资料重新建立索引。")


def _mapped(path: Path) -> mmap.mmap | bytes:
    try:
        with path.open("rb") as file:
            if path.stat().st_size == 0:
                return b""
            return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    except OSError:
        message = f"{path.parent.name}/{path.name} 缺失或不能读取：请用原来的资料重新建立索引。"
        raise DamagedStoreError(message) from None
