"""An experiment in a file: ids, edits, stale judgments, parameters all or none, limits, restore."""

import dataclasses
from datetime import date, timedelta

import pytest
from made_up import document

from evidence_kit.experiments import limits
from evidence_kit.experiments.limits import Limits
from evidence_kit.experiments.model import (
    Baseline,
    Experiment,
    ExperimentError,
    ExperimentSource,
    Parameters,
    Question,
)
from evidence_kit.experiments.records import JUDGMENT, PARAMETERS, QUESTION, SOURCE, judgment_id
from evidence_kit.experiments.store import ExperimentStore
from evidence_kit.sources.model import SourceError, text_digest
from evidence_kit.sources.store import standing
from evidence_kit.sources.validity import Validity
from evidence_kit.storage.errors import NothingToUndoError, StaleError
from evidence_kit.text.passages import cut_windows


def grades(store):
    experiment = store.snapshot()
    return {
        (judgment.question_id, judgment.source_id): (judgment.grade, experiment.state(judgment))
        for judgment in experiment.judgments
    }


def baseline(name="起点"):
    return Baseline(name, "2026-11-30", Parameters(), {"code": "x"}, {"AP": None}, {"Q001": {"AP": 0.5}})


def test_new_experiment_holds_default_parameters_and_its_limits(store):
    assert store.snapshot() == Experiment("手册")
    assert store.limits == limits.PROFILES["default"]
    with pytest.raises(NothingToUndoError):
        store.undo()


def test_import_keeps_what_the_reader_found(store):
    validity = Validity(effective_from=date(2026, 1, 1), supersedes=("旧.txt",))
    ids = store.import_documents(
        [
            document(
                "新.txt", "# 标题\n正文", "标题", 5, validity, encoding="gb18030", transformations=("x",)
            ),
            document("旧.txt", "旧文"),
        ]
    )
    assert ids == ("S001", "S002")
    new = store.snapshot().sources[0]
    assert (new.title, new.text, new.body_start) == ("标题", "# 标题\n正文", 5)
    assert (new.encoding, new.transformations) == ("gb18030", ("x",))
    assert new.validity == dataclasses.replace(validity, supersedes=("S002",))


def test_ids_are_never_given_twice(filled):
    filled.remove_source("S003")
    filled.remove_question("Q002")
    assert filled.import_documents([document("d", "新")]) == ("S004",)
    assert filled.add_questions(["新问题"]) == ("Q003",)
    for _ in range(5):
        filled.undo()
    assert filled.import_documents([document("d", "新")]) == ("S005",)


def test_restored_ids_count_too_when_new_ones_are_given(store):
    kept = Experiment("x", questions=(Question("Q007", "a"), Question("Q1000", "b"), Question("别的", "c")))
    store.restore(kept)
    assert store.add_questions(["d"]) == ("Q1001",)


def test_nothing_to_import_is_refused(store):
    with pytest.raises(ExperimentError, match="没有可以导入"):
        store.import_documents([])


@pytest.mark.parametrize("text", ["", "NUL\0", "😀\u202e‮", "a" * 100_000, "\r\n", "👨‍👩‍👧"])
def test_any_text_comes_back_as_it_was(store, text):
    store.import_documents([document("a", text, title=text)])
    (source,) = store.snapshot().sources
    assert (source.text, source.title) == (text, text.strip("\r\n"))  # a title is one line


def test_lone_surrogate_is_refused_and_nothing_is_written(store):
    for act in (
        lambda: store.import_documents([document("a", "好"), document("b", "坏\ud800")]),
        lambda: store.add_questions(["好", "坏\udfff"]),
    ):
        with pytest.raises(SourceError, match="孤立的代理项"):
            act()
    assert store.snapshot() == Experiment("手册")


@pytest.mark.parametrize("text", ["", " \n\t"])
def test_empty_question_is_refused(store, text):
    with pytest.raises(ExperimentError, match="不能为空"):
        store.add_questions([text])


