"""The systems that benchmarks/retrieval.py compares: each is built from passages, then asked for ten."""

from __future__ import annotations

import gc
import pickle
import re
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from evidence_kit.index import Index


@dataclass(frozen=True)
class Built:
    """A system ready to be asked: CPU seconds of the build, bytes on disk, and the search."""

    seconds: float
    size: int
    search: Callable[[str], Any]


def _timed(build: Callable[[], Any]) -> tuple[Any, float]:
    gc.collect()
    started = time.process_time()
    built = build()
    return built, time.process_time() - started


def _bytes_in(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def kit(weighting: str) -> Callable[[list[str]], Built]:
    """Return the builder of this kit's index; the kernels are loaded before the clock starts."""

    def build(passages: list[str]) -> Built:
        Index.build(passages[:2000], weighting=weighting).search(passages[0][:10])
        index, seconds = _timed(lambda: Index.build(passages, weighting=weighting))
        with tempfile.TemporaryDirectory() as folder:
            index.save(folder)
            size = _bytes_in(Path(folder))
        return Built(seconds, size, lambda question: index.search(question, 10))

    return build


def sklearn(passages: list[str]) -> Built:
    """scikit-learn's TF-IDF over characters, the ten best of the passages that share a gram."""
    import numpy as np
    from sklearn.feature_extraction.text import TfidfVectorizer

    vectorizer = TfidfVectorizer(analyzer="char", ngram_range=(2, 3))
    matrix, seconds = _timed(lambda: vectorizer.fit_transform(passages))
    size = len(pickle.dumps((vectorizer, matrix), protocol=5))
    transposed = matrix.T.tocsr()

    def search(question: str) -> Any:
        found = vectorizer.transform([question]) @ transposed
        k = min(10, len(found.data))
        if not k:
            return []
        best = np.argpartition(found.data, len(found.data) - k)[len(found.data) - k :]
        return found.indices[best][np.lexsort((found.indices[best], -found.data[best]))]

    return Built(seconds, size, search)


_EAST_ASIAN = "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U000323af"
_TOKENS = re.compile(f"[a-z0-9_]+|[{_EAST_ASIAN}]+")


def _words(text: str) -> list[str]:
    """Return characters and pairs, as words_han has them for this material, by the fastest plain Python."""
    words = []
    for run in _TOKENS.findall(text.lower()):
        if run[0] < "\u3400":
            words.append(run)
            continue
        words.extend(run)
        words.extend(run[i : i + 2] for i in range(len(run) - 1))
    return words


def bm25s(passages: list[str]) -> Built:
    """bm25s with its numba backend, one thread, over the same terms as words_han."""
    import bm25s as package

    def index(texts: list[str]) -> Any:
        numbers: dict[str, int] = {}
        ids = [[numbers.setdefault(word, len(numbers)) for word in _words(text)] for text in texts]
        model = package.BM25(k1=1.2, b=0.75, method="lucene", backend="numba")
        model.index(package.tokenization.Tokenized(ids=ids, vocab=numbers), show_progress=False)
        return model

    def ask(model: Any, question: str) -> Any:
        return model.retrieve([_words(question)], k=10, show_progress=False, n_threads=1)

    ask(index(passages[:300]), passages[0][:10])
    model, seconds = _timed(lambda: index(passages))
    with tempfile.TemporaryDirectory() as folder:
        model.save(folder, show_progress=False)
        size = _bytes_in(Path(folder))
    return Built(seconds, size, lambda question: ask(model, question))


def tantivy(passages: list[str]) -> Built:
    """tantivy over 2-3-grams: it scores BM25, with lengths rounded to a byte, so not the same ranking."""
    import tantivy as package

    folder = tempfile.mkdtemp()
    schema = package.SchemaBuilder()
    schema.add_text_field("text", stored=False, tokenizer_name="grams", index_option="freq")
    schema.add_integer_field("id", stored=True, fast=True)
    index = package.Index(schema.build(), path=folder)
    grams = package.TextAnalyzerBuilder(package.Tokenizer.ngram(2, 3, False)).build()
    index.register_tokenizer("grams", grams)

    def build() -> Any:
        writer = index.writer(heap_size=1_000_000_000, num_threads=1)
        for number, text in enumerate(passages):
            writer.add_document(package.Document(text=[text], id=number))
        writer.commit()
        writer.wait_merging_threads()
        index.reload()
        return index.searcher()

    searcher, seconds = _timed(build)

    def search(question: str) -> Any:
        terms = dict.fromkeys(question[i : i + n] for n in (2, 3) for i in range(len(question) - n + 1))
        wanted = [
            (package.Occur.Should, package.Query.term_query(index.schema, "text", term, index_option="freq"))
            for term in terms
        ]
        return searcher.search(package.Query.boolean_query(wanted), 10, count=False).hits

    return Built(seconds, _bytes_in(Path(folder)), search)


SYSTEMS: dict[str, Callable[[list[str]], Built]] = {
    "kit tfidf_course": kit("tfidf_course"),
    "scikit-learn": sklearn,
    "tantivy": tantivy,
    "kit bm25": kit("bm25"),
    "bm25s": bm25s,
}
