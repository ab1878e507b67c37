"""Baselines: what they rest on, which conditions differ, and what may be put down to parameters."""

import importlib.resources
import shutil
from dataclasses import replace
from datetime import date
from pathlib import Path

import pytest
from made_up import document

import evidence_kit
from evidence_kit.experiments import baseline as baseline_module
from evidence_kit.experiments.baseline import baseline_named, code_digest, compare, freeze, means_in_order
from evidence_kit.experiments.model import ExperimentError
from evidence_kit.experiments.run import run
from evidence_kit.sources.validity import Validity

DAY = date(2026, 11, 30)


@pytest.fixture
def frozen(filled):
    filled.add_baseline(freeze(filled.snapshot(), DAY, "起点"))
    return filled


def against(store, day=DAY, **options):
    experiment = store.snapshot()
    return compare(baseline_named(experiment, "起点"), experiment, day, **options)


def test_baseline_holds_the_run_and_comes_back_from_the_file_as_it_was(frozen):
    experiment = frozen.snapshot()
    (kept,) = experiment.baselines
    made = run(experiment, DAY)
    assert (kept.name, kept.as_of, kept.parameters) == ("起点", "2026-11-30", made.parameters)
    assert kept.means == made.means
    assert kept.per_question == {result.question.question_id: result.measures for result in made.results}
    assert set(kept.digests) == {"sources", "questions", "judgments", "parameters", "code"}
    assert kept == freeze(experiment, DAY, "起点")


def test_nothing_differs_from_itself(frozen):
    made = against(frozen)
    assert (made.differing, made.attributable, made.parameters) == ((), False, {})
    assert [difference.difference for difference in made.differences] == [0.0] * 6
    measured = [difference.measure for difference in made.differences]
    assert measured == ["Recall@3", "MRR@3", "nDCG@3", "P@3", "AP", "Judged@3"]


@pytest.mark.parametrize(
    ("act", "differing"),
    [
        (lambda store: store.set_parameters({"k": 1}), ("parameters",)),
        (lambda store: store.edit_source("S001", title="新标题"), ()),
        (lambda store: store.edit_source("S002", text="运费自理。"), ("sources", "judgments")),
        (lambda store: store.import_documents([document("d", "新资料")]), ("sources",)),
        (lambda store: store.edit_source("S001", validity=Validity(effective_until=DAY)), ("sources",)),
        (lambda store: store.edit_source("S003", validity=Validity("expired")), ("sources", "judgments")),
        (lambda store: store.add_questions(["新问题"]), ("questions",)),
        (lambda store: store.judge("Q001", "S001", 2), ("judgments",)),
        (lambda store: store.judge("Q002", "S001", 0), ("judgments",)),
        (lambda store: store.set_view("tab", "x"), ()),
        (
            lambda store: (store.set_parameters({"method": "tfidf_log"}), store.judge("Q001", "S001", 2)),
            ("judgments", "parameters"),
        ),
    ],
)
def test_conditions_that_differ_are_named_and_nothing_is_put_down_to_parameters(frozen, act, differing):
    act(frozen)
    made = against(frozen)
    assert made.differing == differing
    assert not made.attributable  # k alone moves nothing: these measures have the baseline's


@pytest.mark.parametrize(
    ("method", "changes", "idle"),
    [
        ("bm25", {"budget": 500}, ("budget",)),
        ("bm25", {"k": 1}, ("k",)),
        ("bm25", {"k1": 2.0}, ()),
        ("bm25", {"b": 0.1, "k": 1, "budget": 500}, ("k", "budget")),
        ("tfidf_log", {"k1": 2.0, "b": 0.1}, ("k1", "b")),
        ("tfidf_log", {"method": "bm25", "k1": 2.0}, ()),
        ("bm25", {"method": "tfidf_log", "k1": 2.0}, ("k1",)),
        ("bm25", {"analyzer": "char_ngrams(2,3)"}, ()),
        ("bm25", {"window": 5, "overlap": 2, "budget": 500}, ("budget",)),
    ],
)
def test_only_parameters_that_can_move_a_ranking_are_ever_blamed(filled, method, changes, idle):
    filled.set_parameters({"method": method})
    filled.add_baseline(freeze(filled.snapshot(), DAY, "起点"))
    filled.set_parameters(changes)
    made = against(filled)
    assert made.differing == ("parameters",)
    assert made.idle == idle
    assert made.attributable == (set(idle) != set(made.parameters))
    if not made.attributable:
        assert {difference.difference for difference in made.differences} == {0.0}


def test_conditions_are_equal_again_after_an_undo(frozen):
    frozen.edit_question("Q001", "退款要多久")
    assert against(frozen).differing == ("questions", "judgments")
    frozen.undo()
    assert against(frozen).differing == ()


def test_source_out_of_force_on_both_days_does_not_differ(filled):
    filled.import_documents([document("d", "旧规定", validity=Validity("expired"))])
    filled.add_baseline(freeze(filled.snapshot(), DAY, "起点"))
    filled.edit_source("S004", text="改了的旧规定")
    assert against(filled).differing == ()


def test_day_on_which_other_sources_are_in_force_differs(frozen):
    frozen.import_documents([document("d", "以后的资料", validity=Validity(effective_from=date(2027, 1, 1)))])
    assert against(frozen).differing == ()
    assert against(frozen, date(2027, 1, 1)).differing == ("sources",)