def test_edited_text_makes_judgments_stale_and_out_of_the_measures(filled):
    filled.edit_source("S001", text="退款三天内受理")
    assert grades(filled)[("Q001", "S001")] == (3, "stale")
    assert filled.snapshot().qrels() == {"Q001": {"S002": 1}, "Q002": {"S003": 2}}
    filled.edit_question("Q001", "退款要多久")
    assert grades(filled)[("Q001", "S002")] == (1, "stale")
    assert grades(filled)[("Q002", "S003")] == (2, "current")


def test_title_or_validity_alone_leaves_judgments_current(filled):
    filled.edit_source("S001", title="新标题", validity=Validity("expired"))
    assert grades(filled)[("Q001", "S001")] == (3, "current")
    source = filled.snapshot().sources[0]
    assert (source.title, source.validity.status, source.text) == ("新标题", "expired", "退款七天内受理")


def test_stale_judgment_counts_again_once_confirmed_or_judged_anew_or_the_text_is_back(filled):
    filled.edit_source("S001", text="退款三天内受理")
    filled.confirm("Q001", "S001")
    assert grades(filled)[("Q001", "S001")] == (3, "current")
    filled.edit_question("Q001", "退款要多久")
    filled.judge("Q001", "S001", 2)
    assert grades(filled)[("Q001", "S001")] == (2, "current")
    filled.edit_question("Q001", "退款要几天")
    assert grades(filled)[("Q001", "S002")] == (1, "current")


def test_unjudged_is_not_grade_0(filled):
    filled.judge("Q002", "S001", 0)
    assert grades(filled)[("Q002", "S001")] == (0, "current")
    assert filled.judge("Q002", "S001", None) is None
    assert ("Q002", "S001") not in grades(filled)
    filled.judge("Q002", "S001", None)
    with pytest.raises(ExperimentError, match="还没有判断"):
        filled.confirm("Q002", "S001")


@pytest.mark.parametrize("grade", [-1, 4, 1.0, "1", True, float("nan")])
def test_grade_that_is_none_of_four_is_refused(filled, grade):
    before = filled.snapshot()
    with pytest.raises(ExperimentError, match="等级"):
        filled.judge("Q001", "S003", grade)
    assert filled.snapshot() == before


@pytest.mark.parametrize(
    "act",
    [
        lambda store: store.judge("Q009", "S001", 1),
        lambda store: store.judge("Q001", "S009", 1),
        lambda store: store.judge_all({("Q001", "S003"): 1, ("Q001", "S009"): 1}),
        lambda store: store.judge_all({("Q001", "S003"): 1, ("Q002", "S001"): 9}),
        lambda store: store.edit_source("S009", text="x"),
        lambda store: store.edit_question("Q009", "x"),
        lambda store: store.remove_source("S009"),
        lambda store: store.remove_question("Q009"),
        lambda store: store.edit_source("S001", validity=Validity(supersedes=("S001",))),
        lambda store: store.edit_source("S001", validity=Validity(supersedes=("S009",))),
        lambda store: store.edit_source("S001", title="x\ud800"),
        lambda store: store.set_parameters({"k": 0}),
    ],
)
def test_refused_action_writes_nothing(filled, act):
    before, history = filled.snapshot(), filled.history()
    with pytest.raises((ExperimentError, SourceError)):
        act(filled)
    assert (filled.snapshot(), filled.history()) == (before, history)


def test_sources_that_supersede_each_other_in_a_circle_are_refused(filled):
    filled.edit_source("S001", validity=Validity(supersedes=("S002",)))
    filled.edit_source("S002", validity=Validity(supersedes=("S003",)))
    with pytest.raises(SourceError, match="循环"):
        filled.edit_source("S003", validity=Validity(supersedes=("S001",)))


def test_removed_source_takes_its_judgments_along_and_undo_brings_both_back(filled):
    before = filled.snapshot()
    filled.remove_source("S001")
    assert ("Q001", "S001") not in grades(filled)
    filled.undo()
    assert filled.snapshot() == before
    filled.remove_question("Q001")
    assert set(grades(filled)) == {("Q002", "S003")}
    filled.undo()
    assert filled.snapshot() == before


