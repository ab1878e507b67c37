"""A server for the workbench: bound before anything is said, quiet when it is stopped."""

from __future__ import annotations

import contextlib
import ipaddress
import secrets
import socket
import webbrowser
from collections.abc import Callable
from pathlib import Path
from threading import Thread

import uvicorn

from evidence_kit.errors import EvidenceError
from evidence_kit.sources.visible import visible
from evidence_kit.web.app import create_app
from evidence_kit.web.desk import Desk
from evidence_kit.web.pages import first_page
from evidence_kit.web.settings import WILDCARDS, Settings


class ServerError(EvidenceError):
    """The server cannot listen where it was told to."""


def run(
    host: str, port: int, *, announce: Callable[[str], None], open_browser: bool, db: Path | None = None
) -> None:
    """Serve until the process is interrupted; `announce` gets the address once the server answers there.

    `db` is the experiment's file, None for the demo. Raises ServerError where the address cannot be had,
    StorageError where the file cannot be used.
    """
    settings = Settings(host, None if Settings(host).is_loopback else secrets.token_urlsafe(24))
    with contextlib.closing(_bind(host, port)) as bound, contextlib.closing(Desk(db)) as desk:
        app = create_app(settings, desk=desk)
        path = first_page(own=True) if desk.saved else "/"
        address = _address(host, bound.getsockname()[1], path, settings.token)
        config = uvicorn.Config(
            app,
            log_level="error",
            access_log=False,
            server_header=False,
            timeout_graceful_shutdown=3,
            ws="none",
        )
        server = _Announcing(config, address, announce, open_browser, desk)
        with contextlib.suppress(KeyboardInterrupt):
            server.run(sockets=[bound])


class _Announcing(uvicorn.Server):
    """A server that says where it is when it is there."""

    def __init__(
        self, config: uvicorn.Config, address: str, announce: Callable[[str], None], open_browser: bool,
        desk: Desk,
    ) -> None:  # fmt: skip
        super().__init__(config)
        self._desk = desk
        self._address = address
        self._announce = announce
        self._open_browser = open_browser

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start, then tell the address and open it."""
        await super().startup(sockets=sockets)
        if not self.started:
            return
        self._announce(self._address)
        if self._open_browser:
            # A browser may take its time to start, or to fail: neither is the server's business.
            Thread(target=webbrowser.open, args=(self._address,), daemon=True).start()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Stop, and close the experiment: a signal ends the process before anybody else could."""
        self._desk.jobs.close()
        await super().shutdown(sockets=sockets)
        self._desk.close()


def _bind(host: str, port: int) -> socket.socket:
    if not 0 <= port <= 65535:
        raise ServerError(f"端口 {port} 无效：请改为 0 到 65535 之间的整数。")
    where = f"{visible(host)} 的端口 {port}"
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        bound = socket.socket(family, kind, protocol)
    except (OSError, UnicodeError):
        raise ServerError(f"地址 {visible(host)} 无法识别：请改为本机的地址，如 127.0.0.1。") from None
    try:
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        bound.bind(address)
        bound.listen()
    except PermissionError:
        bound.close()
        raise ServerError(f"没有权限使用{where}：请用 --port 换一个 1024 以上的端口。") from None
    except OSError as error:
        bound.close()
        raise ServerError(
            f"{where} 不能用（{error.strerror}）：请用 --port 换一个，或先关掉占用它的程序。"
        ) from None
    return bound


def _address(host: str, port: int, path: str, token: str | None) -> str:
    name = "127.0.0.1" if host in WILDCARDS else host
    with contextlib.suppress(ValueError):
        name = f"[{name}]" if ipaddress.ip_address(name).version == 6 else name
    return f"http://{name}:{port}{path}" + (f"?token={token}" if token else "")
