"""The event: a CloudEvents 1.0 envelope in structured mode (design: On the wire).

Belongs here: the envelope's shape and its own rules. Does not: which kinds and triggers exist (the tables say).
"""

from datetime import datetime
from typing import Annotated, Any
from urllib import parse

import msgspec
from msgspec import Meta

SCHEMA_VERSION = 1
"""The version of the data schemas this package writes and reads."""

MAX_SEQUENCE = 10**18 - 1

Text = Annotated[str, Meta(min_length=1, max_length=1024)]
Id = Annotated[Text, Meta(description="Together with `source` it identifies the event.")]
Source = Annotated[Text, Meta(description="Who says it, like `/agent/c1`.")]
Type = Annotated[Text, Meta(description="`<kind>.<trigger>`, as in the NATS subject.")]
Specversion = Annotated[str, Meta(description="Of CloudEvents.", extra_json_schema={"const": "1.0"})]
Subject = Annotated[str, Meta(description="`<kind>/<id>`; when given it must agree with the NATS subject.")]
Time = Annotated[
    str,
    Meta(
        description="The publisher's clock, RFC 3339; kept in the record's cause, never used to decide.",
        extra_json_schema={"format": "date-time"},
    ),
]
Sequence = Annotated[
    Annotated[int, Meta(extra_json_schema={"minimum": 0, "maximum": MAX_SEQUENCE})]
    | Annotated[str, Meta(extra_json_schema={"pattern": "^[0-9]{1,18}$"})],
    Meta(description="Rising per source and entity; a lower or equal one is a repeat, however late."),
]
Schemaversion = Annotated[
    int, Meta(description="The version of these schemas.", extra_json_schema={"const": SCHEMA_VERSION})
]
Contenttype = Annotated[str, Meta(description="Of `data`; it is a map in the body's own format whatever this says.")]
Data = Annotated[dict[str, Any], Meta(description="What the trigger's own schema says.")]

_SAFE = "/:@=+,;&?#!$'()*~[]|"


class Invalid(ValueError):
    """The envelope or its data breaks a rule; the message says which, and where."""


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


def read(body: dict[str, Any]) -> Event:
    """The event in a decoded body; raises `Invalid` naming the attribute that is wrong."""
    try:
        event = msgspec.convert(body, Event)
    except msgspec.ValidationError as error:
        raise Invalid(f"envelope: {error}") from error
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
    """Raise `Invalid` unless `text` is an RFC 3339 timestamp with its offset."""
    try:
        aware = datetime.fromisoformat(text).tzinfo is not None
    except ValueError:
        aware = False
    if not aware:
        raise Invalid(f"envelope: time must be an RFC 3339 timestamp with an offset, found {text[:64]!r}")


def sequence_of(event: Event) -> int | None:
    """The event's `sequence` as a number, or None; raises `Invalid` when it is no number and no decimal digits."""
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
    """The map to encode: the attributes that are set, and `data`."""
    return {name: value for name in Event.__struct_fields__ if (value := getattr(event, name)) is not None}


def message_id(event: Event) -> str:
    """What the server drops repeats by (`Nats-Msg-Id`): source and id together, fit for a header."""
    return f"{parse.quote(event.source, safe=_SAFE)} {parse.quote(event.id, safe=_SAFE)}"
