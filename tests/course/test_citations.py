"""What counts as a citation, and what a language model may do with the evidence."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from answer_adapter import (
    AnswererError,
    CallableLanguageModelAnswerer,
    ExtractiveEvidenceAnswerer,
    validate_citations,
)

EVIDENCE = [
    {"chunk_id": "C001", "text": "甲。", "score": 0.5, "tags": ["x"]},
    {"chunk_id": "C002", "text": "乙。", "score": 0.4, "tags": ["y"]},
]


# ---- the exact form ----


@pytest.mark.parametrize(
    ("answer", "citations"),
    [
        ("甲。[C001]", ["C001"]),
        ("[C002]乙[C001]甲[C002]", ["C002", "C001"]),
        ("[[C001]]", ["C001"]),
        ("[C001][C002]", ["C001", "C002"]),
        ("第[1]节，见表(2)，型号 C100，25℃。[C001]", ["C001"]),
        ("（客户）先联系《客服》再说 [CD] {C} <C>。[C001]", ["C001"]),
    ],
)
def test_citations_are_listed_once_in_order_of_appearance(answer: str, citations: list[str]) -> None:
    assert validate_citations(answer, {"C001", "C002"}) == (True, citations)


@pytest.mark.parametrize("answer", ["", "甲。", "C001", "甲（见上文）。", "C001]", "来源：C001"])
def test_answer_without_a_citation_is_refused(answer: str) -> None:
    assert validate_citations(answer, {"C001"}) == (False, [])


def test_one_citation_outside_spoils_the_answer() -> None:
    assert validate_citations("[C001][C003]", {"C001", "C002"}) == (False, ["C001", "C003"])
    assert validate_citations("[C001]", set()) == (False, ["C001"])


LOOKALIKES = [
    # lower case, wrong number of digits, spaces, signs
    "[c009]", "[C09]", "[C9]", "[C0009]", "[C009a]", "[C00９]", "[ C009]", "[C009 ]", "[C 009]", "[C0 09]",
    "[C\u3000009]", "[C\n009]", "[C-009]", "[C_009]", "[C:009]", "[#C009]", "[C009", "[C009、C001]",
    "[C001,C009]", "[C001-C009]",
    # full-width and other forms that compatibility folding undoes
    "［C009］", "[Ｃ009]", "[C００９]", "［Ｃ００９］", "[Ⅽ009]", "[ℂ009]", "[𝐂𝟎𝟎𝟗]",
    "[Ⓒ009]", "[C⁰⁰⁹]", "﹝C009﹞",
    # other brackets
    "(C009)", "（C009）", "{C009}", "<C009>", "【C009】", "〔C009〕", "〖C009〗",
    "《C009》", "〈C009〉", "「C009」", "『C009』",
    "⟦C009⟧", "⟨C009⟩", "❲C009❳", "❨C009❩", "❰C009❱", "⁅C009⁆", "｟C009｠", "«C009»", "‹C009›",
    # letters that look like C, from other scripts
    "[С009]", "[с009]", "[Ϲ009]", "[ϲ009]", "[Ꮯ009]", "[ꮯ009]", "[ᑕ009]", "[ꓚ009]",
    "[ᴄ009]", "[Ⲥ009]", "[ⲥ009]",
    "[𐐕009]", "[𐐽009]", "[𐊢009]", "[𐌂009]", "[Ç009]", "[C̲009]",
    # digits of other scripts, and letters that look like digits
    "[C٠٠٩]", "[C०००]", "[C߀߀߉]", "[CO09]", "[COO9]", "[CＯ09]", "[C0O9]", "[CІ09]", "[Cl09]",
    # invisible characters
    "[\u200bC009]", "[C\u200b009]", "[C0\u200d09]", "[C009\u2060]",
    "[C\u00ad009]", "[C\ufe0f009]", "[\u202eC009]",
    "[C\u034f009]", "[C\ufeff009]", "[C\u3164009]", "[C\u115f009]", "[C\uffa0009]", "[C\u2800009]",
    # ascii control characters
    "[C\x00009]", "[C\x08009]", "[\x1bC009]",
]  # fmt: skip


@pytest.mark.parametrize("form", LOOKALIKES, ids=ascii)
def test_lookalike_of_a_citation_is_refused_beside_a_good_one(form: str) -> None:
    assert validate_citations(f"甲。[C001]{form}", {"C001", "C009"})[0] is False


@pytest.mark.parametrize("form", LOOKALIKES, ids=ascii)
def test_lookalike_alone_is_refused_and_is_no_citation(form: str) -> None:
    assert validate_citations(f"甲。{form}", {"C001", "C009"}) == (False, [])


def test_good_citations_do_not_grow_together_with_their_surroundings() -> None:
    assert validate_citations("见[C00[C001]9]", {"C001"})[0] is False
    assert validate_citations("电话[[C001]C]009", {"C001"})[0] is True
    assert validate_citations("（C[C001]009）", {"C001"})[0] is True


@pytest.mark.parametrize("hidden", ["[C009]", "［C009］", "【c009】", "[C\u200b009]"])
def test_id_hidden_in_the_evidence_text_is_refused(hidden: str) -> None:
    evidence = [{"chunk_id": "C001", "text": f"甲，见{hidden}。"}]
    answer = ExtractiveEvidenceAnswerer().answer("问题", evidence)
    assert validate_citations(answer, {"C001"})[0] is False


# ---- the extractive answerer ----


def test_extractive_answer_keeps_every_character() -> None:
    text = " 第一行\n\t第二行，“引号”\u3000"
    answer = ExtractiveEvidenceAnswerer().answer("问题", [{"chunk_id": "C007", "text": text}])
    assert answer == f"{text}[C007]"


def test_extractive_answer_without_evidence_is_an_error() -> None:
    with pytest.raises(AnswererError):
        ExtractiveEvidenceAnswerer().answer("问题", [])


def test_question_changes_nothing_in_an_extractive_answer() -> None:
    answers = {ExtractiveEvidenceAnswerer().answer(q, EVIDENCE) for q in ("一", "二 [C009]", "")}
    assert answers == {"甲。[C001]\n乙。[C002]"}


# ---- the language model ----


def test_model_is_called_once_with_the_question_and_this_evidence() -> None:
    calls = []

    def model(question: str, evidence: list[dict[str, Any]]) -> str:
        calls.append((question, evidence))
        return "改写。[C002]"

    assert CallableLanguageModelAnswerer(model).answer("问题", EVIDENCE) == "改写。[C002]"
    assert calls == [("问题", EVIDENCE)]


@pytest.mark.parametrize("evidence", [[], ()])
def test_model_is_never_called_without_evidence(evidence: Any) -> None:
    def model(question: str, evidence: list[dict[str, Any]]) -> str:
        raise AssertionError("called")

    with pytest.raises(AnswererError, match="没有证据"):
        CallableLanguageModelAnswerer(model).answer("问题", evidence)


@pytest.mark.parametrize(
    "error",
    [ValueError("x"), KeyError("x"), TimeoutError(), RecursionError(), AssertionError(), StopIteration()],
)
def test_any_exception_of_the_model_becomes_one_error(error: Exception) -> None:
    def model(question: str, evidence: list[dict[str, Any]]) -> str:
        raise error

    with pytest.raises(AnswererError, match=type(error).__name__) as caught:
        CallableLanguageModelAnswerer(model).answer("问题", EVIDENCE)
    assert caught.value.__cause__ is error


def test_error_of_the_model_shows_nothing_of_its_message() -> None:
    def model(question: str, evidence: list[dict[str, Any]]) -> str:
        raise ValueError("key=12345")

    with pytest.raises(AnswererError) as caught:
        CallableLanguageModelAnswerer(model).answer("问题", EVIDENCE)
    assert "12345" not in str(caught.value)


@pytest.mark.parametrize("output", [None, 7, b"[C001]", ["[C001]"], {"answer": "[C001]"}, True])
def test_output_that_is_no_string_is_refused(output: Any) -> None:
    with pytest.raises(AnswererError, match=type(output).__name__):
        CallableLanguageModelAnswerer(lambda q, e: output).answer("问题", EVIDENCE)


@pytest.mark.parametrize("output", ["[C003]", "[C001][C003]", "没有", "", "[c001]", "[C001]［C003］"])
def test_output_citing_outside_the_evidence_is_refused(output: str) -> None:
    with pytest.raises(AnswererError, match="引用"):
        CallableLanguageModelAnswerer(lambda q, e: output).answer("问题", EVIDENCE)


def test_evidence_changed_by_the_model_stays_as_it_was() -> None:
    evidence = copy.deepcopy(EVIDENCE)

    def model(question: str, handed: list[dict[str, Any]]) -> str:
        handed[0]["chunk_id"] = "C009"
        handed[0]["text"] = "改过"
        handed[1]["tags"].append("z")
        handed.append({"chunk_id": "C008", "text": "添上"})
        return "改写。[C009]"

    with pytest.raises(AnswererError):
        CallableLanguageModelAnswerer(model).answer("问题", evidence)
    assert evidence == EVIDENCE


@pytest.mark.parametrize(
    "text",
    [
        "室内（CO2）浓度",
        "螺钉(C3)",
        "（C1类驾照）",
        "（C100型）",
        "25℃（3小时）",
        "[ABC1]",
        "“C002”一词",
        "(c) 2026 公司",
    ],
)
def test_what_only_resembles_an_id_from_afar_is_no_citation(text: str) -> None:
    assert validate_citations(f"{text}[C001]", {"C001"}) == (True, ["C001"])


@pytest.mark.parametrize("text", ["[参见C002]", "[来源:C002]", "【资料C2】", "（C002）", "[“C002”]"])
def test_id_inside_brackets_is_refused_whatever_stands_before_it(text: str) -> None:
    assert validate_citations(f"{text}[C001]", {"C001"})[0] is False


def test_a_flood_of_brackets_is_answered_at_once() -> None:
    assert validate_citations("(" * 200_000 + "[C001]", {"C001"}) == (True, ["C001"])
    assert validate_citations("[" * 200_000 + "C002]" + "[C001]", {"C001"})[0] is False
