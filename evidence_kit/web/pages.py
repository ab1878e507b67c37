"""The pages of the workbench: a line here makes a page, with its place in the navigation and its routes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from importlib import import_module

from starlette.routing import Route


@dataclass(frozen=True)
class Page:
    """A page's address and title; its module has `routes`, a list of Starlette routes.

    `of_course` says what it shows of the course, on a server that was opened for an experiment of one's own.
    """

    path: str
    title: str
    module: str
    of_course: str | None = None

    def routes(self) -> list[Route]:
        """Return the routes of the page."""
        found: list[Route] = import_module(self.module).routes
        return found


PAGES = (
    Page("/ask", "提问", "evidence_kit.web.ask", "这里问的是课程资料，不是您的实验的资料。"),
    Page("/find", "查找", "evidence_kit.web.find"),  # it has sources of both, and says itself which
    Page("/evaluate", "评测", "evidence_kit.web.evaluate"),
    Page("/acceptance", "验收", "evidence_kit.web.acceptance", "这里是课程系统的验收，与您的实验无关。"),
    Page("/sources", "资料", "evidence_kit.web.sources", "这里是课程资料，不是您的实验的资料。"),
)


def first_page(*, own: bool) -> str:
    """Return the page to begin on: where an experiment of one's own was given, the one that it is on."""
    return "/evaluate" if own else PAGES[0].path


def page_routes() -> Iterator[Route]:
    """Yield the routes of all pages."""
    for page in PAGES:
        yield from page.routes()
