"""The ids of passages: given ones, checked and kept as strings, or else the positions themselves."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from evidence_kit.index.errors import IndexInputError

if TYPE_CHECKING:
    from evidence_kit.index.blocks import BlockFile


def checked_ids(ids: Sequence[str] | None, passages: int) -> Sequence[str | int]:
    """Return one id a passage, its position where none are given; IndexInputError where they do not fit."""
    if ids is None:
        return range(passages)
    if isinstance(ids, str) or len(ids) != passages:
        raise IndexInputError(f"ids 有 {len(ids)} 个，资料块有 {passages} 块：请一块给一个")
    for position, name in enumerate(ids):
        if not isinstance(name, str) or not name:
            raise IndexInputError(f"ids 第 {position + 1} 个应为非空字符串")
    if len(set(ids)) < len(ids):
        twice = next(name for name, count in Counter(ids).items() if count > 1)
        raise IndexInputError(f"ids 里 {twice!r} 出现了不止一次：请让编号互不相同")
    return list(ids)


class StoredIds(Sequence[str]):
    """Ids as they stand in a file, checked and decoded one at a time."""

    def __init__(self, blocks: BlockFile) -> None:
        self._blocks = blocks
        self._start, self._content = blocks.array("ids.start"), blocks.array("ids.content")

    def __len__(self) -> int:
        return len(self._start) - 1

    def __getitem__(self, position: Any) -> Any:
        self._blocks.touch("ids.start", position, position + 2)
        begin, end = int(self._start[position]), int(self._start[position + 1])
        self._blocks.touch("ids.content", begin, end)
        return bytes(self._content[begin:end]).decode("utf-8", "surrogatepass")