def test_parameters_apply_all_or_none(filled):
    filled.set_parameters({"window": 100, "overlap": 20})
    before = filled.snapshot().parameters
    with pytest.raises(ExperimentError) as caught:
        filled.set_parameters({"k": 5, "window": 0, "b": float("nan"), "method": "semantic"})
    message = caught.value.message
    assert (
        all(name in message for name in ("window=0", "b=nan", "method='semantic'")) and "k=5" not in message
    )
    assert filled.snapshot().parameters == before == Parameters(window=100, overlap=20)
    assert filled.undo().label == "撤销：设置参数 window=100，overlap=20"
    assert filled.snapshot().parameters == Parameters()


def test_stale_tab_of_each_kind_is_refused(filled):
    seen = {
        kind: filled.revision(kind, name)
        for kind, name in (
            (SOURCE, "S001"), (QUESTION, "Q001"), (JUDGMENT, judgment_id("Q001", "S001")), (PARAMETERS, ""),
        )
    }  # fmt: skip
    filled.judge("Q001", "S001", 0)
    filled.edit_source("S001", text="别人改过")
    filled.edit_question("Q001", "别人改过？")
    filled.set_parameters({"k": 7})
    before = filled.snapshot()
    for act in (
        lambda: filled.edit_source("S001", text="我的", expected=seen[SOURCE]),
        lambda: filled.remove_source("S001", expected=seen[SOURCE]),
        lambda: filled.edit_question("Q001", "我的", expected=seen[QUESTION]),
        lambda: filled.remove_question("Q001", expected=seen[QUESTION]),
        lambda: filled.judge("Q001", "S001", 2, expected=seen[JUDGMENT]),
        lambda: filled.confirm("Q001", "S001", expected=seen[JUDGMENT]),
        lambda: filled.set_parameters({"k": 9}, expected=seen[PARAMETERS]),
    ):
        with pytest.raises(StaleError) as caught:
            act()
        assert caught.value.http_status == 409
    assert filled.snapshot() == before


def test_judgment_of_a_text_that_has_changed_since_is_refused_by_its_digests(filled):
    seen = (text_digest("退款要几天"), text_digest("周一闭馆"))
    filled.judge("Q001", "S003", 1, seen=seen)
    filled.edit_source("S003", text="周二闭馆")
    with pytest.raises(StaleError, match="修改资料 S003"):
        filled.judge("Q001", "S003", 2, seen=seen)
    filled.edit_question("Q001", "退款要多久")
    with pytest.raises(StaleError, match="修改问题 Q001"):
        filled.judge("Q001", "S001", 2, seen=seen)


def test_baselines_and_views_are_outside_undo(filled):
    filled.set_parameters({"k": 5})
    filled.add_baseline(baseline())
    filled.set_view("tab", "runs")
    filled.undo()
    experiment = filled.snapshot()
    assert experiment.parameters.k == 3
    assert (experiment.baselines, experiment.views) == ((baseline(),), {"tab": "runs"})
    filled.set_view("tab", None)
    filled.redo()
    assert (filled.snapshot().parameters.k, filled.snapshot().views) == (5, {})


def test_baseline_is_never_replaced(filled):
    filled.add_baseline(baseline())
    with pytest.raises(ExperimentError, match="已经存在"):
        filled.add_baseline(dataclasses.replace(baseline(), as_of="2027-01-01"))
    assert filled.snapshot().baselines == (baseline(),)


def test_restore_keeps_ids_as_one_change_that_undo_takes_back(tmp_path, filled):
    filled.add_baseline(baseline())
    filled.set_view("tab", "runs")
    filled.edit_source("S001", text="退款三天内受理")
    whole = filled.snapshot()
    other = ExperimentStore.create(tmp_path / "y.db", "另一个")
    other.import_documents([document("z", "别的")])
    before, changes = other.snapshot(), len(other.history())
    other.restore(whole)
    assert other.snapshot() == whole
    assert len(other.history()) == changes + 1
    other.undo()
    assert other.snapshot() == before
    other.redo()
    assert other.snapshot() == whole
    assert ExperimentStore.create(tmp_path / "z.db", "x", holding=whole).snapshot() == whole


