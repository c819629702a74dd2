"""The garbage collector of workers and commands."""

import gc
from collections.abc import Iterator

import pytest

from phaseline.engine.collecting import COLLECT, collecting_rarely, loading_modules


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


@pytest.mark.usefixtures("unfrozen")
def test_modules_are_loaded_without_collections() -> None:
    frozen = gc.get_freeze_count()
    with loading_modules():
        assert not gc.isenabled()
    assert gc.isenabled()
    assert gc.get_freeze_count() > frozen
    gc.disable()
    try:
        with loading_modules():
            pass
        assert not gc.isenabled()  # whoever collects nothing goes on so
    finally:
        gc.enable()
