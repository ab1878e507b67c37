"""JSON read strictly: no duplicate key, no NaN, no lone surrogate, no number that another reader would round.

`verifiers/verify_bundle.mjs` has the same rules and the same codes; a test compares the two.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from evidence_kit.errors import EvidenceError
from evidence_kit.sources.model import SourceError, decode_text

MAX_DEPTH = 64
# A container nested deeper than this ends the reading at once, whatever stands behind it.
HARD_DEPTH = 500
# The largest integer that every JSON reader holds exactly (2**53 - 1).
MAX_INTEGER = 9007199254740991

_ADVICE = {
    "not_utf8": "不是 UTF-8 文本",
    "invalid_json": "不是合法的 JSON",
    "too_deep": f"嵌套超过 {MAX_DEPTH} 层",
    "duplicate_key": "同一个对象里有重复的键",
    "integer_out_of_range": f"整数超出 ±{MAX_INTEGER}",
    "lone_surrogate": "字符串里有孤立的代理项",
}


class JsonInputError(EvidenceError):
    """A file is not JSON in the strict sense, or not of the expected shape; `code` names the problem in
    English, `detail` says it in Chinese, the path of the field first where there is one.
    """

    def __init__(self, name: str, code: str, detail: str) -> None:
        super().__init__(f"{name} 无法读取 [{code}]：{detail}；请重新导出该文件。")
        self.code, self.detail = code, detail


def parse_json(data: bytes, name: str) -> object:
    """The JSON value in `data` (UTF-8 with or without BOM), see `parse_json_text`."""
    try:
        text = decode_text(data, name).text
    except SourceError as error:
        raise JsonInputError(name, "not_utf8", _ADVICE["not_utf8"]) from error
    return parse_json_text(text, name)


def parse_json_text(text: str, name: str) -> object:
    """The JSON value in `text`: dict, list, str, int, float, bool or None.

    Raises JsonInputError naming `name`. Of several problems the first in the order of `_ADVICE` is
    reported, so that the answer does not depend on the order in which a parser meets them.
    """
    found: dict[str, str] = {}
    try:
        value = _load(text, name, found)
    except RecursionError:
        raise JsonInputError(name, "too_deep", _ADVICE["too_deep"]) from None
    except JsonInputError:
        if _is_hopelessly_deep(text):
            raise JsonInputError(name, "too_deep", _ADVICE["too_deep"]) from None
        raise
    _inspect(value, found)
    for code in _ADVICE:
        if code in found:
            raise JsonInputError(name, code, found[code])
    return value


def _load(text: str, name: str, found: dict[str, str]) -> object:
    """Parse `text`, noting in `found` what only the parser sees; JsonInputError where it is no JSON."""

    def unique_pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        record = dict(pairs)
        if len(record) < len(pairs):
            twice = first_repeat(key for key, _ in pairs)
            found.setdefault("duplicate_key", f"{_ADVICE['duplicate_key']} {twice!r}")
        return record

    def bounded_integer(token: str) -> int:
        value = int(token) if len(token) <= 17 else MAX_INTEGER + 1
        if abs(value) > MAX_INTEGER:
            found.setdefault("integer_out_of_range", f"{_ADVICE['integer_out_of_range']}（{token[:24]}）")
        return value

    def not_json(token: str) -> object:
        raise JsonInputError(name, "invalid_json", f"{_ADVICE['invalid_json']}（{token}）")

    try:
        value: object = json.loads(
            text, object_pairs_hook=unique_pairs, parse_int=bounded_integer, parse_constant=not_json
        )
    except json.JSONDecodeError as error:
        where = f"第 {error.lineno} 行第 {error.colno} 列"
        raise JsonInputError(name, "invalid_json", f"{where}{_ADVICE['invalid_json']}") from None
    return value


def first_repeat(keys: Iterable[str]) -> str | None:
    """Return the first key that stood before, None where each is there once; in one pass, however many."""
    seen: set[str] = set()
    for key in keys:
        if key in seen:
            return key
        seen.add(key)
    return None


def _is_hopelessly_deep(text: str) -> bool:
    """Return whether `text` is JSON up to a container deeper than HARD_DEPTH: then nothing behind it counts.

    Python's own limit on nesting differs between versions; the other verifier stops here, too.
    """
    depth = 0
    for token in _BRACKETS.finditer(text):
        if token[0] in "]}":
            depth -= 1
        elif token[0] in "[{":
            depth += 1
            if depth > HARD_DEPTH:
                return _is_json_up_to(text, token.start())
    return False


# Strings are passed over whole, also one that does not end.
_BRACKETS = re.compile(r'[\[\]{}]|"(?:[^"\\]|\\.)*"?', re.DOTALL)


def _is_json_up_to(text: str, end: int) -> bool:
    def not_json(token: str) -> object:
        raise json.JSONDecodeError(token, text, 0)

    try:
        json.loads(f"{text[:end]}null", parse_int=str, parse_constant=not_json)
    except json.JSONDecodeError as error:
        return error.pos > end
    except RecursionError:
        return True
    return False


def _inspect(value: object, found: dict[str, str]) -> None:
    """Note in `found` what the parser's hooks cannot see: containers nested too deep and lone surrogates."""
    level: list[object] = [value]
    depth = 0
    while level:
        below: list[object] = []
        for item in level:
            if isinstance(item, dict):
                below.extend(item.keys())
                below.extend(item.values())
            elif isinstance(item, list):
                below.extend(item)
            elif isinstance(item, str) and not _is_well_formed(item):
                found.setdefault("lone_surrogate", _ADVICE["lone_surrogate"])
        depth += any(isinstance(item, (dict, list)) for item in level)
        level = below
    if depth > MAX_DEPTH:
        found.setdefault("too_deep", _ADVICE["too_deep"])


