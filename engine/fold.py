"""A slice of stored events folded into one commit. Pure: the shell hands in messages and sends what comes out.

Belongs here: from stored message to log messages, cutting commits between events. Does not: I/O, any rule of a machine.
"""

import traceback
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Protocol

import structlog

from phaseline.engine import intake
from phaseline.engine.decide import decide
from phaseline.engine.message import Message
from phaseline.engine.timers import Timer, changed_timers, with_timers
from phaseline.engine.tree import Tree, evolve
from phaseline.schemas import codec, forms
from phaseline.schemas.records import Record, Rejection, Transition
from phaseline.schemas.subjects import Subjects

BATCH = 999
"""Log messages that fit one atomic batch beside its checkpoint (the server's limit is 1,000)."""

log = structlog.get_logger(__name__)


class Event(Protocol):
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
class Counts:
    """What became of events: numbers for the log and for people."""

    events: int = 0
    transitions: int = 0
    rejections: int = 0
    without_effect: int = 0
    faults: int = 0


@dataclass(slots=True)
class Commit:
    """What to append to the log. `position`: the last event in it; `events`: how many; `lone`: one plain transition only."""

    position: int
    messages: list[Message] = field(default_factory=list)
    events: int = 0
    timers: dict[str, Timer] = field(default_factory=dict)
    """By the subject of its schedule, what becomes of each timer; the last word on it counts."""
    settled: bool = True
    """Whether the position follows from the messages alone: no event was left without a record, none was rejected."""

    @property
    def lone(self) -> bool:
        """Whether a plain publish is enough: the position can be read from the record itself."""
        return len(self.messages) == 1 and self.settled


class Folder:
    """One partition's tree, and how its events are answered."""

    def __init__(self, tree: Tree, subjects: Subjects, partition: int) -> None:
        """Fold into `tree`; subjects and ids carry the partition's and the installation's names."""
        self.tree, self.subjects, self.partition = tree, subjects, partition
        self.installation = f"phaseline/{subjects.prefix}"
        self.counts = Counts()

    def fold(self, events: Iterable[Event], position: int) -> Commit:
        """Answer events in order until one commit is full; those left over are the caller's to bring again.

        An event that alone makes more than `BATCH` messages is a commit of its own.
        """
        commit = Commit(position)
        for event in events:
            records = self.answer(event)
            timers = dict(changed_timers(self.tree, self.subjects, self.partition, records, len(commit.messages)))
            size = len(commit.messages) + len(records) + len(commit.timers) + len(timers)
            if commit.events and size > BATCH:
                break
            for record in records:
                evolve(self.tree, record)
            commit.messages += self.messages(records)
            commit.timers |= timers
            commit.events += 1
            commit.position = event.sequence
            commit.settled = commit.settled and bool(records) and not isinstance(records[0], Rejection)
            self._count(records)
            if size >= BATCH:
                break
        commit.messages = with_timers(commit.messages, commit.timers, self.installation)
        return commit

    def answer(self, event: Event) -> list[Record]:
        """The records one event makes. A bug in a rule parks the event as a rejection instead of stopping the partition."""
        try:
            found = intake.read(
                self.tree.kinds, self.subjects, event.subject, event.data, event.sequence, event.time_ns
            )
            return [found] if isinstance(found, Rejection) else decide(self.tree, found)
        except Exception as error:  # whatever a rule raises must not stop the partition
            last = traceback.format_exception_only(error)[-1].strip()
            log.exception("event_parked", sequence=event.sequence, subject=event.subject, error=last)
            self.counts.faults += 1
            return [self._fault(event, last)]

    def _fault(self, event: Event, last: str) -> Rejection:
        address = intake.address_of(self.subjects, event.subject)
        message = f"the rules failed on this event, which is a bug: {last}"
        return intake.refusal(event.subject, address, None, event.data, event.sequence, event.time_ns, "fault", message)

    def messages(self, records: list[Record]) -> list[Message]:
        """The records of one event as log messages."""
        total = len(records)
        return [
            Message(
                self._subject(record),
                codec.encode(forms.to_wire(record, place, total, self.installation, self._tables(record))),
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

    def _count(self, records: list[Record]) -> None:
        counts = self.counts
        counts.events += 1
        if not records or not isinstance(records[0], Transition):
            counts.rejections += bool(records) and isinstance(records[0], Rejection)
            counts.without_effect += not records or not isinstance(records[0], Rejection)
        else:
            counts.transitions += len(records)
