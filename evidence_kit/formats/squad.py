"""Reading comprehension in SQuAD form, in and out: paragraphs as passages, questions, answers with places.

    {"version", "data": [{"title", "paragraphs": [{"id", "context",
        "qas": [{"id", "question", "is_impossible", "answers": [{"text", "answer_start"}]}]}]}]}

`answer_start` counts code points of the context. Ids of articles and of answers are not kept.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby

from evidence_kit.sources.strict_json import Fields, JsonInputError, parse_json
from evidence_kit.sources.visible import visible


@dataclass(frozen=True)
class SquadAnswer:
    """An answer as listed: its words, and the code point of the context where they are said to begin."""

    text: str
    start: int

    def stands_in(self, context: str) -> bool:
        """Return whether `context` has these words at this place."""
        return self.start >= 0 and context[self.start : self.start + len(self.text)] == self.text


@dataclass(frozen=True)
class SquadQuestion:
    """A question and its listed answers; none where its paragraph does not answer it."""

    question_id: str
    text: str
    answers: tuple[SquadAnswer, ...]
    is_impossible: bool = False


@dataclass(frozen=True)
class SquadParagraph:
    """A passage, the title of its article ("" where there is none), and the questions asked about it."""

    passage_id: str
    title: str
    context: str
    questions: tuple[SquadQuestion, ...]


@dataclass(frozen=True)
class FaultyAnswer:
    """An answer that does not stand where it says; `number` counts the question's answers from 1."""

    question_id: str
    number: int
    answer: SquadAnswer


@dataclass(frozen=True)
class SquadSet:
    """A whole file. Ids of passages, and of questions, are unique; faulty answers are kept and told."""

    paragraphs: tuple[SquadParagraph, ...]
    version: str = ""

    @property
    def questions(self) -> tuple[SquadQuestion, ...]:
        """Return all questions in order of the file."""
        return tuple(question for paragraph in self.paragraphs for question in paragraph.questions)

    @property
    def faulty(self) -> tuple[FaultyAnswer, ...]:
        """Return every answer that does not stand where it says, in order of the file."""
        return tuple(
            FaultyAnswer(question.question_id, number, answer)
            for paragraph in self.paragraphs
            for question in paragraph.questions
            for number, answer in enumerate(question.answers, 1)
            if not answer.stands_in(paragraph.context)
        )

    def qrels(self) -> dict[str, dict[str, int]]:
        """Return question id -> {its paragraph: 1}; nothing is relevant to a question without answers.

        Other paragraphs are unjudged, though one may well answer too.
        """
        return {
            question.question_id: {paragraph.passage_id: 1} if question.answers else {}
            for paragraph in self.paragraphs
            for question in paragraph.questions
        }


def parse_squad(data: bytes, name: str) -> SquadSet:
    """Return the set in a SQuAD-form file. A paragraph without an id is `article-paragraph`, from 1.

    Raises JsonInputError naming `name` and the place: not strict JSON, a field missing or of another type, an
    empty or repeated id, a paragraph or a question without text.
    """
    shown = visible(name)
    whole = Fields(parse_json(data, shown), shown)
    paragraphs = tuple(_paragraphs(whole))
    _check_unique([paragraph.passage_id for paragraph in paragraphs], shown, "段落")
    found = SquadSet(paragraphs, _optional(whole, "version"))
    _check_unique([question.question_id for question in found.questions], shown, "问题")
    if not paragraphs:
        raise whole.wrong("data", "里没有段落")
    return found


def squad_to_json(squad: SquadSet) -> str:
    """Return the set as minified JSON that `parse_squad` reads back equal; paragraphs of one title in a row
    become one article.
    """
    articles = groupby(squad.paragraphs, key=lambda paragraph: paragraph.title)
    data = [
        {"title": title, "paragraphs": [_paragraph_record(paragraph) for paragraph in paragraphs]}
        for title, paragraphs in articles
    ]
    return json.dumps(
        {"version": squad.version, "data": data}, ensure_ascii=False, separators=(",", ":"), allow_nan=False
    )


def _paragraphs(whole: Fields) -> Iterator[SquadParagraph]:
    for article_number, article in enumerate(whole.records("data"), 1):
        title = _optional(article, "title")
        for number, paragraph in enumerate(article.records("paragraphs"), 1):
            given = _filled(paragraph, "id") if paragraph.has("id") else f"{article_number}-{number}"
            questions = tuple(_question(fields) for fields in paragraph.records("qas"))
            yield SquadParagraph(given, title, _filled(paragraph, "context"), questions)


def _question(fields: Fields) -> SquadQuestion:
    answers = tuple(
        SquadAnswer(_filled(answer, "text"), answer.integer("answer_start"))
        for answer in fields.records("answers")
    )
    impossible = fields.has("is_impossible") and fields.boolean("is_impossible")
    return SquadQuestion(_filled(fields, "id"), _filled(fields, "question"), answers, impossible)


def _optional(fields: Fields, key: str) -> str:
    return fields.string(key) if fields.has(key) else ""


def _filled(fields: Fields, key: str) -> str:
    value = fields.string(key)
    if not value.strip():
        raise fields.wrong(key, "不能为空")
    return value


def _check_unique(ids: list[str], name: str, what: str) -> None:
    seen: set[str] = set()
    for given in ids:
        if given in seen:
            raise JsonInputError(name, "bad_shape", f"{what}标识 {visible(given)} 重复")
        seen.add(given)


def _paragraph_record(paragraph: SquadParagraph) -> dict[str, object]:
    return {
        "id": paragraph.passage_id,
        "context": paragraph.context,
        "qas": [_question_record(question) for question in paragraph.questions],
    }


def _question_record(question: SquadQuestion) -> dict[str, object]:
    answers = [{"text": answer.text, "answer_start": answer.start} for answer in question.answers]
    record: dict[str, object] = {"id": question.question_id, "question": question.text, "answers": answers}
    return {**record, "is_impossible": True} if question.is_impossible else record
