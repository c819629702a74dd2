"""The garbage collector of workers and commands."""

import gc

from phaseline.engine.worker.collecting import COLLECT, collecting_rarely


def test_a_worker_leaves_the_collector_as_it_was() -> None:
    before, frozen = gc.get_threshold(), gc.get_freeze_count()
    with collecting_rarely():
        assert gc.get_threshold() == COLLECT
        assert gc.get_freeze_count() > frozen
    assert gc.get_threshold() == before
