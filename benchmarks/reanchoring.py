"""How often a receipt finds its quote again in an edited text, refuses, or points to the wrong place.

python benchmarks/reanchoring.py --squad FILE [--squad FILE ...] [--cases 100000] [--seed 1]

Each case takes three real paragraphs, makes a receipt for a quote in the middle one, edits the text in one
of the ways of KINDS and resolves the receipt. The true place of the quote is carried through the edit by
arithmetic on the edit alone, never by searching. `right` is the true place, `refused` no place, `wrong` any
other place, or any place at all where the quote is gone. `due` counts the cases in which the quote survives
verbatim, stands once, and has one whole stored side of 8 or more beside it: these should be right. The
baseline is a best-score matcher (see `Baseline`).
"""

from __future__ import annotations

import argparse
import json
import random
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from multiprocessing import Pool
from os.path import commonprefix
from pathlib import Path

from evidence_kit.anchors.agreement import ONE_SIDE
from evidence_kit.anchors.anchor import Anchor, create_anchor
from evidence_kit.anchors.resolve import resolve
from evidence_kit.sources.model import Representation, Source
from evidence_kit.text.coordinates import TextIndex

Span = tuple[int, int]
Edit = tuple[int, int, str]  # replace [start, end) of the old text by the string

REPRESENTATION = Representation("benchmark", "1", (), "any")
SIMPLIFIED = (
    "国学会来时个们这为发经过对说开关东车马鱼鸟门问间见观"
    "现实应与产业动务总战历级线组织结给统绝网话语计认议论设"
)
TRADITIONAL = (
    "國學會來時個們這為發經過對說開關東車馬魚鳥門問間見觀"
    "現實應與產業動務總戰歷級線組織結給統絕網話語計認議論設"
)
FAR = 200
COMPOSED = "éüñåがプ각ệ"


@dataclass(frozen=True)
class Case:
    """A text and the code-point span of a quote in it, before and (None: the quote is gone) after an edit."""

    old: str
    span: Span
    new: str
    truth: Span | None


def apply(text: str, span: Span, edits: Iterable[Edit]) -> tuple[str, Span | None]:
    """The text after edits that do not overlap, and the span in it: None where an edit touched it."""
    start, end = span
    pieces, at, shift, alive = [], 0, 0, True
    for left, right, replacement in sorted(edits):
        pieces += [text[at:left], replacement]
        at = right
        if right <= start:
            shift += len(replacement) - (right - left)
        elif left < end:
            alive = False
    pieces.append(text[at:])
    return "".join(pieces), (start + shift, end + shift) if alive else None


class Writer:
    """The seeded choices of one case: a text of three paragraphs, a quote in the middle one, and edits of
    it.
    """

    def __init__(self, paragraphs: Sequence[tuple[str, list[Span]]], rng: random.Random) -> None:
        self.rng = rng
        self.paragraphs = paragraphs
        chosen = rng.sample(paragraphs, 3)
        sections = [text for text, _ in chosen]
        answers = chosen[1][1]
        span = rng.choice(answers) if answers and rng.random() < 0.5 else self.random_span(sections[1])
        self.sections = sections
        self.set(sections, 1, span)

    def set(self, sections: list[str], which: int, span: Span) -> None:
        """Take these sections as the text, the quote being at `span` of section `which`; borders are whole
        graphemes.
        """
        self.text = "\n".join(sections)
        offset = sum(len(section) + 1 for section in sections[:which])
        index = TextIndex(self.text)
        start, end = index.grapheme_floor(span[0] + offset), index.grapheme_ceil(span[1] + offset)
        self.span = (start, end)
        self.section = (offset, offset + len(sections[which]))
        self.quote = self.text[start:end]

    def random_span(self, text: str) -> Span:
        length = min(len(text), self.rng.choice((1, 2, 3, 4, 6, 8, 12, 20, 40)))
        start = self.rng.randrange(len(text) - length + 1)
        return start, start + length

    def passage(self, shortest: int, longest: int) -> str:
        """A piece of some paragraph."""
        text = self.rng.choice(self.paragraphs)[0]
        start = self.rng.randrange(max(1, len(text) - shortest))
        return text[start : start + self.rng.randint(shortest, longest)]

    def elsewhere(self) -> int:
        """A position well away from the quote, so that what is put there leaves its surroundings whole."""
        start, end = self.span
        far: list[int] = [*range(start - FAR), *range(end + FAR, len(self.text))]
        if not far:
            return 0 if start > len(self.text) - end else len(self.text)
        return far[self.rng.randrange(len(far))]

    def case(self, edits: Iterable[Edit]) -> Case:
        return Case(self.text, self.span, *apply(self.text, self.span, edits))

    def mapped(self, change: Callable[[str], str]) -> Case:
        """The case of a change that works on each part of the text alone."""
        start, end = self.span
        parts = [change(part) for part in (self.text[:start], self.quote, self.text[end:])]
        truth = (len(parts[0]), len(parts[0]) + len(parts[1])) if parts[1] == self.quote else None
        return Case(self.text, self.span, "".join(parts), truth)

    def side_edits(self, before: bool) -> list[Edit]:
        """One to three small edits within 40 code points of one side of the quote."""
        start, end = self.span
        low, high = (max(0, start - 40), start) if before else (end, min(len(self.text), end + 40))
        cuts = sorted(self.rng.sample(range(low, high + 1), min(high - low + 1, 2 * self.rng.randint(1, 3))))
        pairs = list(zip(cuts[::2], cuts[1::2], strict=False)) or [(cuts[0], cuts[0])]
        return [(left, min(right, left + 6), self.passage(1, 8) if left % 2 else "") for left, right in pairs]