def test_differences_are_of_the_baselines_measures_and_name_their_questions(frozen):
    frozen.set_parameters({"k": 1, "window": 5, "overlap": 0})
    made = against(frozen, seed=7)
    assert made.parameters == {"window": (200, 5), "overlap": (40, 0), "k": (3, 1)}
    for difference in made.differences:
        assert (difference.questions, difference.seed) == (2, 7)
        assert difference.measure in made.baseline.means
        assert difference.first == pytest.approx(made.baseline.means[difference.measure])


def test_question_that_is_new_or_gone_or_undefined_is_left_out_by_name(frozen):
    frozen.add_questions(["新问题"])
    frozen.remove_question("Q002")
    recall = against(frozen).differences[0]
    assert (recall.questions, recall.left_out) == (1, ("Q002", "Q003"))
    assert recall.interval is None


def test_code_differs_when_a_deciding_module_does(frozen, tmp_path, monkeypatch):
    copy = tmp_path / "evidence_kit"
    shutil.copytree(Path(evidence_kit.__file__).parent, copy, ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.setattr(baseline_module, "files", lambda _package: copy)
    code_digest.cache_clear()
    try:
        assert against(frozen).differing == ()
        for path in copy.rglob("*.py"):
            path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
        code_digest.cache_clear()
        assert against(frozen).differing == ()  # line ends are no difference
        (copy / "commands" / "find.py").write_text("# nothing of a ranking", encoding="utf-8")
        code_digest.cache_clear()
        assert against(frozen).differing == ()
        weighting = copy / "index" / "weighting.py"
        weighting.write_text(weighting.read_text("utf-8").replace("1.2", "1.3"), encoding="utf-8")
        code_digest.cache_clear()
        assert against(frozen).differing == ("code",)
        assert not against(frozen).attributable
    finally:
        code_digest.cache_clear()


@pytest.fixture
def fresh_digest():
    """What asks for the code's digest anew, whatever was remembered."""

    def fresh():
        code_digest.cache_clear()
        return code_digest()

    yield fresh
    code_digest.cache_clear()


@pytest.mark.parametrize(
    "module",
    [
        "text/analysis.py", "text/passages.py", "text/graphemes.py", "index/weighting.py", "index/plain.py",
        "measures/ranking.py", "sources/validity.py", "experiments/model.py", "experiments/run.py",
    ],
)  # fmt: skip
def test_code_differs_by_each_module_that_decides(fresh_digest, tmp_path, monkeypatch, module):
    copy = tmp_path / "evidence_kit"
    shutil.copytree(Path(evidence_kit.__file__).parent, copy, ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.setattr(baseline_module, "files", lambda _package: copy)
    before = fresh_digest()
    with (copy / module).open("a", encoding="utf-8") as file:
        file.write("# changed\n")
    assert fresh_digest() != before


@pytest.mark.parametrize("known_by", ["regex", "unicodedata"])
def test_code_differs_by_each_of_two_unicode_versions(fresh_digest, monkeypatch, known_by):
    before = fresh_digest()
    if known_by == "regex":
        monkeypatch.setattr(baseline_module, "unicode_version", lambda: "1.0")
    else:
        monkeypatch.setattr("unicodedata.unidata_version", "1.0.0")
    assert fresh_digest() != before


def test_sources_differ_by_where_the_body_begins(frozen):
    experiment = frozen.snapshot()
    first, *others = experiment.sources
    moved = replace(experiment, sources=(replace(first, body_start=2), *others))
    assert compare(baseline_named(experiment, "起点"), moved, DAY).differing == ("sources",)


def test_code_digest_is_the_same_from_a_zip(tmp_path, monkeypatch):
    import zipfile

    archive = shutil.make_archive(
        str(tmp_path / "kit"), "zip", Path(evidence_kit.__file__).parents[1], "evidence_kit"
    )
    expected = code_digest()
    monkeypatch.setattr(baseline_module, "files", lambda _package: zipfile.Path(archive, "evidence_kit/"))
    code_digest.cache_clear()
    try:
        assert code_digest() == expected
    finally:
        code_digest.cache_clear()
    assert importlib.resources.files("evidence_kit").joinpath("index").is_dir()


def test_unknown_and_unnamed_baselines_are_refused(frozen):
    experiment = frozen.snapshot()
    with pytest.raises(ExperimentError, match="已有的是 起点"):
        baseline_named(experiment, "终点")
    with pytest.raises(ExperimentError, match="先冻结"):
        baseline_named(replace(experiment, baselines=()), "终点")
    with pytest.raises(ExperimentError, match="名称是空的"):
        freeze(experiment, DAY, " ")


def test_means_stand_in_the_order_of_a_run_and_others_after_them(frozen):
    order = list(run(frozen.snapshot(), DAY).means)
    (stored,) = frozen.snapshot().baselines
    assert list(stored.means) != order
    more = replace(stored, means={"P@50": 0.5, "MRR@50": None, **stored.means})
    assert list(means_in_order(more).items()) == [
        *((name, stored.means[name]) for name in order), ("MRR@50", None), ("P@50", 0.5),
    ]  # fmt: skip
