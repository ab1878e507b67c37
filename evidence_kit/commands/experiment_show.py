"""Runs and comparisons as JSON records, and as lines for people."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from evidence_kit.formats.words import (
    ABSENCE_WORDS,
    CONDITION_WORDS,
    GRADE_WORDS,
    STATE_WORDS,
    UNDEFINED,
    WHY_UNDEFINED,
    six_digits,
)
from evidence_kit.sources.visible import visible

if TYPE_CHECKING:
    from evidence_kit.experiments.baseline import Comparison
    from evidence_kit.experiments.model import DocumentHit, QuestionResult, Run
    from evidence_kit.measures.intervals import Comparison as Difference

Titles = Mapping[str, str]  # by source id

_SHOWN = 3
_EXCERPT = 200  # code points


def rounded(values: Mapping[str, float | None]) -> dict[str, float | None]:
    """Return measures at six digits, as JSON has them."""
    return {name: _six(value) for name, value in values.items()}


def run_record(run: Run, titles: Titles) -> dict[str, Any]:
    """Return a run as JSON: all sources hit, each with its best passage, in code points."""
    return {
        "parameters": asdict(run.parameters),
        "passages": run.passages,
        "left_out": dict(run.left_out),
        "means": rounded(run.means),
        "undefined": {name: list(questions) for name, questions in run.undefined.items()},
        "unjudged_in_top_k": run.unjudged_in_top_k,
        "stale": run.stale,
        "judged_out_of_force": run.judged_out_of_force,
        "questions": [result_record(result, titles) for result in run.results],
    }


def result_record(result: QuestionResult, titles: Titles) -> dict[str, Any]:
    """Return one question's result as JSON."""
    return {
        "question_id": result.question.question_id,
        "question": result.question.text,
        "measures": rounded(result.measures),
        "documents": [_document_record(hit, titles) for hit in result.documents],
    }


def _document_record(hit: DocumentHit, titles: Titles) -> dict[str, Any]:
    best = hit.best
    return {
        "rank": hit.rank,
        "source_id": best.source_id,
        "title": titles[best.source_id],
        "score": _six(best.score),
        "unit": "codepoint",
        "start": best.start,
        "end": best.end,
        "quote": best.quote,
        "grade": hit.grade,
        "state": hit.state,
    }


def run_lines(run: Run, titles: Titles) -> Iterator[str]:
    """Yield a run for people: each question with its first three sources, then the means."""
    for result in run.results:
        yield from result_lines(result, titles)
        yield ""
    set_to = "，".join(f"{name}={value}" for name, value in asdict(run.parameters).items())
    yield f"资料截至 {run.as_of}，{run.passages} 个资料块。参数 {visible(set_to)}"
    yield from left_out_lines(run)
    yield f"{len(run.results)} 个问题的均值："
    yield from means_lines(run.means)
    undefined = sorted({name for names in run.undefined.values() for name in names})
    if undefined:
        names = visible("、".join(undefined))
        yield f"未定义、不进入均值的问题 {len(undefined)} 个（{WHY_UNDEFINED}）：{names}"
    yield f"前 {run.parameters.k} 篇里未判断的有 {run.unjudged_in_top_k} 处，暂按 0 增益计。"
    if run.stale:
        yield f"待复核的判断 {run.stale} 条，不参与指标；用 judge … confirm 确认，或重新判断。"
    if run.judged_out_of_force:
        yield f"有 {run.judged_out_of_force} 条判断的资料当天无效，不参与指标。"


def result_lines(result: QuestionResult, titles: Titles) -> Iterator[str]:
    """Yield one question with its first three sources."""
    yield f"{visible(result.question.question_id)}  {visible(result.question.text)}"
    if not result.documents:
        yield "  没有命中：问题里的字词在正文里没有出现。"
    for hit in result.documents[:_SHOWN]:
        best = hit.best
        judged = STATE_WORDS[hit.state] if hit.grade is None else f"{hit.grade} {GRADE_WORDS[hit.grade]}"
        where = f"[{best.start}, {best.end})"
        name = f"{visible(best.source_id)}  {visible(titles[best.source_id])}"
        yield f"  {hit.rank}. {name}  分数 {six_digits(best.score)}  {where}  {judged}"
        yield f"     {_excerpt(best.quote)}"
    if len(result.documents) > _SHOWN:
        yield f"  另有 {len(result.documents) - _SHOWN} 篇。"


