"""The garbage collector of workers and commands."""

import gc
from collections.abc import Iterator

import pytest

from phaseline.engine.worker.collecting import COLLECT, collecting_rarely


@pytest.fixture
def unfrozen() -> Iterator[None]:
    """Nothing is frozen: the tests themselves freeze what they collected."""
    gc.unfreeze()
    yield
    gc.freeze()


@pytest.mark.usefixtures("unfrozen")
def test_a_worker_leaves_the_collector_as_it_was() -> None:
    before, frozen = gc.get_threshold(), gc.get_freeze_count()
    with collecting_rarely():
        assert gc.get_threshold() == COLLECT
        assert gc.get_freeze_count() > frozen
    assert gc.get_threshold() == before
    assert gc.get_freeze_count() <= frozen


@pytest.mark.usefixtures("unfrozen")
def test_what_a_program_froze_stays_frozen() -> None:
    gc.freeze()
    frozen = gc.get_freeze_count()
    with collecting_rarely():
        assert (gc.get_threshold(), gc.get_freeze_count()) == (COLLECT, frozen)
    assert gc.get_freeze_count() == frozen > 0
