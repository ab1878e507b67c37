"""Every piece of evidence carries a receipt that leads back to its exact span."""

from __future__ import annotations

import hashlib
import json

import pytest

from evidence_assistant import InputError, TfidfIndex, ask, check_anchor, resolve_question, with_anchor

CHUNK = {"chunk_id": "C001", "text": "仅限室内😀e\u0301。", "score": 0.5, "conflict_group": "g"}
DIGEST = hashlib.sha256("仅限室内😀e\u0301。".encode()).hexdigest()


def test_anchor_counts_code_points_of_the_chunk_text() -> None:
    assert with_anchor(CHUNK)["anchor"] == {
        "unit": "codepoint",
        "start": 0,
        "end": 8,
        "sha256": DIGEST,
        "quote": "仅限室内😀e\u0301。",
    }


def test_answer_and_both_sides_of_a_conflict_carry_their_anchor() -> None:
    other = {**CHUNK, "chunk_id": "C002", "text": "也可室外。", "conflict_group": None}
    for hits in ([CHUNK, other], [CHUNK, {**other, "conflict_group": "g"}]):
        for item in resolve_question("室内吗", hits)["evidence"]:
            anchor = item["anchor"]
            assert item["text"][anchor["start"] : anchor["end"]] == anchor["quote"]
            assert anchor["sha256"] == hashlib.sha256(item["text"].encode()).hexdigest()


@pytest.mark.parametrize(
    "change", [{"start": 1}, {"end": 7}, {"quote": "仅限室外😀e\u0301。"}, {"sha256": "0" * 64}]
)
def test_anchor_off_by_one_or_of_another_text_is_refused(change) -> None:
    item = with_anchor(CHUNK)
    with pytest.raises(InputError, match="C001"):
        check_anchor({**item, "anchor": {**item["anchor"], **change}})


def test_answerer_that_rewrites_its_evidence_is_found_before_it_is_shown(chunks) -> None:
    class Rewriting:
        def answer(self, question, evidence):
            evidence[0]["text"] = "签收后300天内可以换货。"
            return evidence[0]["text"] + f"[{evidence[0]['chunk_id']}]"

    with pytest.raises(InputError, match="定位凭条"):
        ask("换货要准备哪些照片", TfidfIndex(chunks), Rewriting())


def test_json_output_carries_the_anchor(pristine) -> None:
    result = json.loads(pristine.run("evidence_assistant.py", "--json", "换货要准备哪些照片").done())
    (item,) = result["evidence"]
    assert item["text"][item["anchor"]["start"] : item["anchor"]["end"]] == item["anchor"]["quote"]


def test_acceptance_names_an_anchor_that_is_off_by_one(course) -> None:
    course.plant(
        "evidence_assistant.py",
        "_honest = with_anchor\n"
        "def with_anchor(item):\n"
        "    item = _honest(item)\n"
        "    return {**item, 'anchor': {**item['anchor'], 'start': 1, 'quote': item['text'][1:]}}\n",
    )
    assert "独立重算" in course.accept_own_references().failed_checks