def test_what_a_new_file_held_from_the_start_is_not_undone(tmp_path, filled):
    whole = filled.snapshot()
    store = ExperimentStore.create(tmp_path / "y.db", "x", holding=whole)
    with pytest.raises(NothingToUndoError):
        store.undo()
    assert store.snapshot() == whole
    assert [change.label for change in store.history()] == ["新建实验（限额 default）"]
    store.set_parameters({"k": 9})
    store.undo()
    assert store.snapshot() == whole


def test_restored_source_that_supersedes_one_not_there_can_be_edited(store):
    left = ExperimentSource("S002", "新", "正文", validity=Validity(supersedes=("S001",)))
    store.restore(Experiment("x", (left,)))
    assert store.edit_source("S002", title="新标题").validity.supersedes == ("S001",)
    with pytest.raises(SourceError, match="S009"):
        store.edit_source("S002", validity=Validity(supersedes=("S001", "S009")))


def test_undo_of_a_restore_keeps_the_baseline_frozen_after_it(tmp_path, filled):
    filled.add_baseline(baseline("旧"))
    filled.restore(Experiment("空"))
    filled.add_baseline(baseline("新"))
    filled.undo()
    experiment = filled.snapshot()
    assert [frozen.name for frozen in experiment.baselines] == ["新", "旧"]
    assert (experiment.name, len(experiment.sources)) == ("手册", 3)


def test_past_is_what_was_recorded_then(store, clock):
    first = clock.now
    store.import_documents([document("a", "旧文")])
    clock.now += timedelta(hours=1)
    store.edit_source("S001", text="新文")
    assert store.snapshot(first).sources[0].text == "旧文"
    assert store.snapshot(clock.now).sources[0].text == "新文"
    with pytest.raises(ExperimentError, match="还没有这个实验"):
        store.snapshot(first - timedelta(microseconds=1))


def test_back_dated_correction_changes_the_past_as_known_now_and_not_as_known_then(store, clock):
    store.import_documents([document("a", "规定", validity=Validity(effective_from=date(2026, 1, 1)))])
    early = clock.now
    clock.now += timedelta(days=40)
    # Now we learn that it began only in mid-February.
    store.edit_source("S001", validity=Validity(effective_from=date(2026, 2, 15)))

    def in_force(day, known_at=None):
        held = standing(store.snapshot(known_at).sources, day)
        return [source.source_id for source in held.sources]

    assert in_force(date(2026, 2, 1), early) == ["S001"]
    assert in_force(date(2026, 2, 1), clock.now - timedelta(microseconds=1)) == ["S001"]
    assert in_force(date(2026, 2, 1), clock.now) == in_force(date(2026, 2, 1)) == []
    assert (in_force(date(2026, 2, 14)), in_force(date(2026, 2, 15))) == ([], ["S001"])
    store.undo()
    assert in_force(date(2026, 2, 1)) == ["S001"]


def test_experiment_survives_closing(tmp_path, filled):
    whole = filled.snapshot()
    filled.close()
    assert [file.name for file in tmp_path.iterdir()] == ["x.db"]
    assert ExperimentStore.open(tmp_path / "x.db").snapshot() == whole


SMALL = Limits(
    sources=2, source_characters=10, characters=15, questions=2, question_characters=5, passages=3,
    restore_bytes=100,
)  # fmt: skip


@pytest.fixture
def small(tmp_path, monkeypatch):
    monkeypatch.setitem(limits.PROFILES, "small", SMALL)
    return ExperimentStore.create(tmp_path / "small.db", "小", limits="small")


