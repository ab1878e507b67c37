"""What is said of a comparison wherever it leaves the program: what differs, and what its figures rest on."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from evidence_kit.experiments.baseline import Comparison
from evidence_kit.formats.notes import missing_words, named
from evidence_kit.formats.words import CONDITION_WORDS, PARAMETER_WORDS
from evidence_kit.measures.intervals import LEAST_FOR_INTERVAL, PairedComparison


def conditions_compared(made: Comparison) -> Iterator[str]:
    """Yield which conditions differ, and whether a difference can come from the parameters alone."""
    changes = {
        name: f"{PARAMETER_WORDS[name]} {before} → {after}"
        for name, (before, after) in made.parameters.items()
    }
    acting = "，".join(said for name, said in changes.items() if name not in made.idle)
    idle = "，".join(changes[name] for name in made.idle)
    if not made.differing:
        yield "条件全部相同。"
    elif made.attributable:
        yield f"只有参数不同：{acting}。其余条件相同；若有差异，只能来自参数。"
    elif acting or made.differing != ("parameters",):
        names = "、".join(CONDITION_WORDS[name] for name in made.differing)
        yield f"不同的条件：{names}。条件不同，不能说差异来自参数。"
        if acting:
            yield f"参数的改动：{acting}"
    if idle:
        yield f"不影响名次和这些指标的参数改动：{idle}。"


def paired_notes(compared: Sequence[PairedComparison]) -> Iterator[str]:
    """Yield what means, intervals and p-values rest on; nothing where no question could be compared."""
    compared = [each for each in compared if each.questions]
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


def comparison_remarks(made: Comparison) -> Iterator[str]:
    """Yield that nothing moved, which questions were not compared, and which are missing."""
    if {difference.difference for difference in made.differences} - {None} == {0.0}:
        yield "各指标的差都是 0：没有看到差异。"
    left_out = sorted({name for difference in made.differences for name in difference.left_out})
    if left_out:
        yield f"有指标未定义、或只在一边的问题 {len(left_out)} 个，未比较：{named(left_out)}"
    if made.missing:
        yield f"现在{missing_words(made.missing)}"
