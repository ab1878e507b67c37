"""Documents in CSV: a header, then one document a record; cells may hold commas and line breaks in quotes."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator

from evidence_kit.sources.documents import Document, text_version
from evidence_kit.sources.encodings import Decoded
from evidence_kit.sources.model import SourceError
from evidence_kit.sources.titles import repeated_title
from evidence_kit.sources.validity import Validity, parse_validity

_EXTRACTOR = ("csv_text", "1")
_TITLE, _TEXT = ("title", "标题"), ("text", "内容", "正文")
_VALIDITY = ("status", "effective_from", "effective_until", "supersedes")

_Row = tuple[int, list[str]]  # (the line of the file, from 1, that the record begins on; its cells)


def read_csv_documents(decoded: Decoded, source_id: str, name: str) -> list[Document]:
    """Return the documents of a CSV file: `source_id#n`, counted from 1.

    There must be a column for titles (`title` or `标题`; a cell may be empty) and one for texts (`text`,
    `内容` or `正文`). Optional columns say when a document is in force: `status`, `effective_from`,
    `effective_until` and `supersedes`, whose ids are separated by semicolons. Other columns are ignored, see
    `unused_columns`. Case and white space of column names do not matter. Raises SourceError naming file and
    line.
    """
    rows = _rows(decoded.text, name)
    header_line, header = next(rows, (1, []))
    columns = _columns(header, f"{name} 第 {header_line} 行")
    documents = []
    for number, (line, cells) in enumerate(rows, 1):
        where = f"{name} 第 {line} 行"
        if len(cells) != len(header):
            raise SourceError(
                f"{where}有 {len(cells)} 列，表头有 {len(header)} 列：含逗号或换行的单元格请用双引号括起来。"
            )
        record = {column: cells[at] for column, at in columns.items()}
        documents.append(_document(record, f"{source_id}#{number}", where, decoded))
    return documents


def unused_columns(decoded: Decoded, name: str) -> tuple[str, ...]:
    """Return the names of the columns that are ignored; one without a name is called by its number."""
    _, header = next(_rows(decoded.text, name), (1, []))
    used = _columns(header, name).values()
    return tuple(cell.strip() or f"第 {at + 1} 列" for at, cell in enumerate(header) if at not in used)


def _rows(text: str, name: str) -> Iterator[_Row]:
    """Yield the records that are not blank, strictly read."""
    if "\0" in text:  # Python 3.10 refuses it, later ones do not
        line = text.count("\n", 0, text.index("\0")) + 1
        raise SourceError(f"{name} 第 {line} 行含有 NUL 字符，不是 CSV：请重新导出该文件。")
    # The module's limit for one cell is for all its readers; it is only ever raised.
    csv.field_size_limit(max(csv.field_size_limit(), len(text)))
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    line = 1
    while True:
        try:
            cells = next(reader, None)
        except csv.Error as error:
            raise SourceError(
                f"{name} 从第 {line} 行起不是合法的 CSV（{error}）：请检查双引号是否成对。"
            ) from None
        if cells is None:
            return
        if any(cell.strip() for cell in cells):
            yield line, cells
        line = reader.line_num + 1


def _columns(header: list[str], where: str) -> dict[str, int]:
    """Return where each known column stands, by its first name."""
    names = [cell.strip().strip("\ufeff").strip().casefold() for cell in header]
    columns: dict[str, int] = {}
    for accepted in (_TITLE, _TEXT, *((column,) for column in _VALIDITY)):
        places = [at for at, name in enumerate(names) if name in accepted]
        if len(places) > 1:
            raise SourceError(f"{where}（表头）有 {len(places)} 个 {'／'.join(accepted)} 列：请只留一个。")
        if places:
            columns[accepted[0]] = places[0]
        elif accepted in (_TITLE, _TEXT):
            raise SourceError(
                f"{where}应是表头，但没有 {'／'.join(accepted)} 列：请在第一行写上 title 和 text 两个列名。"
            )
    return columns


def _document(record: dict[str, str], source_id: str, where: str, decoded: Decoded) -> Document:
    text = record["text"]
    title = record["title"].strip() or source_id
    if not text.strip():
        raise SourceError(f"{where}的正文是空的：请补上正文，或删去这一行。")
    return Document(
        source_id,
        title,
        text_version(text),
        text,
        repeated_title(text, title),
        *_EXTRACTOR,
        decoded.inner_transformations,
        decoded.encoding,
        _validity(record, where),
    )


def _validity(record: dict[str, str], where: str) -> Validity:
    given = {column: record[column].strip() for column in _VALIDITY if column in record}
    superseded = given.pop("supersedes", "").replace("；", ";").split(";")
    ids = tuple(identity.strip() for identity in superseded if identity.strip())
    try:
        return parse_validity({column: cell for column, cell in given.items() if cell}, ids)
    except SourceError as error:
        raise SourceError(f"{where}：{error.message}") from None
