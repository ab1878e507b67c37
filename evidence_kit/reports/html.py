"""A full report as one HTML file that opens offline and checks its own quotes.

Nothing in it runs but the kit's own script, and nothing is loaded: the policy in its head allows that script
and that style sheet by their digests, and no more. All text from data is escaped; what HTML cannot hold is
in `markup`.
"""

from __future__ import annotations

import base64
import hashlib
import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from evidence_kit.experiments.model import DocumentHit, Experiment, ExperimentSource, Run
from evidence_kit.formats.words import (
    ABSENCE_WORDS,
    CONDITION_WORDS,
    GRADE_WORDS,
    PARAMETER_WORDS,
    STATE_WORDS,
    UNDEFINED,
    WHY_UNDEFINED,
    step_words,
)
from evidence_kit.measures.digits import six_digits
from evidence_kit.reports.errors import ReportError, missing

if TYPE_CHECKING:
    from jinja2 import Environment
    from markupsafe import Markup


@dataclass(frozen=True)
class Excerpt:
    """A quote under its number in the report; `source` and `question` count from 1, as in the page's ids."""

    number: int
    question: int
    source: int
    hit: DocumentHit


def build_report(experiment: Experiment, run: Run) -> str:
    """Return the report of a run of an experiment as HTML, the same for the same records.

    It holds all sources and judgments whole, and of each question the k sources ranked first with the
    passages they are ranked by. Raises ReportError where jinja2 is missing or the run is of other sources.
    """
    try:
        environment = _environment()
    except ImportError:
        raise missing("jinja2", "report") from None
    if tuple(result.question for result in run.results) != experiment.questions:
        raise ReportError("评测的问题与实验现在的问题不同：请重新运行评测，再写报告。")
    script, style = _template_text("report.js"), _template_text("report.css")
    excerpts = list(_excerpts(experiment, run))
    cited = _grouped(excerpts, lambda excerpt: excerpt.source)
    return environment.get_template("report.html").render(
        experiment=experiment,
        run=run,
        excerpts=excerpts,
        questions=list(_questions(run, excerpts)),
        sources=[
            _source(number, source, run, cited.get(number, []))
            for number, source in enumerate(experiment.sources, start=1)
        ],
        question_numbers={
            question.question_id: number for number, question in enumerate(experiment.questions, start=1)
        },
        source_numbers=_source_numbers(experiment),
        parameters=vars(run.parameters),
        policy=f"default-src 'none'; script-src '{_pin(script)}'; style-src '{_pin(style)}'; "
        "base-uri 'none'; form-action 'none'",
        script=script,
        style=style,
    )


def _environment() -> Environment:
    from jinja2 import Environment, PackageLoader, StrictUndefined

    from evidence_kit.reports.markup import exact, inline

    environment = Environment(
        loader=PackageLoader("evidence_kit.reports", "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters.update(
        inline=inline, exact=exact, six_digits=six_digits, step_words=step_words, attributes=vars
    )
    environment.globals.update(
        absence_words=ABSENCE_WORDS,
        condition_words=CONDITION_WORDS,
        grade_words=GRADE_WORDS,
        parameter_words=PARAMETER_WORDS,
        state_words=STATE_WORDS,
        undefined=UNDEFINED,
        why_undefined=WHY_UNDEFINED,
    )
    return environment


def _template_text(name: str) -> Markup:
    """Return a file of ours that goes into the page as it is."""
    from markupsafe import Markup

    return Markup((files("evidence_kit.reports") / "templates" / name).read_text("utf-8"))  # noqa: S704


def _pin(text: str) -> str:
    digest = hashlib.sha256(text.encode("utf-8")).digest()
    return f"sha256-{base64.b64encode(digest).decode('ascii')}"


def _source_numbers(experiment: Experiment) -> dict[str, int]:
    return {source.source_id: number for number, source in enumerate(experiment.sources, start=1)}


def _excerpts(experiment: Experiment, run: Run) -> Iterator[Excerpt]:
    """Yield the quotes to show. Raises ReportError on one that does not stand in its source."""
    numbers = _source_numbers(experiment)
    count = itertools.count(1)
    for question, result in enumerate(run.results, start=1):
        for hit in result.documents[: run.parameters.k]:
            best = hit.best
            source = numbers.get(best.source_id)
            text = experiment.sources[source - 1].text if source else ""
            if source is None or not best.quote or text[best.start : best.end] != best.quote:
                place = f"资料 {best.source_id} [{best.start}, {best.end})"
                raise ReportError(
                    f"问题 {result.question.question_id} 在{place} 的摘录与现在的原文不符："
                    "请重新运行评测，再写报告。"
                )
            yield Excerpt(next(count), question, source, hit)


def _questions(run: Run, excerpts: Iterable[Excerpt]) -> Iterator[dict[str, Any]]:
    """Yield each question with its excerpts; `more` counts the sources found beyond them."""
    shown = _grouped(excerpts, lambda excerpt: excerpt.question)
    for number, result in enumerate(run.results, start=1):
        own = shown.get(number, [])
        yield {
            "number": number,
            "result": result,
            "excerpts": own,
            "more": len(result.documents) - len(own),
        }


def _grouped(excerpts: Iterable[Excerpt], key: Callable[[Excerpt], int]) -> dict[int, list[Excerpt]]:
    groups: dict[int, list[Excerpt]] = {}
    for excerpt in excerpts:
        groups.setdefault(key(excerpt), []).append(excerpt)
    return groups


def _source(number: int, source: ExperimentSource, run: Run, cited: Sequence[Excerpt]) -> dict[str, Any]:
    from evidence_kit.reports.markup import marked

    spans = [(excerpt.hit.best.start, excerpt.hit.best.end, excerpt.number) for excerpt in cited]
    return {
        "number": number,
        "source": source,
        "absence": run.left_out.get(source.source_id),
        "excerpts": cited,
        "text": marked(source.text, spans, number),
    }
