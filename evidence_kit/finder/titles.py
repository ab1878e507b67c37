"""Which titles hold words of a question that the texts do not: titles are shown and never searched."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from evidence_kit.finder.explanation import is_single
from evidence_kit.text.analysis import Analyzer


@dataclass(frozen=True)
class SharingTitle:
    """A source's title, and the terms of the question that stand in it, in the question's order."""

    source_id: str
    title: str
    terms: tuple[str, ...]


def titles_sharing(
    question: str, titles: Iterable[tuple[str, str]], analyzer: Analyzer
) -> Iterator[SharingTitle]:
    """Yield those of the (source id, title) that share a term with the question.

    A single character of East Asian script is none: nearly any title may hold it by chance.
    """
    asked = [term for term in dict.fromkeys(analyzer.texts(question)) if not is_single(term)]
    for source_id, title in titles:
        held = set(analyzer.texts(title)) if asked else set()
        terms = tuple(term for term in asked if term in held)
        if terms:
            yield SharingTitle(source_id, title, terms)
