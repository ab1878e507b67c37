"""The one error hierarchy of the kit.

Every error that a user can cause is an `EvidenceError`: its message is one Chinese line that names what,
where and what to do; `exit_code` is what the command line ends with, `http_status` what the web answers.
"""

from __future__ import annotations


class EvidenceError(Exception):
    """Base of all errors the kit raises on purpose.

    `exit_code` follows the house rule: 1 a verification failed, 2 bad input or usage, 3 a position was found
    neither exact nor moved.
    """

    def __init__(self, message: str, *, exit_code: int = 2, http_status: int = 400) -> None:
        super().__init__(message)
        self.message = message
        self.exit_code = exit_code
        self.http_status = http_status
