"""The compiled engine against the plain one, on thousands of random corpora: ids, every bit, and order."""

from __future__ import annotations

import random
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

pytest.importorskip("numba")

from corpora import ANALYZERS, FEW, MANY, STRANGE, WEIGHTINGS, best, corpus_of, text_of

from evidence_kit.index.arrays import Limits
from evidence_kit.index.build import build_arrays
from evidence_kit.index.build_plain import build_arrays_plainly
from evidence_kit.index.engine import CompiledEngine
from evidence_kit.index.errors import IndexInputError
from evidence_kit.index.lookup import NumpyEngine
from evidence_kit.index.plain import PlainEngine
from evidence_kit.index.question import QuestionReader
from evidence_kit.index.splitting import splitter_of
from evidence_kit.index.weighting import Bm25, Cosine
from evidence_kit.text.analysis import Analyzer

# Small windows, so that a hundred passages have many; dense terms from two passages on; wide forms.
LIMITS = (Limits(), Limits(8, 3), Limits(2, 3), Limits(1, 2), Limits(3, 2, packed_bits=9, symbol_bits=2))
EVERYTHING = np.empty(0, np.uint8)


def _same(a: Any, b: Any) -> None:
    if isinstance(a, np.ndarray):
        assert a.dtype == b.dtype
        assert a.shape == b.shape
        assert (a == b).all()
    elif hasattr(a, "__dataclass_fields__") or hasattr(a, "_fields"):
        for name in getattr(a, "_fields", None) or a.__dataclass_fields__:
            _same(getattr(a, name), getattr(b, name))
    else:
        assert a == b


@pytest.mark.parametrize("letters", [STRANGE, FEW, MANY])
@pytest.mark.parametrize("analyzer", ANALYZERS, ids=lambda analyzer: analyzer.name)
def test_grams_of_runs_are_the_analyzers_terms(analyzer: Any, letters: str) -> None:
    draw = random.Random(11)
    splitter = splitter_of(analyzer)
    for _ in range(1000):
        text = text_of(draw, letters, *range(14))
        grams = Counter(
            "".join(run[i : i + size])
            for run in splitter.runs(text)
            for size in splitter.sizes
            for i in range(len(run) - size + 1)
        )
        assert grams == Counter(analyzer.texts(text))


@pytest.mark.parametrize("seed", range(4))
def test_the_compiled_build_makes_the_arrays_of_the_plain_one(seed: int) -> None:
    draw = random.Random(seed)
    for _ in range(60):
        splitter, weighting = splitter_of(draw.choice(ANALYZERS)), draw.choice(WEIGHTINGS)
        texts, limits = corpus_of(draw, draw.choice((STRANGE, FEW, MANY))), draw.choice(LIMITS)
        _same(
            build_arrays(texts, splitter, weighting, limits),
            build_arrays_plainly(texts, splitter, weighting, limits),
        )


@pytest.mark.parametrize("seed", range(8))
def test_compiled_numpy_and_plain_searches_agree_to_the_last_bit(seed: int) -> None:
    draw = random.Random(100 + seed)
    asked = found = 0
    for _ in range(130):
        analyzer, weighting, limits = draw.choice(ANALYZERS), draw.choice(WEIGHTINGS), draw.choice(LIMITS)
        letters = draw.choice((STRANGE, FEW, MANY))
        texts, splitter = corpus_of(draw, letters), splitter_of(analyzer)
        arrays = build_arrays(texts, splitter, weighting, limits)
        reader, plain = QuestionReader(splitter, arrays.symbols), PlainEngine(texts, analyzer, weighting)
        compiled = CompiledEngine(arrays, weighting, splitter.sizes[0])
        in_numpy = NumpyEngine(arrays, weighting, splitter.sizes[0])
        for _ in range(4):
            question, k = text_of(draw, letters, 0, 1, 2, 5, 10, 20, 300), draw.choice((1, 2, 3, 10, 200))
            expected = best(weighting, plain.search(question, None), k)
            stream = reader.read(question)
            assert best(weighting, compiled.search(stream, k, EVERYTHING), k) == expected
            assert best(weighting, in_numpy.search(stream, k, EVERYTHING), k) == expected
            asked, found = asked + 1, found + bool(expected)
    assert found > asked / 2


def _engines(texts: list[str], analyzer: Any, weighting: Any, limits: Limits | None = None) -> Any:
    splitter = splitter_of(analyzer)
    arrays = build_arrays(texts, splitter, weighting, limits)
    return (
        arrays,
        QuestionReader(splitter, arrays.symbols),
        CompiledEngine(arrays, weighting, splitter.sizes[0]),
    )


