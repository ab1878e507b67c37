"""The three weightings, each a handful of formulas on Python floats: the only place where they are written.

Every weighting gives a term's part in a score as a product of query weight and document weight, and a score
is the `math.fsum` of its parts: correctly rounded, so the same whatever the order of the terms. The compiled
kernels repeat `Cosine.value` and `Bm25.part` operation by operation and must agree to the last bit.

For pruning, a document weight is also split as `factor(size) * gain(tf, size)`: `size` is what makes a
passage long for this weighting, `factor` the weight of a term that stands in it once, `gain` how much more
counts when it stands there `tf` times. `gain` never falls as `tf` or `size` grows.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from evidence_kit.index.errors import IndexInputError
from evidence_kit.text.analysis import Analyzer, char_ngrams, words_han

# The weightings by the names that people choose them by.
METHODS = ("bm25", "tfidf_log", "tfidf_course")


@dataclass(frozen=True)
class Cosine:
    """Cosine of TF-IDF vectors with idf ln((1+N)/(1+df)) + 1.

    `tfidf_course` has tf = count / terms and ranks by the score at six digits (the course core);
    `tfidf_log` has tf = 1 + ln count on both sides (Manning, Raghavan, Schütze: Introduction to IR, 6.4).
    """

    name: Literal["tfidf_course", "tfidf_log"]

    def idf(self, passages: int, df: int) -> float:
        """Return the inverse document frequency of a term that stands in `df` of `passages`."""
        return math.log((1 + passages) / (1 + df)) + 1.0

    def value(self, tf: int, total: int, idf: float) -> float:
        """Return a term's value before normalisation; `total` counts all terms of the text."""
        if self.name == "tfidf_course":
            return tf / total * idf
        return (1.0 + math.log(tf)) * idf

    def gain(self, tf: int, size: float) -> float:
        """Return the weight of `tf` occurrences in units of one; the same for every size."""
        return float(tf) if self.name == "tfidf_course" else 1.0 + math.log(tf)


@dataclass(frozen=True)
class Bm25:
    """BM25 with idf ln(1 + (N-df+0.5)/(df+0.5)); each query term counts once.

    Robertson and Zaragoza: The Probabilistic Relevance Framework, 2009; the idf is Lucene's.
    """

    k1: float = 1.2
    b: float = 0.75

    def __post_init__(self) -> None:
        if not (math.isfinite(self.k1) and self.k1 >= 0.0):
            raise IndexInputError(f"bm25 的 k1 为 {self.k1}：请改为不小于 0 的有限数，常用 1.2")
        if not 0.0 <= self.b <= 1.0:
            raise IndexInputError(f"bm25 的 b 为 {self.b}：请改为 0 到 1 之间的数，常用 0.75")

    @property
    def name(self) -> str:
        """Return `bm25(k1=1.2,b=0.75)`, from which `parse_weighting` makes the same weighting again."""
        return f"bm25(k1={self.k1!r},b={self.b!r})"

    def idf(self, passages: int, df: int) -> float:
        """Return the inverse document frequency of a term that stands in `df` of `passages`."""
        return math.log(1.0 + (passages - df + 0.5) / (df + 0.5))

    def size(self, length: int, mean: float) -> float:
        """Return K = k1 (1 - b + b length / mean) of a passage of `length` terms; `mean` is over all."""
        return self.k1 * (1.0 - self.b + self.b * length / mean)

    def part(self, tf: int, size: float, idf: float) -> float:
        """Return a term's part in the score of a passage of `size` K."""
        return idf * (tf * (self.k1 + 1.0) / (tf + size))

    def gain(self, tf: int, size: float) -> float:
        """Return the weight of `tf` occurrences in units of one, for passages of `size` K."""
        return tf * (1.0 + size) / (tf + size)


Weighting = Cosine | Bm25


def parse_weighting(weighting: str | Weighting) -> Weighting:
    """Return the weighting of this name: tfidf_course, tfidf_log, bm25 or `bm25(k1=0.9,b=0.4)`."""
    if isinstance(weighting, (Cosine, Bm25)):
        return weighting
    if weighting == "tfidf_course":
        return Cosine("tfidf_course")
    if weighting == "tfidf_log":
        return Cosine("tfidf_log")
    if weighting == "bm25":
        return Bm25()
    if match := re.fullmatch(r"bm25\(k1=([-+.0-9e]+),b=([-+.0-9e]+)\)", str(weighting)):
        try:
            return Bm25(float(match[1]), float(match[2]))
        except ValueError:
            pass
    raise IndexInputError(f"权重方法 {weighting!r} 无法识别：请改用 tfidf_course、tfidf_log 或 bm25")


def default_analyzer(weighting: str | Weighting) -> Analyzer:
    """Return the analyzer that goes with a weighting where none is named: the course core's has its own."""
    return char_ngrams(2, 3) if parse_weighting(weighting).name == "tfidf_course" else words_han


def norm(values: Iterable[float]) -> float:
    """Return the Euclidean length of a vector, or 1.0 where it is zero, as the course core does."""
    return math.sqrt(math.fsum(value * value for value in values)) or 1.0


def rank_score(weighting: Weighting, score: float) -> float:
    """Return what `weighting` ranks by: the six-digit score for tfidf_course, else the score itself."""
    is_course = isinstance(weighting, Cosine) and weighting.name == "tfidf_course"
    return round(score, 6) if is_course else score
