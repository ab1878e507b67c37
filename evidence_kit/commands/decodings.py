"""What commands that read sources say about encodings, columns, days and successions: two options, notes on
stderr.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import date
from typing import TYPE_CHECKING, TypeVar

import click

from evidence_kit.commands.console import emit_note

if TYPE_CHECKING:
    from evidence_kit.sources.documents import FileDecoding, Reading

_SHOWN_FILES = 8

_Command = TypeVar("_Command", bound=Callable[..., object])


encoding_option = click.option(
    "--encoding",
    metavar="编码",
    help="资料文件的编码；不给时逐个判断。utf-8、utf-16、utf-16-le、utf-16-be、gb18030、big5、big5-hkscs。",
)
as_of_option = click.option(
    "--as-of", metavar="日期", help="截至日期，如 2026-11-30：只用这一天有效的资料；默认今天。"
)


def reading_options(command: _Command) -> _Command:
    """Add `--encoding` and `--as-of` to a command that reads sources."""
    return encoding_option(as_of_option(command))


def read_in_force(sources: Sequence[str], encoding: str | None, as_of: str | None) -> Reading:
    """Return what the sources hold that is in force on the day.

    Noted on stderr: what is not UTF-8, and what is to be superseded but is not there, for then nothing ends.
    """
    from evidence_kit.sources.days import parse_day, today
    from evidence_kit.sources.readers import read_sources

    day: date = today() if as_of is None else parse_day(as_of)
    reading = read_sources(sources, encoding)
    note_reading(reading)
    for successor, missing in reading.unknown_predecessors():
        emit_note(
            f"{successor} 要取代的 {missing} 不在这批资料里，没有取代任何资料；"
            "CSV 和 JSON 里的资料，标识是“文件名#序号”，如 规定.csv#1，或 JSON 里写明的 id。"
        )
    return reading.in_force(day)


def note_reading(reading: Reading) -> None:
    """Note on stderr what is not UTF-8, and the columns and keys that nothing is made of."""
    from evidence_kit.sources.visible import first_few

    for line in describe_decodings(reading.decodings):
        emit_note(line)
    for unused in reading.unused[:_SHOWN_FILES]:
        what = "列" if unused.file.lower().endswith(".csv") else "键"
        emit_note(f"{unused.file} 里没有用到的{what}：{first_few(unused.names)}。")
    if rest := len(reading.unused[_SHOWN_FILES:]):
        emit_note(f"另有 {rest} 个文件里也有没有用到的列或键。")


def describe_decodings(decodings: Sequence[FileDecoding]) -> list[str]:
    """Return a line for each file, thin evidence first; a last one counts the files beyond the first few."""
    ranked = sorted(decodings, key=lambda decoding: decoding.decoded.evidence != "thin")
    lines = [_line(decoding) for decoding in ranked[:_SHOWN_FILES]]
    rest = len(ranked) - len(lines)
    return [*lines, f"另有 {rest} 个文件不是 UTF-8。"] if rest else lines


def _line(decoding: FileDecoding) -> str:
    from evidence_kit.sources.encodings import encoding_title

    decoded, other = decoding.decoded, decoding.decoded.runner_up
    said = f"{decoding.file} 按 {encoding_title(decoded.encoding)} 解读（“{decoded.preview}”）"
    if decoded.evidence != "thin":
        return f"{said}。"
    rival = f"，也可能是 {encoding_title(other.encoding)}（“{other.preview}”）" if other else ""
    return f"{said}，但依据不足{rival}；不对时用 --encoding 指明。"
