"""Whole numbers on the command line: ASCII digits only, as the same number reads everywhere."""

from __future__ import annotations

import re
from typing import Any

import click


class WholeNumber(click.ParamType):  # type: ignore[type-arg, unused-ignore]
    """An integer such as `12` or `-3`; no other script's digits, no underscore, no plus sign, no blank."""

    name = "integer"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """Return the integer; click's usage error where it is none, or has more than 18 digits."""
        if isinstance(value, int):
            return value
        if not re.fullmatch(r"-?[0-9]{1,18}", value):
            self.fail("应是整数，用数字 0 到 9 写出，最多 18 位", param, ctx)
        return int(value)


WHOLE = WholeNumber()
