"""Documents in JSON: a list of them, `{"documents": [...]}`, or the course's corpus."""

from __future__ import annotations

from collections.abc import Iterator

from evidence_kit.sources.documents import Document, text_version
from evidence_kit.sources.strict_json import Fields
from evidence_kit.sources.titles import repeated_title

_DOCUMENT = ("json_text", "1")
_CHUNK = ("course_corpus", "1")


def holds_documents(value: object) -> bool:
    """Return whether a JSON value has the outer shape of documents or of a corpus."""
    if isinstance(value, dict):
        return isinstance(value.get("documents"), list) or isinstance(value.get("chunks"), list)
    return isinstance(value, list) and all(isinstance(item, dict) and "text" in item for item in value)


def read_json_documents(value: object, source_id: str, name: str) -> tuple[list[Document], int]:
    """Return the documents in force that a JSON value holds, and the number of those expired.

    A document without an id is `source_id#n`, counted from 1; a chunk of a corpus is its `chunk_id`. `name`
    is the file that errors speak of. Raises JsonInputError where a field is missing or of another type.
    """
    if isinstance(value, dict) and "chunks" in value:
        chunks = Fields(value, name).records("chunks")
        documents = [_chunk(fields) for fields in chunks if _is_in_force(fields)]
        return documents, len(chunks) - len(documents)
    return list(_documents(value, source_id, name)), 0


def _documents(value: object, source_id: str, name: str) -> Iterator[Document]:
    # The path in errors is `[0].text` for a list, `documents[0].text` for an object.
    whole = Fields({"": value} if isinstance(value, list) else value, name)
    for number, fields in enumerate(whole.records("" if isinstance(value, list) else "documents"), 1):
        text = fields.string("text")
        given = _identity(fields, "id") if fields.has("id") else f"{source_id}#{number}"
        title = fields.string("title") if fields.has("title") else given
        start = repeated_title(text, title)
        yield Document(given, title, text_version(text), text, start, *_DOCUMENT)


def _chunk(fields: Fields) -> Document:
    title, version, text = (fields.string(key) for key in ("title", "version", "text"))
    return Document(_identity(fields, "chunk_id"), title, version or text_version(text), text, 0, *_CHUNK)


def _is_in_force(fields: Fields) -> bool:
    status = fields.string("effective_status")
    if status not in ("active", "expired"):
        raise fields.wrong("effective_status", "应是 active 或 expired")
    return status == "active"


def _identity(fields: Fields, key: str) -> str:
    value = fields.string(key)
    if not value.strip():
        raise fields.wrong(key, "不能为空")
    return value
