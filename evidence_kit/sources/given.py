"""Documents that are given as records, over a form or an interface, not as files."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import count

from evidence_kit.sources.documents import Document
from evidence_kit.sources.encodings import Decoded
from evidence_kit.sources.json_documents import read_json_documents
from evidence_kit.sources.model import SourceError
from evidence_kit.sources.visible import visible

MOST_SOURCES = 100
# So that an answer is there at once, whatever is installed; larger corpora have `evidence index`.
MOST_CHARACTERS = 100_000
_TITLE = 30  # characters
# What is given is text already: nothing was decoded here, and nothing is reported of it.
_AS_GIVEN = Decoded("", "utf-8", "valid", (), "")


def documents_given(records: Sequence[object], name: str) -> tuple[Document, ...]:
    """Return the documents in records {"text", "title"?, "id"?}; one without an id gets the first free
    `name#n`, from 1 on.

    Raises JsonInputError where a field is missing or of another type, SourceError where ids repeat or there
    are more sources or characters than MOST_SOURCES and MOST_CHARACTERS.
    """
    if len(records) > MOST_SOURCES:
        raise SourceError(f"{name}有 {len(records)} 份，最多 {MOST_SOURCES} 份：请减少后重试。")
    documents, _ = read_json_documents(_with_ids(records, name), name, name, _AS_GIVEN)
    size = sum(len(document.text) for document in documents)
    if size > MOST_CHARACTERS:
        raise SourceError(f"{name}共有 {size} 个字符，最多 {MOST_CHARACTERS} 个：请减少后重试。")
    for key, times in Counter(document.source_id for document in documents).items():
        if times > 1:
            raise SourceError(f"{name}的标识 {visible(key)} 出现了 {times} 次：请改名。")
    return tuple(documents)


def document_typed(title: str, text: str) -> Document:
    """Return the document that a title and a text make; without a title it is named by how the text begins.

    Raises SourceError on a text that is blank.
    """
    if not text.strip():
        raise SourceError("正文是空的：请粘贴要检索的文字。")
    title = title.strip() or " ".join(text.split())[:_TITLE]
    (document,), _ = read_json_documents([{"title": title, "text": text}], "text", "粘贴的文字", _AS_GIVEN)
    return document


def _with_ids(records: Sequence[object], name: str) -> list[object]:
    taken = {record.get("id") for record in records if isinstance(record, dict) and _is_named(record)}
    free = (f"{name}#{n}" for n in count(1) if f"{name}#{n}" not in taken)
    return [
        {**record, "id": next(free)} if isinstance(record, dict) and record.get("id") is None else record
        for record in records
    ]


def _is_named(record: dict[str, object]) -> bool:
    return isinstance(record.get("id"), str)
