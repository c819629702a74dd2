"""The processor: turns a slice of stored events into one batch for the log. Pure.

Belongs here: `Processor`, from stored events to log messages; `Batch`, which always holds whole events. Does not:
reading and committing (`worker.partition`), reading an event's bytes (`intake`), deciding it (`decide`), the rules of a
kind.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

from phaseline.engine.core import intake, timers
from phaseline.engine.core.counts.outcomes import EventCounts, Outcomes, move_of
from phaseline.engine.core.decide import decide
from phaseline.engine.core.intake import Arrival
from phaseline.engine.core.lives.of_log import is_ahead
from phaseline.engine.core.message import BATCH_LIMIT, COPY, Message
from phaseline.engine.core.rejections import situated
from phaseline.engine.core.tables_change import moving
from phaseline.engine.core.tables_change.moving import MovingPiece, TablesChange
from phaseline.engine.core.timers import Schedule
from phaseline.engine.core.transitions import Decision
from phaseline.engine.core.tree import Tree, evolve
from phaseline.schemas import codec, wire_codec
from phaseline.schemas.errors import NotInstalled, ScriptStopped
from phaseline.schemas.records import Record, Rejection, Transition
from phaseline.schemas.subjects import Subjects
from phaseline.schemas.templates.transition import shared_writer

AHEAD = 64
"""The most events that are read before the first of them is decided."""
AHEAD_BYTES = 131_072
"""The bytes of bodies after which no more events are read ahead. A batch that ends reads the rest of them again."""

LONGEST_ERROR = 1_024
"""The most characters of an error that a record or a log line repeats."""

TRACE = "traceparent"
"""The extension attribute of an event that names its trace."""
NO_SCHEDULES: Mapping[str, Schedule] = {}
"""Those of an event that changes no timer."""

PARKED = "workers ended while they decided this event"
"""The end of the first clause of a parked event's message. The records of such an event are never made again."""


Read = Arrival | Rejection | Decision
"""What was read of an event: its arrival, its rejection, or the decision after a fault."""


class InboxEvent(Protocol):
    """A stored event, as the processor needs it."""

    @property
    def subject(self) -> str:
        """The inbox subject under which it is stored."""

    @property
    def data(self) -> bytes:
        """The body."""

    @property
    def sequence(self) -> int:
        """The position in EVENTS."""

    @property
    def time_ns(self) -> int:
        """The time at which the server stored it, ns."""

    @property
    def block(self) -> bytes | None:
        """The raw header block, or None."""


def in_one_line(error: Exception) -> str:
    """The name and the message of an error."""
    return " ".join(f"{type(error).__name__}: {error}".split())[:LONGEST_ERROR]


class Unread(Exception):
    """An error of this type was raised when an event was read. Its text is left out, because it may quote the event."""


class Fault(NamedTuple):
    """An event on which a rule raised an error, which is a bug, or needed a script that had to be stopped."""

    event: InboxEvent
    error: Exception


@dataclass(slots=True)
class Batch:
    """The records of a slice of events, to be committed together. `position`: of the last event; `events`: how many."""

    position: int
    messages: list[Message] = field(default_factory=list)
    events: int = 0
    schedules: dict[str, Schedule] = field(default_factory=dict)
    """The schedules that the batch sets or cancels, by subject. The last change of each one counts."""
    faults: list[Fault] = field(default_factory=list)
    """The events that were rejected because a rule failed. The caller logs them."""
    secrets: list[InboxEvent] = field(default_factory=list)
    """The events that were rejected because of what they hold. The caller erases them after the commit."""
    traced: list[tuple[Arrival | Rejection, Decision]] = field(default_factory=list)
    """The events that belong to traces, if somebody wants to know."""
    read_further: bool = False
    """Whether a reporter has read further than the log goes: it was put back from a backup."""
    implies_position: bool = True
    """Whether the position follows from the messages alone: each event left records, and no rejection among them."""

    @property
    def is_row(self) -> bool:
        """Whether plain publishes are enough, one after the other: each message is all that its event made.

        A schedule can belong to a message of another event, so only one event may have any.
        """
        alone = len(self.messages) == self.events and (self.events == 1 or not self.schedules)
        return self.implies_position and alone and self.events > 0

    @property
    def size(self) -> int:
        """An upper limit of the number of messages, schedules included."""
        return len(self.messages) + len(self.schedules)


