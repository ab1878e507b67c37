"""TREC judgments ("qrels") and runs, in and out: one line an entry, fields between blanks, UTF-8.

    question 0 document grade
    question Q0 document rank score tag

The second column, the rank and the tag are read and ignored: what ranks is the score, and equal scores go by
ascending document id (trec_eval: descending; docs/formulas.md).
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from typing import TypeVar

from evidence_kit.errors import EvidenceError
from evidence_kit.measures.ranking import MAX_GRADE, Qrels, Scores, rank
from evidence_kit.sources.model import decode_text
from evidence_kit.sources.visible import visible

_QRELS_FORM = "问题 0 文档 等级"
_RUN_FORM = "问题 Q0 文档 名次 分数 系统名"
_BLANKS = re.compile(r"[ \t\r\v\f]+")
_NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")
_INTEGER = re.compile(r"[+-]?[0-9]{1,9}")
# What would end a field, be no UTF-8, or be taken for a byte order mark.
_UNWRITABLE = re.compile("[ \t\r\v\f\n\ufeff\ud800-\udfff]")

Value = TypeVar("Value", int, float)


class TrecError(EvidenceError):
    """A line of a TREC file that cannot be read, or an entry that cannot be written as one."""


def parse_qrels(data: bytes, name: str) -> dict[str, dict[str, int]]:
    """Return question id -> document id -> grade; negative grades stay as they are.

    Raises TrecError naming `name` and the line: wrong number of fields, a BOM within the file, a
    grade that is no integer up to `MAX_GRADE`, a document judged twice, or nothing at all.
    """
    qrels: dict[str, dict[str, int]] = {}
    for number, (question, _, document, grade) in _lines(data, name, _QRELS_FORM):
        if not _INTEGER.fullmatch(grade) or int(grade) > MAX_GRADE:
            raise _wrong(name, number, f"等级 {visible(grade)} 应是不大于 {MAX_GRADE} 的整数")
        _add(qrels, question, document, int(grade), f"{visible(name)} 第 {number} 行")
    return qrels


def line_of_judgment(data: bytes, name: str, question_id: str, document_id: str) -> int | None:
    """Return the line, from 1, that judges a document for a question; None where none does."""
    for number, (question, _, document, _) in _lines(data, name, _QRELS_FORM):
        if (question, document) == (question_id, document_id):
            return number
    return None


def parse_run(data: bytes, name: str) -> dict[str, dict[str, float]]:
    """Return question id -> document id -> score.

    Raises TrecError naming `name` and the line: wrong number of fields, a BOM within the file, a
    score that is no finite number, a document returned twice for a question, or nothing at all.
    """
    run: dict[str, dict[str, float]] = {}
    for number, (question, _, document, _, score, _) in _lines(data, name, _RUN_FORM):
        if not _NUMBER.fullmatch(score) or not math.isfinite(float(score)):
            raise _wrong(name, number, f"分数 {visible(score)} 应是有限的数")
        _add(run, question, document, float(score), f"{visible(name)} 第 {number} 行")
    return run


def qrels_to_trec(qrels: Qrels) -> str:
    """Return judgments as TREC text, in order of question and document id; `parse_qrels` gives them back.

    A question without judgments has no line. Raises TrecError where an id is empty, holds a blank or cannot
    be UTF-8.
    """
    return "".join(
        f"{_field(question)} 0 {_field(document)} {grade}\n"
        for question, judged in sorted(qrels.items())
        for document, grade in sorted(judged.items())
    )


def run_to_trec(run: Scores, tag: str) -> str:
    """Return a run as TREC text, best first, with the ranks that this kit gives; `parse_run` gives it back.

    A question without documents has no line. Raises TrecError where an id or the tag is empty or holds a
    blank, or a score is not finite.
    """
    lines = []
    for question, scores in sorted(run.items()):
        for number, document in enumerate(rank(scores), 1):
            score = float(scores[document])
            if not math.isfinite(score):
                raise TrecError(f"问题 {visible(question)} 的文档 {visible(document)} 的分数应是有限的数。")
            lines.append(f"{_field(question)} Q0 {_field(document)} {number} {score!r} {_field(tag)}\n")
    return "".join(lines)


def _lines(data: bytes, name: str, form: str) -> Iterator[tuple[int, list[str]]]:
    """Yield (line number from 1, fields) of every line that is not blank; TrecError where there is none."""
    width = form.count(" ") + 1
    empty = True
    for number, line in enumerate(decode_text(data, visible(name)).text.split("\n"), 1):
        fields = [field for field in _BLANKS.split(line) if field]
        if not fields:
            continue
        if len(fields) != width:
            raise _wrong(name, number, f"有 {len(fields)} 列，应有 {width} 列（{form}）")
        if "\ufeff" in line:
            raise _wrong(name, number, "含有 BOM（U+FEFF），可能是几个文件首尾相接")
        empty = False
        yield number, fields
    if empty:
        raise TrecError(f"{visible(name)} 里一行也没有：每行应是“{form}”，请检查文件。")


def _add(table: dict[str, dict[str, Value]], question: str, document: str, value: Value, where: str) -> None:
    row = table.setdefault(question, {})
    if document in row:
        raise TrecError(
            f"{where}：问题 {visible(question)} 的文档 {visible(document)} 重复出现；请只留一行。"
        )
    row[document] = value


def _wrong(name: str, number: int, what: str) -> TrecError:
    return TrecError(f"{visible(name)} 第 {number} 行：{what}；请改正这一行。")


def _field(text: str) -> str:
    if not text or _UNWRITABLE.search(text):
        raise TrecError(f"标识“{visible(text)}”不能写进 TREC 文件：它是空的，或含空白、非法字符；请改名。")
    return text
