"""What strict reading of JSON costs: its rules are tested where files are read."""

from evidence_kit.sources.strict_json import first_repeat


class Key(str):
    """A key that counts how often any of its kind is compared."""

    compared = 0
    __hash__ = str.__hash__

    def __eq__(self, other):
        Key.compared += 1
        return str.__eq__(self, other)


def test_the_first_key_that_stood_before_is_found():
    assert first_repeat("abcba") == "b"
    assert first_repeat(["一", "二", "一", "二"]) == "一"
    assert first_repeat("abc") is None
    assert first_repeat([]) is None


def test_finding_a_repeat_compares_no_more_often_than_there_are_keys():
    keys = [Key(f"{n:x}") for n in range(2000)]
    assert first_repeat([*keys, Key("7cf")]) == "7cf"
    assert Key.compared <= 2001
