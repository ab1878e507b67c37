"""Measure the coordinate index on generated Chinese text: build, graphemes, conversion in bulk.

    python benchmarks/coordinates.py --megabytes 10 --seed 2025

Needs numpy. Every figure is the best of a few repeats on this machine in this run; the build is also given as
a multiple of the time that `text.encode("utf-16-le")` takes in the same run.
"""

from __future__ import annotations

import argparse
import random
import time
from collections.abc import Callable
from itertools import product

import numpy as np

from evidence_kit.text.coordinates import UNITS, TextIndex, grapheme_rules


def chinese_text(megabytes: float, seed: int, astral_share: float) -> str:
    """Return about `megabytes` million UTF-8 bytes of ideographs, punctuation, Latin, line ends and emoji."""
    chooser = random.Random(seed)
    han = [chr(code) for code in range(0x4E00, 0x9FA6)]
    common = [*han, *"，。：；" * 600, *"0123456789abc" * 60, *"\n" * 400]
    pairs = int(astral_share * len(common)) // 2
    pool = common + ["😀", "𠀀"] * pairs
    return "".join(chooser.choices(pool, k=int(megabytes * 1e6 / 2.85)))


def best_of(repeats: int, action: Callable[[], object]) -> float:
    """Return the shortest of `repeats` durations of `action`, in seconds."""
    durations = []
    for _ in range(repeats):
        started = time.perf_counter()
        action()
        durations.append(time.perf_counter() - started)
    return min(durations)


def measure(text: str, conversions: int, seed: int, repeats: int) -> None:
    """Print the table of one text."""
    encode = best_of(repeats, lambda: text.encode("utf-16-le"))
    build = best_of(repeats, lambda: TextIndex(text))
    graphemes = best_of(repeats, lambda: TextIndex(text).length("grapheme")) - build
    index = TextIndex(text)
    print(f"  {len(text.encode()) / 1e6:.2f} MB in UTF-8")
    print("  " + ", ".join(f"{index.length(unit)} {unit}" for unit in UNITS))
    print(f"  encode as UTF-16          {encode * 1e3:9.2f} ms")
    print(f"  build without graphemes   {build * 1e3:9.2f} ms   {build / encode:.1f} x encode")
    print(f"  find every grapheme       {graphemes * 1e3:9.2f} ms")
    rng = np.random.default_rng(seed)
    codepoints = rng.integers(0, len(text) + 1, conversions)
    given = {unit: index.convert_many(codepoints, "codepoint", unit) for unit in UNITS}
    for unit in UNITS:
        index.convert_many(
            given[unit][:1], unit, "codepoint"
        )  # the tables, built once, are not the conversion
    print(f"  {conversions} random conversions in bulk, tables built, ms (row: from, column: to)")
    print("  " + " " * 10 + "".join(f"{unit:>11}" for unit in UNITS))
    times = {
        (a, b): best_of(repeats, lambda a=a, b=b: index.convert_many(given[a], a, b))
        for a, b in product(UNITS, UNITS)
    }
    for source in UNITS:
        print(f"  {source:10}" + "".join(f"{times[source, target] * 1e3:11.1f}" for target in UNITS))


def main() -> None:
    """Read the arguments and print one table for text inside the BMP, one for text with 1 % above it."""
    parser = argparse.ArgumentParser(description="Measure the coordinate index on generated Chinese text.")
    parser.add_argument("--megabytes", type=float, default=10, help="size of the text in UTF-8")
    parser.add_argument(
        "--conversions", type=int, default=1_000_000, help="positions converted for each pair"
    )
    parser.add_argument("--seed", type=int, default=2025)
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args()
    print(grapheme_rules())
    for title, share in (("all in the BMP", 0.0), ("1 % above the BMP", 0.01)):
        print(f"Chinese text, {title}")
        text = chinese_text(options.megabytes, options.seed, share)
        measure(text, options.conversions, options.seed, options.repeats)


if __name__ == "__main__":
    main()
