"""How much an experiment takes: every limit in one table.

The default is far above what a person judges by hand; it keeps a wrong folder from filling the disk. `seed`
has the limits of the first version of this tool.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from evidence_kit.experiments.model import ExperimentError, ExperimentSource, Parameters, Question
from evidence_kit.text.passages import count_windows


@dataclass(frozen=True)
class Limits:
    """Counts; characters are code points, a restore is counted in bytes."""

    sources: int
    source_characters: int
    characters: int
    questions: int
    question_characters: int
    passages: int
    restore_bytes: int


PROFILES = {
    #                sources   each       in all     questions  each    passages   restore
    "default": Limits(20_000, 2_000_000, 50_000_000, 20_000, 5_000, 1_000_000, 500_000_000),
    "seed": Limits(24, 6_000, 60_000, 30, 500, 1_500, 1_500_000),
}


def limits_of(profile: str) -> Limits:
    """Return the limits of a profile; ExperimentError names the known ones."""
    if profile not in PROFILES:
        raise ExperimentError(f"限额方案 {profile!r} 不存在：请改用 {'、'.join(PROFILES)} 之一。")
    return PROFILES[profile]


def check_sources(sources: Collection[ExperimentSource], limits: Limits) -> None:
    """Raise ExperimentError where there are too many sources, or one of them or all are too long."""
    _check(len(sources), limits.sources, "资料篇数")
    for source in sources:
        _check(len(source.text), limits.source_characters, f"资料 {source.source_id} 的字符数")
    _check(sum(len(source.text) for source in sources), limits.characters, "全部资料的字符数")


def check_questions(questions: Collection[Question], limits: Limits) -> None:
    """Raise ExperimentError where there are too many questions, or one is too long."""
    _check(len(questions), limits.questions, "问题数")
    for question in questions:
        _check(len(question.text), limits.question_characters, f"问题 {question.question_id} 的字符数")


def check_cut(sources: Collection[ExperimentSource], parameters: Parameters, limits: Limits) -> None:
    """Raise ExperimentError where the parameters cut the sources into too many passages.

    They are counted as a run cuts them. A passage begins later than the one before it, so that there are
    never more than code points: where even so many are allowed, nothing is counted.
    """
    bodies = [source.text[source.body_start :] for source in sources]
    if sum(map(len, bodies)) <= limits.passages:
        return
    passages = sum(count_windows(body, parameters.window, parameters.overlap) for body in bodies)
    advice = "请加大 window、减小 overlap 或减少资料"
    _check(
        passages, limits.passages, f"窗口 {parameters.window}、重叠 {parameters.overlap} 的资料块数", advice
    )


def check_restore(size: int, limits: Limits) -> None:
    """Raise ExperimentError where a file is too large to be restored."""
    _check(size, limits.restore_bytes, "实验文件的字节数")


def _check(count: int, most: int, name: str, advice: str = "请减少后重试") -> None:
    if count > most:
        raise ExperimentError(f"{name}为 {count}，超过上限 {most}，没有写入：{advice}。")
