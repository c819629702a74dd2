"""A slice of stored events folded into one commit. Pure: the shell hands in events and sends what comes out.

Belongs here: `Folder`, from stored event to log messages; `Commit`, cut between events. Does not: I/O, any rule of a kind.
"""

import traceback
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

from phaseline.engine.core import intake, timers
from phaseline.engine.core.decide import decide
from phaseline.engine.core.message import Message
from phaseline.engine.core.timers import Schedule
from phaseline.engine.core.transitions import Decision
from phaseline.engine.core.tree import Tree, evolve
from phaseline.schemas import wire_codec
from phaseline.schemas.libraries import NotInstalled
from phaseline.schemas.records import Record, Rejection, Transition
from phaseline.schemas.subjects import Subjects

BATCH_LIMIT = 999
"""Log messages that fit one atomic batch beside its checkpoint (the server's limit is 1,000)."""


class InboxEvent(Protocol):
    """A stored event: `sequence` in EVENTS, `time_ns`, both the stream's."""

    @property
    def subject(self) -> str:
        """Where it is stored: the inbox subject."""

    @property
    def data(self) -> bytes:
        """Its body."""

    @property
    def sequence(self) -> int:
        """Its place in EVENTS."""

    @property
    def time_ns(self) -> int:
        """When it was stored, ns."""


@dataclass(slots=True)
class EventCounts:
    """What became of events: numbers for the log and for people."""

    events: int = 0
    transitions: int = 0
    rejections: int = 0
    without_effect: int = 0
    faults: int = 0

    def add(self, decision: Decision) -> None:
        """Count one event."""
        records = decision.records
        self.events += 1
        self.faults += decision.fault is not None
        if not records:
            self.without_effect += 1
        elif isinstance(records[0], Rejection):
            self.rejections += 1
        elif isinstance(records[0], Transition):
            self.transitions += len(records)
        else:
            self.without_effect += 1


class Fault(NamedTuple):
    """An event on which a rule raised an error, which is a bug."""

    event: InboxEvent
    error: Exception


@dataclass(slots=True)
class Batch:
    """What to append to the log. `position`: the last event in it; `events`: how many."""

    position: int
    messages: list[Message] = field(default_factory=list)
    events: int = 0
    schedules: dict[str, Schedule] = field(default_factory=dict)
    """By subject, the schedules that it sets or cancels; the last change of each counts."""
    faults: list[Fault] = field(default_factory=list)
    """The events that were rejected because a rule failed; the caller logs them."""
    settled: bool = True
    """Whether the position follows from the messages alone: each event left a record, none was rejected."""

    @property
    def lone(self) -> bool:
        """Whether a plain publish is enough: it is one plain transition, and the position can be read from the record."""
        return len(self.messages) == 1 and self.settled

    @property
    def size(self) -> int:
        """The messages that it comes to at most, schedules included."""
        return len(self.messages) + len(self.schedules)


class Processor:
    """One partition's tree, and how its events are answered."""

    def __init__(self, tree: Tree, subjects: Subjects, partition: int) -> None:
        """Fold into `tree`; subjects and ids carry the partition's and the installation's names."""
        self.tree, self.subjects, self.partition = tree, subjects, partition
        self.installation = f"phaseline/{subjects.prefix}"
        self.counts = EventCounts()

    def fold(self, events: Iterable[InboxEvent], position: int) -> Batch:
        """Answer events in order until one commit is full; the caller brings those left over again.

        An event that alone makes more than `BATCH` messages is a commit of its own.
        """
        commit = Batch(position)
        for event in events:
            decision = self.answer(event)
            schedules = self._schedules(decision, len(commit.messages))
            size = commit.size + len(decision.records) + len(schedules)
            if commit.events and size > BATCH_LIMIT:
                break
            self._take(commit, event, decision, schedules)
            if size >= BATCH_LIMIT:
                break
        timers.attach(commit.messages, commit.schedules, self.installation)
        return commit

    def answer(self, event: InboxEvent) -> Decision:
        """What one event makes. A rule that raises an error gets the event rejected instead of stopping the partition."""
        try:
            arrival = intake.read(
                self.tree.kinds, self.subjects, event.subject, event.data, event.sequence, event.time_ns
            )
            return Decision([arrival]) if isinstance(arrival, Rejection) else decide(self.tree, arrival)
        except NotInstalled:  # another worker, which has the library, may decide the event
            raise
        except Exception as error:  # noqa: BLE001  # whatever a rule raises must not stop the partition
            return Decision([self._fault(event, error)], fault=error)

    def _take(self, commit: Batch, event: InboxEvent, decision: Decision, schedules: dict[str, Schedule]) -> None:
        """Take the event's records into the tree and into the commit."""
        records = decision.records
        for record in records:
            evolve(self.tree, record)
        commit.messages += self.messages(records)
        commit.schedules |= schedules
        commit.events += 1
        commit.position = event.sequence
        commit.settled = commit.settled and bool(records) and not isinstance(records[0], Rejection)
        if decision.fault is not None:
            commit.faults.append(Fault(event, decision.fault))
        self.counts.add(decision)

    def _schedules(self, decision: Decision, start: int) -> dict[str, Schedule]:
        """The schedules that the event sets or cancels; `start`: where its records begin in the commit."""
        if not decision.timers:
            return {}
        return timers.schedules(self.subjects, self.partition, decision.records, decision.timers, start)

    def _fault(self, event: InboxEvent, error: Exception) -> Rejection:
        address = intake.address_of(self.subjects, event.subject)
        last = traceback.format_exception_only(error)[-1].strip()
        message = f"the rules failed on this event, which is a bug: {last}"
        return intake.refusal(event.subject, address, None, event.data, event.sequence, event.time_ns, "fault", message)

    def messages(self, records: list[Record]) -> list[Message]:
        """The records of one event as log messages."""
        total = len(records)
        return [
            Message(
                self._subject(record),
                wire_codec.write(record, place, total, self.installation, self._tables(record)),
            )
            for place, record in enumerate(records)
        ]

    def _tables(self, record: Record) -> str:
        """The version of the table that made a record."""
        kind = record.kind if isinstance(record, Rejection) else record.entity.kind
        return self.tree.kinds.versions.get(kind, "")

    def _subject(self, record: Record) -> str:
        if isinstance(record, Transition):
            entity = record.entity
            return self.subjects.transition(self.partition, entity.kind, record.facet, record.after.phase, entity.id)
        if isinstance(record, Rejection):
            return self.subjects.rejection(self.partition, record.kind, record.reason, record.id)
        return self.subjects.mark(self.partition, record.entity.kind, record.entity.id)
