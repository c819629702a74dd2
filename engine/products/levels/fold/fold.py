"""From the log to the times of each entity: states at the beginning and records after it go in, tallies come out.

The records of one tree come in the order of the log; trees may come in any order. Memory grows with the entities, not
with the records.
Belongs here: what a record changes, and for whom: its entity, and all below one that falls silent or opens a window.
Does not: counting (`tallies`), availability (`reckoning`).
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from heapq import heappush, heappushpop
from typing import Final, NamedTuple

from phaseline.engine.products.levels.fold.spans import Span
from phaseline.engine.products.levels.fold.spared import Spared, is_at_or_below
from phaseline.engine.products.levels.fold.tallies import EntityTimes, Outage
from phaseline.engine.products.notices.fold.matching import values_of
from phaseline.engine.products.notices.fold.rules import QuietWindow
from phaseline.engine.products.notices.fold.windows import OpenedByIntent, Windows, root_of
from phaseline.machines.compiler.classes.entity_classes import Name, class_of_entity, class_since
from phaseline.machines.compiler.kinds import Kinds
from phaseline.machines.language.contact import SILENT, has_begun
from phaseline.schemas.records import Entity, Transition
from phaseline.schemas.subjects import ancestor_id

LONGEST: Final = 100
"""How many outages are kept, the longest."""


class LevelsRange(NamedTuple):
    """What is asked of a log. Times in ns.

    begin, end: of the range; the end is no part of it. windows: excused times. label: the attribute by which entities
    are grouped. slice_length: the length of the slices of which the times are kept too; 0 for none.
    """

    begin: int
    end: int
    windows: Sequence[QuietWindow] = ()
    label: str = ""
    slice_length: int = 0


class LevelsFold:
    """Counts the times of entities between two times."""

    def __init__(
        self, kinds: Kinds, asked: LevelsRange, spared: Spared, is_counted: Callable[[Entity], bool] = lambda _: True
    ) -> None:
        """is_counted: whose times are counted. Others only say what is silent, and open windows."""
        self._kinds, self._asked, self._spared, self._is_counted = kinds, asked, spared, is_counted
        self._trees: dict[str, dict[Name, EntityTimes]] = {}
        self._contact: dict[Name, bool] = {}
        """Of what somebody waits for, whether it is silent."""
        self._opening = [one for one in asked.windows if one.opened_by]
        self._windows = Windows(kinds, self._opening)
        self._openers: dict[str, dict[Name, list[OpenedByIntent]]] = {}
        """By tree, who has opened windows."""
        self._outages: list[tuple[int, bool, int, str, str, int, Outage]] = []
        self.outages = 0
        """How many outages there were, with those that were excused later."""
        self.records = 0

    # ---- in

    def know(self, records: Iterable[Transition]) -> None:
        """The last transitions of all entities where the reading begins, once, before any record.

        That may be before the range: what intents opened then counts too.
        """
        for record in records:
            entity = record.entity
            self._hear(entity)
            if not self._is_counted(entity) or (found := class_of_entity(self._kinds, entity)) == "gone":
                continue
            tally = self._made(entity, self._asked.begin)
            tally.begin_with(found, class_since(self._kinds, entity), record)
        for tally in self._all():
            tally.is_silent = self._is_silent(tally.kind, tally.id)

    def take(self, place: int, record: Transition) -> None:
        """The next record of a tree."""
        if record.time_ns >= self._asked.end:
            return
        self.records += 1
        entity, time = record.entity, max(record.time_ns, self._asked.begin)
        if self._opening:
            self._open(place, record, time)
        if self._hear(entity):
            self._silence(entity, time)
        if self._is_counted(entity):
            self._change(entity, record, time)

    def _change(self, entity: Entity, record: Transition, time: int) -> None:
        """Count the entity up to a record, and see what it is in then."""
        tally = self._trees.get(root_of(entity.id), {}).get((entity.kind, entity.id))
        if tally is None:
            tally = self._made(entity, time)
            tally.is_silent = self._is_silent(entity.kind, entity.id)
        found = class_of_entity(self._kinds, entity)
        if record.time_ns < self._asked.begin:
            tally.begin_with(found, class_since(self._kinds, entity), record)
        else:
            self._count(tally, time)
            tally.moved(record)
            self._keep(tally.enter(found, time, record))
        if self._asked.label:
            tally.label = self._label(entity)

    def _made(self, entity: Entity, first: int) -> EntityTimes:
        tally = EntityTimes(entity.kind, entity.id, self._spared.of(entity.id), first, first, self._asked.slice_length)
        tally.label = self._label(entity) if self._asked.label else ""
        self._trees.setdefault(root_of(entity.id), {})[entity.kind, entity.id] = tally
        return tally

    def _label(self, entity: Entity) -> str:
        return next(iter(values_of(entity.attributes, self._asked.label)), "")

    def _count(self, tally: EntityTimes, until: int) -> None:
        tally.count(until, self._opened(tally.id) if self._openers else [])

    # ---- silence

    def _hear(self, entity: Entity) -> bool:
        """Note whether somebody waits for an entity, and whether it is silent; says whether that changed."""
        name = (entity.kind, entity.id)
        was = self._contact.get(name)
        now = entity.facets[-1].state.phase == SILENT if has_begun(entity) else None
        if now == was:
            return False
        if now is None:
            del self._contact[name]
        else:
            self._contact[name] = now
        return True

    def _silence(self, entity: Entity, time: int) -> None:
        """The contact of an entity changed: count all that may hang on it up to then."""
        for tally in self._below(entity.id):
            self._count(tally, time)
            tally.is_silent = self._is_silent(tally.kind, tally.id)

    def _is_silent(self, kind: str, entity_id: str) -> bool:
        """Whether the nearest thing at or above an entity for which somebody waits is silent."""
        own, known = self._contact.get((kind, entity_id)), self._kinds.get(kind)
        if own is not None or known is None:
            return own is True
        parts = entity_id.count("/") + 1
        above = (self._contact.get((name, ancestor_id(entity_id, arity))) for name, arity in known.places
                 if arity < parts)  # fmt: skip
        return next((one for one in above if one is not None), False)

    # ---- windows that intents open

    def _open(self, place: int, record: Transition, time: int) -> None:
        """See whether a record opens a window or ends one: count all below up to then."""
        entity = record.entity
        openers = self._openers.get(root_of(entity.id), {})
        before = openers.get((entity.kind, entity.id), [])
        self._windows.take(record, place)
        after = self._windows.asked_of(entity.kind, entity.id)
        if after == before:
            return
        for tally in self._below(entity.id):
            self._count(tally, time)
        self._openers.setdefault(root_of(entity.id), {})[entity.kind, entity.id] = after

    def _opened(self, entity_id: str) -> list[Span]:
        """The windows that intents opened for an entity, or above it."""
        openers = self._openers.get(root_of(entity_id), {})
        return [(one.since, one.until) for (_, above), some in openers.items() if is_at_or_below(entity_id, above)
                for one in some]  # fmt: skip

    # ---- out

    def close(self) -> list[EntityTimes]:
        """The tallies of all that lived in the range, counted up to its end. Nothing may be taken any more."""
        for tally in self._all():
            self._count(tally, self._asked.end)
            self._keep(tally.settle())
        return [tally for tally in self._all() if tally.times.keys() - {"gone"}]

    @property
    def longest(self) -> list[Outage]:
        """The longest outages, the longest first; of those as long as others, what an event did itself."""
        return [one for *_, one in sorted(self._outages, reverse=True)]

    def _keep(self, outage: Outage | None) -> None:
        """Keep an outage if it is one of the longest."""
        if outage is None:
            return
        self.outages += 1
        is_first = outage.record is not None and outage.record.cause.by == "event"
        key = (outage.bad, is_first, -outage.begin_ns, outage.kind, outage.id, self.outages, outage)
        if len(self._outages) < LONGEST:
            heappush(self._outages, key)
        else:
            heappushpop(self._outages, key)

    def _all(self) -> Iterator[EntityTimes]:
        for tree in self._trees.values():
            yield from tree.values()

    def _below(self, entity_id: str) -> Iterator[EntityTimes]:
        """The tallies of an entity and of those below it."""
        for (_, name), tally in self._trees.get(root_of(entity_id), {}).items():
            if is_at_or_below(name, entity_id):
                yield tally
