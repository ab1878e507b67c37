"""From files and folders to documents: txt, md, json, csv, with the text as it is stored.

A document's id is the file's name, or inside a folder its path from there with `/`: the same files have the
same ids wherever the folder stands.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from evidence_kit.errors import os_reason
from evidence_kit.sources.csv_documents import read_csv_documents, unused_columns
from evidence_kit.sources.documents import (
    Document,
    FileDecoding,
    LeftOut,
    Reading,
    Skipped,
    Unused,
    text_version,
)
from evidence_kit.sources.encodings import Decoded, check_encoding, decode
from evidence_kit.sources.json_documents import holds_documents, read_json_documents, unused_keys
from evidence_kit.sources.model import PLAIN_TEXT, PLAIN_TEXT_VERSION, SourceError
from evidence_kit.sources.strict_json import JsonInputError, parse_json_text
from evidence_kit.sources.titles import markdown_title, repeated_title
from evidence_kit.sources.visible import visible

SUFFIXES = (".txt", ".md", ".json", ".csv")


def read_sources(paths: Sequence[str | Path], encoding: str | None = None) -> Reading:
    """Return the documents of files and folders: arguments in their order, a folder's files by code points.

    Folders are read with all below them, but for hidden files and folders and for symbolic links, which
    could lead out of the folder or around in it; a link that is itself an argument is followed. `encoding`
    is that of every file; without it each file's is told by `decode`. Raises SourceError (JsonInputError for
    JSON) naming the file and what to do; two documents with one id are an error, and so is a folder without
    any.
    """
    log = _Log(encoding if encoding is None else check_encoding(encoding))
    documents: list[Document] = []
    where: dict[str, str] = {}
    for path in map(Path, paths):
        found = _read_folder(path, log) if path.is_dir() else _read_argument(path, log)
        for origin, document in found:
            if document.source_id in where:
                raise SourceError(_duplicate(document.source_id, where[document.source_id], origin))
            where[document.source_id] = origin
            documents.append(document)
    return log.reading(documents)


def read_pasted(data: bytes, name: str, title: str, encoding: str | None = None) -> Reading:
    """Return one document of a title and bytes that are no file; `name` is its id and what errors speak of.

    A first line that repeats the title belongs to the title. Raises SourceError, also on an empty text.
    """
    decoded = decode(data, name, encoding)
    if not decoded.text.strip():
        raise SourceError(f"{name} 的正文是空的：请给出正文。")
    document = Document(
        source_id=name,
        title=title,
        version=text_version(decoded.text),
        text=decoded.text,
        body_start=repeated_title(decoded.text, title),
        extractor=PLAIN_TEXT,
        extractor_version=PLAIN_TEXT_VERSION,
        transformations=decoded.transformations,
        encoding=decoded.encoding,
    )
    return Reading((document,), {}, () if decoded.plain else (FileDecoding(name, decoded),))


def read_given_files(files: Sequence[tuple[str, bytes]], encoding: str | None = None) -> Reading:
    """Return the documents of files that came over a form, as (name, content), in their order.

    A name is only a name: what stands before its last slash is taken off, and no path is made of it. For the
    rest as `read_sources`.
    """
    log = _Log(encoding if encoding is None else check_encoding(encoding))
    documents: list[Document] = []
    names: set[str] = set()
    for given, data in files:
        name = re.split(r"[/\\]", given)[-1]
        suffix = Path(name).suffix.lower() if "\0" not in name else ""
        if suffix not in SUFFIXES:
            raise SourceError(f"{visible(name)} 的类型不能读取：请改用 {'、'.join(SUFFIXES)} 文件。")
        source_id = _identity(name, Path(name))
        if source_id in names:
            raise SourceError(_duplicate(source_id, visible(name), visible(name)))
        names.add(source_id)
        log_name = visible(name)
        decoded = log.decode(data, log_name)
        documents += _read_data(decoded, suffix, name, source_id, log_name, log, within_folder=False)
    return log.reading(documents)


@dataclass
class _Log:
    """What a reading notes on its way, and the encoding it was told."""

    encoding: str | None
    left_out: Counter[LeftOut] = field(default_factory=Counter)
    decodings: list[FileDecoding] = field(default_factory=list)
    skipped: list[Skipped] = field(default_factory=list)
    unused: list[Unused] = field(default_factory=list)

    def skip(self, file: str, reason: LeftOut) -> None:
        self.left_out[reason] += 1
        self.skipped.append(Skipped(file, reason))

    def use(self, file: str, unused: tuple[str, ...]) -> None:
        if unused:
            self.unused.append(Unused(file, unused))

    def reading(self, documents: Sequence[Document]) -> Reading:
        left_out: dict[str, int] = {reason: count for reason, count in self.left_out.items() if count}
        skipped = sorted(self.skipped, key=lambda each: each.file)
        return Reading(tuple(documents), left_out, tuple(self.decodings), tuple(skipped), tuple(self.unused))

    def decode(self, data: bytes, name: str) -> Decoded:
        decoded = decode(data, name, self.encoding)
        if not decoded.plain:
            self.decodings.append(FileDecoding(name, decoded))
        return decoded


Found = Iterator[tuple[str, Document]]  # (the file that errors speak of, document)


def _read_argument(path: Path, log: _Log) -> Found:
    if path.suffix.lower() not in SUFFIXES:
        _read_bytes(path)  # a file that is not there is the nearer reason
        raise SourceError(f"{_name(path)} 的类型不能读取：请改用 {'、'.join(SUFFIXES)} 文件或文件夹。")
    return _read_file(path, _identity(path.name, path), log, within_folder=False)


def _read_folder(folder: Path, log: _Log) -> Found:
    expired_before = log.left_out["expired"]
    empty = True
    for path in _files(folder, log):
        source_id = _identity(path.relative_to(folder).as_posix(), path)
        for found in _read_file(path, source_id, log, within_folder=True):
            empty = False
            yield found
    if empty and log.left_out["expired"] == expired_before:
        raise SourceError(
            f"文件夹 {_name(folder)} 里没有可读的资料：请放入 {'、'.join(SUFFIXES)} 文件，或改给其他文件夹。"
        )


def _files(folder: Path, log: _Log) -> list[Path]:
    """Return the readable files below `folder`, sorted by the code points of their paths from there."""
    files = []
    waiting = [folder]
    while waiting:
        try:
            entries = list(os.scandir(waiting.pop()))
        except OSError as error:
            raise _unreadable(Path(error.filename), error) from None
        for entry in entries:
            if entry.name.startswith("."):
                continue
            if entry.is_symlink():
                log.skip(_name(Path(entry.path)), "link")
            elif entry.is_dir(follow_symlinks=False):
                waiting.append(Path(entry.path))
            elif entry.is_file(follow_symlinks=False) and Path(entry.name).suffix.lower() in SUFFIXES:
                files.append(Path(entry.path))
            else:
                log.skip(_name(Path(entry.path)), "other_type")
    return sorted(files, key=lambda path: path.relative_to(folder).as_posix())


def _read_file(path: Path, source_id: str, log: _Log, *, within_folder: bool) -> Found:
    name = _name(path)
    decoded = log.decode(_read_bytes(path), name)
    suffix = path.suffix.lower()
    for document in _read_data(decoded, suffix, path.name, source_id, name, log, within_folder=within_folder):
        yield name, document


def _read_data(
    decoded: Decoded,
    suffix: str,
    file_name: str,
    source_id: str,
    name: str,
    log: _Log,
    *,
    within_folder: bool,
) -> list[Document]:
    """Return the documents of one file; `name` is what errors call it."""
    if suffix == ".json":
        documents = _json_documents(decoded, source_id, name, log, within_folder)
    elif suffix == ".csv":
        documents = read_csv_documents(decoded, source_id, name)
        log.use(name, unused_columns(decoded, name))
    else:
        documents = [_text_document(decoded, suffix, file_name, source_id)]
    return [replace(document, origin=source_id) for document in documents]


_SHAPES = '应是 [{"title","text"}]、{"documents":[…]} 或带 chunks 的 corpus.json'


def _json_documents(
    decoded: Decoded, source_id: str, name: str, log: _Log, within_folder: bool
) -> list[Document]:
    value = parse_json_text(decoded.text, name)
    if holds_documents(value):
        documents, expired = read_json_documents(value, source_id, name, decoded)
        log.use(name, unused_keys(value))
        log.left_out["expired"] += expired
        return documents
    if not within_folder:
        raise JsonInputError(name, "bad_shape", _SHAPES)
    log.skip(name, "other_json")
    return []


def _text_document(decoded: Decoded, suffix: str, file_name: str, source_id: str) -> Document:
    heading = markdown_title(decoded.text) if suffix == ".md" else None
    return Document(
        source_id=source_id,
        title=(heading.title if heading else "") or file_name,
        version=text_version(decoded.text),
        text=decoded.text,
        body_start=heading.body_start if heading else 0,
        extractor=PLAIN_TEXT,
        extractor_version=PLAIN_TEXT_VERSION,
        transformations=decoded.transformations,
        encoding=decoded.encoding,
    )


def _read_bytes(path: Path) -> bytes:
    try:
        if not path.is_dir() and path.exists() and not path.is_file():
            raise SourceError(f"{_name(path)} 不是普通文件：请给出文件或文件夹。")  # a pipe may never end
        return path.read_bytes()
    except OSError as error:
        raise _unreadable(path, error) from None
    except ValueError:  # a NUL in the path
        raise SourceError(f"{_name(path)} 不是合法的路径：请检查拼写。") from None


def _unreadable(path: Path, error: OSError) -> SourceError:
    if isinstance(error, FileNotFoundError):
        return SourceError(f"{_name(path)} 不存在：请检查路径。")
    return SourceError(f"{_name(path)} 无法读取（{os_reason(error)}）：请检查路径和权限。")


def _identity(name: str, path: Path) -> str:
    try:
        name.encode("utf-8")
    except UnicodeEncodeError:
        raise SourceError(f"{_name(path)} 的文件名不是 UTF-8：请先改名。") from None
    return name


def _name(path: Path) -> str:
    return visible(str(path))


def _duplicate(source_id: str, first: str, second: str) -> str:
    both = first if first == second else f"{first} 和 {second}"
    return f"资料标识 {visible(source_id)} 重复（{both}）：请改名，或把文件放进同一个文件夹后给出该文件夹。"
