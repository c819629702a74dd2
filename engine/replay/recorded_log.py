"""What was recorded: the states at the beginning, then each event with the records that it made, in order.

Belongs here: the shape that replay, audit, what-if and export read, wherever it comes from (`serverlog`, `filelog`).
Does not: reading it, folding it.
"""

from collections.abc import AsyncIterator, Callable, Iterator
from typing import NamedTuple, Protocol

from phaseline.engine.core.message import Message
from phaseline.engine.core.process import InboxEvent, Processor
from phaseline.engine.core.tree import Tree, evolve
from phaseline.engine.errors import RecordUnreadable
from phaseline.engine.faults import log_fault
from phaseline.engine.scripts.runner import shared_runner
from phaseline.machines.compiler.kinds import Kinds
from phaseline.schemas import codec, wire_codec
from phaseline.schemas.records import Entity, Record, Rejection
from phaseline.schemas.subjects import Subjects, partition_of_id

STEP = 1_000
"""Events between two words on the progress."""


class Span(NamedTuple):
    """Which events: sequences in EVENTS, both included; `last` None for all there are. `root`: of this tree only."""

    root: str | None = None
    first: int = 1
    last: int | None = None


class StoredEvent(NamedTuple):
    """An event as EVENTS holds it. `subject`: the inbox's; `time_ns`: when it was stored."""

    subject: str
    data: bytes
    sequence: int
    time_ns: int


class RecordedStep(NamedTuple):
    """An event and what the log holds of it; or, without an event, messages that none is there for.

    `messages` may hold some of earlier causes too, where nothing explains them. tables: the digest of the tables that
    decided it, where that is known.
    """

    partition: int
    event: InboxEvent | None
    messages: list[Message]
    tables: str | None = None


class LogSource(Protocol):
    """Where a log comes from: an installation's prefix, and how many partitions it has."""

    @property
    def prefix(self) -> str:
        """The first word of its subjects."""

    @property
    def partitions(self) -> int:
        """Fixed once it was made."""


class RecordedLog(LogSource, Protocol):
    """A log to be replayed. Read `before` to its end, then `happened`."""

    begins: int
    """The first event that is in it."""
    recorded: bool
    """Whether it holds records, or events only."""
    undecided: int
    """Events met that no worker had come to."""

    def initial(self) -> AsyncIterator[Record]:
        """What leads to the states before the first event; nothing where that is the beginning of all."""

    def steps(self) -> AsyncIterator[RecordedStep]:
        """Each event with what it made, in the order in which they were stored."""


class Processors(dict[int, Processor]):
    """A processor per partition, made when it is first needed."""

    def __init__(self, kinds: Kinds, source: LogSource) -> None:
        """All fold by `kinds`."""
        super().__init__()
        self.kinds, self._subjects, self._partitions = kinds, Subjects(source.prefix), source.partitions
        self.events = 0

    def __missing__(self, partition: int) -> Processor:
        self[partition] = Processor(Tree(self.kinds, shared_runner()), self._subjects, partition)
        return self[partition]

    def of(self, entity_id: str) -> Processor:
        """The processor of the partition that an entity is in."""
        return self[partition_of_id(entity_id, self._partitions)]

    def answer(self, partition: int, event: InboxEvent) -> list[Record]:
        """The records that an event makes in its partition; a fault is logged. Nothing changes yet."""
        decision = self[partition].answer(event)
        if decision.fault is not None:
            log_fault(event, decision.fault)
        return decision.records

    async def begin(self, source: RecordedLog) -> None:
        """Bring all trees to where they stood before the first event."""
        async for record in source.initial():
            if not isinstance(record, Rejection):
                evolve(self.of(record.entity.id).tree, record)

    @property
    def entities(self) -> int:
        """How many entities there are."""
        return sum(len(processor.tree) for processor in self.values())

    def all(self) -> Iterator[Entity]:
        """Every entity, partition by partition."""
        for processor in self.values():
            for found in processor.tree.entities.values():
                yield from found.values()


async def rebuild(
    source: RecordedLog, processors: Processors, root: str | None, progress: Callable[[int], None]
) -> None:
    """Fold all that was recorded into `processors`. progress: called with the number of events since the last call."""
    await processors.begin(source)
    async for step in source.steps():
        if step.event is None:
            continue
        tree = processors[step.partition].tree
        for record in processors.answer(step.partition, step.event):
            if is_under(record, root):
                evolve(tree, record)
        processors.events += 1
        if processors.events % STEP == 0:
            progress(STEP)
    progress(processors.events % STEP)


def read(message: Message) -> Record:
    """The record in a message of the log; raises `RecordUnreadable`."""
    try:
        return wire_codec.read(message.body)
    except (codec.Undecodable, KeyError, TypeError, ValueError, AttributeError) as error:
        raise RecordUnreadable(subject=message.subject, problem=f"{type(error).__name__}: {error}") from error


def entity_of(record: Record) -> tuple[str, str]:
    """Kind and id of what a record is about."""
    return (record.kind, record.id) if isinstance(record, Rejection) else (record.entity.kind, record.entity.id)


def is_under(record: Record, root: str | None) -> bool:
    """Whether a record stands under the tree `root`; what could not be read may name another than its subject does."""
    return root is None or entity_of(record)[1].partition("/")[0] == root
