"""An experiment as it stands, read again only where it has changed."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import dataclass, field

from evidence_kit.experiments.model import Experiment
from evidence_kit.experiments.records import experiment_of
from evidence_kit.storage.revisions import Change, Revision, Revisions


@dataclass(frozen=True)
class Standing:
    """An experiment as it stands, with the last revision of all, and that of each record, for `expected`.

    `change` is the last change.
    """

    experiment: Experiment
    last: int
    numbers: Mapping[tuple[str, str], int]
    change: Change | None

    def revision(self, kind: str, record_id: str) -> int:
        """Return the number of a record's last revision; 0 where there never was one."""
        return self.numbers.get((kind, record_id), 0)


@dataclass
class Held:
    """The last revisions that were read; threads may share it."""

    _records: dict[tuple[str, str], Revision] = field(default_factory=dict)
    _standing: Standing | None = None
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def look(self, revisions: Revisions) -> Standing:
        """Return what stands now, whoever wrote it; only what came after the last look is read."""
        with self._lock:
            before = self._standing
            newer = revisions.since(before.last if before else 0)
            if before is not None and not newer:
                return before
            self._records.update(((revision.kind, revision.record_id), revision) for revision in newer)
            numbers = {key: revision.number for key, revision in self._records.items()}
            last = max(numbers.values(), default=0)
            experiment = experiment_of(self._records.values())
            self._standing = Standing(experiment, last, numbers, revisions.last_change())
            return self._standing