@pytest.mark.parametrize(
    ("act", "said"),
    [
        (lambda s: s.import_documents([document(n, "x") for n in "abc"]), "资料篇数为 3，超过上限 2"),
        (lambda s: s.import_documents([document("a", "x" * 11)]), "资料 S001 的字符数为 11，超过上限 10"),
        (
            lambda s: s.import_documents([document(n, "x" * 8) for n in "ab"]),
            "全部资料的字符数为 16，超过上限 15",
        ),
        (lambda s: s.add_questions(["a", "b", "c"]), "问题数为 3，超过上限 2"),
        (lambda s: s.add_questions(["这是六个字符"]), "问题 Q001 的字符数为 6，超过上限 5"),
        (lambda s: s.restore(Experiment("x", questions=(Question("Q", "这是六个字符"),))), "问题 Q 的字符数"),
    ],
)
def test_limit_is_refused_by_name_and_nothing_is_written(small, act, said):
    with pytest.raises(ExperimentError, match=said):
        act(small)
    assert small.snapshot() == Experiment("小")


def test_what_is_exactly_at_the_limits_is_taken(small):
    small.import_documents([document("a", "x" * 10), document("b", "y" * 5)])
    small.add_questions(["12345", "😀😀😀😀😀"])
    assert len(small.snapshot().questions) == 2
    with pytest.raises(ExperimentError, match="超过上限 10"):
        small.edit_source("S001", text="x" * 11)
    with pytest.raises(ExperimentError, match="超过上限 5"):
        small.edit_question("Q001", "123456")


def test_too_many_passages_are_refused_when_set_and_when_imported(small):
    small.import_documents([document("a", "x" * 10)])
    with pytest.raises(ExperimentError, match="资料块数为 4，超过上限 3"):
        small.set_parameters({"window": 4, "overlap": 2})
    small.set_parameters({"window": 4, "overlap": 1})
    assert small.snapshot().parameters.window == 4
    with pytest.raises(ExperimentError, match="资料块数为 5，超过上限 3"):
        small.import_documents([document("b", "x" * 5)])


@pytest.mark.parametrize(
    ("text", "window", "overlap", "count"),
    [
        # By lengths alone 2,990 of the first, and 693 of the second.
        ("e\u0301" * 2990, 5, 1, 2989),
        ("👨\u200d👩\u200d👧\u200d👦" * 100, 8, 7, 100),
    ],
)
def test_passages_are_counted_as_they_are_cut_where_graphemes_are_long(store, text, window, overlap, count):
    store.import_documents([document("a", text)])
    (source,) = store.snapshot().sources
    setting = Parameters(window=window, overlap=overlap)
    assert len(cut_windows(text, window, overlap)) == count
    limits.check_cut([source], setting, dataclasses.replace(SMALL, passages=count))
    with pytest.raises(ExperimentError, match=f"资料块数为 {count}，超过上限 {count - 1}"):
        limits.check_cut([source], setting, dataclasses.replace(SMALL, passages=count - 1))


def test_seed_profile_has_the_limits_of_the_seed():
    assert limits.limits_of("seed") == Limits(24, 6_000, 60_000, 30, 500, 1_500, 1_500_000)
    default = limits.limits_of("default")
    assert all(getattr(default, field.name) >= 10 * getattr(limits.PROFILES["seed"], field.name)
               for field in dataclasses.fields(Limits))  # fmt: skip


def test_profile_is_chosen_when_the_experiment_is_made(tmp_path):
    path = tmp_path / "s.db"
    ExperimentStore.create(path, "x", limits="seed").close()
    store = ExperimentStore.open(path)
    assert store.limits == limits.PROFILES["seed"]
    with pytest.raises(ExperimentError, match="资料篇数为 25，超过上限 24"):
        store.import_documents([document(str(n), "x") for n in range(25)])
    store.restore(Experiment("换了内容"))
    assert store.limits == limits.PROFILES["seed"]
    with pytest.raises(ExperimentError, match="default、seed"):
        ExperimentStore.create(tmp_path / "t.db", "x", limits="huge")
    assert not (tmp_path / "t.db").exists()


@pytest.mark.parametrize("name", ["", "  ", "x\ud800"])
def test_experiment_needs_a_name(tmp_path, name):
    with pytest.raises((ExperimentError, SourceError)):
        ExperimentStore.create(tmp_path / "n.db", name)
    assert not (tmp_path / "n.db").exists()
