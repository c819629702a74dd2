"""The form of a recorded log: the states at the beginning, then each event with the records that it made, in order.

Belongs here: the protocol that replay, audit, what-if and export read, whether the log comes from a server
(`server_log`) or a file (`file_log`); one processor per partition to decide its events again.
"""

from collections import Counter
from collections.abc import AsyncIterator, Callable, Container, Iterator, Sequence
from typing import NamedTuple, Protocol

import msgspec

from phaseline.engine.core import process
from phaseline.engine.core.message import Message
from phaseline.engine.core.process import InboxEvent, Processor
from phaseline.engine.core.tables_change import moving
from phaseline.engine.core.tables_change.moving import TablesChange
from phaseline.engine.core.tree import Tree, evolve
from phaseline.engine.log.foreign import Foreign
from phaseline.engine.log.log_records import cause_of, change_of
from phaseline.engine.log.table_eras import Era
from phaseline.engine.scripts.runner import shared_runner
from phaseline.engine.worker.faults import log_fault
from phaseline.machines.compiler.kinds import Kinds
from phaseline.schemas import codec
from phaseline.schemas.errors import LogDamaged
from phaseline.schemas.records import Entity, Loss, Mark, Record, Rejection, State, Transition, facets_of
from phaseline.schemas.subjects import Subjects, partition_of_id
from phaseline.schemas.templates import reading

PARKED = process.PARKED.encode()
FAULT = ".fault."
"""What the subject of the rejection of a parked event holds."""


class Span(NamedTuple):
    """A part of a log. `first`, `last`: positions, both included; `last` is None for all that exist.

    root: only the events of this tree, if given. partitions: only those of these partitions, if given.
    """

    root: str | None = None
    first: int = 1
    last: int | None = None
    partitions: range | None = None

    def has(self, partition: int) -> bool:
        """Whether the events of a partition belong to the part."""
        return self.partitions is None or partition in self.partitions


class StoredEvent(msgspec.Struct, frozen=True, gc=False):
    """An event as the stream EVENTS holds it. `time_ns`: when it was stored. `block`: its headers, where known."""

    subject: str
    data: bytes
    sequence: int
    time_ns: int
    block: bytes | None = None


class RecordedStep(msgspec.Struct, frozen=True, gc=False):
    """An event with the messages that the log holds for it. `event` is None for messages that belong to no event.

    `messages` may include records with an earlier cause, if no event explains them. era: what the log says
    about the tables that decided the event, if it is known.
    """

    partition: int
    event: InboxEvent | None
    messages: list[Message]
    era: Era | None = None
    is_erased: bool = False
    """Whether the messages are those of events that were erased from EVENTS: banned content, and what was purged."""
    change: Era | None = None
    """The note of the change of tables that made the messages. `event` is None then."""

    @property
    def is_parked(self) -> bool:
        """Whether workers ended while they decided the event. It must not be decided again; it changed nothing."""
        return len(self.messages) == 1 and FAULT in self.messages[0].subject and PARKED in self.messages[0].body


class LogSource(Protocol):
    """The installation that a log comes from: its prefix, and how many partitions it has."""

    @property
    def prefix(self) -> str:
        """The first word of the installation's subjects."""

    @property
    def partitions(self) -> int:
        """The number of partitions. It never changes."""


class LogFindings(NamedTuple):
    """What was found in a log beside its events and records; exact once all steps are read.

    undecided: how many events were read that no worker had decided. erased: how many events with banned content were
    erased. purged: how many events were purged. losses: what workers found missing; and events that are gone undecided,
    though no worker has noticed yet. emptied: the partitions whose log was emptied. foreign: the messages that were
    skipped because no worker wrote them.
    """

    undecided: int = 0
    erased: int = 0
    purged: int = 0
    losses: Sequence[Loss] = ()
    emptied: Sequence[int] = ()
    foreign: Sequence[Foreign] = ()


