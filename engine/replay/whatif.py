"""A what-if: decides recorded events by other tables and compares the records with those that were made.

Belongs here: counting the differences. Does not: reading the log (`recorded_log`), loading tables (`load_tables`),
showing the report (`surfaces.cli.render_replay`).
The records that were made are those in the log. For a log without records they are those that the installed tables
make.
"""

from bisect import insort
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple, TypeVar

from phaseline.engine.core.tables_change.stranded import stranded_groups
from phaseline.engine.core.tree import evolve
from phaseline.engine.replay.recorded_log import Processors, RecordedLog, RecordedStep, erased, read
from phaseline.machines.compiler.kinds import Kinds
from phaseline.schemas.errors import InvalidInput
from phaseline.schemas.records import Entity, Record, Rejection, State, Transition, facets_of

Sort = TypeVar("Sort", bound="TransitionSort | RejectionSort")
EXAMPLES = 3
"""Events that the report names for each sort of difference."""


class TransitionSort(NamedTuple):
    """A sort of transition: the facet of a kind, the states before and after, and the trigger."""

    kind: str
    facet: str
    before: State | None
    after: State
    trigger: str


class RejectionSort(NamedTuple):
    """A sort of rejection: the kind, the trigger and the rejection reason."""

    kind: str
    trigger: str
    reason: str


@dataclass(slots=True)
class Occurrences:
    """How often a sort of record occurred, and the positions of the first events that made it."""

    count: int = 0
    events: list[int] = field(default_factory=list)

    def add(self, count: int, sequence: int) -> None:
        """Count this many more, made by the event at `sequence`."""
        self.count += count
        insort(self.events, sequence)
        del self.events[EXAMPLES:]


class FinalDifference(NamedTuple):
    """An entity whose states at the end differ. `was`, `would`: the state of each facet; None if it is unknown."""

    kind: str
    id: str
    was: Mapping[str, State] | None
    would: Mapping[str, State] | None


@dataclass(slots=True)
class WhatIfReport:
    """The result of a what-if.

    lost: transitions that were made and would not be; gained: transitions that would be made and were not. final: the
    entities that would end in other states. undecided: how many events no worker has decided yet.
    """

    begins: int = 1
    events: int = 0
    entities: int = 0
    undecided: int = 0
    gained: dict[TransitionSort, Occurrences] = field(default_factory=dict)
    lost: dict[TransitionSort, Occurrences] = field(default_factory=dict)
    rejections_gained: dict[RejectionSort, Occurrences] = field(default_factory=dict)
    rejections_lost: dict[RejectionSort, Occurrences] = field(default_factory=dict)
    final: list[FinalDifference] = field(default_factory=list)

    @property
    def none(self) -> bool:
        """Whether nothing would differ."""
        return not (self.gained or self.lost or self.rejections_gained or self.rejections_lost or self.final)

    def add(self, other: "WhatIfReport") -> None:
        """Add the result of the partitions that follow. Sorts stay in the order of the first events that made them."""
        self.events += other.events
        self.entities += other.entities
        self.undecided += other.undecided
        for name in ("gained", "lost", "rejections_gained", "rejections_lost"):
            setattr(self, name, _together(getattr(self, name), getattr(other, name)))
        self.final = sorted(self.final + other.final, key=lambda one: (one.kind, one.id))

    def add_differences(self, sequence: int, was: Iterable[Record], would: Iterable[Record]) -> None:
        """Add the differences between the records of one event."""
        before, after = Counter(map(_sort, was)), Counter(map(_sort, would))
        for difference, transitions, rejections in (
            (after - before, self.gained, self.rejections_gained),
            (before - after, self.lost, self.rejections_lost),
        ):
            for (_, sort), count in difference.items():
                if isinstance(sort, TransitionSort):
                    transitions.setdefault(sort, Occurrences()).add(count, sequence)
                elif isinstance(sort, RejectionSort):
                    rejections.setdefault(sort, Occurrences()).add(count, sequence)


def _together(some: dict[Sort, Occurrences], more: dict[Sort, Occurrences]) -> dict[Sort, Occurrences]:
    """How often the sorts of two sets of partitions occurred."""
    found: dict[Sort, Occurrences] = {}
    for sort, seen in [*some.items(), *more.items()]:
        before = found.get(sort, Occurrences())
        found[sort] = Occurrences(before.count + seen.count, sorted(before.events + seen.events)[:EXAMPLES])
    return dict(sorted(found.items(), key=lambda one: one[1].events[0]))