def _is_well_formed(text: str) -> bool:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


class Fields:
    """The fields of one JSON object, taken by name and checked for type.

    Errors are JsonInputError of code `bad_shape` and name the path, such as `citations[3].start`.
    """

    def __init__(self, value: object, name: str, path: str = "") -> None:
        if not isinstance(value, dict):
            raise _shape(name, path or "$", "应是对象")
        self._record = value
        self._name = name
        self._path = path

    def has(self, key: str) -> bool:
        """Whether the key is there and not null."""
        return self._record.get(key) is not None

    def holds_array(self, key: str) -> bool:
        """Whether an array stands at the key."""
        return isinstance(self._record.get(key), list)

    def string(self, key: str) -> str:
        """The string at `key`."""
        value = self._get(key)
        if not isinstance(value, str):
            raise self.wrong(key, "应是字符串")
        return value

    def integer(self, key: str) -> int:
        """The integer at `key`; `true`, `1.0` and `1e0` are not integers."""
        value = self._get(key)
        if not isinstance(value, int) or isinstance(value, bool):
            raise self.wrong(key, "应是整数")
        return value

    def number(self, key: str) -> float:
        """The finite number at `key`, integers included."""
        value = self._get(key)
        if not isinstance(value, (int, float)) or isinstance(value, bool) or not math.isfinite(value):
            raise self.wrong(key, "应是有限的数")
        return float(value)

    def boolean(self, key: str) -> bool:
        """The boolean at `key`."""
        value = self._get(key)
        if not isinstance(value, bool):
            raise self.wrong(key, "应是 true 或 false")
        return value

    def items(self, key: str) -> list[object]:
        """The array at `key`."""
        value = self._get(key)
        if not isinstance(value, list):
            raise self.wrong(key, "应是数组")
        return value

    def strings(self, key: str) -> tuple[str, ...]:
        """The array of strings at `key`."""
        values = self.items(key)
        for i, value in enumerate(values):
            if not isinstance(value, str):
                raise self.wrong(f"{key}[{i}]", "应是字符串")
        return tuple(value for value in values if isinstance(value, str))

    def records(self, key: str) -> list[Fields]:
        """The objects of the array at `key`."""
        values = self.items(key)
        return [Fields(value, self._name, f"{self._at(key)}[{i}]") for i, value in enumerate(values)]

    def record(self, key: str) -> Fields:
        """The object at `key`."""
        return Fields(self._get(key), self._name, self._at(key))

    def names(self) -> tuple[str, ...]:
        """All keys, in the file's order."""
        return tuple(self._record)

    def only(self, *known: str) -> None:
        """Raise where there is a key that is none of the known ones."""
        for key in self._record:
            if key not in known:
                raise self.wrong(key, "是未知的键")

    @contextmanager
    def within(self, key: str = "") -> Iterator[None]:
        """Raise what a record made of these fields refuses as an error at `key`, or at the object itself."""
        try:
            yield
        except JsonInputError:
            raise
        except EvidenceError as error:
            where = self._at(key) if key else self._path
            raise _shape(self._name, where or "$", f"不成立：{error.message.rstrip('。')}") from None

    def table(self, key: str) -> dict[str, dict[str, Any]]:
        """The object of objects at `key`."""
        value = self._get(key)
        if not isinstance(value, dict) or not all(isinstance(row, dict) for row in value.values()):
            raise self.wrong(key, "应是由对象组成的对象")
        return value

    def wrong(self, key: str, expected: str) -> JsonInputError:
        """The error to raise when the value at `key` is not as `expected`."""
        return _shape(self._name, self._at(key), expected)

    def _at(self, key: str) -> str:
        return f"{self._path}.{key}" if self._path else key

    def _get(self, key: str) -> object:
        if key not in self._record:
            raise self.wrong(key, "缺失")
        value: object = self._record[key]
        return value


def _shape(name: str, path: str, expected: str) -> JsonInputError:
    return JsonInputError(name, "bad_shape", f"{path} {expected}")