def _excerpt(quote: str) -> str:
    """Return a quote on one line: blanks and line breaks run together, the end of a long one left out."""
    from evidence_kit.text.graphemes import cluster_around

    line = " ".join(quote.split())
    return visible(line if len(line) <= _EXCERPT else line[: cluster_around(line, _EXCERPT)[0]] + "…")


def left_out_lines(run: Run) -> Iterator[str]:
    """Yield which sources were not in force, and why."""
    if run.left_out:
        reasons = "、".join(f"{visible(name)} {ABSENCE_WORDS[why]}" for name, why in run.left_out.items())
        yield f"当天无效而没有检索的资料 {len(run.left_out)} 篇：{reasons}。"


def means_lines(means: Mapping[str, float | None]) -> Iterator[str]:
    """Yield one line a measure."""
    for name, value in means.items():
        yield f"  {name:12} {_shown(value)}"


def comparison_record(made: Comparison) -> dict[str, Any]:
    """Return a comparison as JSON."""
    return {
        "baseline": made.baseline.name,
        "baseline_as_of": made.baseline.as_of,
        "differing": list(made.differing),
        "attributable_to_parameters": made.attributable,
        "parameters": {
            name: {"baseline": before, "now": after} for name, (before, after) in made.parameters.items()
        },
        "measures": {difference.measure: _difference_record(difference) for difference in made.differences},
    }


def _difference_record(difference: Difference) -> dict[str, Any]:
    interval = difference.interval
    return {
        "questions": difference.questions,
        "left_out": list(difference.left_out),
        "baseline": _six(difference.first),
        "now": _six(difference.second),
        "difference": _six(difference.difference),
        "interval": None if interval is None else [_six(interval.low), _six(interval.high)],
        "p_value": _six(difference.p_value),
        "exact": difference.exact,
        "seed": difference.seed,
        "rounds": difference.rounds,
    }


def comparison_lines(made: Comparison) -> Iterator[str]:
    """Yield a comparison for people: the conditions first, since they say what the figures mean."""
    yield f"基线「{visible(made.baseline.name)}」（资料截至 {made.baseline.as_of}）与现在（{made.as_of}）："
    yield from _condition_lines(made)
    for difference in made.differences:
        yield _difference_line(difference)
    left_out = sorted({name for difference in made.differences for name in difference.left_out})
    if left_out:
        yield f"有指标未定义、或只在一边的问题 {len(left_out)} 个，未比较：{visible('、'.join(left_out))}"
    if made.differences:
        first = made.differences[0]
        yield f"差值为现在减基线；区间为 95% 自助法，检验为配对随机化，种子 {first.seed}，{first.rounds} 次。"


def _condition_lines(made: Comparison) -> Iterator[str]:
    changes = "，".join(f"{name} {before} → {after}" for name, (before, after) in made.parameters.items())
    if not made.differing:
        yield "条件全部相同。"
    elif made.attributable:
        yield f"只有参数不同（{visible(changes)}），其余条件相同：差异可归因于参数。"
    else:
        names = "、".join(CONDITION_WORDS[name] for name in made.differing)
        yield f"不同的条件：{names}。条件不同，差异不能归因于参数。"
        if changes:
            yield f"参数的改动：{visible(changes)}"


def _difference_line(difference: Difference) -> str:
    name = f"  {difference.measure:12}"
    if difference.first is None or difference.second is None or difference.difference is None:
        return f"{name} {UNDEFINED}：没有可比较的问题"
    interval = difference.interval
    sure = f"[{interval.low:+.6f}, {interval.high:+.6f}]" if interval else "区间需要两个以上的问题"
    moved = (
        f"{six_digits(difference.first)} → {six_digits(difference.second)}  差 {difference.difference:+.6f}"
    )
    return f"{name} {moved}  {sure}  p={_shown(difference.p_value)}  {difference.questions} 题"


def _six(value: float | None) -> float | None:
    return None if value is None else round(value, 6) + 0.0


def _shown(value: float | None) -> str:
    return UNDEFINED if value is None else six_digits(value)