def insertion_before(writer: Writer) -> Case:
    at = writer.rng.randint(0, writer.span[0])
    return writer.case([(at, at, writer.passage(1, 300))])


def quote_deleted(writer: Writer) -> Case:
    return writer.case([(*writer.span, "")])


def quote_deleted_other_stays(writer: Writer) -> Case:
    at = writer.rng.randint(0, len(writer.sections[0]))
    first = writer.sections[0][:at] + writer.quote + writer.sections[0][at:]
    left = writer.section[0]
    writer.set([first, *writer.sections[1:]], 1, (writer.span[0] - left, writer.span[1] - left))
    return quote_deleted(writer)


def section_deleted_boilerplate_stays(writer: Writer) -> Case:
    boilerplate = writer.passage(12, 200)
    span = writer.random_span(boilerplate)
    sections: list[str] = []
    bare = writer.rng.choice((None, 0, 2))  # the section without it, if any
    for number, section in enumerate(writer.sections):
        if number == bare:
            sections.append(section)
            continue
        at = writer.rng.choice((0, writer.rng.randint(0, len(section)), len(section)))
        sections.append(section[:at] + boilerplate + section[at:])
        if number == 1:
            span = (span[0] + at, span[1] + at)
    writer.set(sections, 1, span)
    left, right = writer.section
    return writer.case([(left, right + 1, "")])


def repetition(writer: Writer) -> Case:
    reach = writer.rng.randint(0, 100)
    copy = writer.text[max(0, writer.span[0] - reach) : writer.span[1] + reach]
    at = writer.elsewhere()
    return writer.case([(at, at, copy)])


def lookalike_added(writer: Writer) -> Case:
    reach = writer.rng.randint(0, 60)
    copy = list(writer.text[max(0, writer.span[0] - reach) : writer.span[1] + reach])
    copy[writer.rng.randrange(len(copy))] = writer.passage(1, 1)
    at = writer.elsewhere()
    return writer.case([(at, at, "".join(copy))])


def lookalike_instead(writer: Writer) -> Case:
    at = writer.rng.randrange(*writer.span)
    other = "乙" if writer.text[at] != "乙" else "丙"
    return writer.case([(at, at + 1, other)])


def other_script(writer: Writer) -> Case:
    pairs = (SIMPLIFIED, TRADITIONAL) if writer.rng.random() < 0.5 else (TRADITIONAL, SIMPLIFIED)
    return writer.mapped(lambda part: part.translate(str.maketrans(*pairs)))


def other_width(writer: Writer) -> Case:
    narrow, wide = range(0x21, 0x7F), range(0xFF01, 0xFF5F)
    table = dict(
        zip(narrow, wide, strict=True) if writer.rng.random() < 0.5 else zip(wide, narrow, strict=True)
    )
    return writer.mapped(lambda part: part.translate(table))


def decomposed(writer: Writer) -> Case:
    section = list(writer.sections[1])
    for _ in range(12):
        section[writer.rng.randrange(len(section))] = writer.rng.choice(COMPOSED)
    left = writer.section[0]
    span = (writer.span[0] - left, writer.span[1] - left)
    writer.set([writer.sections[0], "".join(section), writer.sections[2]], 1, span)
    return writer.mapped(partial(unicodedata.normalize, "NFD"))


def one_side_edited(writer: Writer) -> Case:
    return writer.case(writer.side_edits(writer.rng.random() < 0.5))


