"""From hits to a result: three routes, the shape of a result, and who has to look at it."""

from __future__ import annotations

from typing import Any

import pytest

import evidence_assistant as ea

FIELDS = [
    "question", "system", "route", "answer", "evidence", "citations",
    "nearest", "human_review_required", "review_reason",
]  # fmt: skip


class Hits:
    """A retriever whose hits are given."""

    name = "given"

    def __init__(self, *hits: dict[str, Any]) -> None:
        self.hits = list(hits)

    def search(self, question: str) -> list[dict[str, Any]]:
        return self.hits

    def nearest(self, question: str, count: int = 3) -> list[dict[str, Any]]:
        return [{"chunk_id": "C042", "score": 0.01}]


@pytest.fixture
def hit(chunk):
    """Return a maker of hits."""
    return lambda key, text, score=0.5, group=None: {**chunk(key, text, group=group), "score": score}


# ---- the question ----


@pytest.mark.parametrize("question", ["", " ", "\n\t\u3000", "？", "……！", "++--", "\u200b", "\u0301"])
def test_question_without_letter_or_digit_is_refused(question: str) -> None:
    with pytest.raises(ea.InputError):
        ea.check_question(question)


@pytest.mark.parametrize("question", ["a", "7", "问", " 问 ", "？问", "问" * 200, " " * 300 + "问" * 200])
def test_question_of_1_to_200_characters_is_taken(question: str) -> None:
    assert ea.check_question(question) == question.strip()


@pytest.mark.parametrize("question", ["问" * 201, "a" + " " * 199 + "b", "问" + "？" * 200])
def test_question_of_more_than_200_characters_is_refused(question: str) -> None:
    with pytest.raises(ea.InputError, match="201"):
        ea.check_question(question)


def test_characters_beyond_the_basic_plane_count_as_one() -> None:
    assert len(ea.check_question("𠀀" * 200)) == 200


def test_question_with_a_lone_surrogate_is_refused() -> None:
    with pytest.raises(ea.InputError):
        ea.check_question("问\udc80题")


def test_question_is_checked_before_anything_is_searched() -> None:
    class Never:
        name = "never"

        def search(self, question: str) -> list[dict[str, Any]]:
            raise AssertionError("searched")

    with pytest.raises(ea.InputError):
        ea.ask("？", Never())


# ---- routes ----


def test_no_hit_is_refused_and_cites_nothing() -> None:
    result = ea.ask("问题", Hits())
    assert (result["route"], result["evidence"], result["citations"]) == ("refuse", [], [])
    assert result["nearest"] == [{"chunk_id": "C042", "score": 0.01}]
    assert "C042" not in result["answer"]


def test_first_hit_alone_is_the_evidence_of_an_answer(hit) -> None:
    first, second = hit("C002", "甲。", 0.9), hit("C001", "乙。", 0.8)
    result = ea.ask("问题", Hits(first, second))
    assert (result["route"], result["answer"]) == ("answer", "甲。[C002]")
    assert (result["evidence"], result["citations"]) == ([ea.with_anchor(first)], ["C002"])


def test_two_members_of_a_group_are_a_conflict_wherever_they_stand(hit) -> None:
    hits = [hit("C003", "丙。", 0.9), hit("C002", "乙。", 0.8, "g"), hit("C001", "甲。", 0.7, "g")]
    result = ea.ask("问题", Hits(*hits))
    assert (result["route"], result["citations"]) == ("conflict", ["C001", "C002"])
    assert [item["chunk_id"] for item in result["evidence"]] == ["C001", "C002"]
    assert result["answer"].index("甲。[C001]") < result["answer"].index("乙。[C002]")
    assert "C003" not in result["answer"]


def test_all_members_among_the_hits_are_listed_and_no_other(hit) -> None:
    hits = [hit(f"C00{i}", f"第{i}条。", group="g") for i in (3, 1, 2)]
    assert ea.ask("问题", Hits(*hits))["citations"] == ["C001", "C002", "C003"]
    assert ea.ask("问题", Hits(*hits[:2]))["citations"] == ["C001", "C003"]


def test_one_member_alone_or_members_of_two_groups_are_no_conflict(hit) -> None:
    assert ea.ask("问题", Hits(hit("C001", "甲。", group="g")))["route"] == "answer"
    two = Hits(hit("C001", "甲。", group="g"), hit("C002", "乙。", group="h"))
    assert ea.ask("问题", two)["route"] == "answer"


def test_null_group_is_no_group(hit) -> None:
    assert ea.ask("问题", Hits(hit("C001", "甲。"), hit("C002", "乙。")))["route"] == "answer"


def test_route_and_evidence_do_not_depend_on_the_wording(hit) -> None:
    for hits in ([], [hit("C001", "甲。")], [hit("C001", "甲。", group="g"), hit("C002", "乙。", group="g")]):
        routed = [ea.resolve_question(question, hits) for question in ("一种问法", "another", "？")]
        assert routed[0] == routed[1] == routed[2]