def _kind_of(record: Record) -> str:
    """The kind whose table made a record."""
    return record.kind if isinstance(record, Rejection) else record.entity.kind


def pieces(events: Iterable[InboxEvent]) -> Iterator[list[InboxEvent]]:
    """The events in order, some at a time: at most `AHEAD`, and none that follows on `AHEAD_BYTES`."""
    piece: list[InboxEvent] = []
    size = 0
    for event in events:
        piece.append(event)
        size += len(event.data)
        if len(piece) >= AHEAD or size >= AHEAD_BYTES:
            yield piece
            piece, size = [], 0
    if piece:
        yield piece


def _traced(arrivals: Sequence[Read], decisions: Sequence[Decision]) -> Iterator[tuple[Arrival | Rejection, Decision]]:
    """Those of the first events that belong to traces."""
    for arrival, decision in zip(arrivals, decisions, strict=False):
        if not isinstance(arrival, Decision) and TRACE in arrival.cause.extensions:
            yield arrival, decision


class Processor:
    """Decides the stored events of one partition on its tree, and makes batches of their records."""

    def __init__(
        self, tree: Tree, subjects: Subjects, partition: int, *, as_json: bool = False, limit: int = BATCH_LIMIT,
        traces: bool = False,
    ) -> None:  # fmt: skip
        """Decide on `tree`, which `process` changes. Records name the partition and the installation.

        as_json: write the records as JSON. limit: the most messages of one batch. traces: note which events belong to
        traces.
        """
        self.tree, self.subjects, self.partition = tree, subjects, partition
        self.as_json, self.limit, self._traces = as_json, limit, traces
        self.installation = f"phaseline/{subjects.prefix}"
        self.outcomes = Outcomes()
        _ = tree.kinds.bans  # raises `NoProducts`
        self._transitions = shared_writer(self.installation, tuple(tree.kinds.versions.items()))

    @property
    def counts(self) -> EventCounts:
        """How many events were decided, and with which answers."""
        return self.outcomes.counts()

    def process(
        self, events: Iterable[InboxEvent], position: int, enough: Callable[[InboxEvent], bool] = lambda _: False
    ) -> Batch:
        """Decide events in order until one batch is full, and change the tree. The caller passes the rest again.

        position: of the last event before these. An event with more than `limit` messages is a batch of its own.
        enough: called after each event; the batch ends once it returns True.
        """
        batch = Batch(position)
        for piece in pieces(events):
            if self._process_piece(batch, piece, enough):
                break
        timers.attach(batch.messages, batch.schedules, self.installation)
        return batch

    def _process_piece(self, batch: Batch, piece: Sequence[InboxEvent], enough: Callable[[InboxEvent], bool]) -> bool:
        """Add some events to the batch; whether it is full.

        Each step is done for all of them before the next step. One event after the other takes 1.4 times as long,
        because the code and the data of each step leave the caches of the processor before it comes again.
        """
        arrivals = [self._read(event) for event in piece]
        decisions: list[Decision] = []
        count, is_full = len(batch.messages), False
        for event, arrival in zip(piece, arrivals, strict=True):
            decision = self._decide(event, arrival)
            schedules = self._schedules(decision, count) if decision.timers else NO_SCHEDULES
            count += len(decision.records)
            size = count + len(schedules) + len(batch.schedules)
            is_full = size > self.limit and (batch.events > 0 or len(decisions) > 0)
            if is_full:
                break
            if schedules:
                self.outcomes.time(self.tree, schedules.values())
                batch.schedules.update(schedules)
            for record in decision.records:
                evolve(self.tree, record)
            decisions.append(decision)
            is_full = enough(event) or size >= self.limit
            if is_full:
                break
        self._add(batch, piece, arrivals, decisions)
        return is_full

    def move(self, change: TablesChange, moved: Iterable[MovingPiece]) -> Iterator[Batch]:
        """The batches by which a map of states moves these pieces, in order. The tree is ahead of each by one piece."""
        batch = Batch(change.position)
        for piece in moved:
            decision = moving.move(self.tree, change, piece, self.installation)
            if not decision.records:
                continue
            schedules = self._schedules(decision, len(batch.messages))
            if batch.messages and batch.size + len(decision.records) + len(schedules) > self.limit:
                timers.attach(batch.messages, batch.schedules, self.installation)
                yield batch
                batch, schedules = Batch(change.position), self._schedules(decision, 0)
            for record in decision.records:
                evolve(self.tree, record)
            batch.messages += self.moved_messages(decision.records)
            batch.schedules.update(schedules)
        if batch.messages:
            timers.attach(batch.messages, batch.schedules, self.installation)
            yield batch

    def moved_messages(self, records: Sequence[Record], like: Sequence[Message] = ()) -> list[Message]:
        """The records of one piece as log messages. `like`: the messages in the log whose format they get, if given."""
        as_json = any(codec.is_json(one.body) for one in like) if like else self.as_json
        wires = [
            wire_codec.to_wire(
                record, f"{record.cause.event}-{index}", len(records), self.installation,
                self.tree.kinds.versions.get(_kind_of(record), ""),
            )
            for index, record in enumerate(records)
        ]  # fmt: skip
        bodies = wire_codec.bodies(records, wires, as_json=as_json)
        return list(map(Message, map(self._subject, records), bodies))

    def park(self, event: InboxEvent, position: int, workers: int) -> Batch:
        """Reject an event without deciding it, because `workers` ended while they decided it."""
        address = intake.address_of(self.subjects, event.subject)
        message = f"{workers} {PARKED}, so it was not decided again: find out which of its rules fails or never ends"
        rejection = intake.reject(
            event.subject, address, None, event.data, event.sequence, event.time_ns, "fault", message
        )
        batch = Batch(position)
        self._add(batch, [event], [rejection], [Decision([rejection])])
        return batch

    def answer(self, event: InboxEvent) -> Decision:
        """Decide one event; the tree stays as it is. If a rule raises an error, the event is rejected as a fault."""
        return self._decide(event, self._read(event))

    def _read(self, event: InboxEvent) -> Read:
        """The arrival of an event, without a look at the tree; else its rejection, or the decision after a fault."""
        block = event.block
        if block is not None and COPY in block:
            return self._copied(event)
        try:
            return intake.read(
                self.tree.kinds, self.subjects, event.subject, event.data, event.sequence, event.time_ns, block
            )
        except NotInstalled:
            raise
        except Exception as error:  # noqa: BLE001  # as in `_decide`
            # What a ban looks at may be what it bans: neither the body nor the error's text is kept.
            return self._fault(event, Unread(type(error).__name__).with_traceback(error.__traceback__), None)

    def _decide(self, event: InboxEvent, arrival: Read) -> Decision:
        """Decide an event that was read; the tree stays as it is."""
        try:
            if isinstance(arrival, Arrival):
                return decide(self.tree, arrival)
            return Decision([situated(self.tree, arrival)]) if isinstance(arrival, Rejection) else arrival
        except Exception as error:  # noqa: BLE001  # whatever a rule raises must not stop the partition
            return self._fault(event, error, event.data)

    def messages(self, records: list[Record]) -> list[Message]:
        """The records of one event as log messages."""
        return self.written([records], as_json=self.as_json)

    def is_written(self, records: Sequence[Record], messages: Sequence[Message]) -> bool:
        """Whether these messages are exactly those of the records of one event. Each may be msgpack or JSON."""
        count = len(records)
        if count != len(messages):
            return False
        for index, (record, message) in enumerate(zip(records, messages, strict=True)):
            body = message.body
            if self._body(record, index, count, as_json=codec.is_json(body)) != body:
                return False
            if self._subject(record) != message.subject:
                return False
        return True

    def written(self, answers: Sequence[list[Record]], *, as_json: bool) -> list[Message]:
        """The records of some events as log messages, each step for all of them."""
        write = self._transitions.body
        bodies = [
            write(record, index, len(answer), as_json=as_json)
            if isinstance(record, Transition)
            else self._body(record, index, len(answer), as_json=as_json)
            for answer in answers
            for index, record in enumerate(answer)
        ]
        subjects = [self._subject(record) for answer in answers for record in answer]
        return list(map(Message, subjects, bodies))

    def _body(self, record: Record, index: int, records: int, *, as_json: bool) -> bytes:
        """The body of a record, which is number `index` of the `records` of its event. as_json: if JSON holds it."""
        if isinstance(record, Transition):
            return self._transitions.body(record, index, records, as_json=as_json)
        tables = self.tree.kinds.versions.get(_kind_of(record), "")
        return wire_codec.write(record, index, records, self.installation, tables, as_json=as_json)

    def _add(
        self, batch: Batch, events: Sequence[InboxEvent], arrivals: Sequence[Read], decisions: Sequence[Decision]
    ) -> None:
        """Add the first of these events to the batch, with the decisions on them, which are in the tree already."""
        single = self.outcomes.single
        for event, arrival, decision in zip(events, arrivals, decisions, strict=False):
            records = decision.records
            if len(records) == 1 and isinstance(record := records[0], Transition):
                move = move_of(record)
                single[move] = single.get(move, 0) + 1
                continue
            self.outcomes.add(arrival, decision, self.tree.kinds)
            last = records[-1] if records else None
            if last is None or isinstance(last, Rejection):
                batch.implies_position = False
                if last is not None and last.reason == "secret":
                    batch.secrets.append(event)
                elif last is not None and last.reason == "invalid" and isinstance(arrival, Arrival):
                    batch.read_further |= is_ahead(arrival, self.tree.log)
            if decision.fault is not None:
                batch.faults.append(Fault(event, decision.fault))
        if decisions:
            last_event = events[len(decisions) - 1]
            batch.position = last_event.sequence
            self.outcomes.sources.take(arrivals[: len(decisions)], last_event.time_ns)
        if self._traces:
            batch.traced += _traced(arrivals, decisions)
        batch.events += len(decisions)
        batch.messages += self.written([decision.records for decision in decisions], as_json=self.as_json)

    def _schedules(self, decision: Decision, start: int) -> dict[str, Schedule]:
        """The schedules that an event sets or cancels. `start`: the index of its first record in the batch."""
        return timers.schedules(self.subjects, self.partition, decision.records, decision.timers, start)

    def _copied(self, event: InboxEvent) -> Decision:
        address = intake.address_of(self.subjects, event.subject)
        message = (
            "this is a copy that the server sent as the answer to a direct get (it has the header Nats-Stream), no "
            "event of a publisher: look who names event subjects as reply subjects"
        )
        rejection = intake.reject(
            event.subject, address, None, event.data, event.sequence, event.time_ns, "invalid", message
        )
        return Decision([rejection])

    def _fault(self, event: InboxEvent, error: Exception, body: bytes | None) -> Decision:
        if isinstance(error, NotInstalled):  # another worker, which has the library, may decide the event
            raise error
        address = intake.address_of(self.subjects, event.subject)
        stopped = isinstance(error, ScriptStopped)
        message = str(error) if stopped else f"the rules failed on this event, which is a bug: {in_one_line(error)}"
        rejection = intake.reject(event.subject, address, None, body, event.sequence, event.time_ns, "fault", message)
        return Decision([rejection], fault=error)

    def _subject(self, record: Record) -> str:
        if isinstance(record, Transition):
            entity = record.entity
            return self.subjects.transition(self.partition, entity.kind, record.facet, record.after.phase, entity.id)
        if isinstance(record, Rejection):
            return self.subjects.rejection(self.partition, record.kind, record.reason, record.id)
        return self.subjects.mark(self.partition, record.entity.kind, record.entity.id)
