"""What is shown for judging, what a look reads, and when a search is another one."""

from dataclasses import replace
from datetime import date

import pytest
from made_up import document

from evidence_kit.experiments.baseline import compare, freeze
from evidence_kit.experiments.judging import excerpt, question_named, rows, source_named, tallies
from evidence_kit.experiments.model import ExperimentError, Parameters
from evidence_kit.experiments.records import PARAMETERS, QUESTION, THE_ONE
from evidence_kit.experiments.run import measured, run, search, search_key
from evidence_kit.experiments.store import ExperimentStore
from evidence_kit.sources.store import standing as in_force
from evidence_kit.sources.validity import Validity
from evidence_kit.storage.errors import StaleError

DAY = date(2026, 11, 30)


def shown(store, number=0, day=DAY):
    standing = store.look()
    found = search(standing.experiment, day)
    return rows(standing, found, standing.experiment.questions[number])


def test_found_sources_come_by_rank_then_those_not_found_then_those_out_of_force(filled):
    filled.import_documents([document("d", "退款另有规定"), document("e", "无关")])
    filled.judge("Q001", "S004", 2)
    filled.edit_source("S004", validity=Validity("expired"))
    listed = [(row.source.source_id, row.rank, row.grade, row.state, row.absence) for row in shown(filled)]
    assert listed == [
        ("S001", 1, 3, "current", None),
        ("S002", None, 1, "current", None),
        ("S003", None, None, "unjudged", None),
        ("S005", None, None, "unjudged", None),
        ("S004", None, 2, "current", "expired"),
    ]


def test_a_stale_judgment_keeps_its_grade_in_the_row_and_leaves_the_tally(filled):
    filled.edit_source("S001", text="退款八天内受理")
    row = shown(filled)[0]
    assert (row.grade, row.state) == (3, "stale")
    experiment = filled.look().experiment
    first = next(iter(tallies(experiment, search(experiment, DAY))))
    assert (first.current, first.stale, first.unjudged) == (1, 1, 1)


def test_the_revision_of_a_row_is_what_judging_expects(filled):
    for _ in range(2):
        row = shown(filled)[2]
        filled.judge("Q001", row.source.source_id, 0, expected=row.revision)
        filled.judge("Q001", row.source.source_id, None, expected=shown(filled)[2].revision)
    old = row.revision
    with pytest.raises(StaleError):
        filled.judge("Q001", row.source.source_id, 1, expected=old)


def test_an_excerpt_is_the_quote_between_what_stands_around_it(store):
    text = "前" * 60 + "退款七天" + "后" * 60
    store.import_documents([document("a", text)])
    store.add_questions(["退款"])
    store.set_parameters({"window": 4, "overlap": 0})
    standing = store.look()
    (row,) = shown(store)
    made = excerpt(row, standing.experiment.questions[0], standing.experiment.parameters)
    assert "".join(piece.text for piece in made.pieces) == row.best.quote == "退款七天"
    assert (made.before, made.after) == ("前" * 24, "后" * 24)
    assert [piece.text for piece in made.pieces if piece.level] == ["退款"]


def test_what_was_not_found_is_shown_by_its_beginning(store):
    store.import_documents([document("a", "周一闭馆" * 100)])
    store.add_questions(["退款"])
    standing = store.look()
    (row,) = shown(store)
    made = excerpt(row, standing.experiment.questions[0], standing.experiment.parameters)
    assert (made.before, made.pieces[0].text, made.after) == ("", "周一闭馆" * 50, "…")


def test_a_name_that_is_not_there_is_not_found(filled):
    experiment = filled.snapshot()
    assert question_named(experiment, "Q002").text == "哪天闭馆"
    assert source_named(experiment, "S003").text == "周一闭馆"
    for find in (question_named, source_named):
        with pytest.raises(ExperimentError) as error:
            find(experiment, "X")
        assert error.value.http_status == 404


# A look.


