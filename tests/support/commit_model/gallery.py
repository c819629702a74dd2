"""The cases that are explored: sound ones, and one for each safeguard that is left out.

Belongs here: bounds and stories. Does not: the search (`explorer`). `python -m tests.support.commit_model` prints the
counterexample of each safeguard.
"""

from typing import NamedTuple

from tests.support.commit_model.explorer import Bounds, Model
from tests.support.commit_model.worker import Protocol, Story

ONE, REJECTED = Story(("one",), (0,)), Story(("rejection",), (0,))


class Case(NamedTuple):
    """A model, and what its search must find: the beginning of the problem, or nothing."""

    model: Model
    problem: str = ""


def _sound(*shapes: str, entities: tuple[int, ...] = (), **bounds: int) -> Case:
    return Case(Model(Story(shapes, entities or (0,) * len(shapes)), Bounds(**bounds)))


def _without(story: Story, bounds: Bounds, problem: str, **switches: bool | str) -> Case:
    return Case(Model(story, bounds, Protocol()._replace(**switches)), problem)  # type: ignore[arg-type]  # by name


SOUND = {
    "two workers": _sound("one", "rejection", lives=2),
    "three workers": _sound("one", "batch", workers=3, crashes=0, timeouts=1),
    "take-overs": _sound("one", "rejection", "one", crashes=1, timeouts=1),
    "oversized": _sound("big", "one", lives=2, timeouts=1),
    "oversized, foreign messages": _sound("big", "one", lives=2, crashes=0, timeouts=1, garbage=1),
    "foreign messages on the fence": _sound("one", "rejection", lives=2, crashes=0, timeouts=1, garbage=1),
    "copies of checkpoints on the fence": _sound("rejection", "one", lives=2, crashes=0, timeouts=1, copies=1),
    "foreign records": _sound("one", "one", lives=2, crashes=0, timeouts=1, records=1),
    "STATE until the epoch": Case(Model(Story(("one", "one"), (0, 0)), Bounds(timeouts=1), Protocol(waits="epoch"))),
}
"""Explored in each run: a few seconds together."""

LARGE = {
    "three workers": _sound("one", "rejection", "one", workers=3, timeouts=1),
    "two oversized": _sound("big", "big", timeouts=1),
    "an oversized one between two": _sound("one", "big", lives=2, timeouts=1, garbage=1),
    "copies and foreign messages": _sound("rejection", "one", crashes=0, timeouts=1, copies=1, garbage=1),
    "copies over three events": _sound("rejection", "rejection", "one", crashes=0, timeouts=1, copies=1),
    "moves": _sound("none", "one", "rejection", crashes=0, timeouts=1, garbage=1),
    "everything": _sound("one", "batch", entities=(0, 1), timeouts=1, garbage=1, records=1),
    "many lost answers": _sound("one", "rejection", "one", timeouts=3),
    "two foreign messages": _sound("one", "rejection", lives=2, timeouts=1, garbage=2),
}
"""Explored by `python3 dev.py prove`."""

TWICE, AFTER = "an event is committed twice", "worker 1 commits after worker 2 took over"
BROKEN = {
    "the fence": _without(ONE, Bounds(crashes=0, timeouts=0), "the epoch does not rise", fence=False),
    "the epoch, to tell a take-over from a foreign message": _without(
        ONE, Bounds(lives=2, timeouts=1), AFTER, epoch=False
    ),
    "the epoch, to know that STATE is complete": _without(
        Story(("one", "one"), (0, 0)), Bounds(lives=2, timeouts=0), TWICE, epoch=False, waits="epoch"
    ),
    "the doubt step": _without(ONE, Bounds(lives=2, timeouts=1), TWICE, doubt=False),
    "the fence before the look": _without(ONE, Bounds(lives=2, timeouts=1), TWICE, fence_before_look=False),
    "the look at all messages of the subject": _without(
        ONE, Bounds(lives=2, timeouts=1, records=1), TWICE, looks_at_all=False
    ),
    "strict reading of foreign messages": _without(
        ONE, Bounds(lives=2, timeouts=1, garbage=1), "no worker can take over", strict=False
    ),
    "strict reading of copied checkpoints": _without(
        Story(("rejection", "one"), (0, 0)),
        Bounds(lives=2, timeouts=1, copies=1),
        "the position of the checkpoint falls",
        strict=False,
    ),
    "own tries behind foreign messages": _without(
        REJECTED, Bounds(lives=2, crashes=0, timeouts=1, garbage=1), "the epoch does not rise", own_tries=False
    ),
    "the newest checkpoint before own tries": _without(
        REJECTED, Bounds(lives=2, crashes=0, timeouts=1, copies=1), AFTER, newest=False
    ),
    "the checkpoint that is known": _without(
        REJECTED, Bounds(lives=2, timeouts=1), "the epoch does not rise", knows=False
    ),
    "waiting for STATE": _without(ONE, Bounds(lives=2, timeouts=0), TWICE, waits="nothing"),
    "waiting for the place, where a foreign message hides the epoch": _without(
        ONE, Bounds(lives=2, timeouts=0, garbage=1), "worker 1 waits for STATE for ever", waits="epoch"
    ),
    "the log behind foreign states": _without(
        ONE, Bounds(lives=2, timeouts=0, records=1), TWICE, log_behind_state=False
    ),
    "the position of a plan": _without(
        Story(("big", "one"), (0, 0)), Bounds(lives=2, timeouts=0), "records are out of order", plan_position=False
    ),
    "the end of a purge": _without(
        Story(("big", "big"), (0, 0)), Bounds(crashes=0, timeouts=1), "plan lost", purge_bound=False
    ),
}
"""By the safeguard that is left out."""