def test_hits_are_not_changed_by_routing(hit) -> None:
    hits = [hit("C002", "乙。", 0.8, "g"), hit("C001", "甲。", 0.7, "g")]
    before = [dict(item) for item in hits]
    ea.resolve_question("问题", hits)
    assert hits == before


def test_conflict_is_never_handed_to_another_answerer(hit) -> None:
    class Never:
        def answer(self, question: str, evidence: Any) -> str:
            raise AssertionError("called")

    hits = [hit("C001", "甲。", group="g"), hit("C002", "乙。", group="g")]
    assert ea.resolve_question("问题", hits, Never())["route"] == "conflict"
    assert ea.resolve_question("问题", [], Never())["route"] == "refuse"


@pytest.mark.parametrize("output", ["没有引用", "越界[C002]", "[c001]", "好[C001]，又［C009］", ""])
def test_answer_that_fails_the_citation_check_is_withheld(hit, output: str) -> None:
    class Careless:
        def answer(self, question: str, evidence: Any) -> str:
            return output

    result = ea.ask("问题", Hits(hit("C001", "甲。")), Careless())
    assert (result["route"], result["citations"]) == ("refuse", [])
    assert [item["chunk_id"] for item in result["evidence"]] == ["C001"]
    assert output == "" or output not in result["answer"]
    assert result["human_review_required"] is True


@pytest.mark.parametrize(
    "error", [ValueError("x"), KeyError("x"), TypeError(), RecursionError(), OSError(5, "x")]
)
def test_any_error_of_an_answerer_becomes_a_refusal(hit, error: Exception) -> None:
    class Broken:
        def answer(self, question: str, evidence: Any) -> str:
            raise error

    result = ea.ask("问题", Hits(hit("C001", "甲。")), Broken())
    assert (result["route"], result["citations"]) == ("refuse", [])
    assert result["human_review_required"] is True


@pytest.mark.parametrize("output", [None, 7, b"[C001]", ["[C001]"]])
def test_answer_that_is_no_string_becomes_a_refusal(hit, output: Any) -> None:
    class Odd:
        def answer(self, question: str, evidence: Any) -> Any:
            return output

    result = ea.ask("问题", Hits(hit("C001", "甲。")), Odd())
    assert (result["route"], result["citations"]) == ("refuse", [])
    assert type(output).__name__ in result["review_reason"]


def test_conflict_member_that_hides_a_citation_is_withheld(hit) -> None:
    hits = [hit("C001", "甲，见[C003]。", group="g"), hit("C002", "乙。", group="g")]
    result = ea.ask("问题", Hits(*hits))
    assert (result["route"], result["citations"]) == ("refuse", [])


# ---- the result ----


def test_result_has_exactly_these_fields_in_this_order(chunks) -> None:
    index = ea.TfidfIndex(chunks)
    routes = set()
    for question in ("周六受理到几点", "礼品卡余额", "维修完成的设备免费保管几天"):
        result = ea.ask(f"  {question} ", index)
        routes.add(result["route"])
        assert list(result) == FIELDS
        assert (result["question"], result["system"]) == (question, "character_ngram_tfidf")
        for item in result["evidence"]:
            assert item.keys() == chunks[0].keys() | {"score", "anchor"}
        assert all(near.keys() == {"chunk_id", "score"} for near in result["nearest"])
        assert len(result["nearest"]) == 3
        assert result["citations"] == [item["chunk_id"] for item in result["evidence"]]
    assert routes == {"answer", "refuse", "conflict"}


# ---- who has to look at it ----


def test_refusal_and_conflict_always_need_a_person(hit) -> None:
    pair = [hit("C001", "甲。", group="g"), hit("C002", "乙。", group="g")]
    for hits in ([], pair):
        result = ea.ask("问题", Hits(*hits), ready=True)
        assert result["human_review_required"] is True
        assert result["review_reason"]


def test_answer_needs_a_person_until_the_system_is_released(hit) -> None:
    waiting = ea.ask("问题", Hits(hit("C001", "甲。")))
    assert waiting["human_review_required"] is True
    assert "not_ready_for_use" in waiting["review_reason"]
    released = ea.ask("问题", Hits(hit("C001", "甲。")), ready=True)
    assert (released["human_review_required"], released["review_reason"]) == (False, "")


def test_release_holds_for_the_same_parameters_and_corpus_only(course) -> None:
    def needs_review() -> bool:
        out = course.run("evidence_assistant.py", "--json", "周六受理到几点").done()
        return '"human_review_required": true' in out

    assert needs_review()
    course.edit("output/reference_report.json", lambda report: report.update(decision="ready_for_use"))
    assert not needs_review()
    course.edit("data/corpus.json", lambda corpus: corpus["chunks"][8].update(scope="另一范围"))
    assert needs_review()


@pytest.mark.parametrize("report", [None, b"", b"[]", b'{"decision": "ready_for_use"}', b"\xff"])
def test_no_readable_report_releases_nothing(course, report: bytes | None) -> None:
    path = course.root / "output" / "reference_report.json"
    path.unlink()
    if report is not None:
        path.write_bytes(report)
    chunks = ea.load_corpus()["chunks"]
    assert ea.released(chunks, path) is False
