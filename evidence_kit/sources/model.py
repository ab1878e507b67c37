"""A source as it may be cited: one version, the stored text of that version, and how the text was
extracted.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

from evidence_kit.errors import EvidenceError

BOM_REMOVED = "bom_removed"
PLAIN_TEXT = "plain_text"
PLAIN_TEXT_VERSION = "1"

_BOM = b"\xef\xbb\xbf"


class SourceError(EvidenceError):
    """A source's bytes or fields cannot be stored as they are."""


@dataclass(frozen=True)
class Representation:
    """Which reading of a source its positions count in.

    `transformations` names, in order, every step that changed positions; `unicode_version` is the version
    whose grapheme rules were used.
    """

    extractor: str
    extractor_version: str
    transformations: tuple[str, ...]
    unicode_version: str


@dataclass(frozen=True)
class StoredText:
    """A text as decoded once, with the transformations that decoding took (a BOM taken off is one)."""

    text: str
    transformations: tuple[str, ...] = ()

    @property
    def sha256(self) -> str:
        """The text's digest, see `text_digest`."""
        return text_digest(self.text)


@dataclass(frozen=True)
class Source:
    """One version of one source: its identity, its stored text and the representation the text is."""

    source_id: str
    title: str
    version: str
    text: str
    representation: Representation

    def __post_init__(self) -> None:
        if not self.source_id or not self.version:
            raise SourceError("资料来源缺少标识或版本：source_id 与 version 都不能为空。")
        try:
            text_digest(self.text)
        except UnicodeEncodeError as error:
            raise SourceError(
                f"资料来源 {self.source_id} 的正文在第 {error.start} 个码点处含有孤立的代理项，不是合法文本；"
                "请检查提取步骤。"
            ) from None

    @property
    def text_sha256(self) -> str:
        """The stored text's digest, see `text_digest`."""
        return text_digest(self.text)


def text_digest(text: str) -> str:
    """The SHA-256 of `text` encoded as UTF-8, without a BOM, as 64 lower-case hexadecimal digits.

    It is over the stored text, not over the file: two files that differ in a leading BOM alone have one
    digest. Raises UnicodeEncodeError on a lone surrogate.
    """
    return hashlib.sha256(text.encode("utf-8")).hexdigest()


def decode_text(data: bytes, name: str) -> StoredText:
    """The text in `data`, decoded as strict UTF-8 with line ends as they are; one leading BOM is taken off.

    Raises SourceError naming `name` and the offset of the first byte that is not UTF-8.
    """
    body = data.removeprefix(_BOM)
    try:
        text = body.decode("utf-8")
    except UnicodeDecodeError as error:
        offset = error.start + len(data) - len(body)
        raise SourceError(
            f"{name} 不是 UTF-8 文本：第 {offset} 个字节（从 0 起）无法解码；请先另存为 UTF-8。"
        ) from None
    return StoredText(text, (BOM_REMOVED,) if len(body) < len(data) else ())
