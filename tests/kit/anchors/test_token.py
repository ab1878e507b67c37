"""A receipt as one word for an address."""

import base64

import pytest

from evidence_kit.anchors.anchor import CorruptAnchor, create_anchor
from evidence_kit.anchors.anchor_json import anchor_to_json
from evidence_kit.anchors.token import anchor_to_token, parse_token
from evidence_kit.sources.model import Representation, Source
from evidence_kit.sources.strict_json import JsonInputError

SOURCE = Source(
    "手册", "手册", "1", "说明😀：仅限室内。" + "甲" * 3000, Representation("plain_text", "1", (), "16.0")
)


@pytest.mark.parametrize("withhold", [False, True])
def test_a_token_is_one_ascii_word_and_comes_back_as_the_receipt(withhold):
    anchor = create_anchor(SOURCE, 4, 8, quote="仅限室内", withhold=withhold)
    token = anchor_to_token(anchor)
    assert set(token) <= set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_")
    assert parse_token(token, "凭条") == anchor


def test_a_withheld_receipt_s_token_is_short_and_holds_no_text():
    token = anchor_to_token(create_anchor(SOURCE, 4, 3000, withhold=True))
    assert len(token) < 1600
    assert "仅限室内" not in base64.urlsafe_b64decode(token + "=" * (-len(token) % 4)).decode()


@pytest.mark.parametrize("token", ["", "!", "甲", "a", "%00", "AAAA", "e30", "a b", "ab=c", "A" * 5000])
def test_what_is_no_token_is_an_error_that_names_it(token):
    with pytest.raises(JsonInputError) as caught:
        parse_token(token, "网址里的凭条")
    error = caught.value
    assert error.message == f"网址里的凭条 无法读取 [{error.code}]：{error.detail}；请重新导出该文件。"


def test_a_token_of_an_impossible_span_is_corrupt():
    record = anchor_to_json(create_anchor(SOURCE, 4, 8)).replace('"end": 8', '"end": 4')
    with pytest.raises(CorruptAnchor):
        parse_token(base64.urlsafe_b64encode(record.encode()).decode(), "凭条")
