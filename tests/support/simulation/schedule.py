"""One seed, from the beginning of its world to the judgement.

Belongs here: the size of a schedule, running one, saying what it found. Does not: the parts of it.
Garbage is collected between schedules only: a world is one large ring of references, so a search in the middle of it
finds nothing, and what is left of another one must not go on in it.
"""

import gc
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple
from zlib import crc32

from tests.support.simulation import judge
from tests.support.simulation.plant import TREES, Plant, layout, running
from tests.support.simulation.troubles import Troubles
from tests.support.simulation.world import Endless, World

SECONDS = (1.0, 4.0, 8.0)
"""Virtual seconds in which agents publish and troubles begin."""
MADE = 0.15
"""The share of schedules in which workers and an operator make the streams. In the others these are there."""
CALM = 240.0
"""Virtual seconds in which all must be decided once it is calm."""
LOOK, AFTER = 0.25, 1.0
"""Virtual seconds between two looks whether all is decided, and those in which nothing may come after it."""


class Outcome(NamedTuple):
    """What a seed led to. digest: of all that was stored, so that a replay can be compared."""

    seed: int
    problems: list[str]
    story: list[str]
    turns: int
    seconds: float
    digest: int

    def __str__(self) -> str:
        return "\n".join([f"seed {self.seed}: {self.turns:,} turns, {self.seconds:.0f} virtual s", *self.problems])


def run(seed: int, *, edges: bool | None = None, only: tuple[str, ...] = (), is_told: bool = False) -> Outcome:
    """Run the schedule of a seed. edges: whether trees have edges; by the seed if it is not given.

    only: the names of the troubles that may happen.
    """
    with _alone():
        return _run(seed, edges, only, is_told=is_told)


@contextmanager
def _alone() -> Iterator[None]:
    """A block after which nothing is left of its world. What was at work then ends like a process that is killed."""
    was_enabled, hook = gc.isenabled(), sys.unraisablehook
    gc.disable()
    try:
        yield
    finally:
        sys.unraisablehook = lambda _: None
        gc.collect()
        sys.unraisablehook = hook
        if was_enabled:
            gc.enable()


def _run(seed: int, edges: bool | None, only: tuple[str, ...], *, is_told: bool) -> Outcome:
    world = World(seed, is_told=is_told)
    dice = world.dice
    count = dice.choice((0, 1, 1, 2)) if edges is None else dice.choice((1, 1, 2)) if edges else 0
    seconds = dice.choice(SECONDS)
    plant = Plant(world, TREES[:count], dice.choice((8, 20, 40)), seconds)
    plant.hub.is_clustered |= not {"replicas_lag", "leader_elected"}.isdisjoint(only)
    is_made = dice.random() > MADE
    streams = layout(TREES[:count]) if is_made else {}
    found: list[str] = []
    with running(plant):
        for _ in range(dice.choice((1, 2, 2, 3))):
            plant.start_worker()
        if is_made:
            plant.is_there(streams)
        else:
            world.run(lambda: "pl-LIVE" in plant.hub.streams or "pl-LEASE" in plant.hub.streams, 5.0)
            plant.add_edges()
        plant.start_agents()
        troubles = Troubles(plant, dice.choice((1, 3, 6)), seconds, only)
        try:
            world.pass_by(seconds)
            troubles.end()
            plant.finish()
            before = -1
            while plant.written != before and not found:  # what comes after a moment may have timers
                if not world.run(lambda: not plant.waits_for, CALM, LOOK):
                    found.append(f"it never ends: {plant.waits_for}")
                before = plant.written
                world.pass_by(AFTER)
        except Endless as error:
            found.append(str(error))
        found += judge.problems(plant)
        digest = 0
        for one in plant.hub.streams["pl-LOG"].messages.values():
            digest = crc32(one.data, crc32(f"{one.sequence} {one.subject}".encode(), digest))
    return Outcome(seed, found, world.story, world.turns, world.now - 1_000, digest)
