"""Foreign text in a form that can do nothing to the terminal it is shown on."""

from __future__ import annotations

import re
import unicodedata

# Controls and surrogates; line and paragraph separators; format characters (among them the bidi controls
# and the invisible tags) but for the two joiners that scripts and emoji need; private and unassigned ones.
_HIDDEN_CATEGORIES = frozenset({"Cc", "Cs", "Cf", "Co", "Cn", "Zl", "Zp"})
_JOINERS = "\u200c\u200d"
_PLAIN = re.compile("[ -~\u3001-\u3029\u3041-\u3096\u30a1-\u30fa\u4e00-\u9fff\uff01-\uff5e]*")


def visible(text: str) -> str:
    """Return `text` with every character that a terminal might obey, or show as nothing, as an escape.

    The escapes are Python's and JSON's: `\\u202e`; above U+FFFF `\\U000e0001`.
    """
    if _PLAIN.fullmatch(text):
        return text
    return "".join(map(_escaped, text))


def visible_json(text: str) -> str:
    """Return JSON text that means the same, with such characters inside its strings as `\\uXXXX`.

    The line breaks and blanks between its tokens stay.
    """
    return "".join(char if char == "\n" else _json_escaped(char) for char in text)


def is_hidden(char: str) -> bool:
    """Whether a character does something, or shows as nothing, rather than being read."""
    return unicodedata.category(char) in _HIDDEN_CATEGORIES and char not in _JOINERS


def _escaped(char: str) -> str:
    if not is_hidden(char):
        return char
    return f"\\u{ord(char):04x}" if ord(char) < 0x10000 else f"\\U{ord(char):08x}"


def _json_escaped(char: str) -> str:
    if (char.isascii() and char != "\x7f") or not is_hidden(char):
        return char
    units = char.encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[i : i + 2].hex()}" for i in range(0, len(units), 2))
