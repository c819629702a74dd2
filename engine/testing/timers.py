"""Timers without a server: each fires when it is due, as the event that the server would store.

Belongs here: finding the timers of a tree, and firing them in order. Does not: when a timer starts and when it is due
(`core.timers`), the methods of a scenario (`scenario`).
"""

from collections.abc import Iterator
from operator import methodcaller
from typing import NamedTuple

from msgspec.structs import replace

from phaseline.engine.core import intake
from phaseline.engine.core.decide import decide
from phaseline.engine.core.timers import Schedule, fired_event
from phaseline.engine.core.tree import Tree, evolve
from phaseline.engine.testing.histories import SUBJECTS
from phaseline.engine.testing.placement import wrong_test
from phaseline.schemas.records import NONE, SECOND, Record, Rejection

MAX_FIRED = 10_000
"""The most timers that fire in one waiting. More of them come from a timer that starts again at once, or nearly so."""
__tracebackhide__ = methodcaller("errisinstance", AssertionError)
"""Tells pytest to show the failing line of the test instead of a line of this module."""


class ArmedTimer(NamedTuple):
    """A timer of a tree that has not fired. `due`: when it fires, ns."""

    due: int
    kind: str
    id: str
    facet: str
    trigger: str

    def __str__(self) -> str:
        return f"{self.kind} {self.id} {self.trigger}"


class Waited(NamedTuple):
    """What came of waiting.

    fired: how many timers. next: the one that is due next; None if there is none. position: of the next event.
    """

    records: list[Record]
    fired: int
    next: ArmedTimer | None
    position: int


def stored_timer(target: str) -> str:
    """The subject under which the server stores a timer that fired at `target`, in partition 0."""
    return f"{SUBJECTS.prefix}.due.0.{target.removeprefix(f'{SUBJECTS.prefix}.fired.')}"


def wait(tree: Tree, position: int, start: int, end: int) -> Waited:
    """Fire every timer that is due until `end`, in order, also those that start meanwhile. Changes the tree.

    position: of the next event. start, end: ns. A timer that was due before `start` fires then. Raises
    `AssertionError` if the timers do not come to an end.
    """
    records: list[Record] = []
    fired, now = 0, start
    while (timer := min(_armed(tree), default=None)) is not None and timer.due <= end:
        if fired == MAX_FIRED:
            seconds = (end - start) / SECOND
            raise wrong_test(f"more than {MAX_FIRED} timers fire in {seconds:g} s; the next would be {timer}")
        now = max(now, timer.due)
        records += _fire(tree, timer, position + fired, now)
        fired += 1
    return Waited(records, fired, timer, position + fired)


def _armed(tree: Tree) -> Iterator[ArmedTimer]:
    """The timers of all entities."""
    for kind in tree.kinds.values():
        if not kind.timed:
            continue
        for entity in tree.entities[kind.name].values():
            for facet, due in entity.timers_ns.items():
                index = kind.names.index(facet)
                timeout = kind.timeouts[index][entity.facets[index].state.phase]
                yield ArmedTimer(due, kind.name, entity.id, facet, timeout.trigger)


def _fire(tree: Tree, timer: ArmedTimer, position: int, time: int) -> list[Record]:
    """Decide the event of a timer and change the tree. `time`: when the event is stored, ns."""
    target = SUBJECTS.fired(timer.kind, timer.trigger, timer.id)
    schedule = Schedule(0, target, timer.kind, timer.id, timer.facet, timer.trigger, timer.due)
    body = fired_event(schedule, f"phaseline/{SUBJECTS.prefix}")
    read = intake.read(tree.kinds, SUBJECTS, stored_timer(target), body, position, time)
    records: list[Record] = [read] if isinstance(read, Rejection) else decide(tree, read).records
    for record in records:
        evolve(tree, record)
    _discard(tree, timer)
    return records


def _discard(tree: Tree, timer: ArmedTimer) -> None:
    """Take a timer away that fired without effect. Its entity still names it, but a timer fires only once."""
    entity = tree.entities[timer.kind].get(timer.id)
    if entity is not None and entity.timers_ns.get(timer.facet) == timer.due:
        kept = {facet: due for facet, due in entity.timers_ns.items() if facet != timer.facet}
        tree.put(replace(entity, timers_ns=kept or NONE))
