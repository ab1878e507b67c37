"""`evidence find`: where the words of a question stand in sources."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

import click

from evidence_kit.commands.chinese import ChineseCommand
from evidence_kit.commands.console import emit
from evidence_kit.commands.decodings import read_in_force, reading_options
from evidence_kit.commands.numbers import WHOLE

if TYPE_CHECKING:
    from evidence_kit.finder.explanation import MatchedTerm
    from evidence_kit.finder.finder import Finding, Findings
    from evidence_kit.sources.documents import Reading

_HELP = """在资料里查找与问题字词相同的段落，给出原文、位置和命中的理由。

SOURCE 是 .txt、.md、.csv、.json 文件（文档数组或 corpus.json）或文件夹。标题只显示，不参加检索。
文字可以是 UTF-8、带 BOM 的 UTF-16、GB18030（含 GBK）或 Big5；不是 UTF-8 的文件会在标准错误里说明按什么解读。
它不生成回答，也不判断原文是否支持任何说法；没有命中也是结果，退出码为 0。

\b
例：
  evidence find "怎么预约讲解" 资料/
  evidence find "refund policy" a.md b.json --top 3 --json
  evidence find "怎么预约讲解" 资料/ --bundle 引用包.json --unit utf16
"""

_LEFT_OUT = {
    "expired": "过期的资料块 {} 个",
    "not_yet": "尚未生效的资料 {} 篇",
    "ended": "有效期已过的资料 {} 篇",
    "superseded": "已被取代的资料 {} 篇",
    "other_type": "其他类型的文件 {} 个",
    "other_json": "不含文档的 JSON 文件 {} 个",
    "link": "符号链接 {} 个",
}
_SHOWN_TERMS = 8
WEAK = "（弱命中：只靠单字）"


@click.command(cls=ChineseCommand, name="find", help=_HELP)
@click.argument("query")
@click.argument("sources", metavar="SOURCE...", nargs=-1, required=True)
@click.option("--method", default="bm25", metavar="方法", help="bm25（默认）、tfidf_log 或 tfidf_course。")
@click.option("--top", type=WHOLE, default=5, metavar="整数", help="最多显示几处，1 到 20，默认 5。")
@click.option("--no-weak", is_flag=True, help="不要弱命中：只靠单个汉字（或假名、谚文）的命中。")
@click.option("--json", "as_json", is_flag=True, help="输出 JSON。")
@click.option("--bundle", metavar="OUT.json", help="另把全部资料与命中写成引用包；已有的文件不会被覆盖。")
@click.option(
    "--unit",
    default="utf16",
    metavar="单位",
    help="引用包与 JSON 里 start、end 的单位：codepoint、utf16（默认）、utf8。",
)
@reading_options
def find(
    query: str,
    sources: tuple[str, ...],
    method: str,
    top: int,
    no_weak: bool,
    as_json: bool,
    bundle: str | None,
    unit: str,
    encoding: str | None,
    as_of: str | None,
) -> None:
    from evidence_kit.finder.finder import Finder
    from evidence_kit.finder.units import code_unit

    unit = code_unit(unit)
    with _bundle_file(bundle) as write_bundle:  # before the search: it may take long
        reading = read_in_force(sources, encoding, as_of)
        findings = Finder.of(reading.documents, method).find(query, top, no_weak=no_weak)
        if write_bundle is not None:
            from evidence_kit.anchors.bundle import bundle_to_json
            from evidence_kit.finder.citing import bundle_findings

            write_bundle(bundle_to_json(bundle_findings(reading.documents, findings, unit)))
    emit(show_findings(findings, reading, unit, as_json=as_json))


def _bundle_file(path: str | None) -> AbstractContextManager[Callable[[str], None] | None]:
    if path is None:
        return nullcontext()
    from evidence_kit.sources.writing import new_file

    return new_file(Path(path))


def show_findings(findings: Findings, reading: Reading, unit: str, *, as_json: bool) -> str:
    """The findings as text for people, or as JSON."""
    if as_json:
        from evidence_kit.finder.finding_json import findings_to_json

        return findings_to_json(findings, unit, reading.left_out, reading.decodings, reading.skipped)
    return "\n".join(_lines(findings, reading)) + "\n"


def show_left_out(reading: Reading) -> list[str]:
    """What was not read and why, the first few files of each kind by name; none where everything was read."""
    from evidence_kit.sources.visible import first_few

    names: dict[str, list[str]] = {}
    for skipped in reading.skipped:
        names.setdefault(skipped.reason, []).append(skipped.file)
    said = [
        text.format(reading.left_out[key]) + (f"（{first_few(names[key])}）" if key in names else "")
        for key, text in _LEFT_OUT.items()
        if reading.left_out.get(key)
    ]
    return [f"没有读入：{'、'.join(said)}。"] if said else []


def _lines(findings: Findings, reading: Reading) -> Iterator[str]:
    from evidence_kit.finder.finder import CAUTION

    where = f"{findings.sources} 份资料的 {findings.passages} 个资料块（方法 {findings.method}）"
    if findings.findings:
        yield f"检索了 {where}，按分数列出前 {len(findings.findings)} 处。"
    elif findings.weak_left_out:
        yield f"检索了 {where}，没有别的命中。"
    else:
        yield f"检索了 {where}，没有命中：问题里的字词在正文里没有出现。"
    if findings.titled:
        yield f"标题里有问题的字词、但标题不参加检索的资料 {len(findings.titled)} 份：{_titled(findings)}。"
    yield from show_left_out(reading)
    if findings.weak_left_out:
        yield f"略过弱命中 {findings.weak_left_out} 处（只靠单字）。"
    for finding in findings.findings:
        yield ""
        yield from _finding_lines(finding)
    yield ""
    yield CAUTION


def _titled(findings: Findings) -> str:
    from evidence_kit.sources.visible import first_few, visible

    return first_few([f"{visible(found.source_id)}（{visible(found.title)}）" for found in findings.titled])


def _finding_lines(finding: Finding) -> Iterator[str]:
    from evidence_kit.finder.marking import mark
    from evidence_kit.sources.visible import visible

    passage = finding.passage
    weak = WEAK if finding.weak else ""
    places = (f"{name} [{span.start}, {span.end})" for name, span in passage.spans.items())
    yield f"{finding.rank}. 分数 {finding.score:.6f}{weak}  {visible(passage.source_id)}"
    yield f"   标题  {visible(passage.title)}"
    yield f"   位置  {'  '.join(places)}"
    yield f"   原文  {mark(passage.quote, [span for term in finding.terms for span in term.spans])}"
    yield f"   依据  {_reason(finding.terms)}"


def _reason(terms: tuple[MatchedTerm, ...]) -> str:
    from evidence_kit.sources.visible import visible

    shown = "、".join(f"{visible(term.text)} {term.share:.1%}" for term in terms[:_SHOWN_TERMS])
    rest = len(terms) - _SHOWN_TERMS
    return f"{shown}，另有 {rest} 个词项" if rest > 0 else shown
