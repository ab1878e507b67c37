"""Documents given as records."""

import pytest

from evidence_kit.errors import EvidenceError
from evidence_kit.sources.given import MOST_CHARACTERS, MOST_SOURCES, documents_given


def test_records_become_documents_with_free_ids():
    given = [{"text": "甲"}, {"id": "资料#1", "text": "乙"}, {"id": None, "text": "丙", "title": "题"}]
    documents = documents_given(given, "资料")
    assert [(d.source_id, d.title, d.text) for d in documents] == [
        ("资料#2", "资料#2", "甲"),
        ("资料#1", "资料#1", "乙"),
        ("资料#3", "题", "丙"),
    ]


def test_no_records_are_no_documents():
    assert documents_given([], "资料") == ()


def test_a_first_line_that_repeats_the_title_is_not_searched():
    (document,) = documents_given([{"title": "题", "text": "# 题\n正文"}], "资料")
    assert document.text[document.body_start :] == "正文"


@pytest.mark.parametrize(
    ("records", "words"),
    [
        ([{"id": "a", "text": "甲"}, {"id": "a", "text": "乙"}], ["a", "2 次"]),
        ([{"id": " ", "text": "甲"}], ["id", "不能为空"]),
        ([{"id": 3, "text": "甲"}], ["id", "字符串"]),
        ([{"title": "甲"}], ["text", "缺失"]),
        ([{"text": None}], ["text", "字符串"]),
        (["甲"], ["[0]", "对象"]),
        ([["甲"]], ["[0]", "对象"]),
        ([{"text": "甲"}] * (MOST_SOURCES + 1), [str(MOST_SOURCES)]),
        ([{"text": "甲" * (MOST_CHARACTERS + 1)}], [str(MOST_CHARACTERS)]),
        ([{"id": "\x1b[31m", "text": "甲"}] * 2, ["\\u001b[31m"]),
    ],
)
def test_what_is_no_record_is_an_error_that_says_where(records, words):
    with pytest.raises(EvidenceError) as caught:
        documents_given(records, "资料")
    for word in words:
        assert word in caught.value.message
