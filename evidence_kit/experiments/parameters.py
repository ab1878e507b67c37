"""Parameters as people set them: several at once, all or none."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import asdict, fields, replace
from typing import Any, get_args

from evidence_kit.experiments.model import ExperimentError, Method, Parameters

_WHOLE = re.compile(r"[+-]?[0-9]{1,18}")
_REAL = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")

NAMES = tuple(field.name for field in fields(Parameters))


def changed(parameters: Parameters, changes: Mapping[str, object]) -> Parameters:
    """Return parameters with all the changes. Raises ExperimentError, and gives none, if one is not allowed.

    A method brings its own analyzer where none is named beside it.
    """
    for name in changes:
        if name not in NAMES:
            raise ExperimentError(f"没有 {name!r} 这个参数：请改用 {'、'.join(NAMES)} 之一。")
    values: dict[str, Any] = dict(changes)
    method = values.get("method")
    if method in get_args(Method) and method != parameters.method and "analyzer" not in values:
        from evidence_kit.index.weighting import default_analyzer  # what starts a command needs no index

        values["analyzer"] = default_analyzer(str(method)).name
    return replace(parameters, **values)


def parse_changes(assignments: Iterable[str]) -> dict[str, object]:
    """Return name -> value of texts such as `k=5` or `method=bm25`. Raises ExperimentError."""
    found: dict[str, object] = {}
    for assignment in assignments:
        name, equals, text = (part.strip() for part in assignment.partition("="))
        if not equals:
            raise ExperimentError(f"{assignment!r} 不是参数：请写成 k=5 这样。")
        if name in found:
            raise ExperimentError(f"参数 {name} 给了两次：请只给一次。")
        found[name] = _value(name, text)
    return found


def parameter_changes(before: Parameters, after: Parameters) -> dict[str, tuple[object, object]]:
    """Return name -> (value before, value after) of the parameters that differ."""
    old, new = asdict(before), asdict(after)
    return {name: (old[name], new[name]) for name in NAMES if old[name] != new[name]}


def _value(name: str, text: str) -> object:
    """Return the number that a text writes; what is no number stays a text, which no number accepts.

    Python's own readers would take 1_00 for 100, other scripts' digits, `inf` and `nan`.
    """
    if name not in ("method", "analyzer") and _WHOLE.fullmatch(text):
        return int(text)
    return float(text) if name in ("k1", "b") and _REAL.fullmatch(text) else text
