"""From the bytes of a stored event to an arrival that the core can decide, or to a rejection. Pure.

See docs/design.md, What bad input gets.
Belongs here: every check that needs no entity. Does not: whether the event is legal in a state (`decide`, the next
step).
"""

import re
from collections.abc import Mapping
from typing import Any

import msgspec

from phaseline.engine.core.beside.free_attributes import opened
from phaseline.engine.core.memory.reasons import REASON, worded
from phaseline.engine.core.reading.unread import without_unread
from phaseline.machines.compiler.kinds import Kind, Kinds
from phaseline.machines.language.fields import ATTRIBUTES
from phaseline.machines.language.product import CODED, BannedContent, Bans
from phaseline.machines.language.table import MAX_TEXT, Field
from phaseline.schemas import codec, envelope
from phaseline.schemas.bounds import LEVELS, MAX_WHOLE, MIN_WHOLE
from phaseline.schemas.cloudevents import binary_mode
from phaseline.schemas.cloudevents.readable import of_batch, of_event
from phaseline.schemas.envelope import LARGE, Event, Invalid, PlainEvent
from phaseline.schemas.errors import did_you_mean
from phaseline.schemas.records import MAX_PAYLOAD, NONE, Cause, Reason, Rejection
from phaseline.schemas.subjects import MAX_ID, Address, BadSubject, Subjects
from phaseline.schemas.templates.shared_values import SHARED


class Arrival(msgspec.Struct, frozen=True, gc=False):
    """A well-formed event. `time`: when the server stored it, ns."""

    kind: str
    trigger: str
    id: str
    data: Mapping[str, Any]
    cause: Cause
    sequence: int | None
    time: int
    timer: tuple[str, int] | None = None
    """If a timer fired the event: the facet, and when it was due, ns."""
    epoch: int = 0
    """In which `sequence` counts."""
    unread: tuple[str, ...] = ()
    """The fields of an observation that nothing reads. `data` is without them."""


class RejectedEvent(Exception):
    """An event that is rejected before its entity is looked at."""

    def __init__(self, reason: Reason, message: str) -> None:
        """The rejection reason, and a message for people."""
        super().__init__(message)
        self.reason: Reason = reason


def read(
    kinds: Kinds, subjects: Subjects, subject: str, body: bytes, sequence: int, time: int, block: bytes | None = None
) -> Arrival | Rejection:
    """The arrival or the rejection of a stored message. `sequence`: its position; `time`: when it was stored, ns.

    block: its header block, in which an event in binary mode has its attributes.
    """
    headers = block if block is not None and binary_mode.is_binary(block) else None
    whole = body if headers is None else binary_mode.structured(body, headers)
    bans = kinds.bans
    event = _repeated(bans, body, subject) if len(body) >= LARGE and headers is None else None
    if event is None and bans.may(whole) and (found := bans.where(whole)) is not None:
        return _without_body(bans, subjects, subject, found, whole, sequence, time)
    address = None
    try:
        address = subjects.address(subject)
        if address[3] and block is not None and binary_mode.TAKEN_OVER in block:
            address = address._replace(actor="")
        if event is None:
            event = envelope.decode(body, subject) if headers is None else binary_mode.decode(body, headers)
        if not isinstance(event, PlainEvent) and (found := _hidden(bans, body)) is not None:
            return _without_body(bans, subjects, subject, found, whole, sequence, time)
        return _arrival(kinds, address, event, sequence, time, is_due=subjects.is_due(subject))
    except BadSubject as error:
        answer: tuple[Reason, str] = ("invalid", str(error))
    except codec.Undecodable as error:
        answer = ("undecodable", of_batch(body) or str(error))
    except Invalid as error:
        answer = ("invalid", str(error))
    except RejectedEvent as error:
        answer = (error.reason, str(error))
    if (found := _hidden(bans, body)) is not None:
        return _without_body(bans, subjects, subject, found, whole, sequence, time)
    return reject(subject, address, event, body, sequence, time, *answer, block)


def _repeated(bans: Bans, body: bytes, subject: str) -> Event | None:
    """The event in a body that has the large parts of the last one on its subject; None of another body.

    Those were searched for what is banned when they came. What was put around them must not even look like it.
    """
    short = SHARED.abridge(subject, body)
    return None if short is None or bans.may(short.body) else envelope.decode_abridged(short)


def _hidden(bans: Bans, body: bytes) -> BannedContent | None:
    """What is banned and hidden in base64 in a body; None if nothing is."""
    return bans.where(body) if CODED in body else None


