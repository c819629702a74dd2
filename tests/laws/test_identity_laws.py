"""Several observers of one place, each as far behind as it likes: in the end it stands as the world is.

Belongs here: worlds in which things come, change and go under one name, observers that say which thing they saw and
what they had read by then, or which version of it. Does not: single messages and what they may do (`test_life_laws`),
facts of whole products (`test_order_laws`).
"""

from collections import deque
from random import Random
from typing import Any, NamedTuple

import pytest
from hypothesis import strategies as st

from phaseline.machines.language.table import ABSENT, DELETED
from tests.support.edge_worlds import KINDS
from tests.support.strategies import History, event, hold

RANDOM = st.integers(0, 2**63).map(Random)
PLACES = {"node": "c/p/n", "node_pool": "c/p", "cluster": "c", "component": "c/dns"}
PHASES = (("Running", ()), ("Failed", ("Unknown",)))


class Seen(NamedTuple):
    """What an observer saw: the thing, its version, its state; None for the state: it is gone.

    thing: None if nothing was there, and the observer has not seen what was there last. read: the last event of which
    the observer had read by then.
    """

    thing: int | None
    version: int
    state: tuple[str, tuple[str, ...]] | None
    read: int


class World:
    """One place, the log, and the observers with what each has seen and not told yet."""

    def __init__(self, random: Random, kind: str) -> None:
        self.random, self.kind, self.history = random, kind, History(KINDS)
        self.thing, self.version, self.state = 1, 1, random.choice(PHASES)
        self.alive, self.last = True, dict[str, int | None]()
        self.observers = {f"/{name}": deque[Seen]() for name in ("one", "two", "three")[: random.choice((2, 3))]}

    def goes_on(self, *, things: bool) -> None:
        """Something happens: the state changes, the thing goes, or another one comes; or none of it."""
        self.version += 1
        if not self.alive:
            self.alive, self.thing, self.state = things, self.thing + things, self.random.choice(PHASES)
        elif self.random.random() < 0.3:
            self.alive = False
        else:
            self.state = self.random.choice(PHASES)

    def looks(self, observer: str) -> None:
        thing = self.thing if self.alive or self.last.get(observer) == self.thing else None
        self.last[observer] = thing
        found = Seen(thing, self.version, self.state if self.alive else None, len(self.history.steps))
        self.observers[observer].append(found)

    def tells(self, observer: str, *, versions: bool, seen: bool) -> None:
        """The observer tells the first thing that it saw and has not told."""
        found = self.observers[observer].popleft()
        phase, conditions = (DELETED, ()) if found.state is None else found.state
        data: dict[str, Any] = {"phase": phase, **({"conditions": list(conditions)} if conditions else {})}
        if found.thing is not None:
            data |= {"uid": f"k8s:{found.thing}", **({"uid_version": found.version} if versions else {})}
        data |= {"seen": found.read} if seen else {}
        self.history.take(event(self.kind, "reported", PLACES[self.kind], data, source=observer))

    def stands(self) -> tuple[str, tuple[str, ...]] | None:
        """The state of the place as it is shown; None if nothing is there."""
        entity = self.history.tree.get(self.kind, PLACES[self.kind])
        if entity is None or (base := entity.facets[0].base).phase in (ABSENT, DELETED):
            return None
        return base.phase, () if base.phase == "Running" else base.conditions


def lived(random: Random, kind: str, *, things: bool, versions: bool, seen: bool) -> World:
    """A world after some time, once every observer has looked again and told all."""
    world = World(random, kind)
    for _ in range(random.choice((6, 12, 24))):
        observer = random.choice([*world.observers])
        match random.choice(("go", "look", "look", "tell", "tell")):
            case "go":
                world.goes_on(things=things)
            case "look":
                world.looks(observer)
            case "tell" if world.observers[observer]:
                world.tells(observer, versions=versions, seen=seen)
    while left := [one for one, found in world.observers.items() if found]:
        world.tells(random.choice(left), versions=versions, seen=seen)
    world.last.clear()  # a list of all that is there does not name what is not
    for observer in random.sample([*world.observers], len(world.observers)):
        world.looks(observer)
        world.tells(observer, versions=versions, seen=seen)
    return world


EFFORTS = pytest.mark.parametrize("effort", ["ci", pytest.param("long", marks=pytest.mark.slow)])


@EFFORTS
@pytest.mark.parametrize("kind", PLACES)
def test_who_says_what_was_read_brings_nothing_back(kind: str, effort: str) -> None:
    def law(random: Random) -> None:
        world = lived(random, kind, things=True, versions=False, seen=True)
        assert world.stands() == (world.state if world.alive else None), world.history

    hold(law, RANDOM, effort)


@EFFORTS
@pytest.mark.parametrize("kind", PLACES)
def test_who_says_which_version_it_saw_undoes_nothing_newer(kind: str, effort: str) -> None:
    def law(random: Random) -> None:
        world = lived(random, kind, things=False, versions=True, seen=False)
        assert world.stands() == (world.state if world.alive else None), world.history

    hold(law, RANDOM, effort)
