"""Stores one event reliably: sends it again under the same id until the server answers.

Belongs here: a single event and its receipt; resending a rejected event. Does not: many events (`pipeline`), outcomes
(`outcomes`).
"""

import asyncio
import time
from typing import Any, NamedTuple

from phaseline.engine.log.installation import Installation
from phaseline.engine.log.log import FetchedEvent, Log
from phaseline.engine.log.log_records import record_at
from phaseline.engine.nats.api_reply import can_pass
from phaseline.engine.nats.streams import why_unstored
from phaseline.engine.nats.wire import Wire
from phaseline.engine.publish.compose import EventMessage
from phaseline.engine.publish.message_id import first_since, headers_of, is_repeat, key_of, renamed
from phaseline.schemas import envelope
from phaseline.schemas.errors import (
    ApiFailed,
    NatsUnreachable,
    NoAnswer,
    NoJetStream,
    NoRoom,
    NoSuchStream,
    NotFound,
    RequestTimedOut,
    Unconfirmed,
)
from phaseline.schemas.records import Cause, Rejection
from phaseline.schemas.subjects import without_actor

FINAL = (NatsUnreachable, NoRoom, NoJetStream)
"""What ends a first try at once, although it can pass."""
PAUSE, LONGEST_PAUSE = 0.2, 2.0
"""Seconds between two tries: the first ones, and at most."""


class Receipt(NamedTuple):
    """Confirms that the stream EVENTS has stored an event.

    sequence: the position of the event. duplicate: whether it was stored before, at that position. event, source: the
    `id` and the `source` of the event. unread: the fields of its data that nothing reads, if it was checked.
    """

    sequence: int
    duplicate: bool
    event: str
    source: str
    unread: tuple[str, ...] = ()

    def shown(self) -> dict[str, Any]:
        """The fields as JSON shows them: `unread` only if there is any."""
        found = self._asdict()
        if not self.unread:
            del found["unread"]
        return found


async def publish(wire: Wire, message: EventMessage, timeout: float, *, patient: bool = False) -> Receipt:
    """Store one event. Sends it again after trouble that can pass, for `timeout` seconds.

    patient: send it again also if the first try finds no server, or no room.

    Raises `NatsUnreachable` if the event was never sent, `Unconfirmed` if it may or may not be stored, `NoRoom`,
    `NotProvisioned`, and what `Wire` raises.
    """
    again, key = False, key_of(wire.settings)
    began = time.monotonic()
    deadline, pause = began + timeout, PAUSE
    while True:
        try:
            ack = await wire.publish_acked(message.subject, message.body, headers_of(message, key))
        except (NoAnswer, ApiFailed) as error:
            again = again or isinstance(error, RequestTimedOut) or NoAnswer.connection_lost.made(error)
            why = await why_unstored(wire, error) if isinstance(error, NoSuchStream) else error
            over = time.monotonic() > deadline or not can_pass(why)
            if not again and (over or (isinstance(why, FINAL) and not patient)):
                raise why from None
            if over:
                raise Unconfirmed(event=message.event, source=message.source, cause=str(error)) from error
            await asyncio.sleep(pause)
            pause = min(pause * 1.5, LONGEST_PAUSE) if patient else PAUSE
        else:
            if ack.duplicate and not again and not await is_repeat(wire, message, ack):
                message = renamed(message)
                continue
            was_stored = ack.duplicate and (not again or ack.seq < await first_since(wire, began))
            return Receipt(ack.seq, was_stored, message.event, message.source, message.unread)


async def rejected_at(installation: Installation, sequence: int) -> tuple[Cause, FetchedEvent]:
    """The cause of the rejection at a place of the log, and its event; raises `NotFound` as `resend` does."""
    record = (await record_at(installation, sequence)).record
    if not isinstance(record, Rejection):
        raise NotFound.not_rejected(place=sequence, actual="a transition")
    event = await Log(installation).event(record.cause.sequence)
    if event is None:
        raise NotFound.event_gone(sequence=record.cause.sequence, stream=installation.layout.events)
    return record.cause, event


async def resend(installation: Installation, sequence: int, timeout: float, actor: str = "") -> Receipt:
    """Store the rejected event again, byte for byte. `sequence`: the place of its rejection in the log.

    actor: in whose name it is sent now, whoever sent it first.

    Within its deduplication window the server drops a second attempt for the same rejection. Raises `NotFound`,
    `NotFound.not_rejected`, `NotFound.event_gone`, and what `publish` raises.
    """
    cause, event = await rejected_at(installation, sequence)
    prefix = installation.prefix
    rest = without_actor(event.subject.removeprefix(f"{prefix}.inbox.").partition(".")[2])
    subject = f"{prefix}.events.{rest}"
    name = envelope.message_id(subject, "phaseline-resend", str(sequence))
    subject = installation.subjects.in_name_of(actor, subject)
    message = EventMessage(subject, event.sent, name, cause.event, cause.source, event.headers)
    return await publish(installation.wire, message, timeout)
