"""Reads of LOG and EVENTS: one record by its place, one event by its position, and ranges of records.

Belongs here: reads that end. Does not: states (`latest`, `as_of`), future records (`watch`).
"""

import json
from collections.abc import AsyncIterator
from typing import Any, NamedTuple

from phaseline.engine.errors import ApiFailed, RecordNotFound
from phaseline.engine.jetstream import frames
from phaseline.engine.jetstream.api_reply import Reply
from phaseline.engine.jetstream.reader import BUFFER
from phaseline.engine.jetstream.stream_reader import reader_of
from phaseline.engine.jetstream.wire import Wire
from phaseline.engine.log.installation import Installation
from phaseline.schemas import codec, wire_codec
from phaseline.schemas.records import Mark, Rejection, Transition

NOT_FOUND = "404"


class Logged(NamedTuple):
    """A record with its place in the log (`sequence`) and its decoded message (`wire`)."""

    sequence: int
    record: Transition | Rejection
    wire: dict[str, Any]


class FetchedEvent(NamedTuple):
    """A message of EVENTS. `subject`: the inbox subject; `time`: when it was stored, RFC 3339."""

    subject: str
    body: bytes
    time: str


async def record_at(installation: Installation, sequence: int) -> Logged:
    """The record at the place `sequence`; raises `RecordNotFound` if there is none."""
    log = installation.layout.log
    reply = await direct(installation.wire, log, json.dumps({"seq": sequence}).encode())
    body = {} if reply is None else codec.decode(reply.data)
    if not str(body.get("type", "")).endswith((".transitioned", ".rejected")):
        state = (await installation.wire.api(f"STREAM.INFO.{log}"))["state"]
        raise RecordNotFound(place=sequence, first=state["first_seq"], last=state["last_seq"])
    return Logged(sequence, read_record(body), body)


async def event_at(installation: Installation, sequence: int) -> FetchedEvent | None:
    """The event at the position `sequence`; None if EVENTS no longer holds it."""
    return await direct_event(installation.wire, installation.layout.events, sequence)


async def direct_event(wire: Wire, stream: str, sequence: int) -> FetchedEvent | None:
    """As `event_at`, by the name of the stream."""
    reply = await direct(wire, stream, json.dumps({"seq": sequence}).encode())
    if reply is None:
        return None
    return FetchedEvent(reply.headers["Nats-Subject"], reply.data, reply.headers["Nats-Time-Stamp"])


async def records(installation: Installation, filter_: str, after: int, up_to: int) -> AsyncIterator[Logged]:
    """The transitions and rejections on a filter subject with after < place <= up_to, in order."""
    if up_to <= after:
        return
    async with reader_of(installation.wire, installation.layout.log, [filter_], after + 1) as reader:
        while not reader.caught_up:
            for stored in await reader.take(BUFFER):
                if stored.sequence > up_to:
                    return
                body = codec.decode(stored.data)
                yield Logged(stored.sequence, read_record(body), body)


async def history(installation: Installation, kind: str, entity_id: str, up_to: int) -> list[Transition]:
    """The transitions of one entity up to a place, oldest first."""
    partition = installation.partition_of(entity_id)
    filter_ = installation.subjects.transition(partition, kind, "*", "*", entity_id)
    found = records(installation, filter_, 0, up_to)
    return [logged.record async for logged in found if isinstance(logged.record, Transition)]


def read_record(body: dict[str, Any]) -> Transition | Rejection:
    """The record in a decoded message; raises `TypeError` for a mark."""
    record = wire_codec.from_wire(body)
    if isinstance(record, Mark):
        raise TypeError("found a mark where only transitions and rejections are read")
    return record


async def direct(wire: Wire, where: str, payload: bytes = b"") -> Reply | None:
    """Get a message directly from `<stream>` or `<stream>.<subject>`; None if there is no such message."""
    subject = wire.api_subject(f"DIRECT.GET.{where}")
    reply = await wire.request(subject, payload)
    status = reply.headers.get(frames.STATUS)
    if status == NOT_FOUND:
        return None
    if status is not None:
        description = reply.headers.get(frames.DESCRIPTION, "")
        raise ApiFailed(subject=subject, code=int(status), err_code=0, description=description)
    return reply
