"""The event: a CloudEvents 1.0 envelope in structured mode.

Belongs here: the shape of the envelope and its own rules, from bytes or from a map. Does not: which kinds and triggers
exist (the tables define them).
"""

import base64
from collections.abc import Iterator, Mapping
from datetime import datetime
from functools import lru_cache
from typing import Annotated, Any, ClassVar
from urllib import parse

import msgspec
from msgspec import UNSET, Meta, UnsetType

from phaseline.schemas import bounds, codec
from phaseline.schemas.cloudevents import actors, content_types, extensions
from phaseline.schemas.cloudevents.extensions import Extension
from phaseline.schemas.records import NONE
from phaseline.schemas.templates.shared_values import LEAST, SHARED, AbridgedBody

SCHEMA_VERSION = 1
"""The version of the data schemas that this package writes and reads."""

MAX_SEQUENCE = 10**18 - 1
"""The highest `sequence` of an event."""

MAX_ATTRIBUTE = 1024
"""The most characters of `id`, `source` and `type`."""

Text = Annotated[str, Meta(min_length=1, max_length=MAX_ATTRIBUTE)]
Id = Annotated[Text, Meta(description="Identifies the event together with `source`.")]
Source = Annotated[Text, Meta(description="The publisher, like `/agent/c1`.")]
Type = Annotated[Text, Meta(description="`<kind>.<trigger>`, as in the NATS subject.")]
Specversion = Annotated[
    str, Meta(title="Specversion", description="The version of CloudEvents.", extra_json_schema={"const": "1.0"})
]
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
    Meta(description="Rises per source and entity. An event that does not have a higher one is a repeat."),
]
Epoch = Annotated[
    Annotated[int, Meta(extra_json_schema={"minimum": 0, "maximum": MAX_SEQUENCE})]
    | Annotated[str, Meta(extra_json_schema={"pattern": "^[0-9]{1,18}$"})],
    Meta(description="`sequence` counts within it. A greater one is newer; without one it is 0."),
]
Schemaversion = Annotated[
    int, Meta(description="The version of these schemas.", extra_json_schema={"const": SCHEMA_VERSION})
]
Contenttype = Annotated[
    str,
    Meta(description="JSON or msgpack, for `data_base64`. Ignored for `data`, which is a map in the body's format."),
]
Data = Annotated[dict[str, Any], Meta(description="The fields of the trigger; each trigger has a schema for them.")]
CodedData = Annotated[
    str, Meta(description="The data as JSON or msgpack in base64, in place of `data`: by `datacontenttype`, or JSON.")
]

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
    epoch: Epoch | None = None
    schemaversion: Schemaversion = SCHEMA_VERSION
    datacontenttype: Contenttype | None = None
    data: Data | None = None
    data_base64: CodedData | None = None
    extensions: ClassVar[Mapping[str, Extension]] = NONE
    """The extension attributes that records keep; see `ExtendedEvent`."""


class ExtendedEvent(Event, frozen=True, gc=False):
    """An event with extension attributes. Most events have none, and do without the field."""

    extensions: Mapping[str, Extension] = msgspec.field(default_factory=dict)  # type: ignore[misc]  # as intended


KNOWN = frozenset((*Event.__struct_fields__, "dataschema"))
"""The attributes that are no extensions."""


REQUIRED, LIMITED = ("specversion", "id", "source", "type"), ("id", "source", "type")
_TEXT, _LIMITED = "a text", f"a text of 1 to {MAX_ATTRIBUTE:,} characters"
ATTRIBUTES: Mapping[str, tuple[tuple[type, ...], str]] = {
    "specversion":     ((str,),     _TEXT),
    "id":              ((str,),     _LIMITED),
    "source":          ((str,),     _LIMITED),
    "type":            ((str,),     _LIMITED),
    "subject":         ((str,),     _TEXT),
    "time":            ((str,),     _TEXT),
    "sequence":        ((int, str), "a whole number, or its digits as a text"),
    "schemaversion":   ((int,),     "a whole number"),
    "datacontenttype": ((str,),     _TEXT),
    "data":            ((dict,),    "a map"),
    "data_base64":     ((str,),     _TEXT),
}  # fmt: skip
"""By attribute, the types of its value, and these in words."""
_WORDS: Mapping[type, str] = {
    str: "a text", bool: "a boolean", int: "a whole number", float: "a number", list: "a list", dict: "a map",
    bytes: "bytes", type(None): "null",
}  # fmt: skip


class PlainEvent(Event, frozen=True, gc=False, forbid_unknown_fields=True):
    """An event without any extension attribute, and without data in base64: the common sort."""


class _ScalarEvent(PlainEvent, frozen=True, gc=False):
    """The same with nothing nested in `data`."""

    data: dict[str, str | int | float | bool | None] | None = None


