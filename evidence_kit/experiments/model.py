"""The records of an experiment, as they stand at one moment: sources, questions, judgments, parameters."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from typing import Literal, get_args

from evidence_kit.errors import EvidenceError
from evidence_kit.sources.held import HeldSource, check_text
from evidence_kit.sources.model import text_digest
from evidence_kit.sources.validity import refuse_circle
from evidence_kit.text.analysis import AnalyzerError, parse_analyzer

Method = Literal["bm25", "tfidf_log", "tfidf_course"]
JudgmentState = Literal["current", "stale", "unjudged"]

GRADES = (0, 1, 2, 3)
_SHOWN = 60  # characters of a wrong value in an error
# The least and the most that a parameter may be. `overlap` must also be less than `window`.
RANGES: Mapping[str, tuple[int, int]] = {
    "window": (1, 1_000_000),
    "overlap": (0, 999_999),
    "k": (1, 10_000),
    "budget": (1, 100_000_000),
    "k1": (0, 1_000),
    "b": (0, 1),
}


class ExperimentError(EvidenceError):
    """A record, or a request, that an experiment does not take."""


class JudgmentError(ExperimentError):
    """A judgment among several that an experiment does not take, and why."""

    def __init__(self, question_id: str, source_id: str, reason: str) -> None:
        super().__init__(f"判断 {question_id} 与 {source_id}：{reason}")
        self.question_id, self.source_id, self.reason = question_id, source_id, reason


# A source of an experiment is one of the store below: nothing is added to it here.
ExperimentSource = HeldSource


@dataclass(frozen=True)
class Question:
    """One question."""

    question_id: str
    text: str

    def __post_init__(self) -> None:
        check_text(self.question_id, "问题标识")
        check_text(self.text, f"问题 {self.question_id} ")
        if not self.question_id.strip() or not self.text.strip():
            raise ExperimentError("问题的标识和文字都不能为空：请写出要问的话。")

    @cached_property
    def text_sha256(self) -> str:
        """Return the question's digest, which a judgment of it names."""
        return text_digest(self.text)


@dataclass(frozen=True)
class Judgment:
    """How relevant a source is to a question, 0 to 3, and the two texts that were judged."""

    question_id: str
    source_id: str
    grade: int
    question_sha256: str
    source_sha256: str

    def __post_init__(self) -> None:
        if not _is_whole(self.grade) or self.grade not in GRADES:
            raise ExperimentError(
                f"{self.question_id} 与 {self.source_id} 的等级 {self.grade!r} 无效："
                "请改为 0（不相关）、1（部分）、2（相关）或 3（关键）。"
            )


@dataclass(frozen=True)
class Parameters:
    """How sources are cut, searched and cited. `window` and `overlap` count code points, `budget` characters.

    Raises ExperimentError that names every value that is not allowed.
    """

    method: Method = "bm25"
    analyzer: str = "words_han"
    window: int = 200
    overlap: int = 40
    k: int = 3
    k1: float = 1.2
    b: float = 0.75
    budget: int = 4000

    def __post_init__(self) -> None:
        problems = "；".join(_problems(self))
        if problems:
            raise ExperimentError(f"参数无效：{problems}。")
        for name in ("k1", "b"):
            object.__setattr__(self, name, float(getattr(self, name)))  # 1 and 1.0 are one value


@dataclass(frozen=True)
class Baseline:
    """A frozen run: the digests of all it rests on, and what was measured.

    `digests` has the keys sources, questions, judgments, parameters and code; `means` and `per_question` go
    from a measure's declaration to its value, None where it is undefined.
    """

    name: str
    as_of: str
    parameters: Parameters
    digests: Mapping[str, str]
    means: Mapping[str, float | None]
    per_question: Mapping[str, Mapping[str, float | None]]  # question id -> measure -> value


@dataclass(frozen=True)
class Experiment:
    """Everything at one moment. Tuples are in order of id; ids are unique within each.

    Raises ExperimentError where they are not, or where a judgment is of a question or source not there, and
    SourceError where sources supersede each other in a circle.
    """

    name: str
    sources: tuple[ExperimentSource, ...] = ()
    questions: tuple[Question, ...] = ()
    judgments: tuple[Judgment, ...] = ()
    parameters: Parameters = field(default_factory=Parameters)
    baselines: tuple[Baseline, ...] = ()
    views: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        check_text(self.name, "实验名称")
        if not self.name.strip():
            raise ExperimentError("实验名称是空的：请起一个名字。")
        _check_order("资料标识", [source.source_id for source in self.sources])
        _check_order("问题标识", [question.question_id for question in self.questions])
        _check_order("基线名称", [baseline.name for baseline in self.baselines])
        refuse_circle({source.source_id: source.validity for source in self.sources})
        pairs = [(judgment.question_id, judgment.source_id) for judgment in self.judgments]
        _check_order("判断", pairs)
        questions = {question.question_id for question in self.questions}
        sources = {source.source_id for source in self.sources}
        for question_id, source_id in pairs:
            if question_id not in questions or source_id not in sources:
                raise ExperimentError(f"判断（{question_id}，{source_id}）的问题或资料不在实验里。")

    @cached_property
    def _texts(self) -> tuple[dict[str, str], dict[str, str]]:
        return (
            {question.question_id: question.text_sha256 for question in self.questions},
            {source.source_id: source.text_sha256 for source in self.sources},
        )

    def state(self, judgment: Judgment) -> JudgmentState:
        """Return whether a judgment is of the texts that stand now."""
        questions, sources = self._texts
        current = (
            questions.get(judgment.question_id) == judgment.question_sha256
            and sources.get(judgment.source_id) == judgment.source_sha256
        )
        return "current" if current else "stale"

    def qrels(self) -> dict[str, dict[str, int]]:
        """Return question id -> source id -> grade of the current judgments; stale ones are left out."""
        found: dict[str, dict[str, int]] = {question.question_id: {} for question in self.questions}
        for judgment in self.judgments:
            if self.state(judgment) == "current":
                found[judgment.question_id][judgment.source_id] = judgment.grade
        return found


