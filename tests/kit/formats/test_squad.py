"""SQuAD-form files: what is read, faulty answer offsets told and kept, what is written reads back equal."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evidence_kit.formats.squad import (
    FaultyAnswer,
    SquadAnswer,
    SquadParagraph,
    SquadQuestion,
    SquadSet,
    parse_squad,
    squad_to_json,
)
from evidence_kit.sources.strict_json import JsonInputError

CONTEXT = "他在😀上海工作。"


def question(name="q1", answers=(("上海", 3),), **more):
    listed = [{"text": text, "answer_start": start, "id": "1"} for text, start in answers]
    return {"id": name, "question": f"{name}？", "answers": listed, **more}


def paragraph(*questions, context=CONTEXT, **more):
    return {"context": context, "qas": list(questions), **more}


def squad_file(*paragraphs, **more):
    return {"version": "v1.0", "data": [{"title": "题", "id": "7", "paragraphs": list(paragraphs)}], **more}


def parse(record):
    return parse_squad(json.dumps(record).encode(), "集.json")


def test_paragraphs_questions_and_answers_are_read():
    read = parse(squad_file(paragraph(question(), id="P1"), paragraph(id="P2")))
    asked = SquadQuestion("q1", "q1？", (SquadAnswer("上海", 3),))
    assert read == SquadSet(
        (SquadParagraph("P1", "题", CONTEXT, (asked,)), SquadParagraph("P2", "题", CONTEXT, ())), "v1.0"
    )
    assert read.questions == (asked,)
    assert read.faulty == ()  # code points: the emoji before it counts one


def test_original_squad_form_without_paragraph_ids_is_numbered():
    data = [{"title": title, "paragraphs": [paragraph(), paragraph()]} for title in ("A", "A")]
    read = parse({"data": data})
    assert [each.passage_id for each in read.paragraphs] == ["1-1", "1-2", "2-1", "2-2"]
    assert read.version == ""


@pytest.mark.parametrize(
    ("text", "start"), [("上海", 2), ("上海", 4), ("上海", -5), ("。", -1), ("上海", 10**9), ("北京", 3)]
)
def test_answer_that_does_not_stand_at_its_offset_is_told_and_kept(text, start):
    read = parse(squad_file(paragraph(question(answers=[("上海", 3), (text, start)]))))
    wrong = SquadAnswer(text, start)
    assert read.faulty == (FaultyAnswer("q1", 2, wrong),)
    assert read.questions[0].answers == (SquadAnswer("上海", 3), wrong)


def test_paragraph_of_a_question_is_relevant_where_an_answer_is_listed():
    record = squad_file(
        paragraph(question("q1"), question("none", [], is_impossible=True), id="P1"),
        paragraph(question("bad", [("北京", 0)]), id="P2"),
    )
    read = parse(record)
    assert read.qrels() == {"q1": {"P1": 1}, "none": {}, "bad": {"P2": 1}}
    assert [asked.is_impossible for asked in read.questions] == [False, True, False]


def without(record, key):
    return {name: value for name, value in record.items() if name != key}


@pytest.mark.parametrize(
    ("record", "said"),
    [
        ([], "$ 应是对象"),
        ({}, "data 缺失"),
        ({"data": {}}, "data 应是数组"),
        ({"data": []}, "data 里没有段落"),
        ({"data": [{"paragraphs": []}]}, "data 里没有段落"),
        ({"data": [{}]}, "data[0].paragraphs 缺失"),
        (squad_file(paragraph(), version=1), "version 应是字符串"),
        (squad_file(without(paragraph(), "context")), "data[0].paragraphs[0].context 缺失"),
        (squad_file(without(paragraph(), "qas")), "data[0].paragraphs[0].qas 缺失"),
        (squad_file(paragraph(context=" \n")), "data[0].paragraphs[0].context 不能为空"),
        (squad_file(paragraph(id="")), "data[0].paragraphs[0].id 不能为空"),
        (squad_file(paragraph(id=1)), "data[0].paragraphs[0].id 应是字符串"),
        (squad_file(paragraph(question(""))), "qas[0].id 不能为空"),
        (squad_file(paragraph(without(question(), "question"))), "qas[0].question 缺失"),
        (squad_file(paragraph(without(question(), "answers"))), "qas[0].answers 缺失"),
        (squad_file(paragraph(question(answers=[("", 0)]))), "answers[0].text 不能为空"),
        (squad_file(paragraph(question(answers=[("上", 3.0)]))), "answers[0].answer_start 应是整数"),
        (squad_file(paragraph(question(answers=[("上", "3")]))), "answers[0].answer_start 应是整数"),
        (squad_file(paragraph(question(answers=[("上", True)]))), "answers[0].answer_start 应是整数"),
        (squad_file(paragraph(question(is_impossible="no"))), "is_impossible 应是 true 或 false"),
        (squad_file(paragraph(question(), question())), "问题标识 q1 重复"),
        (squad_file(paragraph(id="P"), paragraph(id="P")), "段落标识 P 重复"),
        (squad_file(paragraph(), paragraph(id="1-1")), "段落标识 1-1 重复"),
        (squad_file(paragraph(context="\ud800")), "孤立的代理项"),
    ],
)
def test_file_that_is_not_of_the_form_is_refused_whole_with_the_place(record, said):
    with pytest.raises(JsonInputError) as caught:
        parse(record)
    assert caught.value.message.startswith("集.json ") and said in caught.value.message
    assert caught.value.exit_code == 2


@pytest.mark.parametrize("data", [b"", b"{", b'{"data": NaN}', b'{"data": [], "data": []}', b"\xff\xfe"])
def test_bytes_that_are_no_strict_json_are_refused(data):
    with pytest.raises(JsonInputError, match="集"):
        parse_squad(data, "集.json")


def test_written_file_is_what_squad_readers_expect():
    written = json.loads(squad_to_json(parse(squad_file(paragraph(question(), id="P1")))))
    asked = {"id": "q1", "question": "q1？", "answers": [{"text": "上海", "answer_start": 3}]}
    told = {"id": "P1", "context": CONTEXT, "qas": [asked]}
    assert written == {"version": "v1.0", "data": [{"title": "题", "paragraphs": [told]}]}


words = st.text(st.characters(blacklist_categories=["Cs"]), min_size=1, max_size=5).filter(str.strip)
answers = st.builds(SquadAnswer, words, st.integers(-3, 9))
questions = st.builds(SquadQuestion, words, words, st.lists(answers, max_size=2).map(tuple), st.booleans())
unique_questions = st.lists(questions, max_size=4, unique_by=lambda asked: asked.question_id)


@given(unique_questions, st.lists(words, min_size=1, max_size=4, unique=True), st.data(), words)
def test_written_set_reads_back_equal(asked, ids, data, version):
    paragraphs = []
    for number, name in enumerate(ids):
        own = tuple(asked[number :: len(ids)])
        paragraphs.append(
            SquadParagraph(name, data.draw(st.sampled_from(["", "题", "A"])), data.draw(words), own)
        )
    squad = SquadSet(tuple(paragraphs), version)
    assert parse_squad(squad_to_json(squad).encode(), "x") == squad
