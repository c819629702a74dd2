"""Reads of LOG: one record by its place, and ranges of records.

Belongs here: reads that end. Does not: states (`latest`, `as_of`), future records (`watch`).
"""

import re
from collections import deque
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from functools import lru_cache
from operator import itemgetter
from typing import Any, NamedTuple

from phaseline.engine.log import foreign
from phaseline.engine.log.foreign import Barrier
from phaseline.engine.log.installation import Installation
from phaseline.engine.log.log import Log
from phaseline.engine.log.when import END
from phaseline.engine.nats.direct_get import LastMessage, direct, stored_ns
from phaseline.engine.nats.reader import BUFFER, Stored
from phaseline.engine.nats.stream_reader import StreamReader, reader_of
from phaseline.engine.nats.wire import Wire
from phaseline.schemas import codec, losses, wire_codec
from phaseline.schemas.errors import NewerRecord, NotFound
from phaseline.schemas.records import (
    CHANGE_OF_TABLES,
    Entity,
    EntityAfter,
    Mark,
    Record,
    Rejection,
    Transition,
)
from phaseline.schemas.subjects import quote
from phaseline.schemas.templates import reading

REJECTION = ".rejection."
NO_RECORD = (ValueError, KeyError, TypeError, AttributeError)
"""What is raised where a body holds no record."""
KIND = re.compile(
    r".+\.(?:state\.\d+(?:\.mark)?|transition\.mark\.-\.-)\.((?!mark$)[^.]+)"
    r"|.+\.transition\.((?!mark\.)[^.]+)\.[^.]+\.[^.]+"
)
"""The kind in what precedes the id in a subject of STATE, of a mark, or of a transition."""


class Logged(NamedTuple):
    """A record with its place in the log (`sequence`) and its message as it is stored (`body`)."""

    sequence: int
    record: Transition | Rejection
    body: bytes

    @property
    def wire(self) -> dict[str, Any]:
        """The decoded message. It is decoded when it is asked for, because that costs as much as reading the record."""
        return codec.decode(self.body)


async def record_at(installation: Installation, sequence: int) -> Logged:
    """The record at the place `sequence`, in the log or in its archive; raises `NotFound` if there is none."""
    log = installation.layout.log
    message = await Log(installation).record(sequence)
    found = None if message is None else logged(log, message)
    if found is None:
        state = (await installation.wire.api(f"STREAM.INFO.{log}"))["state"]
        first, last = state["first_seq"], state["last_seq"]
        if first <= sequence <= last:
            raise NotFound.no_record(place=sequence)
        raise NotFound.record_not_found(place=sequence, first=first, last=last)
    return found


async def stored_at(wire: Wire, stream: str, sequence: int) -> int:
    """When a message of a stream was stored, ns; 0 if there is none."""
    reply = await direct(wire, stream, {"seq": sequence})
    return 0 if reply is None else stored_ns(reply)


async def records(installation: Installation, filter_: str, after: int, up_to: int) -> AsyncIterator[Logged]:
    """The transitions and rejections on a filter subject with after < place <= up_to, in order."""
    async for some in batches(installation, filter_, after, up_to):
        for one in some:
            yield one


def batches(installation: Installation, filter_: str, after: int, up_to: int) -> AsyncIterator[list[Logged]]:
    """The same, as many at a time as are there."""
    return batches_of(installation, [filter_], after, up_to)


def batches_of(
    installation: Installation, filters: Sequence[str], after: int, up_to: int
) -> AsyncGenerator[list[Logged], None]:
    """The same on several filter subjects, in the order of the log."""
    return _batches(installation, Log(installation).reader(filters, after + 1), after, up_to)


async def records_kept(installation: Installation, filter_: str, up_to: int) -> AsyncIterator[Logged]:
    """The same from the beginning on, but only those that the stream still holds."""
    reader = reader_of(installation.wire, installation.layout.log, [filter_])
    async for some in _batches(installation, reader, 0, up_to):
        for one in some:
            yield one


async def _batches(
    installation: Installation, reader: StreamReader, after: int, up_to: int
) -> AsyncGenerator[list[Logged], None]:
    if up_to <= after:
        return
    stream = installation.layout.log
    async with reader:
        while not reader.caught_up:
            read = await reader.take(BUFFER)
            wanted = deque(stored for stored in read if stored.sequence <= up_to)
            is_over = len(wanted) < len(read)
            while wanted:
                yield take_logged(stream, wanted)
            if is_over:
                return


async def history(installation: Installation, kind: str, entity_id: str, up_to: int) -> list[Transition]:
    """The transitions of one entity up to a place, oldest first."""
    partition = installation.partition_of(entity_id)
    filter_ = installation.subjects.transition(partition, kind, "*", "*", entity_id)
    found = records(installation, filter_, 0, up_to)
    return [one.record async for one in found if isinstance(one.record, Transition)]


def logged(stream: str, message: LastMessage | Stored) -> Logged | None:
    """The transition or rejection in a message of LOG; None for anything else. Foreign messages are reported."""
    record = record_in_log(stream, message)
    if record is None or isinstance(record, Mark):
        return None
    return Logged(message.sequence, record, message.data)


def take_logged(stream: str, messages: deque[Stored]) -> list[Logged]:
    """Take messages of LOG away, and return what `logged` makes of them.

    It stops before a record that this version cannot read, and raises `NewerRecord` if that is the first one.
    """
    found: list[Logged] = []
    while messages:
        message = messages.popleft()
        try:
            one = logged(stream, message)
        except NewerRecord:
            if not found:
                raise
            messages.appendleft(message)
            break
        if one is not None:
            found.append(one)
    return found


