"""When a source is in force: border days, successors, withdrawn ones, circles, ids that are not there."""

from datetime import date, timedelta
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evidence_kit.errors import EvidenceError
from evidence_kit.sources.validity import Validity, absence, absences, parse_validity

FIRST, LAST = date(2026, 3, 1), date(2026, 3, 31)
DAY = timedelta(days=1)


@pytest.mark.parametrize(
    ("day", "reason"),
    [(FIRST - DAY, "not_yet"), (FIRST, None), (LAST, None), (LAST + DAY, "ended")],
)
def test_both_border_days_are_in_force(day, reason):
    assert absence(Validity("active", FIRST, LAST), day) == reason


def test_a_source_may_be_in_force_on_one_day_only():
    one = Validity("active", FIRST, FIRST)
    assert [absence(one, FIRST + n * DAY) for n in (-1, 0, 1)] == ["not_yet", None, "ended"]


def test_without_days_a_source_is_always_in_force_and_an_expired_one_never():
    for day in (date.min, FIRST, date.max):
        assert absence(Validity(), day) is None
        assert absence(Validity("expired", FIRST, LAST), day) == "expired"


def test_a_source_ends_the_day_before_its_successor_begins():
    validities = {"old": Validity(), "new": Validity("active", FIRST, None, ("old",))}
    assert absences(validities, FIRST - DAY) == {"new": "not_yet"}
    assert absences(validities, FIRST) == {"old": "superseded"}


def test_a_successor_without_a_first_day_supersedes_at_once_and_one_that_has_ended_still_does():
    assert absences({"old": Validity(), "new": Validity(supersedes=("old",))}, date.min) == {
        "old": "superseded"
    }
    ended = {"old": Validity(), "new": Validity("active", FIRST, LAST, ("old",))}
    assert absences(ended, LAST + DAY) == {"old": "superseded", "new": "ended"}


def test_a_withdrawn_successor_supersedes_nothing():
    validities = {"old": Validity(), "new": Validity("expired", FIRST, None, ("old",))}
    assert absences(validities, FIRST) == {"new": "expired"}


def test_own_reason_goes_before_that_of_a_successor():
    validities = {"old": Validity("active", None, LAST), "new": Validity("active", FIRST, None, ("old",))}
    assert absences(validities, LAST) == {"old": "superseded"}
    assert absences(validities, LAST + DAY) == {"old": "ended"}


def test_of_a_chain_only_the_newest_is_left():
    validities = {
        "a": Validity(),
        "b": Validity("active", FIRST, None, ("a",)),
        "c": Validity("active", LAST, None, ("b",)),
    }
    assert absences(validities, FIRST) == {"a": "superseded", "c": "not_yet"}
    assert absences(validities, LAST) == {"a": "superseded", "b": "superseded"}


def test_an_id_that_is_not_there_is_superseded_without_a_trace():
    assert absences({"new": Validity(supersedes=("gone",))}, FIRST) == {}
    assert absences({}, FIRST) == {}


@pytest.mark.parametrize(
    "edges",
    [{"a": ("a",)}, {"a": ("b",), "b": ("a",)}, {"x": ("a",), "a": ("b",), "b": ("c", "gone"), "c": ("a",)}],
)
def test_sources_that_supersede_each_other_in_a_circle_are_refused_by_name(edges):
    validities = {source_id: Validity(supersedes=others) for source_id, others in edges.items()}
    with pytest.raises(EvidenceError) as caught:
        absences(validities, FIRST)
    assert "循环" in caught.value.message and "a" in caught.value.message
    withdrawn = {**validities, "a": Validity("expired", None, None, edges["a"])}
    assert absences(withdrawn, FIRST)["a"] == "expired"


def test_a_long_chain_is_no_circle():
    names = [f"s{n:04}" for n in range(2000)]
    validities = {name: Validity(supersedes=(old,)) for old, name in pairwise(names)}
    assert set(absences({names[0]: Validity(), **validities}, FIRST)) == set(names[:-1])


@pytest.mark.parametrize(
    ("made", "said"),
    [
        (lambda: Validity("Active"), "Active"),
        (lambda: Validity("active", LAST, FIRST), "2026-03-31"),
        (lambda: Validity(supersedes=("a", "a")), "重复"),
        (lambda: parse_validity({"status": "draft"}), "draft"),
        (lambda: parse_validity({"status": ""}), "active"),
        (lambda: parse_validity({"effective_from": "2026-02-30"}), "effective_from"),
        (lambda: parse_validity({"effective_until": "20260101"}), "effective_until"),
        (lambda: parse_validity({"effective_until": "2026-W01-1"}), "2026-W01-1"),
        (lambda: parse_validity({"effective_from": "\uff12026-01-01"}), "effective_from"),
        (lambda: parse_validity({"effective_from": "2026-01-02", "effective_until": "2026-01-01"}), "颠倒"),
    ],
)
def test_validity_that_makes_no_sense_is_refused(made, said):
    with pytest.raises(EvidenceError) as caught:
        made()
    assert caught.value.exit_code == 2
    assert said in caught.value.message and "\n" not in caught.value.message


def test_fields_of_a_file_become_a_validity():
    fields = {"status": "expired", "effective_from": "2026-03-01", "effective_until": "2026-03-31"}
    assert parse_validity(fields, ("a",)) == Validity("expired", FIRST, LAST, ("a",))
    assert parse_validity({}) == Validity()


days = st.dates(date(2026, 1, 1), date(2026, 1, 9))
optional_days = st.none() | days


@given(optional_days, optional_days, days, st.sampled_from(["active", "expired"]))
def test_a_source_is_in_force_exactly_from_its_first_day_to_its_last(first, last, day, status):
    if first and last and last < first:
        first, last = last, first
    in_force = status == "active" and (first or day) <= day <= (last or day)
    assert (absence(Validity(status, first, last), day) is None) == in_force
