"""Ids that nothing has: the error names those that are near. Titles, which are one line."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from typing import Literal

from evidence_kit.experiments.model import ExperimentError

Named = Literal["资料", "问题"]

_NEAR = 5
_SHOWN = 60  # characters of an id
_LIKE = 0.6  # difflib's own measure of what is close


def unknown_id(what: Named, wanted: str, ids: Iterable[str], *, http_status: int = 400) -> ExperimentError:
    """Return the error that no record has an id: up to five that are near, or the first ones there are."""
    known = list(ids)
    near = _near(wanted, known)
    if near:
        there = f"相近的有 {_row(near)}；请检查标识。"
    elif known:
        rest = f" 等 {len(known)} 个" if len(known) > _NEAR else ""
        there = f"已有的是 {_row(known[:_NEAR])}{rest}；请检查标识。"
    else:
        there = f"实验里还没有{what}。"
    return ExperimentError(f"没有{what} {_cut(wanted)}：{there}", http_status=http_status)


def id_row(ids: Sequence[str]) -> str:
    """Return ids that were given in order as a row: S001 至 S005, or each of the first twenty where some
    between were taken.
    """
    if len(ids) > 1 and int(ids[-1][1:]) - int(ids[0][1:]) == len(ids) - 1:
        return f"{ids[0]} 至 {ids[-1]}"
    return "、".join(ids[:20]) + (f" 等 {len(ids)} 篇" if len(ids) > 20 else "")


def one_line(title: str) -> str:
    """Return a title with a space for each break of the line: a field of a page, and a line of a table, would
    lose it or break there.
    """
    return re.sub(r"[ \t]*[\r\n]+[ \t]*", " ", title.strip("\r\n"))


def _near(wanted: str, known: list[str]) -> list[str]:
    """Return the ids that are like the wanted one, the nearest first."""
    by_form: dict[str, str] = {}
    for name in known:
        by_form.setdefault(_form(name), name)
    return [by_form[form] for form in get_close_matches(_form(wanted), by_form, _NEAR, _LIKE)]


def _form(name: str) -> str:
    """Return an id as people may write it: s1 is S001."""
    return re.sub("0+(?=[0-9])", "", name.strip().casefold())


def _row(names: list[str]) -> str:
    return "、".join(map(_cut, names))


def _cut(name: str) -> str:
    return name if len(name) <= _SHOWN else f"{name[:_SHOWN]}…"
