"""Stores one event reliably: sends it again under the same id until the server answers.

Belongs here: a single event and its receipt; resending a rejected event. Does not: many events (`pipeline`), outcomes
(`outcomes`).
"""

import time
from typing import NamedTuple

from phaseline.engine.errors import (
    ConnectionLost,
    EventGone,
    NatsUnreachable,
    NoAnswer,
    NoSuchStream,
    NotRejected,
    Unconfirmed,
)
from phaseline.engine.jetstream.wire import Wire
from phaseline.engine.log.installation import Installation
from phaseline.engine.log.log_records import event_at, record_at
from phaseline.engine.publish.compose import EventMessage
from phaseline.engine.publish.message_id import MESSAGE_ID, header, is_repeat, key_of, renamed
from phaseline.schemas import envelope
from phaseline.schemas.records import Rejection


class Receipt(NamedTuple):
    """Confirms that the stream EVENTS has stored an event.

    sequence: the position of the event. duplicate: whether it was stored before, at that position. event, source: the
    `id` and the `source` of the event.
    """

    sequence: int
    duplicate: bool
    event: str
    source: str


async def publish(wire: Wire, message: EventMessage, timeout: float) -> Receipt:
    """Store one event. Sends it again when the connection breaks, for `timeout` seconds.

    Raises `NatsUnreachable` if the event was never sent, `Unconfirmed` if it may or may not be stored, and what `Wire`
    raises.
    """
    again, key = False, key_of(wire.settings)
    deadline = time.monotonic() + timeout
    while True:
        try:
            headers = {MESSAGE_ID: header(key, message.message_id)}
            ack = await wire.publish_acked(message.subject, message.body, headers)
        except NoSuchStream:
            raise
        except NoAnswer as error:
            if isinstance(error, NatsUnreachable) and not again:
                raise
            if not isinstance(error, ConnectionLost) or time.monotonic() > deadline:
                raise Unconfirmed(event=message.event, source=message.source) from error
            again = True
        else:
            if ack.duplicate and not again and not await is_repeat(wire, message, ack):
                message = renamed(message)
                continue
            return Receipt(ack.seq, ack.duplicate and not again, message.event, message.source)


async def resend(installation: Installation, sequence: int, timeout: float) -> Receipt:
    """Store the rejected event again, byte for byte. `sequence`: the place of its rejection in the log.

    Within its deduplication window the server drops a second attempt for the same rejection. Raises `RecordNotFound`,
    `NotRejected`, `EventGone`, and what `publish` raises.
    """
    prefix, record = installation.prefix, (await record_at(installation, sequence)).record
    if not isinstance(record, Rejection):
        raise NotRejected(place=sequence, actual="a transition")
    event = await event_at(installation, record.cause.sequence)
    if event is None:
        raise EventGone(sequence=record.cause.sequence, stream=installation.layout.events)
    rest = event.subject.removeprefix(f"{prefix}.inbox.").partition(".")[2]
    subject, cause = f"{prefix}.events.{rest}", record.cause
    name = envelope.message_id(subject, "phaseline-resend", str(sequence))
    message = EventMessage(subject, event.body, name, cause.event, cause.source)
    return await publish(installation.wire, message, timeout)
