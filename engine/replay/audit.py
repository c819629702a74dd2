"""Audits a log: decides each event again and compares the records, byte for byte, with those in the log.

Belongs here: comparing a recorded log and the states in STATE with the result of its events; what counts as another
wording; which events older rules decided, by the notes of the log or by the records themselves. Does not: reading the
log (`recorded_log`), showing the report (`surfaces.cli.render_replay`).
An audit keeps only the trees in memory, so its memory does not grow with the log.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import NamedTuple

from msgspec.structs import replace

from phaseline.engine.core.message import Message
from phaseline.engine.core.process import Processor
from phaseline.engine.core.tree import evolve
from phaseline.engine.log import foreign
from phaseline.engine.log.foreign import Foreign
from phaseline.engine.log.installation import Installation
from phaseline.engine.log.log_records import record_in_state
from phaseline.engine.log.table_eras import Era
from phaseline.engine.nats.stream_reader import read_all
from phaseline.engine.replay.recorded_log import (
    Processors,
    RecordedLog,
    RecordedStep,
    entity_of,
    erased,
    read,
)
from phaseline.machines.compiler.kinds import Kinds
from phaseline.machines.compiler.relations import root
from phaseline.machines.language.table import BECAUSE
from phaseline.schemas import wire_codec
from phaseline.schemas.errors import LogDamaged
from phaseline.schemas.records import Loss, Mark, Record, Rejection, Transition
from phaseline.schemas.subjects import kind_in, quote


class Divergence(NamedTuple):
    """The first difference of an entity: the record that its events make, and the record that the log holds.

    sequence: the position of the event. expected, found: the two records in a few words; None means no record.
    """

    kind: str
    id: str
    sequence: int
    expected: str | None
    found: str | None


@dataclass(slots=True)
class AuditReport:
    """The result of an audit.

    begins: the position of the first event that was decided again. undecided: how many events no worker has decided
    yet.
    erased: how many events with a raw Secret were erased. purged: how many events were purged. The records of both are
    taken as they are.
    by_others: how many events older rules decided, of tables that have changed since; their records are taken as they
    are. older: how many of these records there are, by kind whose rules have changed.
    foreign: the messages on the subjects of workers that no worker wrote. They are skipped, and no divergence.
    losses: what is missing. emptied: the partitions whose log was emptied. without_state: entities that STATE lacks.
    reworded: how many records differ only in a sentence of the engine, which is no divergence: sentences are not
    compared. divergences: the first difference of each entity, by kind and id.
    """

    begins: int = 1
    events: int = 0
    records: int = 0
    entities: int = 0
    undecided: int = 0
    erased: int = 0
    purged: int = 0
    by_others: int = 0
    older: Counter[str] = field(default_factory=Counter)
    foreign: list[Foreign] = field(default_factory=list)
    losses: list[Loss] = field(default_factory=list)
    emptied: list[int] = field(default_factory=list)
    without_state: int = 0
    reworded: int = 0
    divergences: dict[tuple[str, str], Divergence] = field(default_factory=dict)

    @property
    def holds(self) -> bool:
        """Whether the log holds exactly the records that the events make, and STATE every entity."""
        return not (self.divergences or self.emptied or self.without_state)

    def add_divergence(self, sequence: int, expected: Record | None, found: Record | None) -> None:
        """Add a difference, unless the report has one of that entity already."""
        either = expected or found
        kind, entity_id = ("-", "-") if either is None else entity_of(either)
        divergence = Divergence(kind, entity_id, sequence, _summary(expected), _summary(found))
        self.divergences.setdefault((kind, entity_id), divergence)

    def add(self, other: "AuditReport") -> None:
        """Add the result of the partitions that follow. Differences stand in the order of events, losses do not."""
        for name in (
            "events",
            "records",
            "entities",
            "undecided",
            "erased",
            "purged",
            "by_others",
            "without_state",
            "reworded",
        ):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        self.older += other.older
        self.foreign = sorted(self.foreign + other.foreign, key=lambda one: one.stream)
        self.losses += other.losses
        self.emptied += other.emptied
        found = sorted(
            [*self.divergences.items(), *other.divergences.items()], key=lambda one: (one[1].sequence, *one[0])
        )
        self.divergences = {}
        for key, divergence in found:
            self.divergences.setdefault(key, divergence)

    def read(self, message: Message, sequence: int) -> Record | None:
        """The record in a message. If the message holds none, adds a divergence and returns None."""
        try:
            return read(message)
        except LogDamaged as error:
            divergence = Divergence("-", message.subject, sequence, None, str(error))
            self.divergences.setdefault(("-", message.subject), divergence)
            return None

    def compare_state(self, processor: Processor, message: Message) -> None:
        """Compare the last record of one entity with the tree."""
        record = self.read(message, 0)
        if isinstance(record, Transition):
            entity = processor.tree.get(record.entity.kind, record.entity.id)
            facets = processor.tree.kinds[record.entity.kind].whole(record.entity).facets
            if entity is not None and record.entity.version == entity.version and facets != entity.facets:
                self.add_divergence(record.cause.sequence, None, record)


def is_reworded(expected: Record | None, found: Record) -> bool:
    """Whether two records differ in nothing but a sentence that the engine wrote.

    The engine writes the message of a rejection, and that of a transition unless it repeats the message of an event.
    """
    if expected is None or isinstance(expected, Mark) or isinstance(found, Mark):
        return False
    is_event = isinstance(expected, Transition) and expected.cause.by == "event"
    if is_event and not (expected.message or "").startswith(BECAUSE):
        return False
    return replace(expected, message=found.message) == found


def _summary(record: Record | None) -> str | None:
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
        """root: audit only this tree, if given. progress: called with the number of events since the last call."""
        self.source, self.root = source, root
        self.processors, self._older = Processors(kinds, source), OlderRules(kinds)
        self.report = AuditReport(begins=source.begins)
        self._progress = progress or (lambda _: None)

    async def run(self) -> AuditReport:
        """Compare event by event. If reading the log fails, `report` covers all events before the failure."""
        await self.processors.restore(self.source)
        try:
            async for steps in self.source.steps():
                before = self.report.events
                for decides, some in groupby(steps, self._decides):
                    if decides:
                        self._compare(list(some))
                    else:
                        for step in some:
                            self._take(step)
                self._progress(self.report.events - before)
        finally:
            report, found = self.report, self.source.findings
            report.entities, report.undecided = self.processors.entity_count, found.undecided
            report.erased, report.purged = found.erased, found.purged
            report.foreign += found.foreign
            report.losses += found.losses
            report.emptied += found.emptied
        return self.report

    def _decides(self, step: RecordedStep) -> bool:
        """Whether the event of a step is decided again."""
        return step.event is not None and not self._is_by_others(step) and not step.is_parked

    def _is_by_others(self, step: RecordedStep) -> bool:
        """Whether older rules decided the event."""
        return self._older.decided(step)

    def _take(self, step: RecordedStep) -> None:
        """Take the records of a step as they are."""
        processor, messages = self.processors[step.partition], step.messages
        if step.is_erased:
            self._apply(processor, erased(step))
            return
        if step.change is not None:
            self._compare_moved(step)
            return
        if step.event is None:
            self._report_differences(0, [], messages)
            return
        self.report.events += 1
        if self._is_by_others(step):
            self.report.by_others += 1
            self.report.older.update(self._older.kinds_of(step))
            self.processors.enter(processor.tree, step.era)
            self._apply(processor, [read(message) for message in messages])
        else:
            self.report.records += 1

    def _compare(self, steps: Sequence[RecordedStep]) -> None:
        """Decide the events of these steps again, and compare what they make with what the log holds."""
        take, root = self.processors.take, self.root
        answers = [(step, event, take(step, event, root)) for step in steps if (event := step.event) is not None]
        self.report.events += len(answers)
        for step, event, records in answers:
            self.report.records += len(records)
            if not self.processors[step.partition].is_written(records, step.messages):
                self._report_differences(event.sequence, records, step.messages)

    def _compare_moved(self, step: RecordedStep) -> None:
        """Compare the records of a change of tables. A worker may have made only the first of them yet."""
        processor, left, change = self.processors[step.partition], step.messages, step.change
        if change is None or change.digest != processor.tree.kinds.digest:
            self._apply(processor, [read(message) for message in left])
            return
        for records in self.processors.moved(step):
            messages, left = left[: len(records)], left[len(records) :]
            expected = processor.moved_messages(records, messages)[: len(messages)]
            self.report.records += len(messages)
            if expected != messages:
                self._report_differences(change.position, records[: len(messages)], messages)
        if left:
            self._report_differences(change.position, [], left)

    @staticmethod
    def _apply(processor: Processor, records: Sequence[Record]) -> None:
        for record in records:
            evolve(processor.tree, record)

    def _report_differences(self, sequence: int, expected: list[Record], messages: list[Message]) -> None:
        """Compare the expected records of an event with the messages in the log, entity by entity."""
        missing = {(entity_of(record), getattr(record, "facet", "")): record for record in expected}
        for message in messages:
            record = self.report.read(message, sequence)
            if record is None:
                continue
            same = None
            if record.cause.sequence == sequence:
                same = missing.pop((entity_of(record), getattr(record, "facet", "")), None)
            if same == record:
                continue
            if is_reworded(same, record):
                self.report.reworded += 1
            else:
                self.report.add_divergence(record.cause.sequence, same, record)
        for record in missing.values():
            self.report.add_divergence(sequence, record, None)


async def compare_states(installation: Installation, audit: Audit) -> None:
    """Compare the copy of the states in STATE with the trees of a finished audit.

    An entity in STATE may be newer than the part of the log that the audit read. Where the versions are equal, the
    states must be equal.
    """
    wire, stream, subjects, report = installation.wire, installation.layout.state, installation.subjects, audit.report
    for partition, processor in sorted(audit.processors.items()):
        held = 0
        for end in [">"] if audit.root is None else [quote(audit.root), f"{quote(audit.root)}.>"]:
            async for slice_ in read_all(wire, stream, [f"{installation.prefix}.state.{partition}.*.{end}"]):
                for stored in slice_:
                    if stored.subject == subjects.state_checkpoint(partition):
                        continue
                    record = record_in_state(stream, stored)
                    if record is None:
                        report.foreign.append(foreign.report(stream, stored))
                    else:
                        report.compare_state(processor, Message(stored.subject, stored.data))
                    held += not isinstance(record, Mark)
        report.without_state += max(0, len(processor.tree) - held)


ROOT = 3
"""The token of an event's subject that names its tree: `<prefix>.inbox.<partition>.<root>.<kind>.<trigger>`."""


