"""Attributes of passages, and which passages a `where` lets through."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from evidence_kit.index.errors import IndexInputError

Where = Mapping[str, "str | Sequence[str]"]


@dataclass(frozen=True)
class Column:
    """One attribute: its distinct values, sorted, and for each position the number of its value."""

    values: tuple[str, ...]
    codes: Any  # uint32 [N]: array("I"), or numpy's when opened from a file


Columns = Mapping[str, Column]


def columns_of(attributes: Sequence[Mapping[str, str]] | None, passages: int) -> dict[str, Column]:
    """Return the columns of the attributes, one mapping a passage; what is not given is an empty string."""
    if attributes is None:
        return {}
    if len(attributes) != passages:
        raise IndexInputError(f"attributes 有 {len(attributes)} 项，资料块有 {passages} 块：请一块给一项")
    for position, row in enumerate(attributes):
        pairs = row.items() if isinstance(row, Mapping) else [(None, None)]
        if not all(isinstance(key, str) and isinstance(value, str) for key, value in pairs):
            raise IndexInputError(f"attributes 第 {position + 1} 项应为字符串到字符串的映射")
    names = sorted({name for row in attributes for name in row})
    return {name: _column([row.get(name, "") for row in attributes]) for name in names}


def _column(values: list[str]) -> Column:
    distinct = sorted(set(values))
    number = {value: code for code, value in enumerate(distinct)}
    return Column(tuple(distinct), array("I", [number[value] for value in values]))


def wanted_codes(columns: Columns, where: Where) -> dict[str, set[int]]:
    """Return for each attribute named the codes let through; a passage must satisfy all of them."""
    wanted = {}
    for name, given in where.items():
        if name not in columns:
            known = "、".join(columns) or "没有任何属性"
            raise IndexInputError(f"where 的属性 {name!r} 不在索引里：请改用已有的属性（{known}）")
        allowed = {given} if isinstance(given, str) else set(given)
        if not all(isinstance(value, str) for value in allowed):
            raise IndexInputError(f"where 的属性 {name!r} 应给出字符串或字符串的列表")
        wanted[name] = {code for code, value in enumerate(columns[name].values) if value in allowed}
    return wanted


def allows(columns: Columns, where: Where) -> Callable[[int], bool]:
    """Return whether a position is let through, as a function."""
    tests = [(columns[name].codes, codes) for name, codes in wanted_codes(columns, where).items()]
    return lambda position: all(codes[position] in allowed for codes, allowed in tests)


def bitmap(columns: Columns, where: Where, order: Any) -> Any:
    """Return one bit for each passage in inner order, set where it is let through: uint8 [ceil(N/8)]."""
    import numpy as np

    mask = np.ones(len(order), np.bool_)
    for name, codes in wanted_codes(columns, where).items():
        mask &= np.isin(np.asarray(columns[name].codes, np.uint32), np.array(sorted(codes), np.uint32))
    return np.packbits(mask[order], bitorder="little")
