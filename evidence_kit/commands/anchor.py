"""`evidence anchor`: make a receipt, and find its quote again."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from evidence_kit.commands.chinese import ChineseCommand, ChineseGroup
from evidence_kit.commands.console import emit, emit_json, emit_note, read_bytes, read_text
from evidence_kit.commands.numbers import WHOLE

if TYPE_CHECKING:
    from evidence_kit.anchors.anchor import Anchor
    from evidence_kit.anchors.resolve import Resolution, Span
    from evidence_kit.sources.model import Source

_NOT_LOCATED = 3

_CREATE_HELP = """为文件里的一段原话生成定位凭条，以 JSON 写到标准输出。

跨度 [起点, 终点) 从 0 起，量的是解码后的正文（开头的 BOM 不计）。单位：codepoint、utf16、utf8、grapheme，
也接受 unicodeCodePoint、utf16CodeUnit；textElements 只是近似，请核对凭条里的原话。

\b
例：
  evidence anchor create 说明.txt --start 4 --end 8 --unit codepoint > 凭条.json
"""

_RESOLVE_HELP = """在文件的当前文本里重新定位凭条里的原话。

exact 原版原位；moved 版本变了但恰有一处吻合；ambiguous 有多处，不替你选；stale 没有吻合处；
source_only 只能指到来源。这里只核对位置，不判断原话是否支持论述。

退出码：0 为 exact 或 moved，1 为凭条已损坏，2 为输入有误，3 为没有确定的位置。

\b
例：
  evidence anchor resolve 凭条.json 新版说明.txt --json
"""

_MEANING = {
    "exact": "原版原位（exact）",
    "moved": "已迁移（moved）：版本变了，恰有一处吻合",
    "ambiguous": "有歧义（ambiguous）：有多处可能，未作选择",
    "stale": "已失效（stale）：没有吻合之处",
    "source_only": "只到来源（source_only）：没有可读的正文",
}


@click.command(cls=ChineseGroup, name="anchor", help="定位凭条：生成，以及在新版本里重新定位。")
def anchor() -> None:
    pass


@anchor.command(cls=ChineseCommand, name="create", help=_CREATE_HELP, short_help="为一段原话生成定位凭条。")
@click.argument("file")
@click.option("--start", type=WHOLE, required=True, metavar="整数", help="起点（含）。")
@click.option("--end", type=WHOLE, required=True, metavar="整数", help="终点（不含）。")
@click.option("--unit", required=True, metavar="单位", help="起点与终点的坐标单位。")
@click.option("--source-id", metavar="标识", help="资料来源的标识；不给时用文件名。")
@click.option("--version", "version", metavar="版本", help="资料的版本；不给时用正文摘要的前 12 位。")
@click.option("--no-quote", is_flag=True, help="不写出原话与前后文，只留摘要：用于不得复制的资料。")
def create(
    file: str, start: int, end: int, unit: str, source_id: str | None, version: str | None, no_quote: bool
) -> None:
    from evidence_kit.anchors.anchor import create_anchor
    from evidence_kit.anchors.anchor_json import anchor_to_json

    source = _source(file, source_id, version)
    made = create_anchor(source, start, end, unit, withhold=no_quote)
    _warn(made, source)
    emit_json(anchor_to_json(made))


@anchor.command(cls=ChineseCommand, name="resolve", help=_RESOLVE_HELP, short_help="在当前文本里重新定位。")
@click.argument("anchor_file", metavar="ANCHOR.json")
@click.argument("file")
@click.option("--json", "as_json", is_flag=True, help="输出 JSON。")
@click.pass_context
def resolve_command(ctx: click.Context, anchor_file: str, file: str, as_json: bool) -> None:
    from evidence_kit.anchors.anchor_json import parse_anchor, resolution_to_json
    from evidence_kit.anchors.resolve import resolve

    receipt = parse_anchor(read_bytes(anchor_file), anchor_file)
    resolution = resolve(receipt, read_text(file).text)
    emit_json(resolution_to_json(resolution)) if as_json else emit(_describe(resolution))
    ctx.exit(0 if resolution.located else _NOT_LOCATED)


def _source(file: str, source_id: str | None, version: str | None) -> Source:
    from evidence_kit.sources.model import PLAIN_TEXT, PLAIN_TEXT_VERSION, Representation, Source
    from evidence_kit.sources.unicode_rules import unicode_version

    stored = read_text(file)
    name = Path(file).name
    rules = unicode_version()
    return Source(
        source_id=name if source_id is None else source_id,
        title=name,
        version=f"sha256:{stored.sha256[:12]}" if version is None else version,
        text=stored.text,
        representation=Representation(PLAIN_TEXT, PLAIN_TEXT_VERSION, stored.transformations, rules),
    )


def _warn(made: Anchor, source: Source) -> None:
    """Say on stderr what a receipt does not tell by itself: a cut grapheme, a unit of other rules."""
    from evidence_kit.anchors.anchor import own_place
    from evidence_kit.text.coordinates import TextIndex
    from evidence_kit.text.units import parse_unit

    index = TextIndex(source.text)
    if any(index.splits_grapheme(position) for position in own_place(made, index) or ()):
        emit_note("这段原话切开了字形：版本变化后无法重新定位，建议把跨度移到字形边界。")
    if parse_unit(made.unit).approximate:
        emit_note(f"单位 {made.unit} 只是近似，请核对凭条里的 exact 是否就是原话。")


def _describe(resolution: Resolution) -> str:
    lines = [_MEANING[resolution.status]]
    if resolution.span is not None:
        lines.append(f"位置：{_span(resolution.span)}（单位 {resolution.unit}）")
    if resolution.candidates:
        listed, count = len(resolution.candidates), resolution.candidate_count
        shown = "" if listed == count else f"，列出前 {listed} 处"
        lines.append(f"候选 {count} 处{shown}（单位 {resolution.unit}，仅供查看，不是定位）：")
        lines.extend(f"  {_span(candidate)}" for candidate in resolution.candidates)
    lines.append("只核对位置，不判断原话是否支持论述。")
    return "\n".join(lines) + "\n"


def _span(span: Span) -> str:
    return f"[{span.start}, {span.end})"
