"""`evidence position`: one place of a file in all four units."""

from __future__ import annotations

from dataclasses import asdict

import click

from evidence_kit.commands.chinese import ChineseCommand
from evidence_kit.commands.console import emit, read_text
from evidence_kit.commands.numbers import WHOLE

_HELP = """给出文件里同一位置在四种单位下的坐标：码点、UTF-16 单元、UTF-8 字节、字形。

位置从 0 起，量的是解码后的正文（开头的 BOM 不计）。单位：codepoint、utf16、utf8、grapheme。

\b
例：
  evidence position 说明.txt --at 5 --unit utf16 --json
"""


@click.command(cls=ChineseCommand, name="position", help=_HELP)
@click.argument("file")
@click.option("--at", type=WHOLE, required=True, metavar="整数", help="位置，从 0 起。")
@click.option("--unit", required=True, metavar="单位", help="位置所用的坐标单位。")
@click.option("--json", "as_json", is_flag=True, help="输出 JSON。")
def position(file: str, at: int, unit: str, as_json: bool) -> None:
    from evidence_kit.anchors.anchor_json import to_json
    from evidence_kit.text.coordinates import TextIndex
    from evidence_kit.text.units import parse_unit

    place = TextIndex(read_text(file).text).positions(at, parse_unit(unit))
    if as_json:
        emit(to_json(asdict(place)))
        return
    emit(
        f"码点（codepoint）     {place.codepoint}\n"
        f"UTF-16 单元（utf16）  {place.utf16}\n"
        f"UTF-8 字节（utf8）    {place.utf8}\n"
        f"字形（grapheme）      {place.grapheme}\n"
    )
    if place.splits_grapheme:
        emit("这个位置落在一个字形内部：字形坐标指的是包含它的那个字形。\n")