def _problems(parameters: Parameters) -> Iterator[str]:
    if parameters.method not in get_args(Method):
        yield f"method={_shown(parameters.method)} 应为 {'、'.join(get_args(Method))} 之一"
    try:
        grams = parse_analyzer(parameters.analyzer).name.startswith("char_ngrams")
        if parameters.method == "tfidf_course" and not grams:
            yield f"tfidf_course 只用 char_ngrams 分析器，不用 {parameters.analyzer}"
    except (AnalyzerError, TypeError):
        yield f"analyzer={_shown(parameters.analyzer)} 应为 words_han 或 char_ngrams(2,3) 这样的写法"
    for name, (least, most) in RANGES.items():
        value = getattr(parameters, name)
        real = name in ("k1", "b")
        right = _is_whole(value) or (real and isinstance(value, float) and math.isfinite(value))
        if not right or not least <= value <= most:
            yield f"{name}={_shown(value)} 应为 {least} 到 {most} 之间的{'数' if real else '整数'}"
        elif name == "overlap" and _is_whole(parameters.window) and value >= parameters.window:
            yield f"overlap={value} 应小于 window={parameters.window}"


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…（共 {len(text)} 个字符）"


def _is_whole(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _check_order(name: str, ids: Sequence[str] | Sequence[tuple[str, str]]) -> None:
    for before, after in pairwise(ids):
        if before == after:
            raise ExperimentError(f"{name} {after!r} 重复：每个只能出现一次。")
        if before > after:  # type: ignore[operator]
            raise ExperimentError(f"{name} {after!r} 的次序不对：应按标识从小到大排列。")


def digest_of(canonical: str) -> str:
    """Return the SHA-256 of a canonical text, 64 lower-case hexadecimal digits."""
    return hashlib.sha256(canonical.encode("utf-8")).hexdigest()


# What a run gives. There may be a million hits: those have slots.


@dataclass(frozen=True, slots=True)
class PassageHit:
    """A passage that shares terms with a question: [start, end) of the stored text in code points."""

    source_id: str
    score: float
    start: int
    end: int
    quote: str


@dataclass(frozen=True, slots=True)
class DocumentHit:
    """A source at its rank, by its best passage; `grade` is None where it is unjudged or stale."""

    rank: int
    best: PassageHit
    grade: int | None
    state: JudgmentState


@dataclass(frozen=True)
class QuestionResult:
    """One question: all documents hit (not just top k), all passages hit, and its measures."""

    question: Question
    documents: tuple[DocumentHit, ...]
    passages: tuple[PassageHit, ...]
    measures: Mapping[str, float | None]


@dataclass(frozen=True)
class Gaps:
    """What the measures of a run leave out, or take as 0; the fields are those of `Run`."""

    parameters: Parameters
    undefined: Mapping[str, tuple[str, ...]]
    missing: tuple[str, ...]
    unjudged_in_top_k: int
    stale_in_top_k: int
    stale_pairs: tuple[tuple[str, str], ...]
    judged_out_of_force: int


@dataclass(frozen=True)
class Run:
    """One run of an experiment's parameters over the sources in force on a day.

    `left_out` goes from a source id to the reason it is not in force; `undefined` from a measure to the
    questions it is undefined for. `missing` are the questions without a hit, which score 0 where they have a
    relevant judgment. `stale_pairs` are the (question id, source id) judged on old texts;
    `judged_out_of_force` counts current judgments of sources not in force on the day: neither takes part in a
    measure. Of the first k sources of each question, those unjudged and those stale are counted.
    """

    parameters: Parameters
    as_of: str
    passages: int
    left_out: Mapping[str, str]
    results: tuple[QuestionResult, ...]
    means: Mapping[str, float | None]
    undefined: Mapping[str, tuple[str, ...]]
    missing: tuple[str, ...]
    unjudged_in_top_k: int
    stale_in_top_k: int
    stale_pairs: tuple[tuple[str, str], ...]
    judged_out_of_force: int = 0

    @property
    def stale(self) -> int:
        """Return how many judgments are stale."""
        return len(self.stale_pairs)
