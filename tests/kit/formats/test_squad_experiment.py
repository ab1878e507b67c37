"""A SQuAD-form set as a judged experiment and back: what is kept, what is told as lost."""

from datetime import date

from evidence_kit.experiments.model import Experiment, ExperimentSource, Judgment, Question
from evidence_kit.formats.squad import (
    SquadAnswer,
    SquadParagraph,
    SquadQuestion,
    SquadSet,
    parse_squad,
    squad_to_json,
)
from evidence_kit.formats.squad_experiment import experiment_to_squad, squad_documents, squad_judgments
from evidence_kit.sources.store import standing
from evidence_kit.sources.validity import Validity

DAY = date(2026, 11, 30)


def test_paragraph_of_an_answered_question_is_key_and_nothing_else_is_judged():
    squad = SquadSet(
        (
            SquadParagraph("P1", "题", "甲文", (SquadQuestion("q1", "甲？", (SquadAnswer("甲", 1),)),)),
            SquadParagraph("P2", "", "乙文", (SquadQuestion("q2", "乙？", (), is_impossible=True),)),
        )
    )
    assert len(squad.faulty) == 1  # 甲 stands at 0: the judgment does not care
    documents = squad_documents(squad)
    assert [(each.source_id, each.title, each.text) for each in documents] == [
        ("P1", "题", "甲文"), ("P2", "P2", "乙文"),
    ]  # fmt: skip
    assert squad_judgments(squad) == [("甲？", {"P1": 3}), ("乙？", {})]


def experiment():
    texts = {"S1": "甲😀文", "S2": "乙文", "S3": " ", "S4": "旧文"}
    sources = tuple(
        ExperimentSource(name, f"题{name}", text, validity=Validity("expired" if name == "S4" else "active"))
        for name, text in texts.items()
    )
    questions = tuple(Question(f"Q{number}", f"问{number}？") for number in range(1, 6))
    grades = {
        ("Q1", "S1"): 1, ("Q1", "S2"): 3,  # the higher one
        ("Q2", "S1"): 2, ("Q2", "S2"): 2,  # equal: the first id
        ("Q3", "S1"): 0,  # nothing relevant
        ("Q4", "S3"): 3,  # no text
        ("Q5", "S4"): 3,  # not in force
    }  # fmt: skip
    shas = {source.source_id: source.text_sha256 for source in sources}
    asked = {question.question_id: question.text_sha256 for question in questions}
    judgments = tuple(Judgment(q, s, grade, asked[q], shas[s]) for (q, s), grade in grades.items())
    return Experiment("x", sources, questions, judgments)


def test_question_stands_at_its_best_source_and_what_has_no_place_is_counted():
    held = experiment()
    made = experiment_to_squad(held, standing(held.sources, DAY))
    places = {p.passage_id: [q.question_id for q in p.questions] for p in made.squad.paragraphs}
    assert places == {"S1": ["Q2"], "S2": ["Q1"]}
    assert (made.unanswered, made.further, made.blank) == (("Q3", "Q4", "Q5"), 2, ("S3",))
    assert made.squad.faulty == ()
    assert parse_squad(squad_to_json(made.squad).encode(), "x") == made.squad


def test_stale_judgment_gives_no_answer():
    held = experiment()
    stale = tuple(
        Judgment(each.question_id, each.source_id, each.grade, each.question_sha256, "0" * 64)
        for each in held.judgments
    )
    old = Experiment("x", held.sources, held.questions, stale)
    made = experiment_to_squad(old, standing(old.sources, DAY))
    assert made.squad.questions == () and len(made.unanswered) == 5