class OlderRules:
    """Tells which steps other rules decided than the present ones.

    A table decides together with those above and below it, so an event counts if one of these has changed. Where the
    log does not note which tables decided, the records say it. Events without records follow what was before them.
    """

    def __init__(self, kinds: Kinds) -> None:
        """kinds: the present tables."""
        self._kinds, self._versions = kinds, kinds.versions
        self._roots = {name: root(kinds, name) for name in kinds}
        self._eras: dict[str, frozenset[str]] = {}
        self._before: dict[int, bool] = {}

    def decided(self, step: RecordedStep) -> bool:
        """Whether older rules decided the event of a step."""
        if step.era is None:
            return self._by_records(step)
        if step.era.digest == self._kinds.digest or step.event is None:
            return False
        changed = self._changed(step.era)
        kind = kind_in(step.event.subject.split(".", ROOT + 4), ROOT)
        return self._roots.get(kind, kind) in changed or kind not in self._roots

    def kinds_of(self, step: RecordedStep) -> list[str]:
        """The kinds of the records of a step whose rules have changed since, a kind for each record."""
        found = (wire_codec.made_by(message.body) for message in step.messages)
        return [kind for kind, version in found if kind and version != self._versions.get(kind)]

    def _changed(self, era: Era) -> frozenset[str]:
        """The roots of those trees of which a kind has changed since an era."""
        if era.digest not in self._eras:
            names = {*era.tables, *self._versions}
            differs = (name for name in names if era.tables.get(name) != self._versions.get(name))
            self._eras[era.digest] = frozenset(self._roots.get(name, name) for name in differs)
        return self._eras[era.digest]

    def _by_records(self, step: RecordedStep) -> bool:
        if step.messages:
            self._before[step.partition] = bool(self.kinds_of(step))
        return self._before.get(step.partition, False)
