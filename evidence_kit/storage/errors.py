"""What can go wrong with a stored file: not ours, damaged, busy, changed elsewhere, nothing to undo."""

from __future__ import annotations

from evidence_kit.errors import EvidenceError


class StorageError(EvidenceError):
    """A file that cannot be used as asked: not there, not ours, of a newer version, busy or full."""

    def __init__(self, message: str, *, http_status: int = 503) -> None:
        super().__init__(message, http_status=http_status)


class DamagedDatabaseError(EvidenceError):
    """A file of ours that is not as it was written, exit code 1."""

    def __init__(self, message: str) -> None:
        super().__init__(message, exit_code=1, http_status=500)


class StaleError(EvidenceError):
    """A record that has changed since it was looked at; nothing was written.

    `current` is its revision now, `label` and `recorded_at` are those of the change that made it;
    `recorded_at` is empty where there never was one.
    """

    def __init__(self, current: int, label: str, recorded_at: str) -> None:
        self.current, self.label, self.recorded_at = current, label, recorded_at
        second = recorded_at.partition(".")[0].replace("T", " ")
        super().__init__(self.said(f"{second} UTC" if second else ""), http_status=409)

    def said(self, when: str) -> str:
        """Return the message with the time of the change as `when` says it."""
        change = f"{when} 「{self.label}」".lstrip()
        return f"这里的内容在您打开之后已被改动（{change}）：这次没有写入；请先看现在的内容再改。"


class NothingToUndoError(EvidenceError):
    """An undo without a change to undo, or a redo without one undone."""

    def __init__(self, message: str) -> None:
        super().__init__(message, http_status=409)
