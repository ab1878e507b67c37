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
    width = max((len(each.measure) for each in compared), default=0)
    for each in compared:
        yield f"  {each.measure:{width}}  {_figures(each)}"
    yield from _notes([each for each in compared if each.questions])


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


def _notes(compared: Sequence[PairedComparison]) -> Iterator[str]:
    from evidence_kit.measures.intervals import LEAST_FOR_INTERVAL

    if not compared:
        return
    drawn = f"抽 {compared[0].rounds} 次，种子 {compared[0].seed}"
    yield "均值和差只算两边都有定义的题；差为后者减前者。"
    if any(each.interval for each in compared):
        yield f"区间为 95% 自助法，{drawn}。"
    if not all(each.interval for each in compared):
        yield f"不足 {LEAST_FOR_INTERVAL} 题不给区间：那样的区间太窄，见 docs/formulas.md。"
    signs = [f"抽样是随机{drawn}"] if not all(each.exact for each in compared) else []
    if any(each.exact for each in compared):
        signs.insert(0, "穷举是试遍全部正负号")
    yield f"p 来自双侧的配对随机化检验：{'，'.join(signs)}。"
    if len(compared) > 1:
        yield f"一次比较了 {len(compared)} 个指标，p 没有为此校正：比得越多，碰巧显得小的越多。"
