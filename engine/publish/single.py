"""Stores one event reliably: sends it again under the same id while no answer comes.

Belongs here: a single event and its receipt; sending a refused one again. Does not: many at once (`pipeline`), the
outcome (`outcomes`).
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
from phaseline.engine.publish.compose import Outgoing
from phaseline.schemas.records import Rejection

MESSAGE_ID = "Nats-Msg-Id"


class Receipt(NamedTuple):
    """Confirms that EVENTS has stored an event. `duplicate`: it was there already, with this sequence."""

    sequence: int
    duplicate: bool
    event: str
    source: str


async def publish(wire: Wire, message: Outgoing, timeout: float) -> Receipt:
    """Store one event; sends it again when the connection breaks, for `timeout` seconds.

    Raises `NatsUnreachable` where it was never sent, `Unconfirmed` where it may or may not be stored, or as `Wire` does.
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
    """Store again the event whose rejection is message `sequence` of the log, byte for byte.

    The server drops a second try for the same rejection within its window. Raises `RecordNotFound`, `NotRejected`,
    `EventGone`, or as `publish` does.
    """
    prefix, record = installation.prefix, (await record_at(installation, sequence)).record
    if not isinstance(record, Rejection):
        raise NotRejected(place=sequence, actual="a transition")
    found = await event_at(installation, record.cause.sequence)
    if found is None:
        raise EventGone(sequence=record.cause.sequence, stream=installation.layout.events)
    rest = found.subject.removeprefix(f"{prefix}.inbox.").partition(".")[2]
    subject, cause = f"{prefix}.events.{rest}", record.cause
    message = Outgoing(subject, found.body, f"phaseline-resend {sequence}", cause.event, cause.source)
    return await publish(installation.wire, message, timeout)
