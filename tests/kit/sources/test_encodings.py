"""Encodings are told apart and said; what cannot be decoded is refused with the offset of its bad byte."""

import codecs

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from evidence_kit.errors import EvidenceError
from evidence_kit.sources.encodings import NAMES, UndecodableError, check_encoding, decode, encoding_title
from evidence_kit.sources.plausibility import plausibility

# Every character is in GB18030 and in Big5.
TEXT = "# 工具\r\n,工作日上午十點以前可以借用工具，每次三件。\n"
MARKED = "\ufeff" + TEXT
SIMPLIFIED = "会员凭会员卡每次最多借三件工具，借期为七天。"
TRADITIONAL = "會員憑會員卡每次最多借三件工具，借期為七天。"


def refusal(data, encoding=None):
    with pytest.raises(EvidenceError) as caught:
        decode(data, "a.txt", encoding)
    assert caught.value.exit_code == 2
    assert caught.value.message.startswith("a.txt ") and "\n" not in caught.value.message
    return caught.value


@pytest.mark.parametrize(
    ("data", "encoding", "evidence", "transformations"),
    [
        (TEXT.encode(), "utf-8", "valid", ()),
        (MARKED.encode(), "utf-8", "bom", ("bom_removed",)),
        (MARKED.encode("utf-16-le"), "utf-16-le", "bom", ("decoded_from_utf_16_le", "bom_removed")),
        (MARKED.encode("utf-16-be"), "utf-16-be", "bom", ("decoded_from_utf_16_be", "bom_removed")),
        (TEXT.encode("gb18030"), "gb18030", "statistics", ("decoded_from_gb18030",)),
        (MARKED.encode("gb18030"), "gb18030", "bom", ("decoded_from_gb18030", "bom_removed")),
        (TEXT.encode("big5"), "big5", "statistics", ("decoded_from_big5",)),
    ],
    ids=["utf8", "utf8-bom", "utf16le-bom", "utf16be-bom", "gb18030", "gb18030-bom", "big5"],
)
def test_one_text_in_every_encoding_reads_the_same_and_says_which(data, encoding, evidence, transformations):
    decoded = decode(data, "a.txt")
    assert decoded.text == TEXT
    assert (decoded.encoding, decoded.evidence) == (encoding, evidence)
    assert decoded.transformations == transformations
    assert decoded.preview == "# 工具 ,工作日上午十點以前可以借用工具，每"
    assert decoded.runner_up is None
    assert decoded.plain == (encoding == "utf-8")


@pytest.mark.parametrize(
    ("text", "encoding"),
    [
        (SIMPLIFIED, "gb18030"),
        (TRADITIONAL, "gb18030"),
        (TRADITIONAL, "big5"),
        ("借期为七天", "gb18030"),
        ("借期為七天", "big5"),
        ("请联通知我们开会", "gb18030"),
        ("name, 价格, note\n" + "x" * 5000 + ", 三件工具\n", "gb18030"),
    ],
)
def test_a_few_characters_are_enough(text, encoding):
    decoded = decode(text.encode(encoding), "a")
    assert (decoded.text, decoded.encoding) == (text, encoding)


@pytest.mark.parametrize("text", ["", "a", "plain ASCII, 2uYN\r\n", "naïve café", "Привет, мир"])
def test_ascii_and_short_words_of_other_scripts_are_utf8_beyond_doubt(text):
    decoded = decode(text.encode(), "a")
    assert (decoded.text, decoded.encoding, decoded.evidence) == (text, "utf-8", "valid")


def test_two_characters_are_thin_evidence_and_the_runner_up_is_shown():
    # 工 B9A4, 具 BEDF: in Big5 the same bytes are the common characters 馱 and 撿.
    decoded = decode(b"\xb9\xa4\xbe\xdf", "a")
    assert (decoded.text, decoded.encoding, decoded.evidence) == ("工具", "gb18030", "thin")
    assert (decoded.runner_up.encoding, decoded.runner_up.preview) == ("big5", "馱撿")


def test_thin_evidence_without_another_reading_has_no_runner_up():
    # 81 begins no Big5 character, nor one of the Hong Kong supplement.
    decoded = decode(b"\x81\x40", "a")
    assert (decoded.text, decoded.evidence, decoded.runner_up) == ("丂", "thin", None)


def test_chinese_that_happens_to_be_valid_utf8_stays_utf8_but_is_not_beyond_doubt():
    # 写 D0B4 and 校 D0A3 are the Cyrillic U+0434 and U+0423 of UTF-8.
    decoded = decode(b"\xd0\xb4\xd0\xa3", "a")
    assert (decoded.text, decoded.encoding, decoded.evidence) == ("\u0434\u0423", "utf-8", "thin")
    assert (decoded.runner_up.encoding, decoded.runner_up.preview) == ("gb18030", "写校")
    assert not decoded.plain and decoded.transformations == ()


