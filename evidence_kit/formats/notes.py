"""What is said wherever a run's means leave the program: what they rest on, and what they leave out. What an
import left out is said here, too.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict

from evidence_kit.experiments.model import Gaps, Run
from evidence_kit.formats.words import WHY_UNDEFINED
from evidence_kit.sources.documents import Document
from evidence_kit.sources.visible import first_few, visible

_NAMED = 20


def counted(run: Run) -> dict[str, int]:
    """Return how many questions are in the mean of each measure."""
    return {name: len(run.results) - len(run.undefined.get(name, ())) for name in run.means}


def conditions(run: Run) -> str:
    """Return the day, the passages and the parameters of a run in one sentence."""
    set_to = "，".join(f"{name}={value}" for name, value in asdict(run.parameters).items())
    return f"资料截至 {run.as_of}，{run.passages} 个资料块。参数 {set_to}"


def omissions(run: Run | Gaps) -> Iterator[str]:
    """Yield a sentence for each thing that a mean leaves out or takes as 0, with the ids it concerns."""
    undefined = sorted({name for names in run.undefined.values() for name in names})
    if undefined:
        yield f"未定义、不进入均值的问题 {len(undefined)} 个（{WHY_UNDEFINED}）：{named(undefined)}"
    if run.missing:
        yield missing_words(run.missing)
    yield f"前 {run.parameters.k} 篇里未判断的有 {run.unjudged_in_top_k} 处，暂按 0 增益计。"
    if run.stale_in_top_k:
        yield f"前 {run.parameters.k} 篇里待复核的有 {run.stale_in_top_k} 处，也暂按 0 增益计。"
    if run.stale_pairs:
        pairs = named([f"{question_id} 与 {source_id}" for question_id, source_id in run.stale_pairs])
        yield f"待复核的判断 {len(run.stale_pairs)} 条，不参与指标，请确认或重新判断：{pairs}"
    if run.judged_out_of_force:
        yield f"有 {run.judged_out_of_force} 条判断的资料当天无效，不参与指标。"


def missing_words(missing: Sequence[str]) -> str:
    """Return which questions have no hit, and what that scores."""
    return f"没有命中的问题 {len(missing)} 个，其中有相关判断的按 0 分计：{named(missing)}"


def already_there(found: Sequence[tuple[str, Document]]) -> str:
    """Return which documents an import left out, from (the source that has the text, the document)."""
    pairs = first_few([f"{visible(document.source_id)} 即 {visible(name)}" for name, document in found])
    return f"正文已经在实验里、没有再导入的 {len(found)} 篇：{pairs}。"


def named(names: Sequence[str]) -> str:
    """Return the first names in a row, and how many more there are."""
    more = len(names) - _NAMED
    return "、".join(names[:_NAMED]) + (f" 等（另有 {more}，experiment list 全部列出）" if more > 0 else "")