def both_sides_edited(writer: Writer) -> Case:
    return writer.case(writer.side_edits(True) + writer.side_edits(False))


KINDS = (
    insertion_before,
    quote_deleted,
    quote_deleted_other_stays,
    section_deleted_boilerplate_stays,
    repetition,
    lookalike_added,
    lookalike_instead,
    other_script,
    other_width,
    decomposed,
    one_side_edited,
    both_sides_edited,
)


class Baseline:
    """Position first, then the quote: exact occurrences, else approximate ones; the best score wins, no
    doubt asked.

    The order and the four weighted parts are as the Hypothesis client documents its text anchoring.
    """

    QUOTE_WEIGHT, PREFIX_WEIGHT, SUFFIX_WEIGHT, POSITION_WEIGHT = 50, 20, 20, 2
    CONTEXT = 32

    def __init__(self, quote: str, prefix: str, suffix: str, start: int) -> None:
        self.quote, self.start = quote, start
        self.prefix, self.suffix = prefix[-self.CONTEXT :], suffix[: self.CONTEXT]

    def locate(self, text: str) -> Span | None:
        """The span it would highlight."""
        end = self.start + len(self.quote)
        if text[self.start : end] == self.quote:
            return self.start, end
        exact = [(start, start + len(self.quote), 0) for start in occurrences(text, self.quote)]
        found = exact or approximate_matches(text, self.quote, min(256, len(self.quote) // 2))
        if not found:
            return None
        best = max(found, key=lambda match: self.score(text, *match))
        return best[0], best[1]

    def score(self, text: str, start: int, end: int, errors: int) -> float:
        parts = [
            (self.QUOTE_WEIGHT, 1 - errors / len(self.quote)),
            (self.PREFIX_WEIGHT, likeness(text[max(0, start - len(self.prefix)) : start], self.prefix)),
            (self.SUFFIX_WEIGHT, likeness(text[end : end + len(self.suffix)], self.suffix)),
            (self.POSITION_WEIGHT, 1 - abs(start - self.start) / len(text)),
        ]
        return sum(weight * value for weight, value in parts) / sum(weight for weight, _ in parts)


def occurrences(text: str, quote: str) -> list[int]:
    """Every start at which the quote stands, overlapping ones too."""
    return [start for start in range(len(text)) if text.startswith(quote, start)]


def errors_by_end(text: str, pattern: str) -> list[int]:
    """For each prefix of the text the least edit distance of the pattern to one of its suffixes (Myers
    1999).
    """
    mask = (1 << len(pattern)) - 1
    last = 1 << (len(pattern) - 1)
    equal: dict[str, int] = {}
    for position, character in enumerate(pattern):
        equal[character] = equal.get(character, 0) | 1 << position
    plus, minus, errors, result = mask, 0, len(pattern), [len(pattern)]
    for character in text:
        match = equal.get(character, 0)
        vertical = match | minus
        horizontal = (((match & plus) + plus) ^ plus) | match
        up = minus | ~(horizontal | plus) & mask
        down = plus & horizontal
        errors += bool(up & last) - bool(down & last)
        up, down = up << 1, down << 1
        plus, minus = (down | ~(vertical | up)) & mask, up & vertical & mask
        result.append(errors)
    return result


def approximate_matches(text: str, quote: str, most: int) -> list[tuple[int, int, int]]:
    """The (start, end, errors) of the places with the fewest errors, at most `most`."""
    by_end = errors_by_end(text, quote)
    fewest = min(by_end)
    if fewest > most:
        return []
    matches = []
    for end in (end for end, errors in enumerate(by_end) if errors == fewest):
        window = text[max(0, end - len(quote) - fewest) : end]
        by_length = errors_by_end(window[::-1], quote[::-1])
        matches.append((end - by_length.index(min(by_length)), end, fewest))
    return matches


def likeness(text: str, remembered: str) -> float:
    """1 for the same context, 0 for nothing in common; an empty context is no evidence against."""
    return 1 - min(errors_by_end(text, remembered)) / len(remembered) if remembered else 1.0


def is_due(case: Case, anchor: Anchor) -> bool:
    """Whether the quote survives verbatim, stands once and has one whole stored side of 8 or more beside
    it.
    """
    if case.truth is None or anchor.exact is None or len(occurrences(case.new, anchor.exact)) != 1:
        return False
    left = case.new[: case.truth[0]].endswith(anchor.prefix or "") and anchor.before.length >= ONE_SIDE
    right = case.new[case.truth[1] :].startswith(anchor.suffix or "") and anchor.after.length >= ONE_SIDE
    return left or right


def is_undecidable(case: Case) -> bool:
    """Whether one other insertion or deletion gives the very same text but another true place.

    Where `B X B Y` became `B Y` nobody can tell which B went: the text is the same either way.
    """
    start, end = case.span
    shorter, removed = min(len(case.old), len(case.new)), len(case.old) - len(case.new)
    # Characters are what is meant here, not parts of paths.
    same_head = len(commonprefix([case.old, case.new]))  # noqa: RUF071
    first = shorter - len(commonprefix([case.old[::-1], case.new[::-1]]))  # noqa: RUF071
    if first > same_head:  # more than one insertion or deletion
        return False
    # The one change may have been anywhere from `first` to `same_head`.
    before, after = first + max(removed, 0) <= start, same_head >= end
    return (before or after) if case.truth is None else (before and after)


def judge(found: Span | None, truth: Span | None) -> str:
    return "refused" if found is None else "right" if found == truth else "wrong"


def run_case(
    paragraphs: Sequence[tuple[str, list[Span]]], seed: int, number: int
) -> Counter[tuple[str, str]]:
    """The counts that one case adds, by (kind, column)."""
    kind = KINDS[number % len(KINDS)]
    rng = random.Random(f"{seed}:{number}")
    case = kind(Writer(paragraphs, rng))
    while is_undecidable(case):
        case = kind(Writer(paragraphs, rng))
    anchor = create_anchor(Source("benchmark", "", "1", case.old, REPRESENTATION), *case.span)
    place = resolve(anchor, case.new).span
    verdict = judge((place.start, place.end) if place else None, case.truth)
    baseline = Baseline(anchor.exact or "", anchor.prefix or "", anchor.suffix or "", case.span[0])
    due = is_due(case, anchor)
    columns = {
        "cases": True,
        verdict: True,
        "due": due,
        "due_right": due and verdict == "right",
        f"baseline_{judge(baseline.locate(case.new), case.truth)}": True,
    }
    return Counter({(kind.__name__, column): 1 for column, holds in columns.items() if holds})


def read_paragraphs(path: Path) -> list[tuple[str, list[Span]]]:
    """Each paragraph of a SQuAD file with the spans of those answers that stand at their own offset."""
    paragraphs = []
    for article in json.loads(path.read_text(encoding="utf-8-sig"))["data"]:
        for paragraph in article["paragraphs"]:
            context = paragraph["context"]
            listed = {
                (a["answer_start"], a["text"]) for qa in paragraph["qas"] for a in qa["answers"] if a["text"]
            }
            spans = [(at, at + len(text)) for at, text in sorted(listed) if context.startswith(text, at)]
            if len(context) >= 20:
                paragraphs.append((context, spans))
    return paragraphs


COLUMNS = ("cases", "right", "refused", "wrong", "due", "due_right")
BASELINE_COLUMNS = ("baseline_right", "baseline_refused", "baseline_wrong")


def table(counts: Counter[tuple[str, str]]) -> str:
    """The counts per kind, and the two figures that are claimed."""
    names = [kind.__name__ for kind in KINDS]
    header = [column.replace("baseline_", "base:") for column in (*COLUMNS, *BASELINE_COLUMNS)]
    rows = [["kind", *header]]
    for name in (*names, "total"):
        chosen = names if name == "total" else [name]
        sums = [sum(counts[(kind, column)] for kind in chosen) for column in (*COLUMNS, *BASELINE_COLUMNS)]
        rows.append([name, *map(str, sums)])
    lines = [f"{row[0]:36}" + "".join(f"{cell:>13}" for cell in row[1:]) for row in rows]
    total = dict(zip(rows[0], rows[-1], strict=True))
    share = int(total["due_right"]) / max(1, int(total["due"]))
    lines.append(f"wrong: {total['wrong']} of {total['cases']}; baseline wrong: {total['base:wrong']}")
    lines.append(f"right where due: {share:.4%}")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--squad", type=Path, action="append", required=True, metavar="FILE")
    parser.add_argument("--cases", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    paragraphs = [paragraph for path in options.squad for paragraph in read_paragraphs(path)]
    counts: Counter[tuple[str, str]] = Counter()
    with Pool() as pool:
        work = partial(run_case, paragraphs, options.seed)
        for added in pool.imap_unordered(work, range(options.cases), chunksize=500):
            counts.update(added)
    print(table(counts))


if __name__ == "__main__":
    main()
