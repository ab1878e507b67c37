"""`evidence serve`: the workbench in a browser."""

from __future__ import annotations

from pathlib import Path

import click

from evidence_kit.commands.chinese import ChineseCommand
from evidence_kit.commands.console import emit
from evidence_kit.commands.numbers import WHOLE

_HELP = """在浏览器里打开工作台：提问、查找、评测、验收、资料。

给出 --db 时打开那个实验的评测页；提问、验收与资料页仍是课程的内容，页面上会写明。
不给时从提问页开始，评测页是演示实验，改动在程序结束后不保存。自己的实验先用 evidence experiment new 新建。

默认只有本机能连接。--host 给出别的地址时，会打印一次带令牌的网址，没有令牌的请求一律拒绝；
连接没有加密，请只在可信的网络里这样用。按 Ctrl-C 结束。

\b
例：
  evidence serve
  evidence serve --port 9000 --no-open
  evidence serve --db 实验.db
"""


@click.command(cls=ChineseCommand, name="serve", help=_HELP)
@click.option("--db", metavar="文件", help="实验文件；不给时是演示实验，不保存。")
@click.option("--host", default="127.0.0.1", metavar="地址", help="监听的地址，默认 127.0.0.1（只限本机）。")
@click.option(
    "--port", type=WHOLE, default=8765, metavar="整数", help="端口，默认 8765；0 由系统挑一个空闲的。"
)
@click.option("--no-open", is_flag=True, help="不自动打开浏览器。")
def serve(db: str | None, host: str, port: int, no_open: bool) -> None:
    try:
        from evidence_kit.web.server import run
    except ModuleNotFoundError as error:
        from evidence_kit.errors import EvidenceError

        raise EvidenceError(
            f'工作台缺少 {error.name}：请先运行 python -m pip install "evidence-assistant[web]"。'
        ) from error
    run(
        host,
        port,
        announce=lambda address: emit(f"{address}\n"),
        open_browser=not no_open,
        db=None if db is None else Path(db),
    )
