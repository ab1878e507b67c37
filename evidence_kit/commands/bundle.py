"""`evidence bundle`: check a bundle of citations."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from evidence_kit.commands.chinese import ChineseCommand, ChineseGroup
from evidence_kit.commands.console import emit, read_bytes

if TYPE_CHECKING:
    from evidence_kit.anchors.bundle_check import BundleReport

_VERIFY_HELP = """逐条核对引用包：正文摘要、引文跨度、原话与字形边界。

这里只核对位置，不判断原话是否支持论述。退出码：0 全部吻合，1 有不符之处，2 不是引用包。

\b
例：
  evidence bundle verify 引用包.json --json
"""

_MEANING = {
    "duplicate_source_id": "资料标识重复",
    "source_digest_mismatch": "正文与其摘要不符",
    "duplicate_citation_id": "引用标识重复",
    "source_missing": "包里没有它引用的资料",
    "source_not_verified": "它引用的资料未通过核对",
    "unknown_unit": "坐标单位不是 codepoint、utf16、utf8 之一",
    "span_reversed": "起点大于终点",
    "span_empty": "跨度为空",
    "span_out_of_range": "跨度超出正文",
    "span_splits_code_point": "边界落在代理对或 UTF-8 序列中间",
    "quote_mismatch": "跨度处不是这句原话",
}


@click.command(cls=ChineseGroup, name="bundle", help="引用包：逐条核对引文的位置。")
def bundle() -> None:
    pass


@bundle.command(cls=ChineseCommand, name="verify", help=_VERIFY_HELP, short_help="逐条核对引用包。")
@click.argument("file", metavar="BUNDLE.json")
@click.option("--json", "as_json", is_flag=True, help="输出 JSON。")
@click.pass_context
def verify(ctx: click.Context, file: str, as_json: bool) -> None:
    from evidence_kit.anchors.bundle import parse_bundle
    from evidence_kit.anchors.bundle_check import report_to_json, verify_bundle

    report = verify_bundle(parse_bundle(read_bytes(file), file))
    emit(report_to_json(report) if as_json else _describe(report))
    ctx.exit(1 if report.failures else 0)


def _describe(report: BundleReport) -> str:
    from evidence_kit.sources.visible import visible

    counts = (
        f"引用 {report.citations} 条，位置吻合 {report.exact} 条，其中切开字形 {report.grapheme_split} 条。"
    )
    lines = [counts]
    if report.undetermined:
        lines.append(f"另有 {report.undetermined} 条的字形边界因 Unicode 版本不同无法判定。")
    if report.failures:
        lines.append(f"不符 {len(report.failures)} 处：")
        lines.extend(
            f"  {visible(failure.subject_id)}：{_MEANING[failure.reason]}" for failure in report.failures
        )
    lines.append("只核对位置，不判断原话是否支持论述。")
    return "\n".join(lines) + "\n"
