"""Arbitrary texts with far more joining characters than chance would give, and an oracle for graphemes."""

import regex
from hypothesis import strategies as st

# Emoji with ZWJ, modifier and selector, flags, marks that join back or are prepended, jamo, Indic conjuncts
# and linkers, kana voicing marks, line ends, controls, ideographs in and above the BMP, and plain letters.
JOINING = (
    "👩👧❤🏽\ufe0f\u200d🇨🇳🇺"
    "\u0301\u0308\u0345\u0e33\u0903\u0600\u0d4e\U000110bd"
    "각가각\ua960\ud7b0"
    "\u0915\u094d\u0924\u093e\u1cf5\u1cf6\U00011a3a\u1039"
    "か\u3099ｶ\uff9e\U000e0100"
    "\r\n\x00\xad\u200b"
    "甲乙，。\U00020000aé1_ "
)
characters = st.one_of(st.sampled_from(JOINING), st.characters(exclude_categories=["Cs"]))
texts = st.text(characters, max_size=40)
joining_texts = st.text(st.sampled_from(JOINING), max_size=40)


def clusters(text: str) -> list[str]:
    """Return the graphemes of `text` by the plain pattern, without any shortcut."""
    return regex.findall(r"\X", text)


def borders(text: str) -> list[int]:
    """Return the code-point positions of all grapheme borders."""
    ends = [0]
    for cluster in clusters(text):
        ends.append(ends[-1] + len(cluster))
    return ends
