"""Whether there is anything to undo, and to redo: what the two buttons of the Evaluate pages show."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from evidence_kit.storage.revisions import Change


@dataclass(frozen=True)
class Turns:
    """Whether an undo, and a redo, would find a change."""

    undo: bool
    redo: bool


def turns(last: Change | None, history: Callable[[], Iterable[Change]]) -> Turns:
    """Return what can be turned after the last change; `history` is read only where that does not say.

    Judging, which is most of the work, ends what could be redone: a long history is not read for each page.
    """
    if last is not None and last.undoable and last.undoes is None and last.redoes is None:
        return Turns(undo=True, redo=False)
    done = undone = 0
    for change in history():
        if not change.undoable:
            continue
        if change.undoes is not None:
            done, undone = done - 1, undone + 1
        elif change.redoes is not None:
            done, undone = done + 1, undone - 1
        else:
            done, undone = done + 1, 0
    return Turns(undo=done > 0, redo=undone > 0)
