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
from collections.abc import Iterator
from functools import lru_cache
from itertools import pairwise
from typing import Any

_JOINER = r"[[^\p{GCB=Other}\p{GCB=Control}\p{GCB=LV}\p{GCB=LVT}]\p{InCB=Linker}]"
# A character first assigned in each version: the newest one that `regex` knows tells the version of its data.
_WITNESSES = (("15.1", "\u2ffc"), ("16.0", "\u1c89"), ("17.0", "\u20c1"), ("18.0", "\U0003d000"))

_FLAGS = re.compile("[\U0001f1e6-\U0001f1ff]{3,}")


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


def _spans(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Yield (start, end) of each grapheme of `text[start:end]`, both ends being borders.

    Cuts runs of regional indicators into pairs beforehand: `\\X` counts each of them back to the start of its
    run, which takes minutes in a page of flags.
    """
    runs = _FLAGS.finditer(text, start, end)
    pairs = (border for run in runs for border in range(run.start() + 2, run.end(), 2))
    for part_start, part_end in pairwise((start, *pairs, end)):
        for cluster in _cluster().finditer(text[part_start:part_end]):
            yield part_start + cluster.start(), part_start + cluster.end()


@lru_cache(maxsize=1)
def _stretches() -> re.Pattern[str]:
    """Compile the search for joiners, with single neighbours between them; CR stands for CR LF.

    Every code point above the BMP counts as a joiner here: that is always safe (`\\X` then decides), and
    keeps the character class small enough for the bitmap of the standard `re` module, an order of magnitude
    faster.
    """
    import regex

    bmp = "".join(map(chr, (*range(0xD800), *range(0xE000, 0x10000))))
    runs = (m.group() for m in regex.finditer(rf"[{_JOINER}--[\r\n]]+", bmp, flags=regex.V1))
    joiners = (
        "".join(f"\\u{ord(run[0]):04x}-\\u{ord(run[-1]):04x}" for run in runs) + r"\U00010000-\U0010ffff"
    )
    return re.compile(rf"[\r{joiners}](?:[{joiners}]|[^\r\n{joiners}](?=[{joiners}]))*")


def inner_positions(text: str) -> array[int]:
    """Return the sorted code-point positions that lie inside a grapheme: all that are no border."""
    inner = array("q")
    if text.isascii():
        inner.extend(match.start() + 1 for match in re.finditer("\r\n", text))
        return inner
    for match in _stretches().finditer(text):
        # The neighbour on each side belongs to the stretch: a mark joins back, a prepended character joins
        # forward.
        start, end = max(match.start() - 1, 0), min(match.end() + 1, len(text))
        for cluster_start, cluster_end in _spans(text, start, end):
            inner.extend(range(cluster_start + 1, cluster_end))
    return inner


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
    flags or marks is walked to its start, for there the rules themselves look back that far. 0 <= position
    < len(text).
    """
    sure = _sure_border().fullmatch
    start = position
    while start > 0 and not sure(text[start - 1 : start + 1]):
        start -= 1
    end = position + 1
    while end < len(text) and not sure(text[end - 1 : end + 1]):
        end += 1
    return next(span for span in _spans(text, start, end) if span[1] > position)
