"""Which entities are in a class for long enough, told once when they are, and once when that is over. Pure.

Belongs here: `Dwells`, which takes states and records in their order and knows what falls due when. Does not: reading
them, and the clock (`dwell_watch`); the class of an entity (`machines.compiler.classes`).
"""

import math
from collections.abc import Callable, Iterable, Iterator
from heapq import heappop, heappush

from phaseline.engine.surfaces.overview.overview import Dwell
from phaseline.machines.compiler.classes.entity_classes import Name, class_of_entity, class_since
from phaseline.machines.compiler.kinds import Kinds
from phaseline.schemas.records import Entity, Transition
from phaseline.schemas.wire_codec import Numbered

WHOLE = 999
"""Records of an event, at most, that stand side by side in the log."""


class Dwells:
    """Follows which entities are in some classes, and gives a `Dwell` when one has been so for long enough.

    It gives another one when that ends: the entity comes to another class, or no longer fits. What ends before is not
    told. What an entity is in between the records of one event does not count.
    """

    def __init__(
        self, kinds: Kinds, classes: Iterable[str], lasting_ns: int, fits: Callable[[Entity], bool] = lambda _: True
    ) -> None:
        """fits: which entities are looked at, whatever their class."""
        self._kinds, self._classes, self._lasting, self._fits = kinds, frozenset(classes), lasting_ns, fits
        self._told: dict[Name, tuple[str, int]] = {}
        """By name, what was told and has not ended: the class, and since when."""
        self._waiting: dict[Name, tuple[int, Transition, str]] = {}
        """By name, what is not told yet: since when, the last transition, and the class."""
        self._due: list[tuple[int, Name]] = []
        self._held: dict[int, tuple[float, dict[Name, Transition]]] = {}
        """By event whose records are not all there: the place of its last one, and the last record of each entity."""
        self._versions: dict[Name, int] = {}
        self._until = 0
        self._time = 0
        self.place: int | None = None
        """The place of the last record that was taken, or up to which the first states show the log; None before."""

    def begin(self, records: Iterable[Transition]) -> None:
        """Take states of entities at the beginning, some at a time."""
        for record in records:
            self._versions[_name(record)] = record.entity.version
            self._look(record)

    def begun(self, place: int, until: int) -> None:
        """All states are taken: they show the log up to `place` at least, and up to `until` at most."""
        self.place, self._until = place, until
        if until <= place:
            self._versions.clear()

    def take(self, place: int, record: Transition, numbered: Numbered) -> Iterator[Dwell]:
        """What the next record of the log tells. numbered: which record of its event it is."""
        yield from self._over(place)
        if self._versions and place > self._until:
            self._versions.clear()
        self.place = place
        if record.entity.version <= self._versions.get(_name(record), 0):
            return
        last = place + numbered.records - 1 - numbered.number if numbered.records <= WHOLE else math.inf
        self._held.setdefault(numbered.cause, (last, {}))[1][_name(record)] = record
        if numbered.number + 1 >= numbered.records:
            yield from self._decided(numbered.cause)

    def settle(self) -> Iterator[Dwell]:
        """What the records tell that are there, although others of their events may have been left out."""
        for cause in [*self._held]:
            yield from self._decided(cause)

    @property
    def is_settled(self) -> bool:
        """Whether all that was taken has been told of."""
        return not self._held

    @property
    def next_due(self) -> int | None:
        """When there may be something to tell without a further record, ns."""
        return self._due[0][0] if self._due else None

    def due(self, now: int) -> Iterator[Dwell]:
        """What has lasted long enough at this time, ns."""
        while self._due and self._due[0][0] <= now:
            due, name = heappop(self._due)
            since, record, found = self._waiting.get(name, (None, None, ""))
            if since is None or record is None or since + self._lasting != due:
                continue
            del self._waiting[name]
            self._told[name] = found, since
            yield Dwell(record, self.place or 0, found, since, found)

    def _over(self, place: int) -> Iterator[Dwell]:
        """What the events tell of which no further record can come: this place is behind all of them."""
        for cause, (last, _) in [*self._held.items()] if self._held else ():
            if last < place:
                yield from self._decided(cause)

    def _decided(self, cause: int) -> Iterator[Dwell]:
        """What an event tells."""
        for record in self._held.pop(cause)[1].values():
            self._time = max(self._time, record.time_ns)
            yield from self.due(self._time)
            yield from self._look(record)
            yield from self.due(self._time)

    def _look(self, record: Transition) -> list[Dwell]:
        """Look at the last record of an entity; gives what ended by it."""
        name, entity = _name(record), record.entity
        found, since = class_of_entity(self._kinds, entity), class_since(self._kinds, entity)
        is_wanted = found in self._classes and self._fits(entity)
        told, ended = self._told.get(name), list[Dwell]()
        if told is not None:
            if is_wanted and told[0] == found:
                return ended
            del self._told[name]
            until = record.time_ns if found == told[0] else since
            ended.append(Dwell(record, self.place or 0, *told, found, max(until, told[1])))
        waited = self._waiting.pop(name, None)
        if is_wanted:
            if waited is not None and waited[2] == found:
                since = waited[0]
            else:
                heappush(self._due, (since + self._lasting, name))
            self._waiting[name] = since, record, found
        return ended


def _name(record: Transition) -> Name:
    return record.entity.kind, record.entity.id
