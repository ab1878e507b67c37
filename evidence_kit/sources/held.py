"""A source that is held in a store, as it stands at one moment."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

from evidence_kit.sources.model import SourceError, text_digest
from evidence_kit.sources.validity import Validity


@dataclass(frozen=True)
class HeldSource:
    """One source: its stored text, of which `text[body_start:]` is searched; titles are only shown.

    `encoding` and `transformations` say how the text came out of its bytes, `origin` is the name of the file
    that it came from, empty where there was none.
    """

    source_id: str
    title: str
    text: str
    body_start: int = 0
    validity: Validity = field(default_factory=Validity)
    encoding: str = "utf-8"
    transformations: tuple[str, ...] = ()
    origin: str = ""

    def __post_init__(self) -> None:
        if not self.source_id.strip():
            raise SourceError("资料标识是空的：请给出标识。")
        for name, text in (
            ("标识", self.source_id),
            ("标题", self.title),
            ("正文", self.text),
            ("文件名", self.origin),
        ):
            check_text(text, f"资料 {self.source_id!r} 的{name}")
        if not 0 <= self.body_start <= len(self.text):
            raise SourceError(
                f"资料 {self.source_id} 的正文起点 {self.body_start} 不在 0 到 {len(self.text)} 之间。"
            )

    @cached_property
    def text_sha256(self) -> str:
        """Return the stored text's digest, which a judgment of this source names."""
        return text_digest(self.text)


def check_text(text: str, name: str) -> None:
    """Raise SourceError, saying where, if a text holds a lone surrogate and so cannot be stored."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise SourceError(
            f"{name}在第 {error.start} 个码点处（从 0 起）含有孤立的代理项，不是合法文本：请改正后重试。"
        ) from None