def _without_body(
    bans: Bans, subjects: Subjects, subject: str, found: BannedContent, body: bytes, sequence: int, time: int
) -> Rejection:
    """The rejection of an event that holds what is banned, of which it keeps nothing."""
    try:
        event: Event | None = envelope.read(codec.decode(body, LEVELS))  # keeps nothing of the body
    except (codec.Undecodable, Invalid):
        event = None
    if event is not None and bans.inside([event.id, event.source]) is not None:
        event = None
    return reject(subject, address_of(subjects, subject), event, None, sequence, time, "secret", found.message)


def address_of(subjects: Subjects, subject: str) -> Address | None:
    """The address in a subject; None if the subject has none."""
    try:
        return subjects.address(subject)
    except BadSubject:
        return None


def reject(
    subject: str, address: Address | None, event: Event | None, body: bytes | None, sequence: int, time: int,
    reason: Reason, message: str, block: bytes | None = None,
) -> Rejection:  # fmt: skip
    """The rejection of a message that is no arrival.

    It keeps the first bytes of the body and the event's extension attributes, if a body is given. Of a body that is no
    event it keeps what can be read. block: the header block of the message.
    """
    known = address or Address("-", "-", "/".join(subject.split(".")[-3:]))
    kind, trigger, entity_id = (part.encode(errors="replace").decode()[:MAX_ID] for part in known[:3])
    cause = Cause(sequence, "", "", "event", actor=known.actor)
    if event is not None:
        claims = NONE if body is None else envelope.claims(event, known.actor)
        cause = Cause(sequence, event.id, event.source, "event", None, None, claims, known.actor)
    elif body is not None:
        found = of_event(body, block)
        cause = Cause(sequence, found.id, found.source, "event", actor=known.actor)
        message += f", in {found.within}" if found.within and message.endswith(codec.CUT_OFF) else ""
        message += f"; its envelope says {found.type} of {found.subject}" if address is None and found.subject else ""
    kept = None if body is None else body[:MAX_PAYLOAD]
    return Rejection(kind, entity_id, trigger, reason, message[:MAX_TEXT], None, (), cause, time, kept)


def _timer_arrival(kind: Kind, address: Address, event: Event, sequence: int, time: int) -> Arrival:
    """The arrival of an event that a timer fired; raises `RejectedEvent` if the table has no such timer."""
    data = event.data or {}
    if address.trigger not in kind.timed or data.get("facet") not in kind.names or type(data.get("due")) is not int:
        raise RejectedEvent("unknown_trigger", f"no timer of {kind.name} fires {address.trigger}")
    cause = Cause(sequence, event.id, event.source, "timer", f"{address.kind}/{address.id}", None)
    return Arrival(kind.name, address.trigger, address.id, NONE, cause, None, time, (data["facet"], data["due"]))


def _arrival(kinds: Kinds, address: Address, event: Event, sequence: int, time: int, *, is_due: bool) -> Arrival:
    name, trigger, entity_id, actor = address
    kind = kinds.get(name) or find_kind(kinds, name)
    if is_due:
        return _timer_arrival(kind, address, event, sequence, time)
    type_ = kind.event_types.get(trigger)
    if type_ is None:
        check_trigger(kind, trigger)
    if entity_id.count("/") + 1 != kind.arity:
        raise Invalid(kind.misfit(entity_id))
    if event.type != type_:
        raise Invalid(f"envelope: type is {event.type[:MAX_ID]!r}, the subject says {type_}{_unprefixed(event, type_)}")
    if event.subject is not None and event.subject != f"{name}/{entity_id}":
        raise Invalid(f"envelope: subject is {event.subject[:256]!r}, the NATS subject says {name}/{entity_id}")
    data: Mapping[str, Any] = event.data or NONE
    unread: tuple[str, ...] = ()
    if data and (ATTRIBUTES in data or not kind.declared.get(trigger, data.keys()) >= data.keys()):
        data, unread = readable(kind, trigger, data)
    if data or trigger in kind.demanding:
        check_data(kind, trigger, data)
        if REASON in data:
            data = worded(data)
    if actor:
        cause = Cause(sequence, event.id, event.source, "event", None, event.time, envelope.claims(event, actor), actor)
    else:
        cause = Cause(sequence, event.id, event.source, "event", None, event.time, event.extensions)
    return Arrival(
        kind.name, trigger, entity_id, data, cause,
        None if event.sequence is None else envelope.sequence_of(event), time, None,
        0 if event.epoch is None else envelope.epoch_of(event), unread,
    )  # fmt: skip


def _unprefixed(event: Event, type_: str | None) -> str:
    """What to write in place of a type with a prefix, as other systems have it: `com.example.node.ready`."""
    return f": write {type_}, without what stands before it" if event.type.endswith(f".{type_}") else ""


