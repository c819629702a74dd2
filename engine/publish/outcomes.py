"""Waits for the outcome of an event: reads the log until all its records are there or the checkpoint is past it.

Belongs here: following one event to its end, from before it is sent or afterwards; what an event repeats that left no
record. Does not: how it is sent (`single`), when an event is a repeat (`core.sources.numbers`).
"""

import asyncio
from collections.abc import Iterable, Mapping
from typing import Any, Literal, NamedTuple

from phaseline.engine.core.reading.unread import said as said_unread
from phaseline.engine.core.sources.numbers import Repeat, repeat_of, repeat_text
from phaseline.engine.log import checkpoint
from phaseline.engine.log.installation import Installation
from phaseline.engine.log.log import Log
from phaseline.engine.log.log_records import Logged, last_records, record_in_log
from phaseline.engine.log.when import NOW, SKEW
from phaseline.engine.nats.stream_reader import StreamReader, reader_of
from phaseline.engine.publish.compose import EventMessage
from phaseline.engine.publish.single import Receipt, publish
from phaseline.machines.compiler.kinds import Kinds
from phaseline.schemas import codec, envelope
from phaseline.schemas.envelope import Invalid
from phaseline.schemas.errors import NotFound, Undecided
from phaseline.schemas.records import Entity, Mark, Record, Rejection, Transition, nanoseconds, timestamp
from phaseline.schemas.subjects import BadSubject, Subjects, quote, unquote

SLICE = 1_000


Effect = Literal["transitions", "rejection", "none"]


def effect_of(records: Iterable[Record]) -> Effect:
    """Which of the three effects an event has that leads to these records."""
    led = {type(record) for record in records}
    return "rejection" if Rejection in led else "transitions" if Transition in led else "none"


def unread_of(records: Iterable[Record]) -> tuple[str, ...]:
    """The fields of an event that nothing reads, as its records name them."""
    named = (record.noted.unread for record in records if not isinstance(record, Rejection))
    return tuple(dict.fromkeys(name for names in named for name in names))


def unread_text(kinds: Kinds, type_: str, unread: Iterable[str]) -> str:
    """`nothing reads data.reson (did you mean reason?)`. type_: that of the event, as far as it is known."""
    kind, _, trigger = type_.partition(".")
    return said_unread(unread, kinds.get(kind), trigger)


class Outcome(NamedTuple):
    """What one published event led to: its `transitions` in order, its `rejection`, or neither if it had no effect.

    unread: the fields of its data that nothing reads. repeat: what it repeats, if that is why it had none. older_than:
    the event with the request than which it may be older, if that is why; else 0.
    """

    receipt: Receipt
    records: tuple[Logged, ...] = ()
    unread: tuple[str, ...] = ()
    repeat: Repeat | None = None
    older_than: int = 0

    def __str__(self) -> str:
        led_to = "; ".join(str(logged.record) for logged in self.records) or f"no effect: {self.why_none}"
        return f"event {self.receipt.sequence}: {led_to}"

    @property
    def transitions(self) -> tuple[Transition, ...]:
        """The transitions that the event made."""
        return tuple(logged.record for logged in self.records if isinstance(logged.record, Transition))

    @property
    def rejection(self) -> Rejection | None:
        """The rejection of the event; None if it was not rejected."""
        return next((logged.record for logged in self.records if isinstance(logged.record, Rejection)), None)

    @property
    def effect(self) -> Effect:
        """Which of the three effects the event had."""
        return effect_of([logged.record for logged in self.records])

    @property
    def why_none(self) -> str:
        """Why the event had no effect: `repeat of number 44, heard at 2026-03-02T08:00:00Z`."""
        if self.repeat is not None:
            return f"repeat of {repeat_text(self.repeat)}"
        return held_text(self.older_than) if self.older_than else "its entity was in that state already"


def follow(installation: Installation, root: str, start: int | str = NOW) -> StreamReader:
    """A reader of all log messages that may answer an event of the tree `root`. Enter it before the event is sent."""
    prefix, subjects = installation.prefix, installation.subjects
    partition, token = installation.partition_of(root), quote(root)
    transitions = f"{prefix}.log.{partition}.transition.*.*.*.{token}"
    marks = f"{subjects.marks(partition)}.*.{token}"
    # All rejections of the partition: that of an event that could not be read may not name the tree.
    rejections = f"{prefix}.log.{partition}.rejection.>"
    filters = [transitions, f"{transitions}.>", marks, f"{marks}.>", rejections, subjects.checkpoint(partition)]
    return reader_of(installation.wire, installation.layout.log, filters, start, follows=True)


async def whereabouts(installation: Installation, sequence: int) -> tuple[str, str]:
    """The root of a stored event, and the time from which to `follow` it. Raises `NotFound.event_gone`."""
    event = await Log(installation).event(sequence)
    if event is None:
        raise NotFound.event_gone(sequence=sequence, stream=installation.layout.events)
    root = event.subject.removeprefix(f"{installation.prefix}.inbox.").split(".")[1]
    return unquote(root), timestamp(nanoseconds(event.time) - SKEW)


