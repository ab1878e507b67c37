"""`evidence index`: build, search and check an index in files."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import click

from evidence_kit.commands.chinese import ChineseCommand, ChineseGroup
from evidence_kit.commands.console import emit
from evidence_kit.commands.decodings import read_in_force, reading_options
from evidence_kit.commands.find import show_findings, show_left_out
from evidence_kit.commands.numbers import WHOLE

_BUILD_HELP = """读入资料，建立索引并写入文件夹。资料的写法与 evidence find 相同。

新索引完整写好之后才换上，中途失败不影响原来的索引；资料有变动就重新建立。

\b
例：
  evidence index build 资料/ --out 索引
"""

_SEARCH_HELP = """在建好的索引里查找，结果与 evidence find 相同。

\b
例：
  evidence index search 索引 "怎么预约讲解" --top 3
"""

_VERIFY_HELP = """核对索引的每个文件、每份原文和每个资料块。

退出码：0 完好，1 已损坏，2 不是索引文件夹。

\b
例：
  evidence index verify 索引
"""


@click.command(cls=ChineseGroup, name="index", help="索引文件：建立、检索、核对。")
def index() -> None:
    pass


@index.command(cls=ChineseCommand, name="build", help=_BUILD_HELP, short_help="读入资料，建立索引。")
@click.argument("sources", metavar="SOURCE...", nargs=-1, required=True)
@click.option("--out", required=True, metavar="文件夹", help="索引写到哪里：新文件夹，或原来的索引。")
@click.option("--weighting", default="bm25", metavar="方法", help="bm25（默认）、tfidf_log 或 tfidf_course。")
@reading_options
def build(
    sources: tuple[str, ...], out: str, weighting: str, encoding: str | None, as_of: str | None
) -> None:
    from evidence_kit.finder.finder import check_method
    from evidence_kit.finder.stored import build_stored
    from evidence_kit.sources.visible import visible

    check_method(weighting)
    reading = read_in_force(sources, encoding, as_of)
    with _progress() as progress:
        held = build_stored(reading.documents, reading.left_out, Path(out), weighting, progress)
    lines = [
        f"已建立索引 {visible(out)}：{held.sources} 份资料，{held.passages} 个资料块，方法 {held.method}。"
    ]
    emit("\n".join([*lines, *show_left_out(reading)]) + "\n")


@index.command(cls=ChineseCommand, name="search", help=_SEARCH_HELP, short_help="在建好的索引里查找。")
@click.argument("folder", metavar="DIR")
@click.argument("query")
@click.option("--top", type=WHOLE, default=5, metavar="整数", help="最多显示几处，1 到 20，默认 5。")
@click.option("--no-weak", is_flag=True, help="不要弱命中：只靠单个汉字（或假名、谚文）的命中。")
@click.option("--json", "as_json", is_flag=True, help="输出 JSON。")
@click.option("--unit", default="utf16", metavar="单位", help="JSON 里 start、end 的单位，默认 utf16。")
def search(folder: str, query: str, top: int, no_weak: bool, as_json: bool, unit: str) -> None:
    from evidence_kit.finder.stored import open_stored
    from evidence_kit.finder.units import code_unit
    from evidence_kit.sources.documents import Reading

    unit = code_unit(unit)
    finder, held = open_stored(Path(folder))
    findings = finder.find(query, top, no_weak=no_weak)
    emit(show_findings(findings, Reading((), held.left_out), unit, as_json=as_json))


@index.command(cls=ChineseCommand, name="verify", help=_VERIFY_HELP, short_help="核对索引的每个文件。")
@click.argument("folder", metavar="DIR")
def verify(folder: str) -> None:
    from evidence_kit.finder.stored import verify_stored
    from evidence_kit.sources.visible import visible

    held = verify_stored(Path(folder))
    contents = "没有随附原文"
    if held is not None:
        contents = f"{held.sources} 份资料，{held.passages} 个资料块，方法 {held.method}"
    emit(f"索引 {visible(folder)} 完好：{contents}。\n")


@contextmanager
def _progress() -> Iterator[Callable[[int, int], None]]:
    """Show a bar on stderr while passages are written, if that is a terminal; else nothing."""
    if not sys.stderr.isatty():
        yield lambda done, whole: None
        return
    with click.progressbar(length=1, label="写入资料块", file=sys.stderr) as bar:

        def show(done: int, whole: int) -> None:
            bar.length = whole
            bar.update(done - bar.pos)
            if done == whole:
                bar.label = "建立索引"
                bar.render_progress()

        yield show
