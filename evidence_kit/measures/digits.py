"""How measures and scores are shown everywhere: six digits after the point, no exponent, no -0."""

from __future__ import annotations


def rounded(value: float | None) -> float | None:
    """Return a number at six digits, as JSON and tables have it; None stays None."""
    return None if value is None else round(value, 6) + 0.0  # -0.0 + 0.0 is 0.0


def six_digits(value: float) -> str:
    """Return a number as text, such as `0.805556`."""
    return f"{round(value, 6) + 0.0:.6f}"


def signed_digits(value: float) -> str:
    """Return a difference as text with its sign, such as `-0.025196`; `+0.000000` where there is none."""
    return f"{round(value, 6) + 0.0:+.6f}"