async def of_message(
    installation: Installation, message: EventMessage, root: str, patience: float, timeout: float
) -> Outcome:
    """Store an event of the tree `root`, and wait for its outcome.

    patience, timeout: the seconds for storing it, and for its outcome. Raises `Undecided`, and what `publish` raises.
    """
    async with follow(installation, root) as reader:
        receipt = await publish(installation.wire, message, patience)
        if not receipt.duplicate:
            return await outcome(reader, installation, receipt, timeout)
    return await of_receipt(installation, receipt, timeout)


async def of_receipt(installation: Installation, receipt: Receipt, timeout: float) -> Outcome:
    """Wait for the outcome of an event that is stored. Raises `NotFound.event_gone`, `Undecided`."""
    root, start = await whereabouts(installation, receipt.sequence)
    async with follow(installation, root, start) as reader:
        return await outcome(reader, installation, receipt, timeout)


async def outcome(reader: StreamReader, installation: Installation, receipt: Receipt, timeout: float) -> Outcome:
    """Wait until the event of `receipt` is decided. Raises `Undecided` after `timeout` seconds."""
    try:
        async with asyncio.timeout(timeout):
            found = await _read_outcome(reader, installation.subjects, receipt)
            return found if found is not None and found.records else await _without_effect(installation, receipt, found)
    except TimeoutError as error:
        raise Undecided(sequence=receipt.sequence, seconds=timeout) from error


async def _read_outcome(reader: StreamReader, subjects: Subjects, receipt: Receipt) -> Outcome | None:
    """The outcome of an event; None if it left no record."""
    records: list[Logged] = []
    found: list[Record] = []
    while True:
        for stored in await reader.take(SLICE):
            if subjects.is_checkpoint(stored.subject):
                reached = checkpoint.read(stored)
                if reached is not None and reached.position >= receipt.sequence:
                    return Outcome(receipt, tuple(records), unread_of(found)) if found else None
                continue
            record = record_in_log(reader.stream, stored)
            if record is not None and record.cause.sequence == receipt.sequence and record.cause.by != "tables":
                found.append(record)
                if not isinstance(record, Mark):
                    records.append(Logged(stored.sequence, record, stored.data))
                if len(found) == codec.decode(stored.data)["data"]["cause"]["records"]:
                    return Outcome(receipt, tuple(records), unread_of(found))


async def _without_effect(installation: Installation, receipt: Receipt, marked: Outcome | None) -> Outcome:
    """The outcome of an event that led to no transition and no rejection, with why. marked: that of one with a mark."""
    found = marked or Outcome(receipt)
    event = await Log(installation).event(receipt.sequence)
    if event is None:
        return found
    try:
        address = installation.subjects.address(event.subject)
        body = codec.decode(event.body)
    except (BadSubject, codec.Undecodable):
        return found
    tokens = ".".join(map(quote, address.id.split("/")))
    records = await last_records(installation, installation.partition_of(address.id), address.kind, tokens)
    known = [record.entity for record in records if not isinstance(record, Rejection)]
    if not known:
        return found
    repeat = None if marked else repeated_in(installation.kinds, known[-1], address.trigger, body)
    held = 0 if repeat else held_against(installation.kinds, known[-1], address.trigger, body, receipt.sequence)
    return found._replace(repeat=repeat, older_than=held)


def held_against(kinds: Kinds, entity: Entity, trigger: str, body: Mapping[str, Any], sequence: int) -> int:
    """The event with the request than which a report without effect may be older; 0 if that is not why it has none.

    body: the map of its envelope. sequence: its position.
    """
    data = body.get("data")
    if entity.kind not in kinds or not isinstance(data, Mapping) or entity.asked >= sequence:
        return 0
    judge = kinds[entity.kind].judge
    is_held = judge is not None and judge.may_be_older(entity.facets[0], entity.asked, trigger, data)
    return entity.asked if is_held else 0


def held_text(asked: int) -> str:
    """Why a report has no effect that may be older than the request of the event `asked`, and what to do."""
    return (
        f"it may be older than the request of event {asked}, which waits for its answer: report again with seen at or "
        f"above {asked}, if it is still so"
    )


def repeated_in(kinds: Kinds, entity: Entity, trigger: str, body: Mapping[str, Any]) -> Repeat | None:
    """What an event repeats, given as the map of its envelope, by what its entity remembers."""
    try:
        event = envelope.read(dict(body))
        number, epoch = envelope.sequence_of(event), envelope.epoch_of(event)
    except Invalid:
        return None
    asks = entity.kind in kinds and trigger in kinds[entity.kind].table.intents
    return repeat_of(entity, event.source, event.id, number, epoch, asks=asks)


def repeat_map(found: Repeat | None) -> dict[str, Any] | None:
    """What an event repeats, as JSON output shows it."""
    if found is None:
        return None
    if found.number is None:
        return {"event": found.event}
    heard = timestamp(found.heard_ns) if found.heard_ns else None
    return {"number": found.number, "epoch": found.epoch, "heard": heard}
