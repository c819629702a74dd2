"""Makes events, checks them as a worker will, and turns them into messages.

Belongs here: everything that happens to an event before it is sent. Does not: sending it (`single`, `pipeline`).
"""

import getpass
import secrets
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, NamedTuple, TypedDict

import msgspec

from phaseline.engine.core import intake
from phaseline.engine.core.message import Headers
from phaseline.engine.core.reading.unread import named_only
from phaseline.machines.compiler.kinds import Kind, Kinds
from phaseline.schemas import bounds, codec, envelope
from phaseline.schemas.cloudevents import extensions
from phaseline.schemas.cloudevents.extensions import Extension
from phaseline.schemas.envelope import Event, ExtendedEvent, Invalid
from phaseline.schemas.errors import EventRefused, did_you_mean
from phaseline.schemas.records import Reason
from phaseline.schemas.subjects import Address, BadSubject, Subjects, check_id, quote


class EventMessage(NamedTuple):
    """The NATS message of one event. `message_id`: what the `Nats-Msg-Id` is made of (`publish.message_id`).

    event, source: the `id` and the `source` of the event, which identify it in errors. headers: those that it has
    beside its id; without any, the body is an envelope. unread: the fields of its data that nothing reads, if it was
    checked.
    """

    subject: str
    body: bytes
    message_id: str
    event: str
    source: str
    headers: Headers = ()
    unread: tuple[str, ...] = ()


def local_user() -> str:
    """The user of this machine, as far as it is known."""
    try:
        return getpass.getuser()
    except (OSError, KeyError, ImportError):
        return "unknown"


def default_source(program: str) -> str:
    """The source of events if no other is given: `/phaseline/<program>/<user>`."""
    return f"/phaseline/{program}/{local_user()}"


class EventDetails(TypedDict, total=False):
    """The optional parts of an event.

    source: who sends it. event_id: identifies it for that source; random by default. sequence: a number that rises per
    source and entity, by which a repeat is recognised however late it comes. epoch: in which it counts; all of a
    greater one is newer. time: when it happened; now by default.
    extensions: attributes of CloudEvents such as `traceparent`; records keep them in their cause.
    """

    source: str
    event_id: str
    sequence: int
    epoch: int
    time: datetime | str
    extensions: Mapping[str, Extension]


def compose(kind: str, trigger: str, entity_id: str, data: Mapping[str, Any] | None, details: EventDetails) -> Event:
    """An event about the entity `kind/entity_id`. `details` must have a source; a wrong detail raises `TypeError`."""
    for name in details.keys() - EventDetails.__annotations__.keys():
        meant = did_you_mean(name, EventDetails.__annotations__) or did_you_mean(f"event_{name}", ["event_id"])
        raise TypeError(f"an event has no detail {name!r}{meant}: choose of {', '.join(EventDetails.__annotations__)}")
    when = details.get("time", datetime.now(UTC))
    event = Event(
        id=details.get("event_id", secrets.token_hex(12)),
        source=details["source"],
        type=f"{kind}.{trigger}",
        specversion="1.0",
        subject=f"{kind}/{entity_id}",
        time=when if isinstance(when, str) else _text_of(when),
        sequence=details.get("sequence"),
        epoch=details.get("epoch"),
        data=None if data is None else dict(data),
    )
    added = _extensions(details.get("extensions", {}))
    return ExtendedEvent(**msgspec.structs.asdict(event), extensions=added) if added else event


def _extensions(given: Mapping[str, Extension]) -> dict[str, Extension]:
    """The extension attributes; raises `EventRefused.unsendable` for one that records would not keep."""
    found = extensions.kept_extensions(given, envelope.KNOWN)
    for name in given.keys() - found.keys():
        raise EventRefused.unsendable(
            reason="invalid",
            message=f"the extension attribute {name!r} cannot be kept: names are of a-z and 0-9, and none of the"
            f" envelope's own; values are text, whole numbers or booleans; there are at most {extensions.MOST}, of"
            f" {extensions.MOST_BYTES:,} bytes together",
        )
    return found


def _text_of(when: datetime) -> str:
    """A time in RFC 3339; local if it has no offset."""
    return when.astimezone().isoformat()


