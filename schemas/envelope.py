"""The event: a CloudEvents 1.0 envelope in structured mode.

Belongs here: the shape of the envelope and its own rules, from bytes or from a map. Does not: which kinds and triggers
exist (the tables define them).
"""

from datetime import datetime
from typing import Annotated, Any
from urllib import parse

import msgspec
from msgspec import Meta

from phaseline.schemas import bounds, codec

SCHEMA_VERSION = 1
"""The version of the data schemas that this package writes and reads."""

MAX_SEQUENCE = 10**18 - 1
"""The highest `sequence` of an event."""

Text = Annotated[str, Meta(min_length=1, max_length=1024)]
Id = Annotated[Text, Meta(description="Identifies the event together with `source`.")]
Source = Annotated[Text, Meta(description="The publisher, like `/agent/c1`.")]
Type = Annotated[Text, Meta(description="`<kind>.<trigger>`, as in the NATS subject.")]
Specversion = Annotated[str, Meta(description="The version of CloudEvents.", extra_json_schema={"const": "1.0"})]
Subject = Annotated[str, Meta(description="`<kind>/<id>`; if given, it must agree with the NATS subject.")]
Time = Annotated[
    str,
    Meta(
        description="The time by the publisher's clock, RFC 3339. The record's cause keeps it; it decides nothing.",
        extra_json_schema={"format": "date-time"},
    ),
]
Sequence = Annotated[
    Annotated[int, Meta(extra_json_schema={"minimum": 0, "maximum": MAX_SEQUENCE})]
    | Annotated[str, Meta(extra_json_schema={"pattern": "^[0-9]{1,18}$"})],
    Meta(description="Rises per source and entity. An event that does not have a higher one is a duplicate."),
]
Schemaversion = Annotated[
    int, Meta(description="The version of these schemas.", extra_json_schema={"const": SCHEMA_VERSION})
]
Contenttype = Annotated[str, Meta(description="Ignored: `data` is a map in the format of the body.")]
Data = Annotated[dict[str, Any], Meta(description="The fields of the trigger; each trigger has a schema for them.")]

_SAFE = "/:@=+,;&?#!$'()*~[]|"


class Invalid(ValueError):
    """The envelope or its data breaks a rule. The message says which rule, and where."""


class Event(msgspec.Struct, frozen=True, gc=False):
    """A fact or a request from outside. `id` and `source` together identify it; `type` is `<kind>.<trigger>`."""

    id: Id
    source: Source
    type: Type
    specversion: Specversion
    subject: Subject | None = None
    time: Time | None = None
    sequence: Sequence | None = None
    schemaversion: Schemaversion = SCHEMA_VERSION
    datacontenttype: Contenttype | None = None
    data: Data | None = None


class _KnownEvent(Event, frozen=True, gc=False, forbid_unknown_fields=True):
    """An event without any extension attribute."""


_decode_known = msgspec.msgpack.Decoder(_KnownEvent).decode
_SCALARS = frozenset({str, int, float, bool, type(None)})


def decode(body: bytes) -> Event:
    """The event in a body; raises `Undecodable`, or `Invalid`, which names the attribute that is wrong."""
    event = _decode_plain(body)
    return read(codec.decode(body, bounds.LEVELS)) if event is None else _checked(event)


def _decode_plain(body: bytes) -> Event | None:
    """The event in the common sort of body, in one pass: msgpack, no extension attribute, only scalars in `data`.

    None for all other bodies, whether they hold an event or not. For nested values `msgspec` is less strict than
    `codec.decode`: it takes keys that are not text.
    """
    try:
        event = _decode_known(body)
    except (ValueError, RecursionError):
        return None
    if event.data and not _SCALARS.issuperset(map(type, event.data.values())):
        return None
    return event


def read(body: dict[str, Any]) -> Event:
    """The event in a decoded body; raises `Invalid`, which names the attribute that is wrong."""
    try:
        event = msgspec.convert(body, Event)
    except msgspec.ValidationError as error:
        raise Invalid(f"envelope: {error}") from error
    return _checked(event)


def _checked(event: Event) -> Event:
    """The event, whose attributes have the right types; raises `Invalid` if a value is wrong."""
    if event.specversion != "1.0":
        raise Invalid(f"envelope: specversion must be 1.0, found {event.specversion!r}")
    if event.schemaversion != SCHEMA_VERSION:
        raise Invalid(
            f"envelope: schemaversion {event.schemaversion} is not known here, the newest is {SCHEMA_VERSION}"
        )
    if event.time is not None:
        check_time(event.time)
    return event


def check_time(text: str) -> None:
    """Raise `Invalid` unless `text` is an RFC 3339 timestamp with an offset."""
    try:
        aware = datetime.fromisoformat(text).tzinfo is not None
    except ValueError:
        aware = False
    if not aware:
        raise Invalid(f"envelope: time must be an RFC 3339 timestamp with an offset, found {text[:64]!r}")


def sequence_of(event: Event) -> int | None:
    """The event's `sequence` as a number, or None; raises `Invalid` if it is neither a number nor decimal digits."""
    found = event.sequence
    if found is None:
        return None
    if isinstance(found, str):
        if not (found.isascii() and found.isdigit()) or len(found) > 18:
            raise Invalid(f"envelope: sequence must be a whole number of at most 18 digits, found {found[:64]!r}")
        return int(found)
    if not 0 <= found <= MAX_SEQUENCE:
        raise Invalid(f"envelope: sequence must be a whole number of at most 18 digits, found {found}")
    return found


def write(event: Event) -> dict[str, Any]:
    """The map to encode: all attributes that are set, `data` among them."""
    return {name: value for name in Event.__struct_fields__ if (value := getattr(event, name)) is not None}


def message_id(subject: str, source: str, event_id: str) -> str:
    """The text that identifies an event for the server, which drops repeats: NATS subject, source and id.

    The subject is part of it because the server compares all events of the installation, whatever their tree.
    """
    where = subject if subject.isascii() else parse.quote(subject, safe=f"{_SAFE}%")
    return f"{where} {parse.quote(source, safe=_SAFE)} {parse.quote(event_id, safe=_SAFE)}"