def test_text_that_is_no_chinese_is_thin_even_where_one_reading_is_left():
    # Western European in Windows-1252: the pair E9 65 is a rare character.
    decoded = decode("caf\u00e9e".encode("cp1252"), "a")
    assert decoded.evidence == "thin"
    # Rare characters only, and one (8140) that no Big5 has: hardly what a text is made of.
    decoded = decode("丂鼹鼷鼽鼾齄饕餮魑魅魍魉麂".encode("gb18030"), "a")
    assert (decoded.encoding, decoded.evidence, decoded.runner_up) == ("gb18030", "thin", None)


KOREAN = "우리 도서관은 매주 월요일에 문을 닫습니다. 책은 한 번에 세 권까지 빌립니다."
RUSSIAN = (
    "Библиотека закрыта по понедельникам. Можно взять не более трёх книг сразу, а вернуть их через неделю."
)
JAPANESE = "図書館は毎週月曜日に休みます。本は一度に三冊まで借りることができ、返却の期限は二週間です。"
KANA = "としょかんはげつようびにやすみます。コンピュータのつかいかたはカウンターできいてください。"


@pytest.mark.parametrize(
    ("text", "codec"),
    [(KOREAN, "euc-kr"), (RUSSIAN, "gb18030"), (JAPANESE, "euc-jp"), (KANA, "euc-jp")],
)
@pytest.mark.parametrize("times", [1, 50])
def test_other_languages_that_read_as_chinese_characters_are_thin_evidence(text, codec, times):
    decoded = decode((text * times).encode(codec), "a")
    assert (decoded.evidence, decoded.runner_up is not None) == ("thin", True)


@pytest.mark.parametrize(
    ("data", "offsets"),
    [
        # Valid: 甲 in UTF-8 is E7 94 B2. FF begins nothing in any encoding.
        (b"ab\xff", {"utf-8": 2, "gb18030": 2, "big5": 2, "big5-hkscs": 2}),
        # 会 BBE1, 员 D4B1, then a lead byte and the end of file: UTF-8 stops at once, the others at byte 4;
        # D4 begins a less common Big5 character.
        (b"\xbb\xe1\xd4\xb1\xbb", {"utf-8": 0, "gb18030": 4, "big5": 4, "big5-hkscs": 4}),
        (b"\xef\xbb\xbf\xe7\x94\xb2\xd5\xd5", {"utf-8": 6}),
        # A cut character at the end of a UTF-16 file, then half a surrogate pair.
        (b"\xff\xfe\x32\x75\x32", {"utf-16-le": 4}),
        (b"\xfe\xff\x75\x32\xd8\x00\x75\x32", {"utf-16-be": 4}),
        (b"\x84\x31\x95\x33\xbb\xe1\xff", {"gb18030": 6}),
    ],
)
def test_offset_of_the_first_bad_byte_is_counted_in_the_file(data, offsets):
    error = refusal(data)
    assert isinstance(error, UndecodableError)
    assert error.offsets == offsets
    for offset in offsets.values():
        assert f"第 {offset} 个" in error.message


@pytest.mark.parametrize("count", [1, 3, 40])
def test_utf8_with_a_fault_is_refused_and_not_read_as_another_text(count):
    whole = SIMPLIFIED.encode() * count
    for damaged, at in ((whole[:-1], len(whole) - 3), (whole[:30] + b"\x80" + whole[30:], 30)):
        assert refusal(damaged).offsets == {"utf-8": at}


def test_long_utf8_of_another_script_with_a_fault_is_refused_too():
    data = "가나다라마바사아자차카타파하" * 4
    assert refusal(data.encode()[:-1]).offsets == {"utf-8": 3 * len(data) - 3}


def test_double_byte_text_with_a_fault_is_refused():
    data = (SIMPLIFIED * 20).encode("gb18030")
    error = refusal(data[:60] + b"\xff" + data[60:])
    assert error.offsets["gb18030"] == 60


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
@pytest.mark.parametrize("text", ["会员凭会员卡借三件工具", SIMPLIFIED + "\n", "plain ASCII"])
def test_utf16_without_a_bom_is_refused_and_read_by_name(encoding, text):
    data = text.encode(encoding)
    assert "UTF-16" in refusal(data).message
    decoded = decode(data, "a", encoding)
    assert (decoded.text, decoded.encoding, decoded.evidence) == (text, encoding, "named")


@pytest.mark.parametrize("data", [b"\0" * 8, SIMPLIFIED.encode("gb18030") + b"\0", b"\x7fELF\2\1\1\0\0\0\0"])
def test_nul_bytes_of_what_is_no_utf8_text_are_refused_with_the_offset(data):
    assert f"第 {data.index(0)} 个字节" in refusal(data).message


def test_utf32_is_refused_by_name():
    for encoding in ("utf-32-le", "utf-32-be"):
        assert "UTF-32" in refusal(("\ufeff" + SIMPLIFIED).encode(encoding)).message


def test_encoding_by_name_overrides_what_would_be_guessed():
    assert decode(b"\xb9\xa4\xbe\xdf", "a", "big5").text == "馱撿"
    decoded = decode(b"\xd0\xb4\xd0\xa3", "a", "gb18030")
    assert (decoded.text, decoded.evidence) == ("写校", "named")
    assert decoded.transformations == ("decoded_from_gb18030",)
    assert refusal(b"\xbb\xe1\xff", "GBK").offsets == {"gb18030": 2}
    assert decode(codecs.BOM_UTF8 + b"a", "a", "utf-8").transformations == ("bom_removed",)