def find_kind(kinds: Kinds, name: str) -> Kind:
    """The kind of that name; raises `RejectedEvent` if it is unknown."""
    kind = kinds.get(name)
    if kind is None:
        raise RejectedEvent("unknown_kind", f"kind {name!r} is unknown; there are {', '.join(kinds)}")
    return kind


def check_trigger(kind: Kind, trigger: str) -> None:
    """Raise `RejectedEvent` unless a publisher may send `trigger`."""
    role = kind.roles.get(trigger)
    if role == "derived":
        raise RejectedEvent("derived", f"{trigger} is fired by the engine only, after {kind.fired_by[trigger]}")
    if role is None:
        offered = ", ".join(name for name, role in kind.roles.items() if role != "derived")
        raise RejectedEvent("unknown_trigger", f"{kind.name} has no trigger {trigger!r}; it has {offered}")


def readable(kind: Kind, trigger: str, data: Mapping[str, Any]) -> tuple[Mapping[str, Any], tuple[str, ...]]:
    """The data that something reads, with attributes in their own fields, and the names of the other fields.

    Raises `Invalid` as `opened` and `without_unread`.
    """
    if ATTRIBUTES in data and trigger in kind.declared:
        data = opened(kind, data)
    return without_unread(kind, trigger, data)


def check_data(kind: Kind, trigger: str, data: Mapping[str, Any]) -> None:
    """Raise `Invalid` if a field of the trigger is missing or has a wrong type or value."""
    for field in kind.common[trigger]:
        value = data.get(field.name)
        if value is not None and (
            field.type is not str or field.pattern or type(value) is not str or len(value) > MAX_TEXT
        ):
            _check_value(field, value)
    for field in kind.fields[trigger]:
        given = data.get(field.name)
        if given is None:
            if field.required and not (field.null and field.name in data):
                raise Invalid(f"data.{field.name} is required: {field.doc}")
            continue
        if field.many:
            _check_values(field, given, HINT if kind.telling and field.name == "conditions" else "")
        else:
            _check_value(field, given)


HINT = "; what no table lists is a signal: name it in data.signals, or report it with the trigger condition"
"""What is said of a condition that a kind with signals does not have."""


def _check_values(field: Field, given: object, hint: str = "") -> None:
    """Check a list. hint: what is said of a value that is none of the options."""
    if not isinstance(given, list):
        raise Invalid(f"data.{field.name} must be a list of {field.type.__name__}")
    if field.type is dict and set(map(type, given)) <= {dict}:
        return  # a snapshot has thousands of items
    for value in given:
        _check_value(field, value, hint)
    if field.type not in (dict, list) and len(set(given)) < len(given):
        raise Invalid(f"data.{field.name} holds a value twice")


def _check_numbers(field: Field, given: Mapping[str, object]) -> None:
    """Check a map of numbers by name."""
    for name, value in given.items():
        where = f"data.{field.name}.{name[:64]}"
        if name not in field.numbers:
            raise Invalid(f"{where}: the name must be one of {', '.join(field.numbers)}")
        if type(value) not in (int, float):
            raise Invalid(f"{where} must be a number, found {type(value).__name__}")
        if field.least is not None and not value >= field.least:  # type: ignore[operator]  # the type was checked above
            raise Invalid(f"{where} must be at least {field.least:g}, found {value}")


def _check_value(field: Field, value: object, hint: str = "") -> None:
    if field.numbers and isinstance(value, dict):
        _check_numbers(field, value)
        return
    if type(value) is not field.type and not (field.type is float and type(value) is int):
        raise Invalid(f"data.{field.name} must be {field.type.__name__}, found {type(value).__name__}")
    if field.pattern and not re.fullmatch(field.pattern, str(value)):
        raise Invalid(f"data.{field.name} must be {field.doc}, and match {field.pattern}, found {str(value)[:64]!r}")
    if field.options and value not in field.options:
        meant = hint or did_you_mean(str(value), field.options)
        raise Invalid(f"data.{field.name} must be one of {', '.join(field.options)}, found {str(value)[:64]!r}{meant}")
    if field.least is not None and not value >= field.least:  # type: ignore[operator]  # the type was checked above
        raise Invalid(f"data.{field.name} must be at least {field.least:g}, found {value}")
    if isinstance(value, int) and not MIN_WHOLE <= value <= MAX_WHOLE:
        raise Invalid(f"data.{field.name} must have at most 64 bits")
    if isinstance(value, str) and len(value) > MAX_TEXT:
        raise Invalid(f"data.{field.name} is longer than {MAX_TEXT} characters")
