"""Checks a log: decides each event again and compares the records, byte for byte, with those in the log.

Belongs here: comparing a recorded log, and the states, with what the events make; telling a difference from another
wording. Does not: reading the log (`recorded`), showing what was found (`cli`).
Memory does not grow with the log: only the trees are kept.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple

from msgspec.structs import replace

from phaseline.engine.core.message import Message
from phaseline.engine.core.process import Processor
from phaseline.engine.core.transitions import BECAUSE
from phaseline.engine.core.tree import evolve
from phaseline.engine.errors import RecordUnreadable
from phaseline.engine.jetstream.reader import read_all
from phaseline.engine.log.installation import Installation
from phaseline.engine.replay.recorded_log import STEP, Processors, RecordedLog, RecordedStep, entity_of, is_under, read
from phaseline.machines.compiler.kinds import Kinds
from phaseline.schemas.records import Mark, Record, Rejection, Transition
from phaseline.schemas.subjects import quote


class Divergence(NamedTuple):
    """The first place where the log and the fold differ on an entity. `sequence`: of the event, in EVENTS."""

    kind: str
    id: str
    sequence: int
    expected: str | None
    found: str | None


class Rewording(NamedTuple):
    """A record that differs in a sentence of the engine only. `sequence`: of the event, in EVENTS."""

    kind: str
    id: str
    sequence: int
    expected: str | None
    found: str | None


SHOWN = 50
"""Rewordings that are kept; of more, only how many."""


@dataclass(slots=True)
class AuditReport:
    """What an audit found. `begins`: the first event that was folded; `undecided`: events no worker has come to yet.

    by_others: events that other tables decided than those at hand, so that their records are taken as they stand.
    reworded: how many records differ in a sentence of the engine only; that is no divergence. rewordings: the first ones.
    """

    begins: int = 1
    events: int = 0
    records: int = 0
    entities: int = 0
    undecided: int = 0
    by_others: int = 0
    reworded: int = 0
    rewordings: list[Rewording] = field(default_factory=list)
    divergences: dict[tuple[str, str], Divergence] = field(default_factory=dict)

    @property
    def holds(self) -> bool:
        """Whether the log is what the events make."""
        return not self.divergences

    def differ(self, sequence: int, expected: Record | None, found: Record | None) -> None:
        """Note a difference, unless one of that entity is noted already."""
        which = expected or found
        kind, entity_id = ("-", "-") if which is None else entity_of(which)
        told = Divergence(kind, entity_id, sequence, _told(expected), _told(found))
        self.divergences.setdefault((kind, entity_id), told)

    def reword(self, told: Rewording) -> None:
        """Note a record that says the same in other words."""
        self.reworded += 1
        if len(self.rewordings) < SHOWN:
            self.rewordings.append(told)

    def read(self, message: Message, sequence: int) -> Record | None:
        """The record in a message; None, and a difference, where it is none."""
        try:
            return read(message)
        except RecordUnreadable as error:
            told = Divergence("-", message.subject, sequence, None, str(error))
            self.divergences.setdefault(("-", message.subject), told)
            return None

    def compare_state(self, processor: Processor, message: Message) -> None:
        """Hold one entity's last record against the tree."""
        record = self.read(message, 0)
        if isinstance(record, Transition):
            mine = processor.tree.get(record.entity.kind, record.entity.id)
            if mine is not None and record.entity.version == mine.version and record.entity.facets != mine.facets:
                self.differ(record.cause.sequence, None, record)


def reworded(expected: Record | None, found: Record) -> Rewording | None:
    """How two records differ in a sentence that the engine made; None where they differ in anything else.

    The engine makes the messages of rejections, and those of transitions that do not repeat the message of an event.
    """
    if isinstance(expected, Transition) and isinstance(found, Transition):
        made = expected.cause.by != "event" or (expected.message or "").startswith(BECAUSE)
        same = made and replace(expected, message=found.message) == found
    elif isinstance(expected, Rejection) and isinstance(found, Rejection):
        same = replace(expected, message=found.message) == found
    else:
        return None
    return Rewording(*entity_of(found), found.cause.sequence, expected.message, found.message) if same else None