def test_utf16_by_name_takes_its_byte_order_from_the_bom_only():
    decoded = decode(codecs.BOM_UTF16_BE + SIMPLIFIED.encode("utf-16-be"), "a", "utf-16")
    assert (decoded.text, decoded.encoding) == (SIMPLIFIED, "utf-16-be")
    assert "utf-16-le" in refusal(SIMPLIFIED.encode("utf-16-be"), "utf-16").message


@pytest.mark.parametrize(
    ("given", "found"),
    [("UTF_8", "utf-8"), ("utf8", "utf-8"), (" GBK ", "gb18030"), ("gb2312", "gb18030"), ("Big5", "big5")],
)
def test_names_of_encodings_are_taken_in_any_case(given, found):
    assert check_encoding(given) == found


@pytest.mark.parametrize("name", ["", "latin-1", "shift_jis", "rot13", "utf-7", "hex", "gb18030\0"])
def test_other_encodings_that_python_knows_are_refused_with_the_list(name):
    with pytest.raises(EvidenceError) as caught:
        check_encoding(name)
    assert all(known in caught.value.message for known in NAMES)


def test_four_byte_gb18030_and_hong_kong_characters_are_read():
    text = SIMPLIFIED + "\U00020000😀"
    assert decode(text.encode("gb18030"), "a").text == text
    cantonese = "佢哋喺度食嘢，我哋唔知點解咁多人"  # 喺 and 嘢 are in the Hong Kong supplement only
    decoded = decode(cantonese.encode("big5hkscs"), "a")
    assert (decoded.text, decoded.encoding) == (cantonese, "big5-hkscs")


def test_big5_is_windows_code_page_950():
    text = TRADITIONAL + "約翰‧藍儂～€碁"
    decoded = decode(text.encode("cp950"), "a")
    assert (decoded.text, decoded.encoding) == (text, "big5")


def test_preview_shows_the_first_characters_beyond_ascii_on_one_line():
    text = "x" * 100 + "\n\tend " + SIMPLIFIED
    assert decode(text.encode("gb18030"), "a").preview == "end 会员凭会员卡每次最多借三件工具，借期为七"


def test_weights_tell_the_right_reading_from_the_wrong_one():
    # Frequent; common (GB2312 BEDF); common in Big5 only; rare (GB2312 row 81); for private use.
    assert plausibility("的", "gb18030") == (1.0, 1)
    assert plausibility("具a\n", "gb18030") == (0.55, 1)
    assert plausibility("錫", "gb18030") == (0.3, 1)
    assert plausibility("瘭", "gb18030") == (0.15, 1)
    assert plausibility("的具", "big5").mean == pytest.approx((1 + 0.55) / 2)
    assert plausibility("\ue000", "gb18030") == (0.0, 1)
    assert plausibility("ascii", "big5") == (0.0, 0)


@given(st.text(st.characters(codec="utf-8")), st.sampled_from(NAMES))
def test_text_encoded_by_a_name_is_read_back_by_that_name(text, name):
    assume(not text.startswith("\ufeff"))
    codec = {"big5": "cp950", "big5-hkscs": "big5hkscs"}.get(name, name)
    try:
        data = text.encode(codec)
    except UnicodeEncodeError:
        assume(False)
    assume(data.decode(codec) == text)  # Big5 has pairs of codes for one character
    assert decode(data, "a", name).text == text
    assert encoding_title(name).lower().replace(" ", "-").startswith(name.lower())


@given(st.text(st.characters(codec="utf-8", exclude_characters="\0")), st.sampled_from(["", "\ufeff"]))
def test_utf8_is_never_read_as_anything_else(text, bom):
    assume(not text.startswith("\ufeff"))
    decoded = decode((bom + text).encode(), "a")
    assert (decoded.text, decoded.encoding) == (text, "utf-8")


@given(st.text(st.characters(codec="utf-8")), st.sampled_from(["utf-16-le", "utf-16-be", "gb18030"]))
def test_bom_decides_before_anything_is_guessed(text, encoding):
    assume(not (text.startswith("\0") and encoding == "utf-16-le"))  # the BOM of UTF-32
    decoded = decode(("\ufeff" + text).encode(encoding), "a")
    assert (decoded.text, decoded.encoding, decoded.evidence) == (text, encoding, "bom")


@given(st.binary())
def test_any_bytes_are_decoded_whole_or_refused_on_one_line(data):
    try:
        decoded = decode(data, "a.txt")
    except EvidenceError:
        refusal(data)
    else:
        codec = {"big5": "cp950", "big5-hkscs": "big5hkscs"}.get(decoded.encoding, decoded.encoding)
        assert data.decode(codec).removeprefix("\ufeff") == decoded.text.removeprefix("\ufeff")
        assert len(decoded.preview) <= 24
