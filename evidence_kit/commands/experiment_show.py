"""Runs and comparisons as JSON records, and as lines for people."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from evidence_kit.commands.paired import paired_lines, paired_record
from evidence_kit.formats.notes import conditions, counted, omissions
from evidence_kit.formats.words import (
    ABSENCE_WORDS,
    GRADE_WORDS,
    STATE_WORDS,
    UNDEFINED,
)
from evidence_kit.measures.digits import rounded, six_digits
from evidence_kit.sources.visible import visible

if TYPE_CHECKING:
    from evidence_kit.experiments.baseline import Comparison
    from evidence_kit.experiments.model import DocumentHit, Parameters, QuestionResult, Run

Titles = Mapping[str, str]  # by source id

_SHOWN = 3
_EXCERPT = 200  # code points


def rounded_values(values: Mapping[str, float | None]) -> dict[str, float | None]:
    """Return measures at six digits, as JSON has them."""
    return {name: rounded(value) for name, value in values.items()}


def run_record(run: Run, titles: Titles) -> dict[str, Any]:
    """Return a run as JSON: all sources hit, each with its best passage, in code points."""
    return {
        "parameters": asdict(run.parameters),
        "passages": run.passages,
        "left_out": dict(run.left_out),
        "means": rounded_values(run.means),
        **omissions_record(run),
        "questions": [result_record(result, titles) for result in run.results],
    }


def omissions_record(run: Run) -> dict[str, Any]:
    """Return what a run's means leave out or take as 0, as JSON."""
    return {
        "counted": counted(run),
        "undefined": {name: list(questions) for name, questions in run.undefined.items()},
        "missing": list(run.missing),
        "unjudged_in_top_k": run.unjudged_in_top_k,
        "stale_in_top_k": run.stale_in_top_k,
        "stale": run.stale,
        "stale_judgments": [
            {"question_id": question_id, "source_id": source_id} for question_id, source_id in run.stale_pairs
        ],
        "judged_out_of_force": run.judged_out_of_force,
    }


def result_record(result: QuestionResult, titles: Titles) -> dict[str, Any]:
    """Return one question's result as JSON."""
    return {
        "question_id": result.question.question_id,
        "question": result.question.text,
        "measures": rounded_values(result.measures),
        "documents": [_document_record(hit, titles) for hit in result.documents],
    }


def _document_record(hit: DocumentHit, titles: Titles) -> dict[str, Any]:
    best = hit.best
    return {
        "rank": hit.rank,
        "source_id": best.source_id,
        "title": titles[best.source_id],
        "score": rounded(best.score),
        "unit": "codepoint",
        "start": best.start,
        "end": best.end,
        "quote": best.quote,
        "grade": hit.grade,
        "state": hit.state,
    }


def run_lines(run: Run, titles: Titles, top: int | None = None) -> Iterator[str]:
    """Yield a run for people: each question with its first `top` sources, then the means."""
    for result in run.results:
        yield from result_lines(result, titles, top or shown_of(run), run.parameters)
        yield ""
    yield visible(conditions(run))
    yield from left_out_lines(run)
    yield from means_lines(run)


def shown_of(run: Run) -> int:
    """Return how many sources of a question are shown where nobody says: three, or the k that is measured."""
    return max(_SHOWN, run.parameters.k)


def result_lines(result: QuestionResult, titles: Titles, top: int, parameters: Parameters) -> Iterator[str]:
    """Yield one question with its first `top` sources."""
    from evidence_kit.commands.find import WEAK
    from evidence_kit.experiments.judging import is_weak_hit

    yield f"{visible(result.question.question_id)}  {visible(result.question.text)}"
    if not result.documents:
        yield "  没有命中：问题里的字词在正文里没有出现。"
    for hit in result.documents[:top]:
        best = hit.best
        judged = STATE_WORDS[hit.state] if hit.grade is None else f"{hit.grade} {GRADE_WORDS[hit.grade]}"
        where = f"[{best.start}, {best.end})"
        name = f"{visible(best.source_id)}  {visible(titles[best.source_id])}"
        weak = WEAK if is_weak_hit(best, result.question, parameters) else ""
        yield f"  {hit.rank}. {name}  分数 {six_digits(best.score)}{weak}  {where}  {judged}"
        yield f"     {_excerpt(best.quote)}"
    if len(result.documents) > top:
        yield f"  另有 {len(result.documents) - top} 篇。"


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


def means_lines(run: Run) -> Iterator[str]:
    """Yield the means of a run, with how many questions are in each, and what they leave out."""
    yield f"{len(run.results)} 个问题的均值："
    numbers = counted(run)
    for name, value in run.means.items():
        yield f"  {name:12} {_shown(value)}  计入 {numbers[name]} 题"
    yield from map(visible, omissions(run))


def comparison_record(made: Comparison) -> dict[str, Any]:
    """Return a comparison as JSON."""
    return {
        "baseline": made.baseline.name,
        "baseline_as_of": made.baseline.as_of,
        "differing": list(made.differing),
        "attributable_to_parameters": made.attributable,
        "parameters_without_effect": list(made.idle),
        "parameters": {
            name: {"baseline": before, "now": after} for name, (before, after) in made.parameters.items()
        },
        "missing": list(made.missing),
        "measures": {difference.measure: paired_record(difference) for difference in made.differences},
    }


def comparison_lines(made: Comparison) -> Iterator[str]:
    """Yield a comparison for people: the conditions first, since they say what the figures mean."""
    from evidence_kit.formats.comparing import comparison_remarks, conditions_compared

    yield f"基线「{visible(made.baseline.name)}」（资料截至 {made.baseline.as_of}）→ 现在（{made.as_of}）："
    yield from map(visible, conditions_compared(made))
    yield from paired_lines(made.differences)
    yield from map(visible, comparison_remarks(made))


def _shown(value: float | None) -> str:
    return UNDEFINED if value is None else six_digits(value)
