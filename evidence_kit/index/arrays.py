"""The arrays of an index: what each holds, and its shape. Nothing here computes.

Passages are numbered inside an index from the shortest to the longest (in characters, ties in the order
given), so that those of one *window* of 2**window_bits passages are about equally long and one bound fits
them all. `order` leads back to positions.

A term is one, two or three neighbouring *symbols*. Symbol 0 separates; 1..C are the single code points in
`chars`; C+1.. are the longer pieces (words) in `words`. Terms are numbered: the singles, where the analyzer
has them, by symbol; then the pairs, then the triples, each sorted by their symbols. There are S symbols
in all, P pairs, T triples, V terms and N passages.

Postings stand in one of two forms. A *packed* posting is (passage << 8 | min(tf, 255)) in one integer. A term
with at least `dense_min` passages is *dense*: its passages stand in `low` as 16-bit numbers within their
window, and only where tf > 1 is there a packed posting, too. A tf of 255 or more is in `heavy_tf`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Array = NDArray[Any]
    Float64s = NDArray[np.float64]
else:
    Array = Float64s = Any


@dataclass(frozen=True)
class Limits:
    """Where the layout changes form. Tests lower them; an index stores the two it was built with."""

    window_bits: int = 14  # at most 16: `low` has 16 bits
    dense_min: int = 256
    packed_bits: int = 32  # an index of 2**(packed_bits - 8) passages or more packs postings in 64 bits
    symbol_bits: int = 16  # 2**symbol_bits symbols or more are numbered in 32 bits
    key_bits: int = 64  # a gram and its passage are sorted as one key of so many bits


class Vocabulary(NamedTuple):
    """From symbols to term numbers."""

    pair_start: Array  # [S+2] pairs that begin with symbol s are pair_start[s] : pair_start[s+1]
    second: Array  # [P] the second symbol of each pair
    triple_start: Array  # [P+1] triples that begin with pair p; [1] without triples
    third: Array  # [T] the third symbol of each triple
    singles: int  # S where single symbols are terms, else 0


class Postings(NamedTuple):
    """From term numbers to passages and counts."""

    start: Array  # [V+1] packed postings of term t are start[t] : start[t+1]
    packed: Array  # passage << 8 | min(tf, 255), sorted within a term
    dense_terms: Array  # [D] the dense terms, sorted
    dense_start: Array  # [D, windows+1] window w of dense term d in `low` is [d, w] : [d, w+1]
    dense_tf: Array  # [D] uint8 largest tf of each dense term, 255 for all from there on
    low: Array  # uint16 passage numbers within the window, sorted within a part
    heavy_at: Array  # [H] indices into `packed` where tf >= 255, sorted
    heavy_tf: Array  # [H] the tf that stands there


class Passages(NamedTuple):
    """What is known of each passage, in inner order, and of each window."""

    order: Array  # [N] uint32 position of each passage as it was given
    length: Array  # [N] uint32 number of terms, repeats included
    norm: Array  # [N] float64 length of the TF-IDF vector; [0] for bm25
    factor: Array  # [N] float32 weight of a term of tf 1 and idf 1, rounded up
    window_factor: Array  # [windows] float64 largest factor
    window_gain: Array  # [windows, 256] float64 largest gain for each tf; column 255: for all from there on
    window_tightness: Array  # [windows] float64 smallest ratio of a gain to the largest for its tf


class Statistics(NamedTuple):
    """Inverse document frequencies, computed once with `math.log`."""

    df: Array  # [F] uint32 the document frequencies that occur, sorted
    idf: Array  # [F] float64 the idf of each


@dataclass(frozen=True)
class Symbols:
    """The names of the symbols; `words` is sorted and stored as UTF-8 between `word_start` borders."""

    chars: Array  # [C] uint32 code points, sorted
    word_start: Array  # [W+1] uint64 borders in `word_bytes`
    word_bytes: Array  # uint8


@dataclass(frozen=True)
class IndexArrays:
    """All arrays of one index."""

    symbols: Symbols
    vocabulary: Vocabulary
    postings: Postings
    passages: Passages
    statistics: Statistics
    window_bits: int
    largest_tf: int
