"""Had other tables been there: the same events folded through them, held against what came of the events.

Belongs here: counting what would differ. Does not: reading the log (`recorded`), tables, words for people (`cli`).
What came of them is what the log holds; of a log without records, what the tables installed here make.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from phaseline.engine.core.tree import evolve
from phaseline.engine.errors import StateUnknown
from phaseline.engine.replay.recorded_log import STEP, Processors, Recorded, RecordedStep, is_under, read
from phaseline.machines.compiler.kinds import Kinds
from phaseline.schemas.records import Entity, Record, Rejection, State, Transition

EXAMPLES = 3
"""Events named for each sort of difference."""


class Move(NamedTuple):
    """A sort of transition: where an entity's facet goes from and to, on which trigger."""

    kind: str
    facet: str
    before: State | None
    after: State
    trigger: str


class Refusal(NamedTuple):
    """A sort of rejection."""

    kind: str
    trigger: str
    reason: str


@dataclass(slots=True)
class Seen:
    """How often something differs, with the first events (their sequences) where it does."""

    count: int = 0
    events: list[int] = field(default_factory=list)

    def add(self, count: int, sequence: int) -> None:
        """So many more, on this event."""
        self.count += count
        if len(self.events) < EXAMPLES:
            self.events.append(sequence)


class FinalDifference(NamedTuple):
    """An entity that ends elsewhere: its facets' states; None where it is not known at all."""

    kind: str
    id: str
    was: Mapping[str, State] | None
    would: Mapping[str, State] | None


@dataclass(slots=True)
class Difference:
    """What would differ. `lost` is what happened and would not, `gained` what did not and would."""

    begins: int = 1
    events: int = 0
    entities: int = 0
    undecided: int = 0
    gained: dict[Move, Seen] = field(default_factory=dict)
    lost: dict[Move, Seen] = field(default_factory=dict)
    rejections_gained: dict[Refusal, Seen] = field(default_factory=dict)
    rejections_lost: dict[Refusal, Seen] = field(default_factory=dict)
    final: list[FinalDifference] = field(default_factory=list)

    @property
    def none(self) -> bool:
        """Whether nothing would differ."""
        return not (self.gained or self.lost or self.rejections_gained or self.rejections_lost or self.final)

    def differ(self, sequence: int, was: Iterable[Record], would: Iterable[Record]) -> None:
        """Note how the records of one event differ."""
        had, has = Counter(map(_what, was)), Counter(map(_what, would))
        for found, moves, refusals in (
            (has - had, self.gained, self.rejections_gained),
            (had - has, self.lost, self.rejections_lost),
        ):
            for (_, what), count in found.items():
                if isinstance(what, Move):
                    moves.setdefault(what, Seen()).add(count, sequence)
                elif isinstance(what, Refusal):
                    refusals.setdefault(what, Seen()).add(count, sequence)


def _what(record: Record) -> tuple[str, Move | Refusal | None]:
    """What a record says, with whose it is; the numbers in it left out, which follow from what came before."""
    if isinstance(record, Transition):
        entity = record.entity
        return entity.id, Move(entity.kind, record.facet, record.before, record.after, record.trigger)
    if isinstance(record, Rejection):
        return record.id, Refusal(record.kind, record.trigger, record.reason)
    return record.entity.id, None


class WhatIf:
    """One comparison under way: `installed` says what came of a log without records."""

    def __init__(
        self,
        source: Recorded,
        installed: Kinds,
        changed: Kinds,
        root: str | None,
        progress: Callable[[int], None] | None,
    ) -> None:
        """progress: called with the number of events folded since the last call. Only the tree `root`, where one is named."""
        self.source, self.root = source, root
        self.would = Processors(changed, source)
        self.did = None if source.recorded else Processors(installed, source)
        self.was: dict[tuple[str, str], Entity] = {}
        self.difference = Difference(begins=source.begins)
        self._progress = progress or (lambda _: None)

    async def run(self) -> Difference:
        """Fold all; raises `StateUnknown` where the log begins in a state that the changed tables do not have."""
        async for record in self.source.before():
            if not isinstance(record, Rejection):
                self._begin(record.entity)
        try:
            async for happened in self.source.happened():
                if happened.event is not None:
                    self._compare(happened)
        finally:
            self._progress(self.difference.events % STEP)
            self.difference.undecided = self.source.undecided
            self._compare_ends()
        return self.difference

    def _begin(self, entity: Entity) -> None:
        kind = self.would.kinds.get(entity.kind)
        for name, facet in zip(entity.names, entity.facets, strict=True):
            known = dict(zip(kind.names, kind.machines, strict=True)) if kind else {}
            for state in (facet.base, facet.state):
                if name not in known or state.phase not in known[name].phases:
                    raise StateUnknown(
                        kind=entity.kind, id=entity.id, facet=name, state=str(state), begins=self.source.begins
                    )
        self.was[entity.kind, entity.id] = entity
        for folders in filter(None, (self.would, self.did)):
            folders.of(entity.id).tree.put(entity)

    def _compare(self, happened: RecordedStep) -> None:
        assert happened.event is not None
        was = self._came(happened)
        would = [
            record for record in self.would.answer(happened.partition, happened.event) if is_under(record, self.root)
        ]
        for record in would:
            evolve(self.would[happened.partition].tree, record)
        for record in was:
            if not isinstance(record, Rejection):
                self.was[record.entity.kind, record.entity.id] = record.entity
        if was or would:
            self.difference.differ(happened.event.sequence, was, would)
        self.difference.events += 1
        if self.difference.events % STEP == 0:
            self._progress(STEP)

    def _came(self, happened: RecordedStep) -> list[Record]:
        """What came of the event."""
        assert happened.event is not None
        if self.did is None:
            return [read(message) for message in happened.messages]
        records = self.did.answer(happened.partition, happened.event)
        for record in records:
            evolve(self.did[happened.partition].tree, record)
        return [record for record in records if is_under(record, self.root)]

    def _compare_ends(self) -> None:
        would = {
            (kind, entity_id): entity
            for folder in self.would.values()
            for kind, entities in folder.tree.entities.items()
            for entity_id, entity in entities.items()
        }
        self.difference.entities = len(would.keys() | self.was.keys())
        for kind, entity_id in sorted(would.keys() | self.was.keys()):
            was, will = _states(self.was.get((kind, entity_id))), _states(would.get((kind, entity_id)))
            if was != will:
                self.difference.final.append(FinalDifference(kind, entity_id, was, will))


def _states(entity: Entity | None) -> dict[str, State] | None:
    if entity is None:
        return None
    return {name: facet.state for name, facet in zip(entity.names, entity.facets, strict=True)}
