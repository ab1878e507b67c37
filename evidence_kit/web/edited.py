"""The sources that the Find page's form sends: those of its shelf that nobody touched, and what was typed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from starlette.datastructures import FormData

from evidence_kit.finder.errors import FinderError
from evidence_kit.finder.finder import Finder
from evidence_kit.sources.documents import Document
from evidence_kit.sources.given import documents_given
from evidence_kit.web.forms import field_line, field_text
from evidence_kit.web.shelves import FinderOf, Shelf

_SOURCES = "资料"


@dataclass(frozen=True)
class Row:
    """One source of the form, in the characters that its fields hold."""

    source_id: str
    title: str
    text: str

    @classmethod
    def of(cls, document: Document) -> Row:
        """Return the row of a source as the page writes it."""
        return cls(document.source_id, document.title, document.text)

    def in_fields(self) -> Row:
        """Return the row as a browser has it: a text field holds every line end as LF, a field of one line
        none. What comes back in a form is compared as this, wherever the line ends were lost.
        """
        return Row(field_text(self.source_id), field_line(self.title), field_text(self.text))


@dataclass(frozen=True)
class Edited:
    """The sources to search, and what finds in them. Of those in `relined`, by id, an edit has changed more
    than was typed: the line ends that no field can hold.
    """

    documents: tuple[Document, ...]
    finder_of: FinderOf
    relined: frozenset[str]


def rows_of(form: FormData) -> tuple[Row, ...]:
    """Return the form's sources but for rows left blank. Raises FinderError where fields are missing."""
    columns = [[str(value) for value in form.getlist(key)] for key in ("id", "title", "text")]
    if len({len(column) for column in columns}) != 1:
        raise FinderError("表单里的资料不完整：请重新打开“查找”页。")
    rows = (Row(*values).in_fields() for values in zip(*columns, strict=True))
    return tuple(row for row in rows if row.title.strip() or row.text.strip())


def edited(rows: Sequence[Row], shelf: Shelf) -> Edited:
    """Return the sources of the rows that have text: where a row is a source of the shelf as its page shows
    it, that source itself, with its line ends, version and extractor.

    Raises SourceError where ids repeat or there is too much.
    """
    filled = [row for row in rows if row.text.strip()]
    held = {Row.of(document).in_fields(): document for document in shelf.documents}
    typed = documents_given([_record(row) for row in filled], _SOURCES)
    documents = tuple(held.get(row, document) for row, document in zip(filled, typed, strict=True))
    returns = {field_text(document.source_id) for document in shelf.documents if "\r" in document.text}
    relined = frozenset(row.source_id for row in filled if row not in held) & returns
    return Edited(
        documents,
        shelf.finder_of if documents == shelf.documents else partial(Finder.of, documents),
        relined,
    )


def _record(row: Row) -> dict[str, str]:
    record = {"text": row.text, "id": row.source_id, "title": row.title}
    return {key: value for key, value in record.items() if value.strip()}
