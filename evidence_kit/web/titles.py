"""Titles of an experiment's sources that hold words of a question, where nothing was found in the texts."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

from evidence_kit.finder import titles
from evidence_kit.finder.titles import SharingTitle
from evidence_kit.text.analysis import parse_analyzer


class Titled(Protocol):
    """A source with an id and a title."""

    @property
    def source_id(self) -> str:
        """Return the id."""

    @property
    def title(self) -> str:
        """Return the title."""


def titles_sharing(question: str, sources: Iterable[Titled], analyzer_name: str) -> list[SharingTitle]:
    """Return the titles that share a term with the question, by the finder's rule, in the sources' order."""
    named = ((source.source_id, source.title) for source in sources)
    return list(titles.titles_sharing(question, named, parse_analyzer(analyzer_name)))
