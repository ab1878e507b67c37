"""The pages of the workbench: a line here makes a page or a tab, its place in the navigation and routes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from importlib import import_module

from starlette.routing import Route


@dataclass(frozen=True)
class Page:
    """A page's address and title; each of its modules has `routes`, a list of Starlette routes.

    `of_course` says what it shows of the course, on a server that was opened for an experiment of one's own.
    """

    path: str
    title: str
    modules: tuple[str, ...]
    of_course: str | None = None

    def routes(self) -> Iterator[Route]:
        """Yield the routes of the page."""
        for module in self.modules:
            yield from import_module(module).routes


@dataclass(frozen=True)
class Tab:
    """One of the Evaluate pages; its module has `routes`, and tabs may share one.

    Where `dated` it shows what is in force on the day in its address. Forms sent to `uploads` carry files or
    whole sources.
    """

    path: str
    title: str
    module: str
    dated: bool = False
    uploads: tuple[str, ...] = ()


TABS = (
    Tab("/evaluate", "判断", "evidence_kit.web.evaluate", dated=True),
    Tab("/evaluate/measures", "参数与指标", "evidence_kit.web.evaluate_results", dated=True),
    Tab(
        "/evaluate/sources", "资料", "evidence_kit.web.evaluate_sources", dated=True,
        uploads=("/evaluate/import", "/evaluate/paste", "/evaluate/source/edit"),
    ),
    Tab("/evaluate/questions", "问题", "evidence_kit.web.evaluate_questions"),
    Tab("/evaluate/baselines", "基线", "evidence_kit.web.evaluate_results", dated=True),
    Tab(
        "/evaluate/exports", "导出与还原", "evidence_kit.web.evaluate_files", dated=True,
        uploads=("/evaluate/restore",),
    ),
    Tab("/evaluate/history", "历史", "evidence_kit.web.evaluate_past"),
)  # fmt: skip
PAGES = (
    Page("/ask", "提问", ("evidence_kit.web.ask",), "这里问的是课程资料，不是您的实验的资料。"),
    Page("/find", "查找", ("evidence_kit.web.find",)),  # it has sources of both, and says itself which
    Page("/evaluate", "评测", (*dict.fromkeys(tab.module for tab in TABS), "evidence_kit.web.evaluate_jobs")),
    Page("/acceptance", "验收", ("evidence_kit.web.acceptance",), "这里是课程系统的验收，与您的实验无关。"),
    Page("/sources", "资料", ("evidence_kit.web.sources",), "这里是课程资料，不是您的实验的资料。"),
)


def first_page(*, own: bool) -> str:
    """Return the page to begin on: where an experiment of one's own was given, the one that it is on."""
    return "/evaluate" if own else PAGES[0].path


def page_routes() -> Iterator[Route]:
    """Yield the routes of all pages."""
    for page in PAGES:
        yield from page.routes()
