"""The records of an experiment, as they stand at one moment: sources, questions, judgments, parameters."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal

from evidence_kit.errors import EvidenceError
from evidence_kit.sources.model import text_digest
from evidence_kit.sources.validity import Validity

Method = Literal["bm25", "tfidf_log", "tfidf_course"]
JudgmentState = Literal["current", "stale", "unjudged"]


class ExperimentError(EvidenceError):
    """A record, or a request, that an experiment does not take."""


@dataclass(frozen=True)
class ExperimentSource:
    """One source: its stored text, of which `text[body_start:]` is searched; titles are only shown.

    `encoding` and `transformations` say how the text came out of its bytes.
    """

    source_id: str
    title: str
    text: str
    body_start: int = 0
    validity: Validity = field(default_factory=Validity)
    encoding: str = "utf-8"
    transformations: tuple[str, ...] = ()

    @property
    def text_sha256(self) -> str:
        """Return the stored text's digest, which a judgment of this source names."""
        return text_digest(self.text)


@dataclass(frozen=True)
class Question:
    """One question."""

    question_id: str
    text: str

    @property
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


@dataclass(frozen=True)
class Parameters:
    """How sources are cut, searched and cited. `window` and `overlap` count code points, `budget` characters."""

    method: Method = "bm25"
    analyzer: str = "words_han"
    window: int = 200
    overlap: int = 40
    k: int = 3
    k1: float = 1.2
    b: float = 0.75
    budget: int = 4000


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
    """Everything at one moment. Tuples are in order of id; ids are unique within each."""

    name: str
    sources: tuple[ExperimentSource, ...] = ()
    questions: tuple[Question, ...] = ()
    judgments: tuple[Judgment, ...] = ()
    parameters: Parameters = field(default_factory=Parameters)
    baselines: tuple[Baseline, ...] = ()
    views: Mapping[str, str] = field(default_factory=dict)

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


def digest_of(canonical: str) -> str:
    """Return the SHA-256 of a canonical text, 64 lower-case hexadecimal digits."""
    return hashlib.sha256(canonical.encode("utf-8")).hexdigest()


# What a run gives.


@dataclass(frozen=True)
class PassageHit:
    """A passage that shares terms with a question: [start, end) of the stored text in code points."""

    source_id: str
    score: float
    start: int
    end: int
    quote: str


@dataclass(frozen=True)
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
class Run:
    """One run of an experiment's parameters over the sources in force on a day.

    `left_out` goes from a source id to the reason it is not in force; `undefined` from a measure to the
    questions it is undefined for.
    """

    parameters: Parameters
    as_of: str
    passages: int
    left_out: Mapping[str, str]
    results: tuple[QuestionResult, ...]
    means: Mapping[str, float | None]
    undefined: Mapping[str, tuple[str, ...]]
    unjudged_in_top_k: int
    stale: int