_decode_scalars = msgspec.msgpack.Decoder(_ScalarEvent).decode


class _RawManifests(msgspec.Struct, frozen=True, gc=False, forbid_unknown_fields=True):
    """Two manifests, of which neither the members of `live` nor `desired` are decoded yet."""

    live: dict[str, msgspec.Raw] | UnsetType | None = UNSET
    desired: msgspec.Raw | UnsetType = UNSET


class _RawEvent(PlainEvent, frozen=True, gc=False):
    """The same with manifests, and nothing else, in `data`."""

    data: _RawManifests | None = None  # type: ignore[assignment]  # `_decode_manifests` makes a map of it


_decode_raw = msgspec.msgpack.Decoder(_RawEvent).decode
LARGE = 1_024
"""The bytes from which on a body is likely to hold manifests."""
LARGE_PART = 256
"""The bytes from which on a part of a manifest is worth to be left out of a body."""
OBSERVED = ".observed"
"""The end of the type of an event that holds manifests."""
PART_LEVELS = bounds.LEVELS - 3
"""How deep a member of `live` may be nested, with the three maps around it."""
CHANGING = ("metadata", "status")
"""The members of `live` that hardly ever come a second time: each change of an object changes them."""
MOST_SMALL = 4_096
"""The most values of less than `LEAST` bytes that are kept, such as the kinds of objects."""


def decode(body: bytes, subject: str = "") -> Event:
    """The event in a body; raises `Undecodable`, or `Invalid`, which names the attribute that is wrong.

    subject: its NATS subject, if the next body there may be abridged.
    """
    event = (_decode_manifests(body, subject) if len(body) >= LARGE else None) or _decode_plain(body)
    return read(codec.decode(body, bounds.LEVELS)) if event is None else _checked(event)


def decode_abridged(found: AbridgedBody) -> Event | None:
    """The event in a body that was abridged; None if `decode` has to look at the whole body."""
    event = _decode_manifests(found.body, "", found.left_out)
    try:
        return None if event is None else _checked(event)
    except Invalid:
        return None


def _decode_plain(body: bytes) -> Event | None:
    """The event in the common sort of body, in one pass: msgpack, no extension attribute, only scalars in `data`.

    None for all other bodies, whether they hold an event or not. For nested values `msgspec` is less strict than
    `codec.decode`: it takes keys that are not text.
    """
    try:
        event = _decode_scalars(body)
    except (ValueError, RecursionError):
        return None
    return event if event.data_base64 is None else None


def _decode_manifests(body: bytes, subject: str, left_out: Mapping[bytes, Any] | None = None) -> Event | None:
    """The event in a body with manifests, of which the parts that were there before are not decoded again.

    `desired` is kept as a whole. Of `live` each member is kept for itself, but for those that change all the time.
    None for all other bodies, and for each that is wrong in some way.
    subject: for which its large parts are noted. left_out: by mark, the values that were; each must have its place.
    """
    left = dict(left_out or {})
    try:
        event = _decode_raw(body)
        if event.data is None or event.data_base64 is not None or not event.type.endswith(OBSERVED):
            return None
        data = _manifests(event.data, left)
    except (ValueError, RecursionError):
        return None
    if left:
        return None
    if subject:
        SHARED.note(subject, _large_parts(event.data))
    return PlainEvent(
        event.id, event.source, event.type, event.specversion, event.subject, event.time, event.sequence,
        event.epoch, event.schemaversion, event.datacontenttype, data,
    )  # fmt: skip


def _manifests(found: _RawManifests, left: dict[bytes, Any]) -> dict[str, Any]:
    """The manifests. left: values by the marks in their places; those that are found are taken out."""
    data: dict[str, Any] = {}
    live, desired = found.live, found.desired
    if live is not UNSET:
        data["live"] = None if live is None else {n: _member(n, bytes(raw), left) for n, raw in live.items()}
    if desired is not UNSET:
        raw = bytes(desired)
        data["desired"] = left.pop(raw) if raw in left else SHARED.value(raw, _decode_part)
    return data


def _member(name: str, raw: bytes, left: dict[bytes, Any]) -> Any:
    if name in CHANGING:
        return _decode_part(raw)
    if len(raw) < LEAST:
        return left.pop(raw) if raw in left else _decode_small(raw)
    return SHARED.value(raw, _decode_part)


def _large_parts(found: _RawManifests) -> Iterator[tuple[str, bytes]]:
    """The names and bytes of the parts that the next body may have too."""
    named = [*(found.live or {}).items(), ("desired", found.desired)]
    return ((name, bytes(raw)) for name, raw in named if raw is not UNSET and len(raw) >= LARGE_PART)