def _told(record: Record | None) -> str | None:
    """A record in a few words."""
    if isinstance(record, Transition):
        start = "new" if record.before is None else str(record.before)
        return f"version {record.entity.version}: {start} -> {record.after} by {record.trigger}"
    if isinstance(record, Rejection):
        return f"{record.trigger} rejected, {record.reason}"
    return f"a mark of {dict(record.entity.sequences)}" if isinstance(record, Mark) else None


class Audit:
    """One audit under way."""

    def __init__(
        self, source: RecordedLog, kinds: Kinds, root: str | None, progress: Callable[[int], None] | None
    ) -> None:
        """progress: called with the number of events folded since the last call. Only the tree `root`, where one is named."""
        self.source, self.root = source, root
        self.processors = Processors(kinds, source)
        self.verdict = AuditReport(begins=source.begins)
        self._progress = progress or (lambda _: None)

    async def run(self) -> AuditReport:
        """Compare event by event; raises what reading the log raises, the verdict on all before it stands."""
        await self.processors.begin(self.source)
        try:
            async for step in self.source.steps():
                self._compare(step)
        finally:
            self._progress(self.verdict.events % STEP)
            self.verdict.entities, self.verdict.undecided = self.processors.entity_count, self.source.undecided
        return self.verdict

    def _compare(self, step: RecordedStep) -> None:
        processor, messages = self.processors[step.partition], step.messages
        if step.event is None:
            self._tell(0, [], messages)
            return
        self._count()
        if step.tables is not None and step.tables != processor.tree.kinds.digest:
            self.verdict.by_others += 1
            self._take(processor, [read(message) for message in messages])
            return
        records = [
            record for record in self.processors.answer(step.partition, step.event) if is_under(record, self.root)
        ]
        expected = processor.messages(records)
        self.verdict.records += len(expected)
        if expected != messages:
            self._tell(step.event.sequence, records, messages)
        self._take(processor, records)

    def _count(self) -> None:
        self.verdict.events += 1
        if self.verdict.events % STEP == 0:
            self._progress(STEP)

    @staticmethod
    def _take(processor: Processor, records: list[Record]) -> None:
        for record in records:
            evolve(processor.tree, record)

    def _tell(self, sequence: int, expected: list[Record], messages: list[Message]) -> None:
        """What is expected of an event and what is found, entity by entity."""
        wanted = {(entity_of(record), getattr(record, "facet", "")): record for record in expected}
        for message in messages:
            record = self.verdict.read(message, sequence)
            if record is None:
                continue
            mine = None
            if record.cause.sequence == sequence:
                mine = wanted.pop((entity_of(record), getattr(record, "facet", "")), None)
            if mine == record:
                continue
            rewording = reworded(mine, record)
            if rewording is not None:
                self.verdict.reword(rewording)
            else:
                self.verdict.differ(record.cause.sequence, mine, record)
        for record in wanted.values():
            self.verdict.differ(sequence, record, None)


async def compare_states(installation: Installation, found: Audit) -> None:
    """Compare the copy of the states with the trees of an audit that came to the end.

    The copy may be newer than what the audit read of the log, but where it is as old it must be the same.
    """
    wire, state, subjects = installation.wire, installation.layout.state, installation.subjects
    for partition, processor in found.processors.items():
        for end in [">"] if found.root is None else [quote(found.root), f"{quote(found.root)}.>"]:
            async for slice_ in read_all(wire, state, [f"{installation.prefix}.state.{partition}.*.{end}"]):
                for stored in slice_:
                    if stored.subject != subjects.state_checkpoint(partition):
                        found.verdict.compare_state(processor, Message(stored.subject, stored.data))
