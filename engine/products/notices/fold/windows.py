"""Windows: when no begin is told of some trees, because it is expected.

Belongs here: whether a window is open at a time, windows that intents open and how these end. Does not: what becomes of
the notices meanwhile (`fold`).
"""

from collections.abc import Sequence
from typing import NamedTuple

from phaseline.engine.products.notices.fold.matching import in_trees
from phaseline.engine.products.notices.fold.rules import QuietWindow
from phaseline.machines.compiler.classes.entity_classes import class_of_entity
from phaseline.machines.compiler.kinds import Kinds
from phaseline.schemas.records import SECOND, Transition

MINUTE = 60 * SECOND


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
        """Nothing is open by an intent yet."""
        self._kinds, self._windows = kinds, windows
        self._asked: dict[tuple[str, str, str], OpenedByIntent] = {}

    def take(self, record: Transition, place: int) -> OpenedByIntent | None:
        """Look at a record: it may open a window, or end one, which is returned."""
        entity = record.entity
        for window in self._windows:
            key = (window.name, entity.kind, entity.id)
            if record.trigger in window.opened_by and record.cause.by == "event":
                if in_trees(window.trees, entity.id):
                    by = record.cause.actor or record.cause.source
                    until = record.time_ns + window.limit
                    self._asked[key] = OpenedByIntent(*key, record.time_ns, until, by, place)
            elif (asked := self._asked.get(key)) is not None:
                if asked.until <= record.time_ns:
                    del self._asked[key]
                elif class_of_entity(self._kinds, entity) in ("good", "gone"):
                    self._asked[key] = asked._replace(until=record.time_ns + 1)  # what ends it belongs to it
                    return self._asked[key]
        return None

    def asked_of(self, kind: str, entity_id: str) -> list[OpenedByIntent]:
        """The windows that intents opened for an entity, and that no later record has removed."""
        return [one for one in self._asked.values() if (one.kind, one.id) == (kind, entity_id)]

    def open_for(self, entity_id: str, time_ns: int) -> OpenWindow | None:
        """The window that is open for an entity at a time; None if none is. Of several, the one that ends last."""
        found = [OpenWindow(one.name, until) for one in self._windows if in_trees(one.trees, entity_id)
                 and (until := _open_until(one, time_ns)) > time_ns]  # fmt: skip
        found += [OpenWindow(one.window, one.until, one.by, one.place) for one in self._asked.values()
                  if one.since <= time_ns < one.until and f"{entity_id}/".startswith(f"{one.id}/")]  # fmt: skip
        return max(found, key=lambda one: (one.until, one.name), default=None)


def _open_until(window: QuietWindow, time_ns: int) -> int:
    """Until when a window by the clock is open at a time, ns; 0 if it is not."""
    if window.between is not None:
        begins, ends = window.between
        return ends if begins <= time_ns < ends else 0
    last = None if window.schedule is None else window.schedule.last(time_ns // MINUTE)
    return 0 if last is None else last * MINUTE + window.lasting
