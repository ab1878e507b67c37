"""What can go wrong when evidence is looked for."""

from __future__ import annotations

from evidence_kit.errors import EvidenceError
from evidence_kit.index.errors import DamagedIndexError


class FinderError(EvidenceError):
    """A question, an option or a set of sources that nothing can be found with."""


class DamagedStoreError(DamagedIndexError):
    """Passages that are not what was written: the check failed, exit code 1."""
