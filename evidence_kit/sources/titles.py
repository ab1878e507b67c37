"""Which line of a stored text is its title: titles are shown, never indexed.

The stored text is never changed, so that positions stay those of the file: a title is told from the body by
where the body begins.
"""

from __future__ import annotations

import re
from typing import NamedTuple


class TitleLine(NamedTuple):
    """A title found in a text, and the code point at which the body after it begins."""

    title: str
    body_start: int


def markdown_title(text: str) -> TitleLine | None:
    """Return the title of a Markdown text: a heading of the first level on its first line that is not blank.

    `# Title` and `Title` underlined with `=` are such headings. Any other heading, and one further down,
    belongs to the body.
    """
    line = _first_line(text)
    if line is None or _indent(text, line) > 3:
        return None
    content = text[line.start : line.end].strip()
    if re.match(r"#(?:[ \t]|$)", content):
        return TitleLine(_without_closing(content[1:].strip()), line.next)
    underline = _line_at(text, line.next)
    if re.fullmatch(r" {0,3}=+[ \t]*", text[underline.start : underline.end]):
        return TitleLine(content, underline.next)
    return None


def repeated_title(text: str, title: str) -> int:
    """Return where the body of `text` begins: after its first line, if that repeats `title` and more follows.

    The line may be the title itself or a Markdown heading of it; otherwise the body is all of the text.
    """
    line = _first_line(text)
    if line is None or not text[line.next :].strip():
        return 0
    heading = markdown_title(text)
    if heading is not None and heading.title == title.strip():
        return heading.body_start
    return line.next if text[line.start : line.end].strip() == title.strip() else 0


class _Line(NamedTuple):
    start: int
    end: int  # before its line end
    next: int  # after its line end


def _first_line(text: str) -> _Line | None:
    """Return the first line that holds more than white space."""
    first = re.search(r"\S", text)
    if first is None:
        return None
    start = max(text.rfind("\n", 0, first.start()), text.rfind("\r", 0, first.start())) + 1
    return _line_at(text, start)


def _line_at(text: str, start: int) -> _Line:
    end = re.compile(r"\r\n|[\r\n]|\Z").search(text, start)
    return _Line(start, end.start(), end.end()) if end else _Line(start, len(text), len(text))


def _indent(text: str, line: _Line) -> int:
    content = text[line.start : line.end].expandtabs(4)
    return len(content) - len(content.lstrip())


def _without_closing(title: str) -> str:
    bare = title.rstrip("#")
    return bare.rstrip() if not bare or bare[-1] in " \t" else title
