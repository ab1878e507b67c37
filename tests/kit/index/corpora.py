"""Random corpora and questions for the tests of the index, and the comparison they share."""

from __future__ import annotations

import random

from evidence_kit.index.weighting import Bm25, Cosine, Weighting, rank_score
from evidence_kit.text.analysis import Analyzer, char_ngrams, words_han

# Letters of several scripts; combining marks, a voicing mark, conjoining jamo, a joiner, a variation
# selector;
# sigmas and a dotted I; what normalises to something else; surrogates, a noncharacter and NUL.
STRANGE = (
    "一二三中aBcΣςİi\u0301\u3099か\uff9eガハ\u1100\u1161\u11a8각ー々〇 ，。_12\ufe0f\u200d😀"
    "\ud800\udc00\uffff\x00é\u212b\uf900Жאב\u0e33\u0903"
)
FEW = "一二a，"
MANY = "一二三四五六七八九十"

ANALYZERS: tuple[Analyzer, ...] = (words_han, char_ngrams(2, 3), char_ngrams(1, 2), char_ngrams(1, 3))
WEIGHTINGS: tuple[Weighting, ...] = (
    Cosine("tfidf_course"), Cosine("tfidf_log"), Bm25(), Bm25(0.0, 0.3), Bm25(2.0, 1.0), Bm25(0.5, 0.0),
)  # fmt: skip


def text_of(draw: random.Random, letters: str, *sizes: int) -> str:
    """Return a text of one of the sizes."""
    return "".join(draw.choices(letters, k=draw.choice(sizes)))


def corpus_of(draw: random.Random, letters: str) -> list[str]:
    """Return 1 to 100 texts; one in ten corpora begins with a text of one letter, many times."""
    texts = [text_of(draw, letters, 0, 3, 10, 20, 40) for _ in range(draw.choice((1, 3, 20, 100)))]
    if draw.random() < 0.1:
        texts[0] = "一" * draw.choice((254, 255, 256, 257, 1000))
    return texts


def best(weighting: Weighting, scored: list[tuple[int, float]], k: int) -> list[tuple[int, float]]:
    """Return the k best of (position, score), ties by position."""
    return sorted(scored, key=lambda hit: (-rank_score(weighting, hit[1]), hit[0]))[:k]
