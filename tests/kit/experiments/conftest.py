"""What the tests of experiments share: a clock that is set, a new store, one with records in it."""

import pytest
from made_up import Clock, document

from evidence_kit.experiments.store import ExperimentStore


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def store(tmp_path, clock):
    store = ExperimentStore.create(tmp_path / "x.db", "手册", clock=clock)
    yield store
    store.close()


@pytest.fixture
def filled(store):
    """Three sources, two questions, three judgments."""
    store.import_documents(
        [document("a", "退款七天内受理"), document("b", "运费自理"), document("c", "周一闭馆")]
    )
    store.add_questions(["退款要几天", "哪天闭馆"])
    store.judge_all({("Q001", "S001"): 3, ("Q001", "S002"): 1, ("Q002", "S003"): 2})
    return store
