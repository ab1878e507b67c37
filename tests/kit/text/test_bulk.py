"""Conversion in bulk is the conversion one by one."""

import builtins
from itertools import product

import pytest
from hypothesis import given
from text_strategies import texts

from evidence_kit.text.bulk import MissingNumpyError
from evidence_kit.text.coordinates import UNITS, PositionError, TextIndex

numpy = pytest.importorskip("numpy", reason="conversion in bulk needs numpy")
TEXT = "甲e\u0301🇨🇳\r\n乙"


@given(texts)
def test_bulk_agrees_with_one_by_one_for_every_pair(text):
    index = TextIndex(text)
    for source, target in product(UNITS, UNITS):
        valid = [p for p in range(index.length(source) + 1) if index.is_border(p, source)]
        assert index.convert_many(valid, source, target).tolist() == [
            index.convert(p, source, target) for p in valid
        ]


@given(texts)
def test_bulk_refuses_exactly_what_one_by_one_refuses(text):
    index = TextIndex(text)
    for source in UNITS:
        for position in range(-1, index.length(source) + 2):
            if index.is_border(position, source):
                continue
            with pytest.raises(PositionError) as alone:
                index.convert(position, source, "codepoint")
            with pytest.raises(PositionError) as together:
                index.convert_many([0, position], source, "codepoint")
            assert together.value.message == alone.value.message


def test_the_shape_is_kept_and_the_type_is_int64():
    out = TextIndex(TEXT).convert_many(numpy.array([[0, 3], [7, 8]], dtype=numpy.uint16), "codepoint", "utf8")
    assert out.tolist() == [[0, 6], [16, 19]]
    assert out.dtype == numpy.int64


@pytest.mark.parametrize("target", ["utf8", "utf16"])
def test_the_result_is_not_the_input(target):
    given_positions = numpy.array([0, 1, 2])
    out = TextIndex("abc").convert_many(given_positions, "utf8", target)
    out[0] = 9
    assert given_positions.tolist() == [0, 1, 2]


def test_the_first_and_last_character_of_each_encoded_length():
    text = "\x00\x7f\x80\u07ff\u0800\uffff\U00010000\U0010ffff"
    index = TextIndex(text)
    assert index.convert_many(range(9), "codepoint", "utf8").tolist() == [0, 1, 2, 4, 6, 9, 12, 16, 20]
    assert index.convert_many(range(9), "codepoint", "utf16").tolist() == [0, 1, 2, 3, 4, 5, 6, 8, 10]


def test_any_iterable_will_do_and_none_at_all():
    index = TextIndex(TEXT)
    assert index.convert_many(iter([8, 0]), "codepoint", "utf16").tolist() == [10, 0]
    assert index.convert_many([], "utf8", "grapheme").tolist() == []


@pytest.mark.parametrize("positions", [[0.0], [True], ["1"], [None], [0, 2**70]])
def test_what_is_no_position_is_refused(positions):
    with pytest.raises(PositionError):
        TextIndex(TEXT).convert_many(positions, "codepoint", "utf8")


def test_without_numpy_the_error_names_the_command(monkeypatch):
    real = builtins.__import__

    def no_numpy(name, *args, **kwargs):
        if name == "numpy":
            raise ImportError(name)
        return real(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", no_numpy)
    with pytest.raises(MissingNumpyError, match="pip install"):
        TextIndex(TEXT).convert_many([0], "codepoint", "utf8")
    assert TextIndex(TEXT).convert(1, "codepoint", "utf8") == 3
