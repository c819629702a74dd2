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
from phaseline.schemas.records import Rejection

MESSAGE_ID = "Nats-Msg-Id"


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
    again = False
    deadline = time.monotonic() + timeout
    while True:
        try:
            ack = await wire.publish_acked(message.subject, message.body, {MESSAGE_ID: message.message_id})
        except NoSuchStream:
            raise
        except NoAnswer as error:
            if isinstance(error, NatsUnreachable) and not again:
                raise
            if not isinstance(error, ConnectionLost) or time.monotonic() > deadline:
                raise Unconfirmed(event=message.event, source=message.source) from error
            again = True
        else:
            return Receipt(ack.seq, ack.duplicate and not again, message.event, message.source)


async def resend(installation: Installation, sequence: int, timeout: float) -> Receipt:
    """Store the rejected event again, byte for byte. `sequence`: the place of its rejection in the log.

    Within its deduplication window the server drops a second attempt for the same rejection. Raises `RecordGone`,
    `NotRejected`, `EventGone`, and what `publish` raises.
    """
    prefix, record = installation.prefix, (await record_at(installation, sequence)).record
    if not isinstance(record, Rejection):
        raise NotRejected(sequence=sequence, found="a transition")
    event = await event_at(installation, record.cause.sequence)
    if event is None:
        raise EventGone(sequence=record.cause.sequence, stream=installation.layout.events)
    rest = event.subject.removeprefix(f"{prefix}.inbox.").partition(".")[2]
    subject, cause = f"{prefix}.events.{rest}", record.cause
    message = EventMessage(subject, event.body, f"phaseline-resend {sequence}", cause.event, cause.source)
    return await publish(installation.wire, message, timeout)
