"""Events on their way out: composed, judged as a worker will judge them, made into messages.

Belongs here: all that happens to an event before it is sent. Does not: sending it (`publishing`, `pipeline`).
"""

import getpass
import secrets
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, NamedTuple, TypedDict

from phaseline.engine.core import intake
from phaseline.engine.errors import EventRefused, Unsendable
from phaseline.machines.compiler.kinds import Kinds
from phaseline.schemas import codec, envelope
from phaseline.schemas.envelope import Event, Invalid
from phaseline.schemas.subjects import Address, BadSubject, Subjects, check_id, quote


class Outgoing(NamedTuple):
    """One message for EVENTS. `message_id`: what the server drops repeats by. `event`, `source`: which one it is."""

    subject: str
    body: bytes
    message_id: str
    event: str
    source: str


def default_source(program: str) -> str:
    """Whom an event comes from when nobody says: `/phaseline/<program>/<user>`."""
    try:
        user = getpass.getuser()
    except (OSError, KeyError, ImportError):
        user = "unknown"
    return f"/phaseline/{program}/{user}"


class Details(TypedDict, total=False):
    """What an event may say beside what happened.

    source: whom it comes from. event_id: what identifies it for that source, random where left out. sequence: rises
    per source and entity, so that a repeat is known however late it comes. time: when it happened, now where left out.
    """

    source: str
    event_id: str
    sequence: int
    time: datetime | str


def compose(kind: str, trigger: str, entity_id: str, data: Mapping[str, Any] | None, details: Details) -> Event:
    """An event about `kind/entity_id`; `details` must name a source."""
    when = details.get("time", datetime.now(UTC))
    return Event(
        id=details.get("event_id", secrets.token_hex(12)),
        source=details["source"],
        type=f"{kind}.{trigger}",
        specversion="1.0",
        subject=f"{kind}/{entity_id}",
        time=when if isinstance(when, str) else when.astimezone().isoformat(),
        sequence=details.get("sequence"),
        data=None if data is None else dict(data),
    )


def pack(subjects: Subjects, event: Event | Mapping[str, Any], kinds: Kinds | None = None) -> Outgoing:
    """The message of an event, given as such or as a CloudEvents map; raises `Unsendable` where none can be made.

    With `kinds`, raises `EventRefused` where a worker would refuse it without looking at any entity.
    """
    body = envelope.write(event) if isinstance(event, Event) else dict(event)
    try:
        read = envelope.read(body)
        address = address_of(read)
        check_id(address.id)
        subject = subjects.event(_token(address.kind), _token(address.trigger), address.id)
        message = Outgoing(subject, codec.encode(body), envelope.message_id(read), read.id, read.source)
    except (Invalid, BadSubject) as error:
        raise Unsendable(reason="invalid", message=str(error)) from None
    except (TypeError, ValueError, OverflowError, RecursionError) as error:
        raise Unsendable(reason="undecodable", message=f"msgpack cannot hold it: {error}") from None
    if kinds is not None:
        _judge(kinds, read, address)
    return message


def _judge(kinds: Kinds, event: Event, address: Address) -> None:
    try:
        kind = intake.find_kind(kinds, address.kind)
        intake.check_trigger(kind, address.trigger)
        intake.check_arity(kind, address.id)
        intake.check_data(kind, address.trigger, event.data or {})
        envelope.sequence_of(event)
    except intake.RejectedEvent as error:
        raise EventRefused(reason=error.reason, message=str(error)) from None
    except Invalid as error:
        raise EventRefused(reason="invalid", message=str(error)) from None


def address_of(event: Event) -> Address:
    """What the event is about, by its own word; raises `Invalid` where `type` and `subject` do not say it."""
    kind, dot, trigger = event.type.partition(".")
    if not dot or not kind or not trigger:
        raise Invalid(f"envelope: type must be <kind>.<trigger>, found {event.type!r}")
    if event.subject is None or not event.subject.startswith(f"{kind}/"):
        raise Invalid(f"envelope: subject must be {kind}/<id>, found {event.subject!r}")
    return Address(kind, trigger, event.subject[len(kind) + 1 :])


def _token(word: str) -> str:
    """A kind or trigger, however wrong, as one token of a subject."""
    check_id(word)
    return quote(word.replace("/", "_"))
