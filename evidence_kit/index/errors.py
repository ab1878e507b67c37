"""What can go wrong with an index: bad input, damaged files, a full disk, a missing package."""

from __future__ import annotations

from evidence_kit.errors import EvidenceError


class IndexInputError(EvidenceError):
    """Texts, ids, attributes, parameters or a question that no index can be built from or asked with."""


class IndexFormatError(EvidenceError):
    """A folder that holds no index, or one of another format."""


class DamagedIndexError(EvidenceError):
    """Files that are not what was written: the check failed, exit code 1."""

    def __init__(self, message: str) -> None:
        super().__init__(message, exit_code=1, http_status=500)


class IndexWriteError(EvidenceError):
    """The index could not be written; what stood there before still stands."""


class MissingPackageError(EvidenceError):
    """A package that only large or stored indexes need is not installed."""
