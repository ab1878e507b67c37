"""A bar on stderr for what takes long, where stderr is a terminal."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import click


@contextmanager
def progress_bar(label: str) -> Iterator[Callable[[int, int], None]]:
    """Yield what is told (done, whole): it moves a bar on stderr if that is a terminal, else does nothing."""
    if sys.stderr is None or not sys.stderr.isatty():
        yield lambda done, whole: None
        return
    with click.progressbar(length=100, label=label, file=sys.stderr) as bar:
        yield lambda done, whole: bar.update(done * 100 // whole - bar.pos)
