"""回答适配器：把已经命中的证据变成带引用的回答，并检查引用是否越界。

本模块处在最底层，不知道资料库、检索和路由。它只守一条规矩：
回答里出现的每一个引用编号，都必须属于这一次的证据集合。
"""

from __future__ import annotations

import copy
import re
import unicodedata
from collections.abc import Callable, Collection, Sequence
from typing import Any

Evidence = Sequence[dict[str, Any]]

# 合法引用只有一种写法：半角方括号、大写 C、三位 ASCII 数字。
CITATION = re.compile(r"\[(C[0-9]{3})\]")

# 读者会看成 C 的字母（拉丁、西里尔、希腊、切罗基、科普特等），会看成括号的引号，显示为空白的字母。
_LIKE_C = frozenset("CcСсϹϲᏟꮯᑕꓚᴄⲤⲥ𐐕𐐽𐊢𐌂")
_QUOTES = frozenset("“‘„‚‟‛”’")
_BLANK_LETTERS = frozenset("\u115f\u1160\u3164\uffa0")
# 各种括号先归为两种：方括号一类记作 [ ]，其余记作 ( )。
_SQUARE = frozenset("[［【〔〖⟦❲﹝⁅")
_O, _L = "[OoОоΟο]", "[IlІ]"
# 方括号里出现像编号的写法，或其余括号里恰好是一个编号，都会被读者当作引用。
_LOOKALIKE = re.compile(
    rf"\[[^\[\]()]*?(?<![A-Za-z0-9])C(?:{_O}|{_L})*[0-9]"
    rf"|\(C(?=(?:{_O}|{_L})*[0-9])(?:{_O}|{_L}|[0-9]){{3,}}\)"
)


class AnswererError(ValueError):
    """回答器不能给出可用的回答：没有证据、模型出错，或引用越界。"""


def _as_seen(text: str) -> str:
    """返回读者看到的样子：形近字归为 C，数字归为 ASCII，括号归为两种，标点、空白和不可见字符略去。"""
    seen = []
    for char in text:
        kind = unicodedata.category(char)
        if char in "<>" or (kind in ("Ps", "Pi", "Pe", "Pf") and char not in _QUOTES):
            opening = char == "<" or kind in ("Ps", "Pi")
            seen.append(("[" if char in _SQUARE else "(") if opening else ")")
            continue
        for part in "C" if char in _LIKE_C else unicodedata.normalize("NFKD", char):
            if part.isalnum() and part not in _BLANK_LETTERS:
                digit = unicodedata.decimal(part, None)
                seen.append("C" if part in _LIKE_C else part if digit is None else str(digit))
    return "".join(seen)


def validate_citations(answer: str, allowed: Collection[str]) -> tuple[bool, list[str]]:
    """返回 (是否合法, 按出现顺序去重的引用编号)。

    合法要同时满足三条：至少有一个引用；每个编号都在 allowed 之内；
    没有写法相近却不合规的编号（全角、小写、形近字母、位数不对等）。
    """
    citations = list(dict.fromkeys(CITATION.findall(answer)))
    # 先拿掉合规写法再找相近写法；换成一对括号，免得两侧文字拼成新的编号。
    remainder = _as_seen(CITATION.sub("()", answer))
    valid = bool(citations) and set(citations) <= set(allowed) and not _LOOKALIKE.search(remainder)
    return valid, citations


class ExtractiveEvidenceAnswerer:
    """抽取式回答器：逐条照抄证据原文，后面附上它的编号，不改写一个字。"""

    def answer(self, question: str, evidence: Evidence) -> str:
        """返回证据原文与引用；没有证据时抛出 AnswererError。"""
        if not evidence:
            raise AnswererError("没有证据，不能生成回答。")
        return "\n".join(f"{item['text']}[{item['chunk_id']}]" for item in evidence)


class CallableLanguageModelAnswerer:
    """把任意可调用的语言模型接进来：model(question, evidence) 返回字符串。

    没有证据时绝不调用模型；模型只能改写这次的证据，引用越界的输出一律拒绝。
    """

    def __init__(self, model: Callable[[str, list[dict[str, Any]]], str]) -> None:
        self.model = model

    def answer(self, question: str, evidence: Evidence) -> str:
        """返回通过引用检查的模型输出；否则抛出 AnswererError 并说明原因。"""
        if not evidence:
            raise AnswererError("没有证据，禁止调用语言模型。")
        try:
            # 给模型的是副本：模型代码改动它，也动不了证据本身。
            output = self.model(question, copy.deepcopy(list(evidence)))
        except Exception as error:
            raise AnswererError(f"语言模型调用失败：{type(error).__name__}") from error
        if not isinstance(output, str):
            raise AnswererError(f"语言模型应返回字符串，实际返回 {type(output).__name__}。")
        valid, citations = validate_citations(output, {item["chunk_id"] for item in evidence})
        if not valid:
            shown = "、".join(citations) or "无"
            raise AnswererError(f"语言模型输出的引用未通过校验（识别到的引用：{shown}）。")
        return output
