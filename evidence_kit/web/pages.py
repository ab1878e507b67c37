"""The pages of the workbench: a line here makes a page, with its place in the navigation and its routes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from importlib import import_module

from starlette.routing import Route


@dataclass(frozen=True)
class Page:
    """A page's address and title; its module has `routes`, a list of Starlette routes."""

    path: str
    title: str
    module: str

    def routes(self) -> list[Route]:
        """Return the routes of the page."""
        found: list[Route] = import_module(self.module).routes
        return found


PAGES = (
    Page("/ask", "提问", "evidence_kit.web.ask"),
    Page("/find", "查找", "evidence_kit.web.find"),
    Page("/evaluate", "评测", "evidence_kit.web.evaluate"),
    Page("/acceptance", "验收", "evidence_kit.web.acceptance"),
    Page("/sources", "资料", "evidence_kit.web.sources"),
)


def page_routes() -> Iterator[Route]:
    """Yield the routes of all pages."""
    for page in PAGES:
        yield from page.routes()
