"""The examples of the JSON interface's description, and errors that show the part of one that was wrong."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from functools import cache, lru_cache
from importlib.resources import files
from typing import Any

from evidence_kit.errors import EvidenceError
from evidence_kit.sources.strict_json import JsonInputError
from evidence_kit.sources.visible import visible

BODY = "请求"
_SHORT = 240  # characters of an example that an error shows
_REASON = 300  # characters; ids in it may be of any length


class RequestError(EvidenceError):
    """A body that is not as described; its message ends with an example of what is."""

    def __init__(self, operation: str, error: JsonInputError) -> None:
        shown = example_at(example(operation), error.detail if error.code == "bad_shape" else "")
        super().__init__(f"{BODY}不能用：{visible(error.detail[:_REASON])}。例：{shown}")


@lru_cache(maxsize=1)
def description() -> str:
    """Return the OpenAPI description."""
    return files("evidence_kit.web").joinpath("openapi.json").read_text(encoding="utf-8")


@cache
def example(operation: str) -> Mapping[str, Any]:
    """Return the body that the description gives as an example of an operation, such as `/api/ask`."""
    posted = json.loads(description())["paths"][operation]["post"]
    found: dict[str, Any] = posted["requestBody"]["content"]["application/json"]["example"]
    return found


def example_at(whole: Mapping[str, Any], path: str) -> str:
    """Return, as JSON, an example cut down to what a path such as `anchor.start` leads to.

    It is cut no further than it has to be to be short; the beginning of the whole where the path leads
    nowhere and that is long.
    """
    part: Any = whole
    way: list[str | None] = []  # None for an array, whose first member stands for all
    for key in re.findall(r"[^.\[\]\s]+", path.partition(" ")[0]):
        if isinstance(part, list) and part and key.isdecimal():
            part = part[0]
            way.append(None)
        elif isinstance(part, dict) and key in part:
            part = part[key]
            way.append(key)
        else:
            break
        shown = _dump(_framed(part, way))
        if len(shown) <= _SHORT:
            return shown
    shown = _dump(whole)
    return shown if len(shown) <= _SHORT else f"{shown[:_SHORT]}…（全文见 /api/openapi.json）"


def _framed(part: object, way: Sequence[str | None]) -> object:
    for key in reversed(way):
        part = [part] if key is None else {key: part}
    return part


def _dump(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)
