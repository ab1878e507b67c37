"""The sources that the Find page starts from: the sample, or those of the experiment."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Literal

from evidence_kit.course import sample_documents, sample_finder
from evidence_kit.finder.errors import FinderError
from evidence_kit.finder.finder import Finder
from evidence_kit.sources.days import today
from evidence_kit.sources.documents import Document
from evidence_kit.sources.given import documents_given
from evidence_kit.sources.store import standing
from evidence_kit.sources.visible import visible
from evidence_kit.web.desk import Desk
from evidence_kit.web.forms import fits_field

ShelfName = Literal["sample", "experiment"]
FinderOf = Callable[[str], Finder]  # a method's finder over some sources


@dataclass(frozen=True)
class Shelf:
    """Sources as they stand, and what finds in them. `left_out` counts those of the experiment that are not
    here: not in force today, without text, or with a character that no field of a page can hold.
    """

    name: ShelfName
    documents: tuple[Document, ...]
    finder_of: FinderOf
    left_out: int = 0


def shelf_named(name: str, desk: Desk) -> Shelf:
    """Return the shelf of that name.

    Raises FinderError where there is none, SourceError where the experiment has more than a form takes.
    """
    if name == "experiment":
        return _of_experiment(desk)
    if name != "sample":
        raise FinderError(f"没有资料 {visible(name[:40])}：请改用 sample 或 experiment。")
    return Shelf("sample", sample_documents(), sample_finder)


def _of_experiment(desk: Desk) -> Shelf:
    held = desk.look().experiment.sources
    here = [
        source
        for source in standing(held, today()).sources
        if source.text.strip() and fits_field(source.text)
    ]
    records = [{"id": source.source_id, "title": source.title, "text": source.text} for source in here]
    documents = documents_given(records, "实验的资料")
    return Shelf("experiment", documents, partial(Finder.of, documents), len(held) - len(here))
