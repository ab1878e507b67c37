"""A frozen set that contradicts itself measures nothing: it is refused, with the item and the reason."""

from __future__ import annotations

from typing import Any

import pytest

ITEM = {
    "id": "T01",
    "category": "normal",
    "question": "网点几点关门",
    "expected_route": "answer",
    "required_citations": ["C005"],
    "forbidden_citations": [],
}

CONTRADICTIONS = {
    "a refusal that cites": ({"expected_route": "refuse"}, "为空"),
    "an unknown question with an answer": ({"category": "unknown"}, "refuse"),
    "a conflict that expects an answer": ({"category": "conflict"}, "conflict"),
    "a normal question that expects a conflict": (
        {"expected_route": "conflict", "required_citations": ["C006", "C007"]},
        "conflict",
    ),
    "an expired passage required": ({"required_citations": ["C008"]}, "C008"),
    "a passage both required and forbidden": ({"forbidden_citations": ["C005"]}, "C005"),
    "a passage that does not exist": ({"required_citations": ["C042"]}, "C042"),
    "a list left out": ({"forbidden_citations": None}, "[]"),
}


@pytest.mark.parametrize("contradiction", CONTRADICTIONS)
def test_item_that_contradicts_itself_is_refused(course, contradiction: str) -> None:
    change, reason = CONTRADICTIONS[contradiction]
    private = course.write("private.json", {"version": "mine-1", "items": [{**ITEM, **change}]})
    course.run("evaluate.py", "--frozen", private).refused("T01", reason)


def test_question_that_stands_twice_is_refused(course) -> None:
    items = [ITEM, {**ITEM, "id": "T02", "question": "网点——几点关门？"}]
    private = course.write("private.json", {"version": "mine-1", "items": items})
    course.run("evaluate.py", "--frozen", private).refused("T01", "T02")


def test_set_without_a_contradiction_is_run(course) -> None:
    private = course.write("private.json", {"version": "mine-1", "items": [ITEM]})
    assert "/1\n" in course.run("evaluate.py", "--frozen", private).done()


@pytest.mark.parametrize(
    ("item", "remark"),
    [
        ({"question": "周六几点受理"}, "分不出高下（p = 1.000）。"),
        ({"question": "食堂今天吃什么"}, "它们错的题相同，代价也相同。"),
    ],
)
def test_closing_sentence_says_of_the_failures_only_what_is_so(
    course, item: dict[str, Any], remark: str
) -> None:
    private = course.write("private.json", {"version": "mine-1", "items": [{**ITEM, **item}]})
    out = course.run("evaluate.py", "--frozen", private, "--compare").done()
    (line,) = [line for line in out.splitlines() if line.startswith("在 1 道题上")]
    assert line.endswith(remark)
