"""The one bridge to the course core: its corpus, its two systems, its router, its stored reference reports.

In a checkout the core's files lie beside it; an installed wheel carries them in `evidence_kit/course_data`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any, Protocol

import evidence_assistant as core
from evidence_kit.anchors.anchor import Anchor, CorruptAnchor, create_anchor
from evidence_kit.anchors.placing import Placed as Placed
from evidence_kit.anchors.placing import place
from evidence_kit.errors import EvidenceError
from evidence_kit.finder.explanation import MatchedTerm, is_single
from evidence_kit.finder.finder import Finder
from evidence_kit.finder.passages import Span
from evidence_kit.finder.shining import Piece, shine
from evidence_kit.index.weighting import METHODS
from evidence_kit.sources.documents import Document
from evidence_kit.sources.model import Representation, Source
from evidence_kit.sources.validity import Absence, Validity, absences
from evidence_kit.sources.visible import visible
from evidence_kit.text.analysis import char_ngrams
from evidence_kit.text.differences import Stretch, compare

DATA = core.DATA
# README's demonstration question, and those of the calibration set that lead to the other two routes. A test
# holds that none of them leaks into the frozen set or the probe.
DEMONSTRATION = "未安装的标准配件在签收后多少天内可申请换货？"
_CALIBRATION_EXAMPLES = ("CAL02", "CAL03", "CAL06", "CAL07")


ROUTE_WORDS = {"answer": "回答", "refuse": "拒答", "conflict": "冲突"}


class CourseError(EvidenceError):
    """What the course's corpus or systems do not take, or do not hold."""


class Retriever(core.Retriever, Protocol):
    """A retriever of the core's that can be asked for more hits than it gives by itself."""

    def search(self, question: str, top_k: int = core.TOP_K) -> list[core.Chunk]:
        """Return the first `top_k` hits."""


@dataclass(frozen=True)
class System:
    """One column of an answer. `nothing` is said where no passage is near, as this system sees it;
    `threshold` is None where every match counts; `build` makes its retriever.
    """

    name: str
    title: str
    note: str
    nothing: str
    threshold: float | None
    build: Callable[[list[core.Chunk], Mapping[str, list[str]]], Retriever]


# One line makes another column.
SYSTEMS = (
    System(
        core.KeywordBaseline.name,
        "关键词基线",
        "出现一个关键词就算命中，分数是命中的关键词所占的比例。",
        "没有命中任何关键词。",
        None,
        lambda chunks, rules: core.KeywordBaseline(chunks, dict(rules)),
    ),
    System(
        core.TfidfIndex.name,
        "字符TF-IDF相似检索",
        "比较共享的 2 字、3 字片段；分数只说明共享多少，不是正确概率。",
        "没有一块现行资料与问题共享 2 字或 3 字的片段。",
        core.MIN_SCORE,
        lambda chunks, rules: core.TfidfIndex(chunks),
    ),
)


@dataclass(frozen=True)
class Evidence:
    """A passage that an answer rests on: its chunk with score and receipt, the text in pieces that shine, the
    stretches that a conflicting passage shares (one stretch where there is no conflict), and why it matched.
    """

    chunk: core.Chunk
    receipt: Anchor
    terms: tuple[MatchedTerm, ...]
    pieces: tuple[Piece, ...]
    stretches: tuple[Stretch, ...]


@dataclass(frozen=True)
class Near:
    """A passage near the question, which is no citation. `reached` says whether it reaches the threshold, by
    the retriever itself: the score here is rounded.
    """

    chunk: core.Chunk
    score: float
    reached: bool
    terms: tuple[MatchedTerm, ...]


@dataclass(frozen=True)
class Asked:
    """One question through one system; `result` has the core's shape."""

    system: System
    result: core.Result
    evidence: tuple[Evidence, ...]
    near: tuple[Near, ...]


@dataclass(frozen=True)
class Listed:
    """A passage with its time in force; `absence` says why it is not in force on the day, if it is not."""

    chunk: core.Chunk
    validity: Validity
    absence: Absence | None


