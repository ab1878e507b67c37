"""Foreign text in a form that can do nothing to the terminal it is shown on."""

from __future__ import annotations

import re
from collections.abc import Sequence

_FEW = 5

# Controls, surrogates, line and paragraph separators, private and noncharacters, and format characters
# (among them the bidi controls and the invisible tags) but for the two joiners that scripts and emoji need.
# A list and no look at categories: every Python, and the verifier in Node, must print the same.
_HIDDEN = (
    r"\x7f-\x9f\xad\u0600-\u0605\u061c\u06dd\u070f\u0890\u0891\u08e2\u180e\u200b\u200e\u200f\u2028-\u202e"
    r"\u2060-\u206f\ud800-\uf8ff\ufdd0-\ufdef\ufeff\ufff0-\ufffb\ufffe\uffff\U000110bd\U000110cd"
    r"\U00013430-\U0001343f\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e00ff"
    r"\U000e01f0-\U000e0fff\U000f0000-\U0010ffff"
) + "".join(rf"\U{plane:04x}fffe\U{plane:04x}ffff" for plane in range(1, 15))
_IN_TEXT, _IN_JSON = re.compile(rf"[\0-\x1f{_HIDDEN}]"), re.compile(f"[{_HIDDEN}]")


def visible(text: str) -> str:
    """Return `text` with every character that a terminal might obey, or show as nothing, as an escape.

    The escapes are Python's and JSON's: `\\u202e`; above U+FFFF `\\U000e0001`.
    """
    return _IN_TEXT.sub(_escape, text)


def visible_json(text: str) -> str:
    """Return JSON text that means the same, with such characters inside its strings as `\\uXXXX`.

    The line breaks and blanks between its tokens stay; `verifiers/verify_bundle.mjs` prints by the same rule.
    """
    return _IN_JSON.sub(_escape_units, text)


def first_few(shown: Sequence[str]) -> str:
    """Return the first few of what is shown in a row, and how many there are where that is not all."""
    row = "、".join(shown[:_FEW])
    return f"{row} …等 {len(shown)} 个" if len(shown) > _FEW else row


def is_hidden(char: str) -> bool:
    """Whether a character does something, or shows as nothing, rather than being read."""
    return _IN_TEXT.fullmatch(char) is not None


def _escape(found: re.Match[str]) -> str:
    point = ord(found[0])
    return f"\\u{point:04x}" if point < 0x10000 else f"\\U{point:08x}"


def _escape_units(found: re.Match[str]) -> str:
    units = found[0].encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[i : i + 2].hex()}" for i in range(0, len(units), 2))
