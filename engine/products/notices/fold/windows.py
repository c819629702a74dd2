"""Windows: when no begin is told of some trees, because it is expected.

Belongs here: whether a window is open at a time, windows that intents open and how these end. Does not: what becomes of
the notices meanwhile (`fold`).
"""

from collections import deque
from collections.abc import Sequence
from typing import NamedTuple

from phaseline.engine.products.notices.fold.matching import in_trees, with_above
from phaseline.engine.products.notices.fold.rules import QuietWindow
from phaseline.machines.compiler.classes.entity_classes import class_of_entity
from phaseline.machines.compiler.kinds import Kinds
from phaseline.schemas.records import SECOND, Transition

MINUTE = 60 * SECOND
KEPT = 3_600 * SECOND
"""For how long after its end a window is known: other trees may be followed later than the one that it is about."""


class OpenWindow(NamedTuple):
    """A window that is open until a time, ns. by, place: who opened it, and the place of that; empty if a clock did."""

    name: str
    until: int
    by: str = ""
    place: int = 0


class OpenedByIntent(NamedTuple):
    """An intent that opened a window for an entity and what is below it."""

    window: str
    kind: str
    id: str
    since: int
    until: int
    by: str
    place: int


class Windows:
    """The windows of some rules, with what intents have opened."""

    def __init__(self, kinds: Kinds, windows: Sequence[QuietWindow]) -> None:
        self._kinds, self._windows = kinds, windows
        self._asked: dict[str, dict[tuple[str, str], OpenedByIntent]] = {}
        self._ending: dict[str, deque[tuple[int, str]]] = {}

    def take(self, record: Transition, place: int) -> OpenedByIntent | None:
        """Look at a record: it may open a window, or end one, which is returned."""
        entity, found = record.entity, None
        for window in self._windows:
            key = (window.name, entity.kind)
            asked = self._asked.get(entity.id, {}).get(key)
            if record.trigger in window.opened_by and record.cause.by == "event":
                if in_trees(window.trees, entity.id):
                    by = record.cause.actor or record.cause.source
                    until = self._until(window, record)
                    self._open(OpenedByIntent(window.name, entity.kind, entity.id, record.time_ns, until, by, place))
            elif asked is not None and asked.until <= record.time_ns:
                self._forget(asked)
            elif asked is not None and class_of_entity(self._kinds, entity) in ("good", "gone"):
                found = asked._replace(until=record.time_ns + 1)  # what ends it belongs to it
                self._open(found)
                break
        self._sweep(root_of(entity.id), record.time_ns)
        return found

    def _until(self, window: QuietWindow, record: Transition) -> int:
        """Until when a window lasts at most that a record opens."""
        until, entity, kind = record.time_ns + window.longest, record.entity, self._kinds.get(record.entity.kind)
        if window.limit or kind is None or entity.facets[0].base.phase not in kind.deadlines[0]:
            return until
        return min(until, entity.timers_ns.get(entity.names[0], until))  # it stalls then

    def advance(self, time_ns: int) -> None:
        """No record can come any more of a time before this one."""
        for root in [*self._ending]:
            self._sweep(root, time_ns)

    def asked_of(self, kind: str, entity_id: str) -> list[OpenedByIntent]:
        """The windows that intents opened for an entity, and that no later record has removed."""
        return [one for (_, own), one in self._asked.get(entity_id, {}).items() if own == kind]

    def open_for(self, entity_id: str, time_ns: int) -> OpenWindow | None:
        """The window that is open for an entity at a time; None if none is. Of several, the one that ends last."""
        found = [OpenWindow(one.name, until) for one in self._windows if in_trees(one.trees, entity_id)
                 and (until := _open_until(one, time_ns)) > time_ns]  # fmt: skip
        if self._asked:
            found += [OpenWindow(one.window, one.until, one.by, one.place) for above in with_above(entity_id)
                      for one in self._asked.get(above, {}).values() if one.since <= time_ns < one.until]  # fmt: skip
        return max(found, key=lambda one: (one.until, one.name, -one.place), default=None)

    def end_after(self, time_ns: int) -> int | None:
        """The next end of a window by the clock after a time, ns; None if there is none."""
        return min((end for one in self._windows if (end := _end_after(one, time_ns)) is not None), default=None)

    def _open(self, asked: OpenedByIntent) -> None:
        self._asked.setdefault(asked.id, {})[asked.window, asked.kind] = asked
        self._ending.setdefault(root_of(asked.id), deque()).append((asked.until, asked.id))

    def _forget(self, asked: OpenedByIntent) -> None:
        of_entity = self._asked[asked.id]
        del of_entity[asked.window, asked.kind]
        if not of_entity:
            del self._asked[asked.id]

    def _sweep(self, root: str, now: int) -> None:
        """Forget what ended long ago in a tree. now: the time up to which that is followed."""
        ending = self._ending.get(root)
        while ending and ending[0][0] < now - KEPT:
            _, entity_id = ending.popleft()
            for one in [*self._asked.get(entity_id, {}).values()]:
                if one.until < now - KEPT:
                    self._forget(one)
        if ending is not None and not ending:
            del self._ending[root]


def root_of(entity_id: str) -> str:
    """The root of a tree, which is the least that has an order of its own."""
    return entity_id.partition("/")[0]


def _open_until(window: QuietWindow, time_ns: int) -> int:
    """Until when a window by the clock is open at a time, ns; 0 if it is not."""
    if window.between is not None:
        begins, ends = window.between
        return ends if begins <= time_ns < ends else 0
    last = None if window.schedule is None else window.schedule.last(time_ns // MINUTE)
    return 0 if last is None else last * MINUTE + window.lasting


def _end_after(window: QuietWindow, time_ns: int) -> int | None:
    """The next end of a window by the clock after a time, ns."""
    if window.between is not None:
        return window.between[1] if window.between[1] > time_ns else None
    begins = None if window.schedule is None else window.schedule.first((time_ns - window.lasting) // MINUTE + 1)
    return None if begins is None else begins * MINUTE + window.lasting