def record_in_log(stream: str, message: LastMessage | Stored) -> Record | None:
    """The record in a message of LOG; None if no worker wrote it, which is reported, and for a copy in JSON.

    Raises `NewerRecord`.
    """
    if foreign.is_json_copy(message.block):
        return None
    is_ours = foreign.is_by_worker(message.block)
    record = _about_its_subject(message) if is_ours else None
    if record is None and not (is_ours and losses.is_loss(message.data)):
        foreign.report(stream, message)
    return record


def record_in_state(stream: str, message: LastMessage | Stored) -> Record | None:
    """The record in a message of STATE; None if it is a copy of a foreign message, which is reported."""
    record = None if foreign.is_copy(message.block) else _about_its_subject(message)
    if record is None:
        foreign.report(stream, message)
    return record


def _about_its_subject(message: LastMessage | Stored) -> Record | None:
    """The record in a message; None if it is about something else than its subject: no worker writes such a one."""
    try:
        record = record_in(message.data)
    except NewerRecord as error:
        error.add_note(f"it is message {message.sequence}, at {message.subject}")
        raise
    if record is None:
        return None
    if isinstance(record, Rejection):
        return record if REJECTION in message.subject else None
    return record if is_about(message.subject, record.entity) else None


def is_about(subject: str, entity: Entity | None) -> bool:
    """Whether a worker writes what becomes of an entity on this subject of LOG, or STATE has it there."""
    if entity is None:
        return False
    end = "." + quote(entity.id).replace("/", ".")  # `quoted_id` would remember what hardly comes a second time
    return subject.endswith(end) and _kind_in(subject[: -len(end)]) == entity.kind


@lru_cache(maxsize=1 << 14)
def _kind_in(start: str) -> str:
    """The kind in a subject without its id; empty if no entity has such a one."""
    found = KIND.fullmatch(start)
    return "" if found is None else found[1] or found[2]


def entities_in_state(stream: str, messages: Sequence[LastMessage | Stored]) -> list[EntityAfter | None]:
    """What a tree takes from each message of STATE; None from the copy of a foreign message, which is reported."""
    try:
        if not any(map(foreign.is_copy, [message.block for message in messages])):
            found = reading.read_entities([message.data for message in messages])
            if all(is_about(one.subject, after.entity) for one, after in zip(messages, found, strict=True)):
                return [*found]
    except NewerRecord:
        raise
    except NO_RECORD:
        pass
    if len(messages) == 1:
        foreign.report(stream, messages[0])
        return [None]
    return [found for message in messages for found in entities_in_state(stream, [message])]


def record_in(body: bytes) -> Record | None:
    """The record in a body; None if it holds none. Raises `NewerRecord`."""
    try:
        return reading.read(body)
    except NewerRecord:
        raise
    except NO_RECORD:
        return None


async def last_transition(installation: Installation, subject: str) -> Transition | None:
    """The last transition of the entity that a subject of STATE names, from LOG; None if LOG has none."""
    partition, kind, tokens = subject.removeprefix(f"{installation.prefix}.state.").split(".", 2)
    filter_ = f"{installation.prefix}.log.{partition}.transition.{kind}.*.*.{tokens}"
    last = None
    async for one in records_kept(installation, filter_, END):
        last = one.record if isinstance(one.record, Transition) else last
    return last


async def last_records(
    installation: Installation, partition: int, kind: str, tokens: str, behind: Barrier | None = None
) -> list[Record]:
    """The last transition and the last mark of an entity in LOG, in the order of LOG. `tokens`: its quoted id.

    Foreign messages are skipped. LOG's leader answers. behind: as for `foreign.standing`.
    """
    stream, subjects = installation.layout.log, installation.subjects
    found = []
    for subject in (
        f"{installation.prefix}.log.{partition}.transition.{kind}.*.*.{tokens}",
        f"{subjects.marks(partition)}.{kind}.{tokens}",
    ):
        last = (await foreign.standing(installation.wire, stream, subject, _holds_record, behind)).ours
        if last is not None and (record := record_in(last.data)) is not None:
            found.append((last.sequence, record))
    return [record for _, record in sorted(found, key=itemgetter(0))]


async def last_cause(installation: Installation, partition: int) -> int:
    """The position of the last event that left a transition or a mark in a partition; 0 if there is none.

    It can be ahead of the checkpoint: a record that is committed alone does not write the checkpoint.
    """
    highest = 0
    for subject in (
        f"{installation.prefix}.log.{partition}.transition.>",
        f"{installation.subjects.marks(partition)}.>",
    ):
        last = (await foreign.standing(installation.wire, installation.layout.log, subject, _holds_record)).ours
        record = None if last is None else record_in(last.data)
        highest = max(highest, 0 if record is None else record.cause.sequence)
    return highest


def _holds_record(message: LastMessage | Stored) -> bool:
    return foreign.is_by_worker(message.block) and _about_its_subject(message) is not None


def cause_of(body: bytes, otherwise: int) -> int:
    """The position of the event that made a record, decoding only its id; `otherwise` if the body is no record."""
    try:
        return int(wire_codec.read_id(body).partition("-")[0])
    except ValueError:
        return otherwise


def change_of(body: bytes) -> tuple[int, str] | None:
    """The position and digest of the change of tables that made a record, decoding only its id; None if none did."""
    try:
        position, _, rest = wire_codec.read_id(body).partition("-")
        word, _, rest = rest.partition("-")
        return (int(position), rest.partition("-")[0]) if word == CHANGE_OF_TABLES else None
    except ValueError:
        return None
