"""An experiment as it stands, read again only where it has changed."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from evidence_kit.experiments.model import Experiment
from evidence_kit.experiments.records import assembled, part_of
from evidence_kit.storage.revisions import Change, Revision, Revisions, Turns


@dataclass(frozen=True)
class Standing:
    """An experiment as it stands, with the last revision of all, and that of each record, for `expected`.

    `change` is the last change, `turns` what can be undone and redone after it.
    """

    experiment: Experiment
    last: int
    numbers: Mapping[tuple[str, str], int]
    change: Change | None
    turns: Turns

    def revision(self, kind: str, record_id: str) -> int:
        """Return the number of a record's last revision; 0 where there never was one."""
        return self.numbers.get((kind, record_id), 0)


@dataclass
class Held:
    """What was read last, each record made into its part of the experiment once; threads may share it."""

    _numbers: dict[tuple[str, str], int] = field(default_factory=dict)
    _parts: dict[tuple[str, str], object] = field(default_factory=dict)
    _standing: Standing | None = None
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def look(self, revisions: Revisions) -> Standing:
        """Return what stands now, whoever wrote it; only what came after the last look is read."""
        with self._lock:
            before = self._standing
            newer = revisions.since(before.last if before else 0)
            # An undo may find nothing left to take back: it is a change without a revision.
            change = revisions.last_change(before.change if before else None)
            if before is not None and not newer:
                if change is before.change:
                    return before
                self._standing = replace(before, change=change, turns=revisions.turns())
                return self._standing
            for revision in newer:
                self._take(revision)
            numbers = dict(self._numbers)
            last = max(numbers.values(), default=0)
            experiment = assembled(self._parts)
            self._standing = Standing(experiment, last, numbers, change, revisions.turns())
            return self._standing

    def _take(self, revision: Revision) -> None:
        key = (revision.kind, revision.record_id)
        self._numbers[key] = revision.number
        self._parts.pop(key, None)
        if revision.body is not None:
            self._parts[key] = part_of(*key, revision.body)
