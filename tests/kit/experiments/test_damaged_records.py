"""A record in the file that is not what its kind is made of: damage, said in one line, whatever is asked."""

import contextlib
import sqlite3

import pytest

from evidence_kit.errors import EvidenceError
from evidence_kit.experiments.store import ExperimentStore
from evidence_kit.storage.errors import DamagedDatabaseError

ACTIONS = [
    lambda store: store.snapshot(),
    lambda store: store.judge("Q001", "S001", 2),
    lambda store: store.confirm("Q001", "S001"),
    lambda store: store.edit_source("S001", title="新"),
    lambda store: store.edit_question("Q001", "新问题"),
    lambda store: store.add_questions(["又一个"]),
    lambda store: store.set_parameters({"k": 2}),
    lambda store: store.rename("新名"),
]


def damage(path, kind, body):
    with contextlib.closing(sqlite3.connect(path)) as connection, connection:
        for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall():
            connection.execute(f"DROP TRIGGER {name}")
        connection.execute("UPDATE revision SET body = ? WHERE kind = ?", (body, kind))


@pytest.mark.parametrize("body", ["{", "[]", "null", '"x"', "1", "{}", '{"text":null}', '{"other":1}'])
@pytest.mark.parametrize("kind", ["source", "question", "parameters", "settings"])
def test_damaged_record_is_told_as_such_by_every_action_that_needs_it(filled, tmp_path, kind, body):
    filled.close()
    damage(tmp_path / "x.db", kind, body)
    told = 0
    for action in ACTIONS:
        store = ExperimentStore.open(tmp_path / "x.db")
        try:
            action(store)
        except DamagedDatabaseError as error:
            assert error.exit_code == 1 and "备份" in error.message
            told += 1
        except EvidenceError as error:
            pytest.fail(f"{kind} {body}: {error.message}")
        finally:
            store.close()
    # Parameters that lack a field have its default.
    assert told or (kind, body) == ("parameters", "{}")