def _sort(record: Record) -> tuple[str, TransitionSort | RejectionSort | None]:
    """The id of the entity of a record, and the sort of the record; None for a mark.

    Versions and times are left out: they differ after every earlier difference.
    """
    if isinstance(record, Transition):
        entity = record.entity
        return entity.id, TransitionSort(entity.kind, record.facet, record.before, record.after, record.trigger)
    if isinstance(record, Rejection):
        return record.id, RejectionSort(record.kind, record.trigger, record.reason)
    return record.entity.id, None


class WhatIf:
    """One what-if under way. `installed`: the tables that make the records of a log that has none."""

    def __init__(
        self,
        source: RecordedLog,
        installed: Kinds,
        changed: Kinds,
        root: str | None,
        progress: Callable[[int], None] | None,
    ) -> None:
        """root: compare only this tree, if given. progress: called with the number of events since the last call."""
        self.source, self.root = source, root
        self.would = Processors(changed, source)
        self.did = None if source.has_records else Processors(installed, source)
        self.was: dict[tuple[str, str], Entity] = {}
        self.report = WhatIfReport(begins=source.begins)
        self._progress = progress or (lambda _: None)

    @property
    def _both(self) -> list[Processors]:
        """The processors of both sides; without the second, if the log has records."""
        return [self.would] if self.did is None else [self.would, self.did]

    async def run(self) -> WhatIfReport:
        """Decide all events again. Raises `InvalidInput` if the other tables lack a state that the log begins in."""
        async for record in self.source.initial():
            if not isinstance(record, Rejection):
                self._restore(record.entity)
        self.would.retire(self.source.begins)
        try:
            async for steps in self.source.steps():
                before = self.report.events
                for step in steps:
                    if step.event is not None:
                        self._compare(step)
                    self._take_erased(step)
                    self._move(step)
                self._progress(self.report.events - before)
        finally:
            self.report.undecided = self.source.findings.undecided
            self._compare_ends()
        return self.report

    def _restore(self, entity: Entity) -> None:
        for group in stranded_groups(self.would.kinds, entity):
            machines = self.would.kinds[entity.kind].machines if entity.kind in self.would.kinds else ()
            known = any(group.state.phase in one.phases for one in machines if one.facet.name == group.facet)
            if group.fate == "stranded" and not known:
                raise InvalidInput.state_unknown(
                    kind=entity.kind, id=entity.id, facet=group.facet or entity.names[0], state=str(group.state),
                    begins=self.source.begins,
                )  # fmt: skip
        self.was[entity.kind, entity.id] = entity
        for processors in self._both:
            processors.for_entity(entity.id).tree.put(entity)

    def _compare(self, step: RecordedStep) -> None:
        assert step.event is not None
        was = self._records_made(step)
        would = self.would.take(step, step.event, self.root)
        for record in was:
            if not isinstance(record, Rejection):
                self.was[record.entity.kind, record.entity.id] = record.entity
        if was or would:
            self.report.add_differences(step.event.sequence, was, would)
        self.report.events += 1

    def _take_erased(self, step: RecordedStep) -> None:
        """Bring all trees to where the records of erased events lead."""
        for record in erased(step):
            self.was[record.entity.kind, record.entity.id] = record.entity
            for processors in self._both:
                evolve(processors[step.partition].tree, record)

    def _move(self, step: RecordedStep) -> None:
        """Move the entities of all trees for which a change of tables says so. It is no difference of an event."""
        for record in map(read, step.messages if step.change is not None else ()):
            if not isinstance(record, Rejection):
                self.was[record.entity.kind, record.entity.id] = record.entity
        for processors in self._both:
            for _ in processors.moved(step):
                pass

    def _records_made(self, step: RecordedStep) -> list[Record]:
        """The records that the event made; those of the installed tables if the log has none."""
        assert step.event is not None
        if self.did is None:
            return [read(message) for message in step.messages]
        return self.did.take(step, step.event, self.root)

    def _compare_ends(self) -> None:
        would = {
            (kind, entity_id): entity
            for processor in self.would.values()
            for kind, entities in processor.tree.entities.items()
            for entity_id, entity in entities.items()
        }
        self.report.entities = len(would.keys() | self.was.keys())
        for kind, entity_id in sorted(would.keys() | self.was.keys()):
            was, will = _states(self.was.get((kind, entity_id))), _states(would.get((kind, entity_id)))
            if was != will:
                self.report.final.append(FinalDifference(kind, entity_id, was, will))


def _states(entity: Entity | None) -> dict[str, State] | None:
    if entity is None:
        return None
    return {name: facet.state for name, facet in facets_of(entity)}
