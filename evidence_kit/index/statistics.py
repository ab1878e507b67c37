"""What scores depend on beside the passage: numbers of the whole index, the same however it is held."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class IndexStatistics:
    """The number of passages, the mean number of terms of one (1.0 where there are none), and `df`.

    `df` tells in how many passages a term stands, given as the analyzer writes it; 0 for an unknown one.
    """

    passages: int
    mean_length: float
    df: Callable[[str], int]