class RecordedLog(LogSource, Protocol):
    """A log to replay. Read `initial` to its end, then `steps`."""

    begins: int
    """The position of the first event in it."""
    has_records: bool
    """Whether it holds records, or events only."""

    @property
    def findings(self) -> LogFindings:
        """What was found so far."""

    def initial(self) -> AsyncIterator[Record]:
        """The records that lead to the states before the first event; none if the log is complete."""

    def steps(self) -> AsyncIterator[Sequence[RecordedStep]]:
        """Each event with the records that it made, in the order in which the events were stored; some at a time."""


class Processors(dict[int, Processor]):
    """A processor for each partition, made when it is first needed."""

    def __init__(self, kinds: Kinds, source: LogSource) -> None:
        """Each of them decides by the tables of `kinds`."""
        super().__init__()
        self.kinds, self._subjects, self._partitions = kinds, Subjects(source.prefix), source.partitions
        self.event_count = 0
        self._restored: dict[tuple[str, str], int] = {}
        """The position of the last record of each entity before the first event."""

    def __missing__(self, partition: int) -> Processor:
        self[partition] = Processor(Tree(self.kinds, shared_runner()), self._subjects, partition)
        return self[partition]

    def for_entity(self, entity_id: str) -> Processor:
        """The processor of the partition that an entity is in."""
        return self[partition_of_id(entity_id, self._partitions)]

    def take(self, step: RecordedStep, event: InboxEvent, root: str | None) -> list[Record]:
        """The records that the event of a step makes in its partition, of this tree if `root` is given.

        The partition's tree takes them in. Logs a fault.
        """
        processor = self[step.partition]
        tree = processor.tree
        self.enter(tree, step.era)
        decision = processor.answer(event)
        if decision.fault is not None:
            log_fault(event, decision.fault)
        records = decision.records
        if root is not None:
            records = [record for record in records if is_under(record, root)]
        for record in records:
            evolve(tree, record)
        return records

    def enter(self, tree: Tree, era: Era | None) -> None:
        """Let a tree be as an era says. If its log goes on from a backup, all is unheard that has no later record."""
        tree.silence_after = 0.0 if era is None else era.silence_after
        if era is None or (era.log, era.backup) == (tree.log, tree.backup):
            return
        tree.log, tree.backup = era.log, era.backup
        tree.unheard.clear()
        for of_kind in tree.entities.values() if era.backup else ():
            for entity in of_kind.values():
                tree.hear(entity, self._restored.get((entity.kind, entity.id), 0))

    def moved(self, step: RecordedStep) -> Iterator[list[Record]]:
        """The records of each piece of entities that a change of tables moves in the trees of a step; changes the tree.

        Those that the step has no records of come last: a worker may have moved only some of them yet.
        """
        if step.change is None:
            return
        processor, change = self[step.partition], step.change.change()
        self.enter(processor.tree, step.change)
        roots = {entity_of(read(message))[1].partition("/")[0] for message in step.messages}
        yield from _moved(processor, change, roots)

    def retire(self, begins: int) -> None:
        """Move all entities out of states that the tables do not have, before the event at the position `begins`."""
        change = TablesChange(begins - 1, 0, self.kinds.digest, self.kinds.versions)
        for processor in self.values():
            for _ in _moved(processor, change):
                pass

    async def restore(self, source: RecordedLog) -> None:
        """Bring all trees to the states before the first event."""
        async for record in source.initial():
            if not isinstance(record, Rejection):
                evolve(self.for_entity(record.entity.id).tree, record)
                self._restored[record.entity.kind, record.entity.id] = record.cause.sequence

    @property
    def entity_count(self) -> int:
        """How many entities all trees hold."""
        return sum(len(processor.tree) for processor in self.values())

    def entities(self) -> Iterator[Entity]:
        """Every entity, in the order of the partitions."""
        for _, processor in sorted(self.items()):
            for of_kind in processor.tree.entities.values():
                yield from of_kind.values()


def _moved(processor: Processor, change: TablesChange, roots: Container[str] | None = None) -> Iterator[list[Record]]:
    """The records of each piece of entities that a change of tables moves; changes the tree."""
    for piece in moving.pieces(processor.tree, change, roots):
        records = moving.move(processor.tree, change, piece, processor.installation).records
        for record in records:
            evolve(processor.tree, record)
        yield records


