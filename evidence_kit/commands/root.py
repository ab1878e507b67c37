"""The root of the `evidence` command and the table of its groups."""

from __future__ import annotations

from typing import Any

import click

from evidence_kit.commands.chinese import ChineseGroup

_HELP = """可核对的证据：位置、定位凭条与引用包。

\b
例：
  evidence position 说明.txt --at 5 --unit utf16 --json
  evidence anchor create 说明.txt --start 4 --end 8 --unit codepoint > 凭条.json
  evidence anchor resolve 凭条.json 新版说明.txt --json
  evidence bundle verify 引用包.json
"""

_COMMANDS = {
    "position": ("evidence_kit.commands.position", "position", "把一个位置换算成四种坐标单位。"),
    "anchor": ("evidence_kit.commands.anchor", "anchor", "定位凭条：生成，以及在新版本里重新定位。"),
    "bundle": ("evidence_kit.commands.bundle", "bundle", "引用包：逐条核对引文的位置。"),
    "find": ("evidence_kit.commands.find", "find", "在资料里查找问题的字词，给出原文与位置。"),
    "index": ("evidence_kit.commands.index", "index", "索引文件：建立、检索、核对。"),
    "serve": ("evidence_kit.commands.serve", "serve", "在浏览器里打开工作台。"),
    "experiment": ("evidence_kit.commands.experiment", "experiment", "在自己的资料上评测检索。"),
    "measure": ("evidence_kit.commands.measure", "measure", "按相关性判断计算排名的指标，或比较两份排名。"),
}


def _print_version(ctx: click.Context, _param: click.Parameter, wanted: Any) -> None:
    if not wanted or ctx.resilient_parsing:
        return
    from importlib.metadata import PackageNotFoundError, version

    from evidence_kit.commands.console import emit

    try:
        number = version("evidence-assistant")
    except PackageNotFoundError:
        number = "（未安装，直接从源码运行）"
    emit(f"evidence {number}\n")
    ctx.exit()


@click.command(cls=ChineseGroup, name="evidence", lazy=_COMMANDS, help=_HELP)
@click.option(
    "--version",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_print_version,
    help="显示版本号并退出。",
)
def evidence() -> None:
    pass
