"""Parameters: what each may be, several at once, and how they are written."""

import subprocess
import sys
from pathlib import Path
from typing import get_args

import pytest

from evidence_kit.experiments.model import ExperimentError, Method, Parameters
from evidence_kit.experiments.parameters import changed, parameter_changes, parse_changes
from evidence_kit.index.weighting import METHODS


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("method", "semantic"), ("method", None), ("method", ["bm25"]), ("analyzer", "words"),
        ("analyzer", None), ("window", 0), ("window", -1), ("window", 1.0), ("window", True),
        ("window", 1_000_001), ("window", "200"), ("overlap", -1), ("overlap", 200), ("k", 0), ("k", 10_001),
        ("k1", -0.1), ("k1", float("nan")), ("k1", float("inf")), ("k1", 1001), ("k1", "1.2"), ("k1", True),
        ("b", 1.1), ("b", -0.1), ("b", float("nan")), ("b", None), ("budget", 0), ("budget", 10**30),
    ],
)  # fmt: skip
def test_value_that_is_not_allowed_is_named(name, value):
    with pytest.raises(ExperimentError, match=f"{name}="):
        Parameters(**{name: value})


def test_ends_of_the_ranges_are_allowed():
    Parameters(window=1, overlap=0, k=1, k1=0, b=0, budget=1)
    high = Parameters(window=1_000_000, overlap=999_999, k=10_000, k1=1_000, b=1, budget=100_000_000)
    assert (high.k1, high.b) == (1000.0, 1.0)
    assert all(isinstance(value, float) for value in (high.k1, high.b))


def test_course_method_goes_with_ngrams_only():
    with pytest.raises(ExperimentError, match="tfidf_course"):
        Parameters(method="tfidf_course")
    Parameters(method="tfidf_course", analyzer="char_ngrams(2,3)")


def test_method_brings_its_analyzer_unless_one_is_named():
    course = changed(Parameters(), {"method": "tfidf_course"})
    assert course.analyzer == "char_ngrams(2,3)"
    assert changed(course, {"method": "bm25"}).analyzer == "words_han"
    assert changed(course, {"method": "bm25", "analyzer": "char_ngrams(2)"}).analyzer == "char_ngrams(2)"
    grams = changed(Parameters(), {"analyzer": "char_ngrams(2)"})
    assert changed(grams, {"method": "bm25", "k": 5}).analyzer == "char_ngrams(2)"
    with pytest.raises(ExperimentError, match="tfidf_course"):
        changed(Parameters(), {"method": "tfidf_course", "analyzer": "words_han"})


def test_parameter_that_does_not_exist_is_refused():
    with pytest.raises(ExperimentError, match="'size'"):
        changed(Parameters(), {"size": 1})


def test_assignments_are_read_as_numbers_or_texts():
    assert parse_changes(["k=5", " b = 0.5 ", "method=bm25", "analyzer=char_ngrams(2,3)", "k1=1"]) == {
        "k": 5, "b": 0.5, "method": "bm25", "analyzer": "char_ngrams(2,3)", "k1": 1.0,
    }  # fmt: skip
    assert parse_changes([]) == {}


@pytest.mark.parametrize(
    ("text", "said"),
    [("k", "k=5"), ("k=five", "k='five'"), ("k=", "k=''"), ("k=1.5", "k='1.5'"), ("=5", "没有 ''")],
)
def test_assignment_that_cannot_be_read_is_refused(text, said):
    with pytest.raises(ExperimentError, match=said):
        changed(Parameters(), parse_changes([text]))


def test_parameter_given_twice_is_refused():
    with pytest.raises(ExperimentError, match="两次"):
        parse_changes(["k=1", "k=2"])


def test_differences_are_named_with_both_values():
    assert parameter_changes(Parameters(), Parameters(k=5, b=0.5)) == {"k": (3, 5), "b": (0.75, 0.5)}
    assert parameter_changes(Parameters(k1=1.0), Parameters(k1=1)) == {}


def test_methods_are_those_of_the_index():
    assert sorted(get_args(Method)) == sorted(METHODS)


def test_experiment_is_opened_and_judged_without_the_finder_or_the_index():
    code = (
        "import sys; import evidence_kit.experiments.store; "
        "slow = ('numpy', 'evidence_kit.index', 'evidence_kit.finder'); "
        "sys.exit(any(name in sys.modules for name in slow))"
    )
    root = Path(__file__).parents[3]
    process = subprocess.run([sys.executable, "-c", code], env={"PYTHONPATH": str(root)}, capture_output=True)
    assert process.returncode == 0, process.stderr
