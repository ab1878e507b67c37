"""How much a text looks like Chinese that people write, which tells a right decoding from a wrong one.

Both Chinese standards order their characters by use: rows 16 to 55 of GB2312 hold the 3,755 common ones and
rows 56 to 87 the rest; Big5 has 5,401 common ones from A440 and the less common from C940. Text read in the
wrong encoding falls outside these, and seldom hits the hundred most frequent characters or the
punctuation. A text's plausibility is the mean weight of its characters beyond ASCII.

How often that is right, for texts of two characters to a thousand, is measured by benchmarks/encodings.py and
stands in docs/benchmarks.md. Kana, Greek, Cyrillic and Korean of double-byte encodings also read as Chinese
characters, and may read as common ones; what tells them is that the frequent ones are missing.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import islice
from typing import NamedTuple

# The most frequent characters of modern Chinese, in order, then the traditional forms of such.
_FREQUENT = (
    "的一是不了在人有我他这个们中来上大为和国地到以说时要就出会可也你对生能而子那得于着下自之年过发后作里"
    "用道行所然家种事成方多经么去法学如都同现当没动面起看定天分还进好小部其些主样理心她本前开但因只从想实"
    "這個們來為國說時會對過發後裡種經麼學現當沒動還進樣開從實與無於間關長問見"
)
_PUNCTUATION = "，。、；：？！“”‘’「」『』（）《》〈〉…—·【】％０１２３４５６７８９"
_OFTEN = frozenset(_FREQUENT + _PUNCTUATION)

_WEIGHT_FREQUENT = 1.0
_WEIGHT_COMMON = 0.55
_WEIGHT_OTHER_COMMON = 0.3  # common in the other standard only: traditional text in GB18030
_WEIGHT_RARE = 0.15
_CHARACTERS = 3000  # more would change nothing

_GB_TRAILS = range(0xA1, 0xFF)
_BIG5_TRAILS = (*range(0x40, 0x7F), *range(0xA1, 0xFF))


class Plausibility(NamedTuple):
    """The mean weight (0 to 1) of so many characters beyond ASCII; 0 of none."""

    mean: float
    characters: int


def plausibility(text: str, encoding: str) -> Plausibility:
    """Return how plausible `text` is as a text that was written in `encoding` (see `encodings.NAMES`)."""
    weights = _weights(encoding.partition("-")[0])
    sample = [weights.get(char, 0.0) for char in islice((c for c in text if c > "\x7f"), _CHARACTERS)]
    return Plausibility(sum(sample) / len(sample) if sample else 0.0, len(sample))


def frequent_share(text: str) -> float:
    """Return which share of the characters beyond ASCII is the most frequent ones or punctuation; 0 of none.

    Chinese of 30 characters seldom has less than 0.15; Korean, Cyrillic or kana read as Chinese has.
    """
    sample = [char in _OFTEN for char in islice((c for c in text if c > "\x7f"), _CHARACTERS)]
    return sum(sample) / len(sample) if sample else 0.0


@lru_cache(maxsize=4)
def _weights(family: str) -> dict[str, float]:
    """Return the weights of characters in a family of encodings; Unicode's take both standards."""
    gb_common = _decodable("gb2312", range(0xB0, 0xD8), _GB_TRAILS)
    big5_common = _decodable("cp950", range(0xA4, 0xC7), _BIG5_TRAILS)
    gb_rare = _decodable("gb2312", (*range(0xA1, 0xAA), *range(0xD8, 0xF8)), _GB_TRAILS)
    big5_rare = _decodable("cp950", (*range(0xA1, 0xA4), *range(0xC9, 0xFA)), _BIG5_TRAILS)
    common, other, rare = {
        "gb18030": (gb_common, big5_common, gb_rare),
        "big5": (big5_common, gb_common, big5_rare),
    }.get(family, (gb_common | big5_common, set(), gb_rare | big5_rare))
    return {
        **dict.fromkeys(other, _WEIGHT_OTHER_COMMON),
        **dict.fromkeys(rare, _WEIGHT_RARE),
        **dict.fromkeys(common, _WEIGHT_COMMON),
        **dict.fromkeys(_FREQUENT + _PUNCTUATION, _WEIGHT_FREQUENT),
    }


def _decodable(codec: str, leads: range | tuple[int, ...], trails: range | tuple[int, ...]) -> set[str]:
    found = (bytes((lead, trail)).decode(codec, "ignore") for lead in leads for trail in trails)
    return {char for char in found if len(char) == 1}
