"""When the decision of one event counts as stuck: by what its thread computes, or if it waits; not by the clock."""

import threading

import pytest

from phaseline.engine.worker.deciding import DecidingThread, Pace
from phaseline.schemas.errors import SetupError


async def test_where_others_have_the_processor_a_long_decision_is_not_stuck(monkeypatch: pytest.MonkeyPatch) -> None:
    looks, over = list[float](), threading.Event()

    def computed(_: DecidingThread) -> float:
        looks.append(0.01 * len(looks))
        if len(looks) == 3:
            over.set()
        return looks[-1]

    monkeypatch.setattr(DecidingThread, "_computed", computed)
    thread = DecidingThread("test", 1.0)
    assert await thread.run(over.wait, Pace(60.0))
    thread.close()


async def test_a_decision_that_waits_for_something_is_stuck() -> None:
    thread, over = DecidingThread("test", 1.0), threading.Event()
    with pytest.raises(SetupError) as caught:
        await thread.run(over.wait, Pace(60.0))
    assert SetupError.decision_stuck.made(caught.value)
    over.set()
    thread.close()