@dataclass(frozen=True)
class Course:
    """A corpus of the course's format with the core's systems over it."""

    corpus_version: str
    chunks: tuple[core.Chunk, ...]
    rules: Mapping[str, list[str]]
    released: bool

    @classmethod
    def load(cls, data: Path = DATA) -> Course:
        """Return the course in a folder of data. Raises CourseError where a file is not what it should be."""
        try:
            corpus = core.load_corpus(data / "corpus.json")
            chunks = corpus["chunks"]
            rules = core.load_keyword_rules(chunks, data / "keyword_rules.json")
            released = core.released(chunks, reference("reference_report.json"))
        except core.InputError as error:
            raise CourseError(str(error)) from error
        return cls(corpus["corpus_version"], tuple(chunks), rules, released)

    @cached_property
    def _retrievers(self) -> dict[str, Retriever]:
        return {system.name: system.build(list(self.chunks), self.rules) for system in SYSTEMS}

    @cached_property
    def _by_id(self) -> dict[str, core.Chunk]:
        return {chunk["chunk_id"]: chunk for chunk in self.chunks}

    def chunk(self, chunk_id: str) -> core.Chunk:
        """Return the passage of that id, in force or not; CourseError (404) where there is none."""
        if chunk_id not in self._by_id:
            raise CourseError(f"资料库里没有 {visible(chunk_id)}：请从“资料”页选择。", http_status=404)
        return self._by_id[chunk_id]

    def results(self, question: str) -> list[core.Result]:
        """Return the result of each system, in the core's shape. Raises CourseError on a bad question."""
        return [self._result(system, question) for system in SYSTEMS]

    def ask(self, question: str) -> list[Asked]:
        """Return the result of each system with what a reader needs to check it; raises as `results`."""
        return [self._asked(system, self._result(system, question)) for system in SYSTEMS]

    def place(self, chunk_id: str, receipt: Anchor) -> Placed:
        """Return where a receipt's quote stands in the passage today.

        Raises CourseError where the receipt is of another passage, CorruptAnchor as `resolve` does.
        """
        text = self.chunk(chunk_id)["text"]
        if receipt.source_id != chunk_id:
            own = visible(receipt.source_id)
            raise CourseError(f"这张凭条属于 {own}，不是 {chunk_id}：请打开它自己的资料。")
        return place(receipt, text)

    def listing(self, day: date) -> list[Listed]:
        """Return every passage with its state on `day`; the corpus states no days, only a status."""
        validities = {key: Validity(chunk["effective_status"]) for key, chunk in self._by_id.items()}
        out = absences(validities, day)
        return [Listed(chunk, validities[key], out.get(key)) for key, chunk in self._by_id.items()]

    def _result(self, system: System, question: str) -> core.Result:
        try:
            return core.ask(question, self._retrievers[system.name], ready=self.released)
        except core.InputError as error:
            raise CourseError(str(error)) from error

    def _asked(self, system: System, result: core.Result) -> Asked:
        texts = [item["text"] for item in result["evidence"]]
        pairs = zip(result["evidence"], compare(texts), strict=True)
        evidence = tuple(self._evidence(system, result["question"], *pair) for pair in pairs)
        return Asked(system, result, evidence, self._near(system, result))

    def _near(self, system: System, result: core.Result) -> tuple[Near, ...]:
        question = result["question"]
        hits = self._retrievers[system.name].search(question, len(self.chunks))
        reached = {hit["chunk_id"] for hit in hits}
        return tuple(
            Near(self.chunk(key), score, key in reached, self._terms(system, question, key))
            for key, score in ((item["chunk_id"], item["score"]) for item in result["nearest"])
            if score > 0
        )

    def _evidence(
        self, system: System, question: str, item: core.Chunk, stretches: tuple[Stretch, ...]
    ) -> Evidence:
        terms = self._terms(system, question, item["chunk_id"])
        return Evidence(item, receipt_of(item), terms, shine(item["text"], terms), stretches)

    def _terms(self, system: System, question: str, chunk_id: str) -> tuple[MatchedTerm, ...]:
        rows = self._retrievers[system.name].explain(question, chunk_id)
        spans = _spans([row["term"] for row in rows], self.chunk(chunk_id)["text"])
        return tuple(
            MatchedTerm(row["term"], spans[row["term"]], row["share"], is_single(row["term"])) for row in rows
        )


def source_of(chunk: core.Chunk) -> Source:
    """Return a passage of the course as a citable source."""
    from evidence_kit.sources.unicode_rules import unicode_version  # slow: only where it is needed

    representation = Representation("course_corpus", "1", (), unicode_version())
    return Source(chunk["chunk_id"], chunk["title"], chunk["version"], chunk["text"], representation)


def receipt_of(item: core.Chunk) -> Anchor:
    """Return the core's receipt of a piece of evidence as the kit's, its quote withheld: it fits into an
    address, and is still found in a later version. Raises CorruptAnchor where the two disagree.
    """
    anchor, source = item["anchor"], source_of(item)
    if anchor["sha256"] != source.text_sha256:
        raise CorruptAnchor(source.source_id, "正文摘要不符")
    return create_anchor(
        source, anchor["start"], anchor["end"], anchor["unit"], quote=anchor["quote"], withhold=True
    )


def examples() -> list[str]:
    """Return questions to try: for demonstration, never from the frozen set or the probe."""
    items = _read_json(DATA / "calibration_qa.json")["items"]
    by_id = {item["id"]: item["question"] for item in items}
    return [DEMONSTRATION, *(by_id[key] for key in _CALIBRATION_EXAMPLES)]


@lru_cache(maxsize=1)
def sample_documents() -> tuple[Document, ...]:
    """Return the finder's bilingual sample sources."""
    from evidence_kit.sources.readers import read_sources

    return read_sources([DATA / "finder_sample" / "v1" / "sources"]).documents


@lru_cache(maxsize=len(METHODS))
def sample_finder(method: str) -> Finder:
    """Return a finder over the sample sources; FinderError where the method is none."""
    return Finder.of(sample_documents(), method)


def reference(name: str) -> Path:
    """Return where a stored reference report lies, in a checkout or in an installed wheel."""
    return DATA / name if DATA.name == "course_data" else core.ROOT / "output" / name


def _spans(terms: Sequence[str], text: str) -> dict[str, tuple[Span, ...]]:
    """Return where each term stands in a text, both normalised by the core's rule."""
    clean = {term: core.normalize(term) for term in terms}
    found: dict[str, list[Span]] = {}
    if terms:
        for at in char_ngrams(*sorted(set(map(len, clean.values())))).terms(text):
            found.setdefault(at.text, []).append(Span(at.start, at.end))
    return {term: tuple(found.get(normal, ())) for term, normal in clean.items()}


def _read_json(path: Path) -> Any:
    try:
        return core.read_json(path)
    except core.InputError as error:
        raise CourseError(str(error)) from error
