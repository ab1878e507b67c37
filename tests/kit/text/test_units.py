"""Units by name."""

import pytest

from evidence_kit.errors import EvidenceError
from evidence_kit.text.coordinates import UNITS, Unit, UnitError, parse_unit


@pytest.mark.parametrize("name", UNITS)
def test_own_names_are_exact(name):
    assert parse_unit(name) == Unit(name, name, approximate=False)


@pytest.mark.parametrize(("azure", "ours"), [("unicodeCodePoint", "codepoint"), ("utf16CodeUnit", "utf16")])
def test_azure_code_units_are_exact_aliases(azure, ours):
    assert parse_unit(azure) == Unit(ours, azure, approximate=False)


def test_azure_text_elements_are_an_approximation_that_keeps_its_name():
    unit = parse_unit("textElements")
    assert (unit.name, unit.original, unit.approximate) == ("grapheme", "textElements", True)


def test_a_parsed_unit_parses_to_itself():
    unit = parse_unit("textElements")
    assert parse_unit(unit) is unit


@pytest.mark.parametrize("name", ["UTF-16", "utf-8", "", "chars", None, 8])
def test_an_unknown_unit_is_refused_with_the_known_names(name):
    with pytest.raises(UnitError) as caught:
        parse_unit(name)
    assert isinstance(caught.value, EvidenceError)
    assert repr(name) in caught.value.message
    assert all(known in caught.value.message for known in (*UNITS, "unicodeCodePoint", "textElements"))
    assert "\n" not in caught.value.message