@pytest.mark.parametrize("weighting", WEIGHTINGS[:3], ids=lambda weighting: weighting.name)
def test_pruning_over_many_windows_loses_nothing(weighting: Any) -> None:
    draw = random.Random(5)
    letters = [chr(0x4E00 + i) for i in range(60) for _ in range(1 + 200 // (i + 1))]  # a few are very common
    texts = ["".join(draw.choices(letters, k=draw.randint(1, 60))) for _ in range(3000)]
    for analyzer in ANALYZERS[:2]:
        _, reader, compiled = _engines(texts, analyzer, weighting, Limits(7, 8))
        plain = PlainEngine(texts, analyzer, weighting)
        for _ in range(15):
            question = "".join(draw.choices(letters, k=draw.randint(2, 25)))
            expected = best(weighting, plain.search(question, None), 5)
            assert best(weighting, compiled.search(reader.read(question), 5, EVERYTHING), 5) == expected


def test_a_thousand_equal_passages_keep_their_order() -> None:
    texts = ["水火"] * 1000
    for weighting in WEIGHTINGS[:3]:
        _, reader, compiled = _engines(texts, ANALYZERS[0], weighting, Limits(4, 3))
        hits = best(weighting, compiled.search(reader.read("水火"), 7, EVERYTHING), 7)
        assert [position for position, _ in hits] == list(range(7))


@pytest.mark.parametrize("count", [254, 255, 256, 70_000])
def test_counts_past_eight_bits_are_counted(count: int) -> None:
    texts = ["一" * count, "一二", "二三", "一一二"]
    for weighting in WEIGHTINGS[:3]:
        arrays, reader, compiled = _engines(texts, ANALYZERS[0], weighting, Limits(1, 2))
        assert arrays.largest_tf == count
        expected = best(weighting, PlainEngine(texts, ANALYZERS[0], weighting).search("一二", None), 4)
        assert best(weighting, compiled.search(reader.read("一二"), 4, EVERYTHING), 4) == expected


@pytest.mark.parametrize(("analyzer", "needed"), [(ANALYZERS[1], 14), (ANALYZERS[0], 10)])
def test_keys_without_room_for_their_symbols_and_passage_are_refused(analyzer: Analyzer, needed: int) -> None:
    draw = random.Random(3)
    texts = ["".join(draw.choices(MANY, k=20)) for _ in range(50)]
    splitter = splitter_of(analyzer)
    # ten letters have 4 bits, fifty passages 6: two letters (one, where pairs are the longest) and a passage
    _same(
        build_arrays(texts, splitter, Bm25(), Limits(key_bits=needed)), build_arrays(texts, splitter, Bm25())
    )
    with pytest.raises(IndexInputError, match="分成几个索引"):
        build_arrays(texts, splitter, Bm25(), Limits(key_bits=needed - 1))


def test_more_symbols_than_sixteen_bits_have_32() -> None:
    texts = ["".join(map(chr, range(0x20000 + i, 0x20000 + i + 700))) for i in range(0, 42_000, 700)]
    texts += ["".join(map(chr, range(0x4E00 + i, 0x4E00 + i + 700))) for i in range(0, 20_900, 700)]
    texts += ["".join(map(chr, range(0xAC00 + i, 0xAC00 + i + 700))) for i in range(0, 11_000, 700)]
    arrays, reader, compiled = _engines(texts, ANALYZERS[1], Cosine("tfidf_course"))
    assert arrays.vocabulary.second.dtype == np.uint32
    question = texts[60][100:120]
    assert best(Cosine("tfidf_course"), compiled.search(reader.read(question), 1, EVERYTHING), 1)[0][0] == 60


def test_eight_threads_find_what_one_finds() -> None:
    draw = random.Random(8)
    texts = ["".join(draw.choices(MANY, k=30)) for _ in range(2000)]
    _, reader, compiled = _engines(texts, ANALYZERS[0], Bm25(), Limits(8, 16))
    streams = [reader.read("".join(draw.choices(MANY, k=6))) for _ in range(200)]

    def search(stream: Any) -> Any:
        return best(Bm25(), compiled.search(stream, 10, EVERYTHING), 10)

    serial = [search(stream) for stream in streams]
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(search, streams * 4)) == serial * 4


def test_two_words_with_one_hash_stay_two_words(monkeypatch: pytest.MonkeyPatch) -> None:
    from evidence_kit.index import stream_kernels

    seeds = []

    def colliding(codes: Any, table: Any, words: Any, seed: int, hashes: Any) -> None:
        seeds.append(seed)
        original(codes, table, words, seed, hashes)
        if seed == 0:
            hashes[:] = 7

    original = stream_kernels.hash_words
    monkeypatch.setattr(stream_kernels, "hash_words", colliding)
    texts = ["alpha beta", "beta gamma"]
    _, reader, compiled = _engines(texts, ANALYZERS[0], Bm25())
    assert seeds == [0, 1]
    assert [position for position, _ in compiled.search(reader.read("gamma"), 5, EVERYTHING)] == [1]
