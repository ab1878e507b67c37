"""Which titles hold words of a question that the texts do not: titles are shown and never searched."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Protocol

from evidence_kit.finder.explanation import is_single
from evidence_kit.text.analysis import parse_analyzer


class Titled(Protocol):
    """A source with a title."""

    @property
    def title(self) -> str:
        """Return the title."""


@dataclass(frozen=True)
class SharingTitle:
    """A title, and the terms of the question that stand in it, in the question's order."""

    title: str
    terms: tuple[str, ...]


def titles_sharing(question: str, sources: Iterable[Titled], analyzer_name: str) -> list[SharingTitle]:
    """Return the titles that share a term with the question, in the sources' order.

    A single character of East Asian script is none: nearly any title may hold it by chance.
    """
    analyzer = parse_analyzer(analyzer_name)
    asked = [term for term in dict.fromkeys(analyzer.texts(question)) if not is_single(term)]
    shared = (
        SharingTitle(source.title, tuple(term for term in asked if term in held))
        for source, held in ((source, set(analyzer.texts(source.title))) for source in sources)
    )
    return [found for found in shared if found.terms]
