"""What the commands that compare two runs say of each measure: one JSON shape, one line, and notes below."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from evidence_kit.measures.digits import rounded, signed_digits, six_digits

if TYPE_CHECKING:
    from evidence_kit.measures.intervals import PairedComparison


def paired_record(compared: PairedComparison) -> dict[str, Any]:
    """Return a comparison as JSON; `seed` and `rounds` are those of the interval, and of a test not exact."""
    interval = compared.interval
    return {
        "questions": compared.questions,
        "left_out": list(compared.left_out),
        "first": rounded(compared.first),
        "second": rounded(compared.second),
        "difference": rounded(compared.difference),
        "interval": None if interval is None else [rounded(interval.low), rounded(interval.high)],
        "p_value": rounded(compared.p_value),
        "exact": compared.exact,
        "seed": compared.seed,
        "rounds": compared.rounds,
    }


def paired_lines(compared: Sequence[PairedComparison]) -> Iterator[str]:
    """Yield a line for each measure, then what the intervals and p-values rest on."""
    from evidence_kit.formats.comparing import paired_notes

    width = max((len(each.measure) for each in compared), default=0)
    for each in compared:
        yield f"  {each.measure:{width}}  {_figures(each)}"
    yield from paired_notes(compared)


def _figures(compared: PairedComparison) -> str:
    first, second, difference, p_value = (
        compared.first, compared.second, compared.difference, compared.p_value,
    )  # fmt: skip
    if first is None or second is None or difference is None or p_value is None:
        return "未定义：没有可比较的问题"
    interval = compared.interval
    between = f"[{signed_digits(interval.low)}, {signed_digits(interval.high)}]" if interval else "无"
    return (
        f"{six_digits(first)} → {six_digits(second)}  差 {signed_digits(difference)}  区间 {between}  "
        f"p={six_digits(p_value)}（{'穷举' if compared.exact else '抽样'}）  {compared.questions} 题"
    )