def _decode_part(raw: bytes) -> Any:
    """The value of a part, wherever it stands; one that is too deep for some place is left to the other way."""
    return codec.decode_part(raw, PART_LEVELS)


_decode_small = lru_cache(MOST_SMALL)(_decode_part)


def read(body: dict[str, Any]) -> Event:
    """The event in a decoded body; raises `Invalid`, which names the attribute that is wrong."""
    try:
        event = msgspec.convert(body, Event)
    except msgspec.ValidationError as error:
        raise Invalid(f"envelope: {_problem(body)}") from error
    if event.data_base64 is not None:
        event = _with_data(event, event.data_base64)
    if not KNOWN.issuperset(body) and (found := extensions.kept_extensions(body, KNOWN)):
        event = ExtendedEvent(**msgspec.structs.asdict(event), extensions=found)
    return _checked(event)


def _problem(body: dict[str, Any]) -> str:
    """What is wrong with the attributes of a map that is no event."""
    for name, (types, what) in ATTRIBUTES.items():
        if body.get(name) is None and (name not in REQUIRED or name not in body):
            if name in REQUIRED:
                return f"{name} is missing; an event has {', '.join(REQUIRED)}"
            if name != "schemaversion" or name not in body:
                continue
        value = body[name]
        if not isinstance(value, types) or isinstance(value, bool):
            as_text = " that holds JSON: send it as it is, not as a text" if name == "data" and _is_map(value) else ""
            return f"{name} must be {what}, found {_WORDS.get(type(value), 'another value')}{as_text}"
        if isinstance(value, str) and name in LIMITED and not 0 < len(value) <= MAX_ATTRIBUTE:
            return f"{name} must be {what}, found one of {len(value):,} characters"
    return "an attribute has a wrong type"


def _is_map(value: object) -> bool:
    """Whether a value is a text that holds a map, as some libraries write data."""
    try:
        return isinstance(value, str) and isinstance(codec.decode_text(value), dict)
    except codec.Undecodable:
        return False


def _with_data(event: Event, coded: str) -> Event:
    """The event with the data that it has in base64."""
    if event.data is not None:
        raise Invalid("envelope: an event has data or data_base64, this one has both")
    try:
        raw = base64.b64decode(coded, validate=True)
    except ValueError as error:
        raise Invalid("envelope: data_base64 is not base64") from error
    data = decode_data(raw, event.datacontenttype, "data_base64") if raw else None
    return msgspec.structs.replace(event, data=data, data_base64=None)


def decode_data(raw: bytes, type_: str | None, where: str) -> dict[str, Any]:
    """The data of an event that came as bytes of a type. Raises `Invalid` or `Undecodable`; `where` says what it is."""
    if type_ is not None and not content_types.is_readable(type_):
        raise Invalid(f"{where} must be JSON or msgpack, its type is {type_[:64]!r}")
    try:
        return codec.decode(raw, bounds.LEVELS - 1)
    except codec.Undecodable as error:
        raise codec.Undecodable(f"{where}: {error}") from error


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
    return None if event.sequence is None else _whole("sequence", event.sequence)


def epoch_of(event: Event) -> int:
    """The epoch of the event's `sequence`; raises `Invalid` if it is neither a number nor decimal digits."""
    return 0 if event.epoch is None else _whole("epoch", event.epoch)


def _whole(name: str, found: int | str) -> int:
    if isinstance(found, str):
        if not (found.isascii() and found.isdigit()) or len(found) > 18:
            raise Invalid(f"envelope: {name} must be a whole number of at most 18 digits, found {found[:64]!r}")
        return int(found)
    if not 0 <= found <= MAX_SEQUENCE:
        raise Invalid(f"envelope: {name} must be a whole number of at most 18 digits, found {found}")
    return found


def claims(event: Event, actor: str) -> Mapping[str, Extension]:
    """The extension attributes that a record keeps: all but the name of the actor, which stands beside them."""
    if event.extensions.get(actors.ATTRIBUTE) != actor:
        return event.extensions
    return {name: value for name, value in event.extensions.items() if name != actors.ATTRIBUTE} or NONE


def write(event: Event) -> dict[str, Any]:
    """The map to encode: all attributes that are set, `data` among them."""
    found = {name: value for name in Event.__struct_fields__ if (value := getattr(event, name)) is not None}
    return {**found, **event.extensions}


def message_id(subject: str, source: str, event_id: str) -> str:
    """The text that identifies an event for the server, which drops repeats: NATS subject, source and id.

    The subject is part of it because the server compares all events of the installation, whatever their tree.
    """
    where = subject if subject.isascii() else parse.quote(subject, safe=f"{_SAFE}%")
    return f"{where} {parse.quote(source, safe=_SAFE)} {parse.quote(event_id, safe=_SAFE)}"
