"""Timers without a server: each fires when it is due, as the event that the server would store.

Belongs here: finding the timers of a tree, and firing them in order. Does not: when a timer starts and when it is due
(`core.timers`), the methods of a scenario (`scenario`).
"""

from collections.abc import Iterator
from operator import methodcaller
from typing import NamedTuple

from phaseline.engine.core.timers import Schedule, fired_event, timeout_of
from phaseline.engine.core.tree import Tree
from phaseline.engine.surfaces.testing.histories import SUBJECTS, Sent, answer
from phaseline.engine.surfaces.testing.placement import wrong_test
from phaseline.schemas.records import SECOND, Record

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


class TimersFired(NamedTuple):
    """What came of the timers that were due.

    records: what they made. timers: those that fired, in order. next: the one that is due next; None if there is none.
    position: of the next event. spent: the timers that fired without effect, though their entities still name them.
    """

    records: list[Record]
    timers: list[ArmedTimer]
    next: ArmedTimer | None
    position: int
    spent: frozenset[ArmedTimer]


def stored_timer(target: str) -> str:
    """The subject under which the server stores a timer that fired at `target`, in partition 0."""
    return f"{SUBJECTS.prefix}.due.0.{target.removeprefix(f'{SUBJECTS.prefix}.fired.')}"


def fire_due(
    tree: Tree, position: int, start: int, end: int, spent: frozenset[ArmedTimer] = frozenset()
) -> TimersFired:
    """Fire every timer that is due until `end`, in order, also those that start meanwhile. Changes the tree.

    position: of the next event. start, end: ns. A timer that was due before `start` fires then. spent: as in
    `TimersFired`. Raises `AssertionError` if the timers do not come to an end.
    """
    records: list[Record] = []
    fired: list[ArmedTimer] = []
    now = start
    while (timer := min(armed(tree, spent), default=None)) is not None and timer.due <= end:
        if len(fired) == MAX_FIRED:
            seconds = (end - start) / SECOND
            raise wrong_test(f"more than {MAX_FIRED} timers fire in {seconds:g} s; the next would be {timer}")
        now = max(now, timer.due)
        records += _fire(tree, timer, position + len(fired), now)
        fired.append(timer)
        if timer in armed(tree):
            spent |= {timer}
    return TimersFired(records, fired, timer, position + len(fired), spent)


def armed(tree: Tree, spent: frozenset[ArmedTimer] = frozenset()) -> Iterator[ArmedTimer]:
    """The timers of all entities, but for those that are spent."""
    for kind in tree.kinds.values():
        if not kind.timed:
            continue
        for entity in tree.entities[kind.name].values():
            for facet, due in entity.timers_ns.items():
                index = kind.names.index(facet)
                timeout = timeout_of(kind, index, entity.facets[index])
                if timeout is None:
                    raise AssertionError(f"{kind.name} {entity.id} has a timer in a phase without a timeout")
                timer = ArmedTimer(due, kind.name, entity.id, facet, timeout.trigger)
                if timer not in spent:
                    yield timer


def _fire(tree: Tree, timer: ArmedTimer, position: int, time: int) -> list[Record]:
    """Decide the event of a timer and change the tree. `time`: when the event is stored, ns."""
    target = SUBJECTS.fired(timer.kind, timer.trigger, timer.id)
    schedule = Schedule(0, target, timer.kind, timer.id, timer.facet, timer.trigger, timer.due)
    body = fired_event(schedule, f"phaseline/{SUBJECTS.prefix}")
    return answer(tree, Sent(stored_timer(target), body), position, time)
