"""The Chinese words for what an experiment's records hold, the same in tables, reports and figures."""

from __future__ import annotations

from evidence_kit.experiments.model import JudgmentState
from evidence_kit.sources.encodings import NAMES, decoding_step, encoding_title
from evidence_kit.sources.model import BOM_REMOVED

GRADE_WORDS = {0: "不相关", 1: "部分相关", 2: "相关", 3: "关键"}
STATE_WORDS: dict[JudgmentState, str] = {"current": "有效", "stale": "待复核", "unjudged": "未判断"}
ABSENCE_WORDS: dict[str, str] = {
    "expired": "已停用",
    "not_yet": "尚未生效",
    "ended": "已过有效期",
    "superseded": "已被取代",
}
PARAMETER_WORDS = {
    "method": "方法",
    "analyzer": "分析器",
    "window": "窗口（码点）",
    "overlap": "重叠（码点）",
    "k": "前几份（k）",
    "k1": "BM25 的 k1",
    "b": "BM25 的 b",
    "budget": "提示词预算（字符）",
}
CONDITION_WORDS = {
    "sources": "资料",
    "questions": "问题",
    "judgments": "判断",
    "parameters": "参数",
    "code": "程序",
}
UNDEFINED = "未定义"
WHY_UNDEFINED = "在用的资料里没有一份被有效判断为相关（1 至 3 级）"


def step_words(step: str) -> str:
    """Return what was done to a source's text when it was read; a step that is not known, as it is."""
    words = {BOM_REMOVED: "去掉了开头的 BOM"}
    words |= {decoding_step(name): f"按 {encoding_title(name)} 解码" for name in NAMES}
    return words.get(step, step)
