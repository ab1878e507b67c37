"""What can go wrong when a report or a figure is made."""

from __future__ import annotations

from evidence_kit.errors import EvidenceError


class ReportError(EvidenceError):
    """A report or figure that cannot be made; for a missing package, with the command that installs it."""


def missing(package: str, extra: str) -> ReportError:
    """Return the error to raise where an optional package is not there."""
    install = f'python -m pip install "evidence-assistant[{extra}]"'
    return ReportError(f"没有安装 {package}：请先运行 {install}。")