def test_a_look_sees_what_another_connection_wrote_and_is_the_same_where_nothing_was(filled, tmp_path):
    other = ExperimentStore.open(tmp_path / "x.db")
    before = filled.look()
    assert filled.look() is before
    other.judge("Q002", "S001", 1)
    other.remove_question("Q001")
    other.close()
    after = filled.look()
    assert after.experiment == filled.snapshot()
    assert after.last > before.last
    filled.undo()
    assert filled.look().experiment == filled.snapshot()


def test_a_look_tells_the_revision_of_each_record_removed_ones_too(filled):
    filled.remove_question("Q002")
    standing = filled.look()
    for kind, name in ((QUESTION, "Q001"), (QUESTION, "Q002"), (PARAMETERS, THE_ONE), (QUESTION, "Q999")):
        assert standing.revision(kind, name) == filled.revision(kind, name)
    assert standing.revision(QUESTION, "Q999") == 0


def test_undo_redo_freeze_and_restore_refuse_what_was_not_seen(filled):
    seen = filled.look().last
    filled.judge("Q002", "S001", 1)
    experiment = filled.snapshot()
    for write in (
        lambda: filled.undo(expected=seen),
        lambda: filled.redo(expected=seen),
        lambda: filled.add_baseline(freeze(experiment, DAY, "b"), expected=seen),
        lambda: filled.restore(experiment, expected=seen),
    ):
        with pytest.raises(StaleError, match="判断 Q002 与 S001：1"):
            write()
    assert filled.snapshot() == experiment
    assert filled.look().change.label == "判断 Q002 与 S001：1"
    filled.undo(expected=filled.look().last)


def test_a_stale_judgment_is_not_confirmed_of_texts_that_were_not_seen(filled):
    filled.edit_source("S001", text="一")
    experiment = filled.snapshot()
    seen = experiment.questions[0].text_sha256, experiment.sources[0].text_sha256
    filled.edit_source("S001", text="二")
    with pytest.raises(StaleError):
        filled.confirm("Q001", "S001", seen=seen)


# A search.


def test_measuring_a_search_is_the_run(filled):
    experiment = filled.snapshot()
    assert measured(experiment, search(experiment, DAY)) == run(experiment, DAY)


def test_a_search_is_another_one_only_where_it_may_find_something_else(filled):
    def key_of(experiment, day=DAY):
        return search_key(experiment, in_force(experiment.sources, day))

    experiment = filled.snapshot()
    key = key_of(experiment)
    same = [
        replace(experiment, judgments=()),
        replace(experiment, name="别的"),
        replace(experiment, parameters=Parameters(k=9, budget=9)),
        replace(experiment, sources=tuple(replace(source, title="新") for source in experiment.sources)),
    ]
    assert {key_of(changed) for changed in same} == {key}
    assert key_of(experiment, date(2026, 12, 1)) == key  # the same sources are in force
    others = [
        replace(experiment, parameters=Parameters(**change))
        for change in ({"window": 9, "overlap": 1}, {"k1": 2.0}, {"b": 0.1}, {"method": "tfidf_log"})
    ]
    others += [
        replace(experiment, questions=experiment.questions[:1], judgments=()),
        replace(experiment, sources=experiment.sources[:2], judgments=()),
        replace(
            experiment, sources=tuple(replace(s, body_start=1) for s in experiment.sources), judgments=()
        ),
        replace(
            experiment, sources=tuple(replace(s, validity=Validity("expired")) for s in experiment.sources)
        ),
    ]
    ends = replace(experiment.sources[0], validity=Validity(effective_until=DAY))
    others.append(replace(experiment, sources=(ends, *experiment.sources[1:])))
    keys = [key_of(changed, date(2026, 12, 1)) for changed in others]
    assert len({key, *keys}) == len(keys) + 1


