"""Other libraries as oracles, where their formulas can be set to ours."""

from __future__ import annotations

import random
from itertools import pairwise
from typing import Any

import pytest

pytest.importorskip("numpy")

import numpy as np
from corpora import ANALYZERS, MANY

from evidence_kit.index import Bm25, Index


def _corpus(seed: int) -> tuple[list[str], list[str]]:
    draw = random.Random(seed)
    texts = ["".join(draw.choices(MANY + "甲乙丙丁", k=draw.randint(2, 40))) for _ in range(400)]
    return texts, ["".join(draw.choices(MANY + "甲乙丙丁", k=draw.randint(2, 12))) for _ in range(60)]


def _agree(index: Index, questions: list[str], scores_of: Any, tolerance: float) -> None:
    for question in questions:
        expected = scores_of(question)
        hits = index.search(question, 20)
        # Within six digits tfidf_course goes by position.
        assert all(first.score > second.score - 1e-6 for first, second in pairwise(hits))
        assert all(hit.score == pytest.approx(expected[hit.position], abs=tolerance) for hit in hits)
        left_out = np.delete(expected, [hit.position for hit in hits])
        if len(hits) == 20:
            assert left_out.max() <= hits[-1].score + tolerance
        else:
            assert left_out.max() <= tolerance


@pytest.mark.parametrize("weighting", ["tfidf_course", "tfidf_log"])
@pytest.mark.parametrize("analyzer", ANALYZERS[:2], ids=lambda analyzer: analyzer.name)
def test_cosines_are_those_of_scikit_learn(weighting: str, analyzer: Any) -> None:
    text = pytest.importorskip("sklearn.feature_extraction.text")
    texts, questions = _corpus(1)
    vectorizer = text.TfidfVectorizer(analyzer=analyzer.texts, sublinear_tf=weighting == "tfidf_log")
    matrix = vectorizer.fit_transform(texts)

    def scores_of(question: str) -> Any:
        return (matrix @ vectorizer.transform([question]).T).toarray().ravel()

    _agree(Index.build(texts, weighting=weighting, analyzer=analyzer), questions, scores_of, 1e-9)


@pytest.mark.parametrize(("k1", "b"), [(1.2, 0.75), (0.9, 0.4), (2.0, 1.0)])
def test_bm25_is_that_of_bm25s_but_for_a_constant_factor(k1: float, b: float) -> None:
    bm25s = pytest.importorskip("bm25s")
    texts, questions = _corpus(2)
    analyzer = ANALYZERS[0]
    model = bm25s.BM25(k1=k1, b=b, method="lucene", dtype="float64")
    model.index([analyzer.texts(text) for text in texts], show_progress=False)

    def scores_of(question: str) -> Any:
        return model.get_scores(list(dict.fromkeys(analyzer.texts(question)))) * (k1 + 1)

    _agree(Index.build(texts, weighting=Bm25(k1, b)), questions, scores_of, 1e-6)