def pack(subjects: Subjects, event: Event | Mapping[str, Any], kinds: Kinds | None = None) -> EventMessage:
    """The message of an event or of a CloudEvents map. Raises `EventRefused` if the event cannot be a message.

    With `kinds`, raises `EventRefused` if a worker would reject the event whatever the state of its entity.
    """
    body = envelope.write(event) if isinstance(event, Event) else dict(event)
    if isinstance(body.get("time"), datetime):
        body["time"] = _text_of(body["time"])
    try:
        read = envelope.read(body)
        address = address_of(read)
        check_id(address.id)
        subject = subjects.event(_token(address.kind), _token(address.trigger), address.id)
        name = envelope.message_id(subject, read.source, read.id)
        message = EventMessage(subject, codec.encode(body), name, read.id, read.source)
    except (Invalid, BadSubject) as error:
        raise EventRefused.unsendable(reason="invalid", message=str(error)) from None
    except codec.Undecodable as error:
        raise EventRefused.unsendable(reason="undecodable", message=str(error)) from None
    except (TypeError, ValueError, OverflowError, RecursionError) as error:
        raise EventRefused.unsendable(reason="undecodable", message=f"msgpack cannot hold it: {error}") from None
    if kinds is None:
        return message
    unread = _check(kinds, read, address)
    _check_bounds(message.body, body)
    return message._replace(unread=unread)


def _check_id(kind: Kind, entity_id: str) -> None:
    """Raise `Invalid` if the kind has no such id."""
    if misfit := kind.misfit(entity_id):
        raise Invalid(misfit)


def _check(kinds: Kinds, event: Event, address: Address) -> tuple[str, ...]:
    """The fields of an event that nothing reads. Raises `EventRefused` if a worker would reject it in any case."""
    try:
        kind = intake.find_kind(kinds, address.kind)
        intake.check_trigger(kind, address.trigger)
        _check_id(kind, address.id)
        _check_banned(kinds, event)
        data, unread = intake.readable(kind, address.trigger, event.data or {})
        intake.check_data(kind, address.trigger, data)
        envelope.sequence_of(event)
        envelope.epoch_of(event)
    except intake.RejectedEvent as error:
        raise EventRefused(reason=error.reason, message=f"{error}{_meant(kinds, address, error.reason)}") from None
    except Invalid as error:
        raise EventRefused(reason="invalid", message=str(error)) from None
    return named_only(unread)


def _meant(kinds: Kinds, address: Address, reason: Reason) -> str:
    """Whether the publisher meant another kind or trigger."""
    if reason == "unknown_kind":
        return did_you_mean(address.kind, kinds)
    return did_you_mean(address.trigger, kinds[address.kind].roles) if reason == "unknown_trigger" else ""


def _check_banned(kinds: Kinds, event: Event) -> None:
    """Raise `RejectedEvent` if the event holds what no event may hold."""
    if event.data and (found := kinds.bans.inside({"data": event.data})) is not None:
        raise intake.RejectedEvent("secret", found.message)


def _check_bounds(packed: bytes, body: dict[str, Any]) -> None:
    try:
        bounds.check_msgpack(packed, body, bounds.LEVELS)
    except bounds.Unbounded as error:
        raise EventRefused(reason="undecodable", message=f"msgpack: {error}") from None


def address_of(event: Event) -> Address:
    """The address in the `type` and `subject` of an event. Raises `Invalid` if they do not contain one."""
    kind, dot, trigger = event.type.partition(".")
    if not dot or not kind or not trigger or "." in trigger:
        raise Invalid(f"envelope: type must be <kind>.<trigger> without a prefix, found {event.type[:256]!r}")
    if event.subject is None or not event.subject.startswith(f"{kind}/"):
        raise Invalid(f"envelope: subject must be {kind}/<id>, found {event.subject!r}")
    return Address(kind, trigger, event.subject[len(kind) + 1 :])


def _token(word: str) -> str:
    """A kind or trigger as one token of a subject, even if no such kind or trigger exists."""
    check_id(word)
    return quote(word.replace("/", "_"))
