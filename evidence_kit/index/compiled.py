"""The decorators of all kernels: compiled by numba, without the GIL, cached on disk where possible."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

import numba

Function = TypeVar("Function", bound=Callable[..., Any])


def kernel(function: Function) -> Function:
    """Return `function` compiled. In a read-only installation it is compiled anew in each process."""
    return _compiled(function)


def loop(function: Function) -> Function:
    """Return a compiled function that makes no arrays, other than views of those it is given.

    No references are counted inside it: for a few dozen arrays that takes longer than the loop itself.
    """
    return _compiled(function, _nrt=False)


def _compiled(function: Function, **options: Any) -> Function:
    try:
        return cast(Function, numba.njit(nogil=True, cache=True, **options)(function))
    except RuntimeError:  # numba found no folder for its cache that can be written
        return cast(Function, numba.njit(nogil=True, **options)(function))


def inlined(function: Function) -> Function:
    """Return a small function as a part of every kernel that calls it."""
    return cast(Function, numba.njit(nogil=True, inline="always")(function))
