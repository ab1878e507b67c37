"""How often the encoding of a short text is told rightly: cuts of real texts, encoded and decoded again.

    python benchmarks/encodings.py --simplified FILE --traditional FILE [--cuts 2000] [--seed 1]

A file is UTF-8 text, or SQuAD-form JSON, of which the paragraphs count. Simplified text is written in
GB18030, traditional text in Big5 and in GB18030. Cuts are drawn at random places, without blanks and line
breaks; one that its encoding cannot write, or that is ASCII alone, is drawn anew. `right` is the share that
comes back as it was; `warned` the share of the others whose evidence was called thin, or which were refused;
`doubted` the share of the right ones whose evidence was called thin.
"""

from __future__ import annotations

import argparse
import random
from pathlib import Path
from typing import NamedTuple

from evidence_kit.formats.squad import parse_squad
from evidence_kit.sources.encodings import decode
from evidence_kit.sources.model import SourceError
from evidence_kit.sources.visible import visible

LENGTHS = (2, 4, 10, 30, 100, 1000)
TRIES = 10_000
CODECS = {"GB18030": "gb18030", "Big5": "cp950"}


class Counts(NamedTuple):
    """Of so many cuts."""

    cuts: int
    right: int
    doubted: int
    warned: int


def text_of(path: Path) -> str:
    """Return what a file holds, on one line."""
    data = path.read_bytes()
    if path.suffix != ".json":
        return "".join(data.decode("utf-8").split())
    return "".join(
        "".join(paragraph.context.split()) for paragraph in parse_squad(data, path.name).paragraphs
    )


def draw_cut(text: str, length: int, codec: str, draw: random.Random) -> tuple[str, bytes]:
    """Return a cut and its bytes."""
    for _ in range(TRIES):
        start = draw.randrange(max(len(text) - length, 0) + 1)
        cut = text[start : start + length]
        try:
            data = cut.encode(codec)
        except UnicodeEncodeError:
            continue
        if not cut.isascii() and data.decode(codec) == cut:  # Big5 has two codes for some characters
            return cut, data
    raise SystemExit(f"hardly a cut of {length} characters can be written in {codec}: give another text")


def count(text: str, length: int, codec: str, cuts: int, seed: int) -> Counts:
    """Return how many of the cuts are told rightly."""
    right = doubted = warned = 0
    draw = random.Random(f"{seed} {length} {codec}")
    for _ in range(cuts):
        cut, data = draw_cut(text, length, codec, draw)
        try:
            decoded = decode(data, "cut")
        except SourceError:
            warned += 1
            continue
        thin = decoded.evidence == "thin"
        if decoded.text == cut:
            right += 1
            doubted += thin
        else:
            warned += thin
    return Counts(cuts, right, doubted, warned)


def share(part: int, whole: int) -> str:
    """Return a share at three digits; a dash of nothing."""
    return f"{part / whole:.3f}" if whole else "–"


def report(path: Path, encoding: str, cuts: int, seed: int) -> None:
    """Print the table of one file in one encoding."""
    text = text_of(path)
    print(f"\n| {visible(path.stem)} in {encoding}: characters | cuts | right | warned | doubted |")
    print("|---|---|---|---|---|")
    for length in LENGTHS:
        number = max(cuts // 10, 1) if length >= 1000 else cuts
        counts = count(text, length, CODECS[encoding], number, seed)
        wrong = counts.cuts - counts.right
        cells = [
            f"{length:,}",
            f"{counts.cuts:,}",
            share(counts.right, counts.cuts),
            f"{share(counts.warned, wrong)} of {wrong}",
            share(counts.doubted, counts.right),
        ]
        print(f"| {' | '.join(cells)} |", flush=True)


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--simplified", type=Path, action="append", default=[], metavar="FILE")
    parser.add_argument("--traditional", type=Path, action="append", default=[], metavar="FILE")
    parser.add_argument("--cuts", type=int, default=2000, help="of each length; a tenth of 1,000 characters")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    if not options.simplified + options.traditional:
        parser.error("give at least one file")
    for path in options.simplified:
        report(path, "GB18030", options.cuts, options.seed)
    for path in options.traditional:
        for encoding in ("Big5", "GB18030"):
            report(path, encoding, options.cuts, options.seed)


if __name__ == "__main__":
    main()
