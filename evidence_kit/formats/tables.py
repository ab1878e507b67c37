"""Tables as CSV that a spreadsheet opens in the right letters and does not run.

UTF-8 with a BOM, since Excel reads a file without one in the local code page and garbles Chinese; RFC 4180
otherwise: commas, CRLF after each row, quotes doubled.

A cell of text that a spreadsheet might take for a formula gets an apostrophe in front, which is a
spreadsheet's own sign for text. So does a cell that begins with an apostrophe: whoever takes one apostrophe
off every cell that begins with one, as `read_table` does, has each text back as it was. Numbers are written
as numbers.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence

from evidence_kit.errors import EvidenceError
from evidence_kit.experiments.model import QuestionResult, Run
from evidence_kit.formats.notes import conditions, counted, omissions
from evidence_kit.formats.words import STATE_WORDS, UNDEFINED, WHY_UNDEFINED
from evidence_kit.measures.digits import six_digits
from evidence_kit.sources.model import SourceError, decode_text

_BOM = "\ufeff"
# What begins a formula in Excel, LibreOffice or Google Sheets, in the other widths that some locales take
# for the same; see OWASP, "CSV Injection".
_STARTERS = frozenset("=+-@＝＋－＠﹦﹢﹣﹫\u2212")
# Read as part of the cell by one program and as a border by another, so that a formula could follow.
_BREAKS = ("\t", "\r", "\n")
_CELL = re.compile(r'(?:"([^"]*(?:""[^"]*)*)"|([^",\r\n]*))(,|\r\n|\n|\Z)')
_HITS = (
    *("问题标识", "问题", "文档名次", "资料块名次", "资料标识", "标题", "分数"),
    *("起点（码点）", "终点（码点）", "原文", "等级", "判断状态", "文档最佳"),
)

Cell = str | int | float | None


class TableError(EvidenceError):
    """A number that no cell holds, or bytes that are no table."""


def write_table(header: Sequence[str], rows: Iterable[Sequence[Cell]]) -> bytes:
    """Return the table as CSV bytes; None is an empty cell. Raises TableError on a number not finite."""
    lines = (",".join(map(_written, row)) + "\r\n" for row in (header, *rows))
    try:
        return (_BOM + "".join(lines)).encode("utf-8")
    except UnicodeEncodeError:
        raise TableError("表格里的文字含有孤立的代理项，不能写成 UTF-8：请检查它的来源。") from None


def read_table(data: bytes, name: str) -> list[list[str]]:
    """Return the rows of a table that `write_table` wrote, the header first, every text as it was.

    Numbers come back as their digits, None as "". Raises TableError naming `name` and the row.
    """
    try:
        text = decode_text(data, name).text
    except SourceError as error:
        raise TableError(error.message) from None
    rows: list[list[str]] = []
    row: list[str] = []
    at = 0
    while at < len(text) or row:
        cell = _CELL.match(text, at)
        if cell is None:
            raise TableError(
                f"{name} 的第 {len(rows) + 1} 行不是合法的 CSV（引号没有成对，或有多余的字符）：请重新导出。"
            )
        quoted, plain, border = cell.groups()
        row.append(_bare(plain if quoted is None else quoted.replace('""', '"')))
        at = cell.end()
        if border != ",":
            rows.append(row)
            row = []
    return rows


def measures_table(run: Run) -> bytes:
    """Return each question's measures, their means, and how many questions are in each; then what to know.

    An undefined one is an empty cell, with its reason.
    """
    names = list(run.means)
    rows: list[Sequence[Cell]] = [
        [
            "问题",
            result.question.question_id,
            result.question.text,
            *_values(result.measures, names),
            _reason([name for name in names if result.measures.get(name) is None]),
        ]
        for result in run.results
    ]
    numbers = counted(run)
    rows.append(["均值", None, None, *_values(run.means, names), _left_out(run)])
    rows.append(["计入均值的问题数", None, None, *(numbers[name] for name in names), None])
    rows.extend(["说明", *[None] * (2 + len(names)), note] for note in (conditions(run), *omissions(run)))
    return write_table(["行", "问题标识", "问题", *names, "说明"], rows)


def hits_table(run: Run, titles: Mapping[str, str]) -> bytes:
    """Return every passage hit of every question, not just the top k; `titles` by source id.

    A document's rank stands at each of its passages; the one it is ranked by says so.
    """
    return write_table(_HITS, (row for result in run.results for row in _hits(result, titles)))


def _hits(result: QuestionResult, titles: Mapping[str, str]) -> Iterable[Sequence[Cell]]:
    documents = {document.best.source_id: document for document in result.documents}
    for rank, hit in enumerate(result.passages, start=1):
        document = documents[hit.source_id]
        yield (
            result.question.question_id,
            result.question.text,
            document.rank,
            rank,
            hit.source_id,
            titles.get(hit.source_id),
            hit.score,
            hit.start,
            hit.end,
            hit.quote,
            document.grade,
            STATE_WORDS[document.state],
            "是" if hit == document.best else "否",
        )


def _values(measures: Mapping[str, float | None], names: Iterable[str]) -> list[Cell]:
    return [measures.get(name) for name in names]


def _reason(undefined: Sequence[str]) -> Cell:
    return f"{'、'.join(undefined)} {UNDEFINED}：{WHY_UNDEFINED}" if undefined else None


def _left_out(run: Run) -> Cell:
    counts = [f"{name} {len(ids)} 个" for name, ids in run.undefined.items() if ids]
    return f"未定义而不进入均值的问题：{'、'.join(counts)}" if counts else None


def _written(cell: Cell) -> str:
    if cell is None:
        return ""
    if isinstance(cell, str):
        return f'"{_harmless(cell)}"' if cell else '""'
    if isinstance(cell, int):
        return str(cell)
    if cell != cell or cell in (float("inf"), float("-inf")):
        raise TableError(f"{cell!r} 不是有限的数，不能写进表格：没有值的格子应留空并说明原因。")
    return six_digits(cell)


def _harmless(text: str) -> str:
    shown = "'" + text if text.startswith("'") or _may_run(text) else text
    return shown.replace('"', '""')


def _may_run(text: str) -> bool:
    """Whether the text, once what a program may skip is skipped, begins as a formula does."""
    if text[:1].isalnum():
        return False
    first = next((char for char in text if not _is_skipped(char)), "")
    return text.startswith(_BREAKS) or first in _STARTERS


def _is_skipped(char: str) -> bool:
    return char.isspace() or unicodedata.category(char)[0] == "C"


def _bare(cell: str) -> str:
    return cell.removeprefix("'")
