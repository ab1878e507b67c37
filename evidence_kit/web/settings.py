"""What the web application is told when it is made."""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass

LOOPBACK = ("127.0.0.1", "localhost", "::1")
WILDCARDS = ("0.0.0.0", "::")  # noqa: S104 - named to be recognised
DEFAULT_PORT = 8765


@dataclass(frozen=True)
class Settings:
    """`host` is what the server listens on; `token` is asked of every request, None where nobody else can
    connect; `max_body` is the greatest number of bytes in the body of a request, `max_upload` that of one
    with files or whole sources; `max_fields` and `max_files` are those of one form.
    """

    host: str = "127.0.0.1"
    token: str | None = None
    max_body: int = 4 * 1024 * 1024
    max_upload: int = 64 * 1024 * 1024
    max_fields: int = 1000
    max_files: int = 1000

    @property
    def is_loopback(self) -> bool:
        """Return whether only this machine can connect."""
        return one_spelling(self.host) in LOOPBACK


def one_spelling(host: str) -> str:
    """Return a host in the spelling that all of its others share: an address may be written in several."""
    try:
        return str(ipaddress.ip_address(host))
    except ValueError:
        return host.lower()