def test_a_search_of_another_day_with_the_same_sources_is_that_day_s(filled):
    filled.edit_source("S001", validity=Validity("expired"))
    before = filled.snapshot()
    found = search(before, DAY)
    filled.edit_source("S001", validity=Validity(effective_until=date(2020, 1, 1)))
    filled.edit_source("S002", title="新题")
    now, day = filled.snapshot(), date(2026, 12, 1)
    again = found.on(in_force(now.sources, day))
    assert again == search(now, day)
    assert again.scores is found.scores  # not made a second time
    assert (found.standing.left_out, again.standing.left_out) == ({"S001": "expired"}, {"S001": "ended"})


def test_a_search_and_a_comparison_tell_how_far_they_are_and_end_where_they_are_told(filled):
    experiment = filled.snapshot()
    told = []
    found = search(experiment, DAY, progress=lambda done, whole: told.append((done, whole)))
    assert told == [(0, 2), (0, 2), (1, 2)]
    frozen = freeze(experiment, DAY, "b", found=found)
    assert frozen == freeze(experiment, DAY, "b")
    # Of fewer questions than ten no samples are drawn.
    question = experiment.questions[0]
    ids = [f"Q{number:03}" for number in range(1, 13)]
    judged = [judgment for judgment in experiment.judgments if judgment.question_id == question.question_id]
    experiment = replace(
        experiment,
        questions=tuple(replace(question, question_id=name) for name in ids),
        judgments=tuple(replace(judgment, question_id=name) for name in ids for judgment in judged),
    )
    found = search(experiment, DAY)
    frozen = freeze(experiment, DAY, "b", found=found)
    told.clear()
    made = compare(
        frozen, experiment, DAY, found=found, progress=lambda done, whole: told.append(done / whole)
    )
    assert made == compare(frozen, experiment, DAY)
    assert told == sorted(told)
    assert told[-1] == 1

    def stop(done, whole):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        search(experiment, DAY, progress=stop)
    with pytest.raises(KeyboardInterrupt):
        compare(frozen, experiment, DAY, progress=stop)


# Who comes late, and who writes nonsense.


def test_who_comes_late_is_told_that_before_what_he_wrote_is_looked_at(filled):
    seen = {
        "source": filled.revision("source", "S001"),
        "question": filled.revision(QUESTION, "Q001"),
        "parameters": filled.revision(PARAMETERS, THE_ONE),
    }
    filled.edit_source("S001", text="别人写的")
    filled.edit_question("Q001", "别人问的")
    filled.set_parameters({"k": 5})
    before = filled.snapshot()
    for write in (
        lambda: filled.edit_source("S001", text="\ud800", expected=seen["source"]),
        lambda: filled.edit_question("Q001", " ", expected=seen["question"]),
        lambda: filled.set_parameters({"k": 0}, expected=seen["parameters"]),
        lambda: filled.confirm("Q001", "S003", expected=99),
        lambda: filled.judge("Q001", "S001", 7, expected=99),
    ):
        with pytest.raises(StaleError):
            write()
    filled.remove_question("Q002")
    with pytest.raises(StaleError, match="删除问题 Q002"):
        filled.edit_question("Q002", "还想改", expected=seen["question"])
    with pytest.raises(StaleError, match="修改资料 S001"):
        filled.refuse_stale("source", "S001", seen["source"])
    assert filled.snapshot().parameters == before.parameters


def test_a_title_is_one_line_however_it_was_given(filled):
    (name,) = filled.import_documents([document("d", "正文", title="上\r\n 下\n\n再下")])
    titles = {source.source_id: source.title for source in filled.snapshot().sources}
    assert titles[name] == "上 下 再下"
    assert filled.edit_source(name, title="\n一\r二\n").title == "一 二"


def test_two_experiments_have_two_identities_and_one_keeps_its_own(filled, tmp_path):
    identity = filled.identity
    filled.rename("别名")
    filled.restore(filled.snapshot())
    other = ExperimentStore.create(tmp_path / "other.db", "手册")
    again = ExperimentStore.open(filled._database.path)
    assert again.identity == identity != other.identity
    again.close()
    other.close()
