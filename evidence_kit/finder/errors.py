"""What can go wrong when evidence is looked for."""

from __future__ import annotations

from evidence_kit.errors import EvidenceError


class FinderError(EvidenceError):
    """A question, an option or a set of sources that nothing can be found with."""


class DamagedStoreError(EvidenceError):
    """Stored passages that are not what was written: a check failed, exit code 1."""

    def __init__(self, message: str) -> None:
        super().__init__(message, exit_code=1, http_status=500)