class Rebuilt(msgspec.Struct):
    """The states to which the events of a log, or of some of its partitions, lead.

    events: how many were decided. undecided: how many no worker has decided yet.
    counts: how many facets are in which state, by kind and facet. listed: every entity, if asked for.
    """

    events: int = 0
    undecided: int = 0
    entities: int = 0
    counts: Counter[tuple[str, str, State]] = msgspec.field(default_factory=Counter)
    listed: list[Entity] = msgspec.field(default_factory=list)

    def add(self, other: "Rebuilt") -> None:
        """Add the states of the partitions that follow."""
        self.events += other.events
        self.undecided += other.undecided
        self.entities += other.entities
        self.counts += other.counts
        self.listed += other.listed


def rebuilt(processors: Processors, source: RecordedLog, *, lists: bool) -> Rebuilt:
    """The states in these trees. lists: with every entity."""
    counts = Counter(
        (entity.kind, name, facet.state) for entity in processors.entities() for name, facet in facets_of(entity)
    )
    listed = list(processors.entities()) if lists else []
    return Rebuilt(processors.event_count, source.findings.undecided, processors.entity_count, counts, listed)


async def rebuild(
    source: RecordedLog, processors: Processors, root: str | None, progress: Callable[[int], None]
) -> None:
    """Decide all recorded events with `processors`. progress: called with the number of events since the last call."""
    await processors.restore(source)
    async for steps in source.steps():
        before = processors.event_count
        for step in steps:
            if step.event is None:
                for gone in erased(step):
                    evolve(processors[step.partition].tree, gone)
                for _ in processors.moved(step):
                    pass
            elif not step.is_parked:
                processors.take(step, step.event, root)
                processors.event_count += 1
        progress(processors.event_count - before)


def read(message: Message) -> Record:
    """The record in a message of the log; raises `LogDamaged.record_unreadable`."""
    try:
        return reading.read(message.body)
    except (codec.Undecodable, KeyError, TypeError, ValueError, AttributeError) as error:
        raise LogDamaged.record_unreadable(
            subject=message.subject, problem=f"{type(error).__name__}: {error}"
        ) from error


def part_erased(messages: list[Message], purged: Container[int]) -> tuple[list[Message], list[Message]]:
    """Messages whose event is missing, in two parts: those of an event that was erased, and all others.

    purged: the positions of the events that were purged.
    """
    found: tuple[list[Message], list[Message]] = ([], [])
    for message in messages:
        found[cause_of(message.body, -1) not in purged and not is_of_secret(message)].append(message)
    return found


def part_moved(messages: list[Message], eras: Sequence[Era]) -> tuple[dict[int, list[Message]], list[Message]]:
    """Messages in two parts: those that a map of states made, by the index of the note of their change; all others."""
    changes = {(era.position, era.digest): index for index, era in enumerate(eras) if era.former}
    moved: dict[int, list[Message]] = {}
    others: list[Message] = []
    for message in messages if changes else ():
        index = changes.get(change_of(message.body) or (-1, ""))
        (others if index is None else moved.setdefault(index, [])).append(message)
    return moved, others if changes else messages


def is_of_secret(message: Message) -> bool:
    """Whether a message is the rejection of an event with banned content, which workers erase."""
    if ".secret." not in message.subject:
        return False
    try:
        record = read(message)
    except LogDamaged:
        return False
    return isinstance(record, Rejection) and record.reason == "secret"


def erased(step: RecordedStep) -> list[Transition | Mark]:
    """The transitions and marks of events that were erased. They are taken as the log has them."""
    records = [read(message) for message in step.messages] if step.is_erased else []
    return [record for record in records if not isinstance(record, Rejection)]


def entity_of(record: Record) -> tuple[str, str]:
    """The kind and id of the entity that a record is about."""
    return (record.kind, record.id) if isinstance(record, Rejection) else (record.entity.kind, record.entity.id)


def is_under(record: Record, root: str | None) -> bool:
    """Whether a record belongs to the tree `root`; always true if `root` is None.

    The rejection of an unreadable event may name another tree than its subject does.
    """
    return root is None or entity_of(record)[1].partition("/")[0] == root
