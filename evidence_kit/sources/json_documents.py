"""Documents in JSON: a list of them, `{"documents": [...]}`, or the course's corpus."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from evidence_kit.sources.documents import Document, text_version
from evidence_kit.sources.encodings import Decoded
from evidence_kit.sources.model import SourceError
from evidence_kit.sources.strict_json import Fields
from evidence_kit.sources.titles import repeated_title
from evidence_kit.sources.validity import Validity, parse_validity

_DOCUMENT = ("json_text", "1")
_CHUNK = ("course_corpus", "1")
_VALIDITY = ("status", "effective_from", "effective_until")


def holds_documents(value: object) -> bool:
    """Return whether a JSON value has the outer shape of documents or of a corpus."""
    if isinstance(value, dict):
        return isinstance(value.get("documents"), list) or isinstance(value.get("chunks"), list)
    return isinstance(value, list) and all(isinstance(item, dict) and "text" in item for item in value)


def unused_keys(value: Any) -> tuple[str, ...]:
    """Return the keys of documents that reading them makes no use of; a corpus has keys of its own."""
    if isinstance(value, dict) and "chunks" in value:
        return ()
    records = value["documents"] if isinstance(value, dict) else value
    used = ("id", "title", "text", *_VALIDITY, "supersedes")
    keys = dict.fromkeys(key for record in records if isinstance(record, dict) for key in record)
    return tuple(key for key in keys if key not in used)


def read_json_documents(
    value: object, source_id: str, name: str, decoded: Decoded
) -> tuple[list[Document], int]:
    """Return the documents that a JSON value holds, and the number of a corpus's chunks that are expired.

    A document without an id is `source_id#n`, counted from 1, and may say when it is in force (`status`,
    `effective_from`, `effective_until`, `supersedes`); a chunk of a corpus is its `chunk_id`, the expired
    ones are left out. `name` is the file that errors speak of, `decoded` its text. Raises JsonInputError
    where a field is missing or of another type, SourceError where its value is no status or day.
    """
    if isinstance(value, dict) and "chunks" in value:
        chunks = Fields(value, name).records("chunks")
        documents = [_chunk(fields, decoded) for fields in chunks if _is_in_force(fields)]
        return documents, len(chunks) - len(documents)
    return list(_documents(value, source_id, name, decoded)), 0


def _documents(value: object, source_id: str, name: str, decoded: Decoded) -> Iterator[Document]:
    # The path in errors is `[0].text` for a list, `documents[0].text` for an object.
    path = "" if isinstance(value, list) else "documents"
    whole = Fields({"": value} if isinstance(value, list) else value, name)
    for number, fields in enumerate(whole.records(path), 1):
        text = fields.string("text")
        given = _identity(fields, "id") if fields.has("id") else f"{source_id}#{number}"
        title = fields.string("title") if fields.has("title") else given
        yield Document(
            given,
            title,
            text_version(text),
            text,
            repeated_title(text, title),
            *_DOCUMENT,
            decoded.inner_transformations,
            decoded.encoding,
            _validity(fields, f"{name} 的 {path}[{number - 1}]"),
        )


def _chunk(fields: Fields, decoded: Decoded) -> Document:
    title, version, text = (fields.string(key) for key in ("title", "version", "text"))
    chunk_id = _identity(fields, "chunk_id")
    return Document(
        chunk_id,
        title,
        version or text_version(text),
        text,
        0,
        *_CHUNK,
        decoded.inner_transformations,
        decoded.encoding,
    )


def _validity(fields: Fields, where: str) -> Validity:
    given = {key: fields.string(key) for key in _VALIDITY if fields.has(key)}
    supersedes = fields.strings("supersedes") if fields.has("supersedes") else ()
    try:
        return parse_validity(given, supersedes)
    except SourceError as error:
        raise SourceError(f"{where}：{error.message}") from None


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
