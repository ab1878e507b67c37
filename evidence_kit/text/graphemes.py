"""Where extended grapheme clusters begin and end (UAX #29, by the `\\X` of the `regex` package).

Running `\\X` over a whole text costs most of a microsecond a character, yet in Chinese nearly every
character stands alone. A *joiner* is a code point whose Grapheme_Cluster_Break lets it join a neighbour
(marks, ZWJ, jamo, flags, prepended marks, CR, LF), or that links an Indic conjunct. By GB4, GB5 and GB999
two neighbours that are no joiners always have a border between them: the rules that reach further (GB9c
conjuncts, GB11 emoji sequences, GB12/13 flags) all need a joiner in between. So only the stretches around
joiners are given to `\\X`. The joiners are asked of `regex` itself: no second Unicode table can disagree
with it.
"""

from __future__ import annotations

import re
from array import array
from functools import lru_cache
from typing import Any

_JOINER = r"[[^\p{GCB=Other}\p{GCB=Control}\p{GCB=LV}\p{GCB=LVT}]\p{InCB=Linker}]"
# A character first assigned in each version: the newest one that `regex` knows tells the version of its data.
_WITNESSES = (("15.1", "\u2ffc"), ("16.0", "\u1c89"), ("17.0", "\u20c1"), ("18.0", "\U0003d000"))

_FLAG_LETTERS = "".join(map(chr, range(0x1F1E6, 0x1F200)))
_FLAGS = re.compile(f"[{_FLAG_LETTERS}]{{3,}}")


def grapheme_rules() -> str:
    """Return the package and Unicode version of the rules in use: `regex 2024.11.6, Unicode 16.0`.

    `regex` does not say which Unicode version it carries. This asks it which characters are assigned and
    names the newest version whose witness is; a trailing `+` means that it may be newer still (no later
    witness is known here).
    """
    from importlib.metadata import version

    import regex

    known = [unicode for unicode, char in _WITNESSES if regex.match(r"\P{Cn}", char)]
    newest = known[-1] if known else "<15.1"
    open_ended = "+" if newest == _WITNESSES[-1][0] else ""
    return f"regex {version('regex')}, Unicode {newest}{open_ended}"


@lru_cache(maxsize=1)
def _cluster() -> Any:
    import regex

    return regex.compile(r"\X")


@lru_cache(maxsize=1)
def _stretches() -> re.Pattern[str]:
    """Compile the search for joiners, with single neighbours between them; CR stands for CR LF.

    Every code point above the BMP counts as a joiner here: that keeps the character class small enough for
    the bitmap of the standard `re` module, an order of magnitude faster. `_exact_stretches` then looks again.
    """
    import regex

    bmp = "".join(map(chr, (*range(0xD800), *range(0xE000, 0x10000))))
    runs = (m.group() for m in regex.finditer(rf"[{_JOINER}--[\r\n]]+", bmp, flags=regex.V1))
    joiners = (
        "".join(f"\\u{ord(run[0]):04x}-\\u{ord(run[-1]):04x}" for run in runs) + r"\U00010000-\U0010ffff"
    )
    return re.compile(rf"[\r{joiners}](?:[{joiners}]|[^\r\n{joiners}](?=[{joiners}]))*")


@lru_cache(maxsize=1)
def _exact_stretches() -> Any:
    """Compile the same search for joiners alone, above the BMP, too."""
    import regex

    joiner = rf"[{_JOINER}||[\r\n]]"
    return regex.compile(
        rf"[{joiner}--\n](?:[{joiner}--[\r\n]]|[^{joiner}](?=[{joiner}--[\r\n]]))*", flags=regex.V1
    )


def inner_positions(text: str) -> array[int]:
    """Return the sorted code-point positions that lie inside a grapheme: all that are no border."""
    inner = array("q")
    if text.isascii():
        inner.extend(match.start() + 1 for match in re.finditer("\r\n", text))
        return inner
    for match in _stretches().finditer(text):
        start, end = match.span()
        if match[0].isascii() or max(match[0]) < "\U00010000":
            _add_around(inner, text, start, end)
            continue
        for exact in _exact_stretches().finditer(text, start, end):
            _add_around(inner, text, *exact.span())
    return inner


def _add_around(inner: array[int], text: str, start: int, end: int) -> None:
    """Add what is no border in a stretch and beside it.

    The neighbour on each side belongs to it: a mark joins back, a prepended character joins forward. A run of
    flag letters pairs up from its start, and nothing but its ends can join anything else: `\\X` would count
    each of them back to the start of the run, which takes minutes in a page of flags.
    """
    start, end = max(start - 1, 0), min(end + 1, len(text))
    for run in _FLAGS.finditer(text, start, end):
        last = run.end() - 2 + (run.end() - run.start()) % 2
        _add_clusters(inner, text, start, run.start() + 2)
        inner.extend(range(run.start() + 3, last, 2))
        start = last
    _add_clusters(inner, text, start, end)


def _add_clusters(inner: array[int], text: str, start: int, end: int) -> None:
    for cluster in _cluster().finditer(text[start:end]):
        first, last = cluster.span()
        if last - first > 1:
            inner.extend(range(start + first + 1, start + last))


@lru_cache(maxsize=1)
def _sure_border() -> Any:
    """Compile the test for two neighbours with a border between them whatever stands around them.

    Two non-joiners; a line end or control and anything but CR LF (GB4, GB5); or a character that is neither
    joiner nor Indic consonant after anything but what reaches forward to it (a prepended character, ZWJ
    before an emoji, a leading jamo). An Indic consonant may join a virama several places back (GB9c).
    """
    import regex

    pairs = (
        rf"[^{_JOINER}][^{_JOINER}]",
        r"[\n\p{GCB=Control}].",
        r"\r[^\n]",
        r".[\r\p{GCB=Control}]",
        r"[^\r]\n",
        r"[^\p{GCB=Prepend}\p{GCB=ZWJ}\p{GCB=L}][\p{GCB=Other}--\p{InCB=Consonant}]",
    )
    return regex.compile("|".join(pairs), flags=regex.V1 | regex.DOTALL)


def cluster_around(text: str, position: int) -> tuple[int, int]:
    """Return (start, end) of the grapheme with code point `position`, looking at its surroundings only.

    Walks from `position` to the nearest sure border on either side and runs `\\X` in between; a long run of
    marks is walked to its start, for there the rules themselves look back that far. 0 <= position
    < len(text).
    """
    start = position
    while start > 0 and not _is_sure_border(text, start):
        start -= 1
    end = position + 1
    while end < len(text) and not _is_sure_border(text, end):
        end += 1
    clusters = (cluster.span() for cluster in _cluster().finditer(text[start:end]))
    return next((start + first, start + last) for first, last in clusters if start + last > position)


def _is_sure_border(text: str, position: int) -> bool:
    pair = text[position - 1 : position + 1]
    if pair[0] in _FLAG_LETTERS and pair[1] in _FLAG_LETTERS:
        run = len(text[:position]) - len(text[:position].rstrip(_FLAG_LETTERS))
        return run % 2 == 0
    return _sure_border().fullmatch(pair) is not None
