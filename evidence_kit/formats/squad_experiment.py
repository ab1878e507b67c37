"""An experiment in SQuAD form: paragraphs as sources, questions judged by the paragraph they stand at.

In: the paragraph of a question with answers is judged 3 (key): it is known to hold the answer. Nothing is
judged of the other paragraphs, nor for a question without answers. That an answer's place is wrong changes no
judgment, since those are of whole paragraphs.

Out: the form has one paragraph a question and answers in its words, an experiment has several judged sources
and no answers. A question stands at its best judged source, with that source's whole text as its answer,
which is all that the judgment says.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from evidence_kit.experiments.model import Experiment
from evidence_kit.experiments.run import qrels_in_force
from evidence_kit.formats.squad import SquadAnswer, SquadParagraph, SquadQuestion, SquadSet
from evidence_kit.sources.documents import Document, text_version
from evidence_kit.sources.store import Standing

KEY = 3


@dataclass(frozen=True)
class SquadExport:
    """What an experiment is in SQuAD form, and what that form has no place for.

    `unanswered` are questions without a relevant source; `further` counts relevant judgments beyond the one
    that a question stands at; `blank` are sources without text.
    """

    squad: SquadSet
    unanswered: tuple[str, ...]
    further: int
    blank: tuple[str, ...]


def squad_documents(squad: SquadSet) -> list[Document]:
    """Return the paragraphs as documents, their ids kept; one without a title is called by its id."""
    return [
        Document(
            paragraph.passage_id,
            paragraph.title or paragraph.passage_id,
            text_version(paragraph.context),
            paragraph.context,
            0,
            "squad_paragraph",
            "1",
        )
        for paragraph in squad.paragraphs
    ]


def squad_judgments(squad: SquadSet) -> list[tuple[str, Mapping[str, int]]]:
    """Return each question's text and its grades by paragraph id, in order of the file."""
    qrels = squad.qrels()
    return [(question.text, dict.fromkeys(qrels[question.question_id], KEY)) for question in squad.questions]


def experiment_to_squad(experiment: Experiment, in_force: Standing) -> SquadExport:
    """Return the sources in force and the questions with a current judgment of 1 to 3 as a SQuAD set."""
    paragraphs = [source for source in in_force.sources if source.text.strip()]
    texts = {source.source_id: source.text for source in paragraphs}
    placed: dict[str, list[SquadQuestion]] = {name: [] for name in texts}
    unanswered, further = [], 0
    qrels = qrels_in_force(experiment, in_force)
    for question in experiment.questions:
        grades = qrels[question.question_id]
        relevant = sorted((-grade, name) for name, grade in grades.items() if grade >= 1 and name in texts)
        if not relevant:
            unanswered.append(question.question_id)
            continue
        further += len(relevant) - 1
        best = relevant[0][1]
        answer = SquadAnswer(texts[best], 0)
        placed[best].append(SquadQuestion(question.question_id, question.text, (answer,)))
    squad = SquadSet(
        tuple(
            SquadParagraph(source.source_id, source.title, source.text, tuple(placed[source.source_id]))
            for source in paragraphs
        )
    )
    blank = tuple(source.source_id for source in in_force.sources if source.source_id not in texts)
    return SquadExport(squad, tuple(unanswered), further, blank)
