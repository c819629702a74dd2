"""The format of log files: their items, and the two encodings, a msgpack stream and JSON lines (docs/replay.md).

Belongs here: the items and their bytes. Does not: files, compression, checksums (`log_file`, `log_writer`).
"""

import base64
from collections.abc import Mapping
from typing import Annotated, Any

import msgspec
from msgspec import Meta

from phaseline.engine.log.table_eras import Era
from phaseline.schemas import codec
from phaseline.schemas.cloudevents import binary_mode
from phaseline.schemas.records import nanoseconds, timestamp
from phaseline.schemas.subjects import without_actor

FORMAT = 1
NAME = "phaseline"
"""The key that marks a header."""
Position = Annotated[int, Meta(ge=0)]
TimeNs = Annotated[int, Meta(ge=0, le=2**63 - 1)]
PartitionNumber = Annotated[str, Meta(pattern="^[0-9]{1,9}$")]
PartitionCount = Annotated[int, Meta(ge=1, le=256)]


class Header(msgspec.Struct, frozen=True, kw_only=True):
    """The first part of a log file. `first`, `last`: positions; `since`, `until`: the times of those events, ns.

    eras: for each partition, which tables decided from which position on (`engine.log.table_eras`).
    """

    format: int = FORMAT
    written_by: str = ""
    prefix: str
    partitions: PartitionCount
    tree: str | None = None
    first: Position = 1
    last: Position = 0
    since: TimeNs = 0
    until: TimeNs = 0
    records: bool = False
    """Whether the file also holds the records that the events made."""
    eras: dict[PartitionNumber, list[Era]] = {}
    purged: list[Position] = []
    """The positions of events that were purged: the file holds their records, and not the events."""
    divisions: list[PartitionCount] = []
    """Only read: to how many partitions the number was changed, in turn. Earlier versions could do that."""


class _Fields(msgspec.Struct, frozen=True, gc=False, array_like=True, forbid_unknown_fields=True):
    """What all items are: in msgpack an array of the name of the item and its fields, in their order."""


class StateItem(_Fields, frozen=True, gc=False, tag="state"):
    """The state of an entity before the first event: the body of its last record."""

    body: bytes


class EventItem(_Fields, frozen=True, gc=False, tag="event"):
    """An event as it was stored. `sequence`: its position. `time_ns`: when it was stored.

    address: its subject from the root of the tree on.
    """

    sequence: Position
    time_ns: TimeNs
    address: str
    data: bytes
    timer: bool = False
    """Whether it is a timer that fired instead of an event from outside."""
    copied: bool = False
    """Whether it is no event but a copy that the server sent (`core.message.COPY`)."""
    headers: str = ""
    """What counts of the header block; each byte is one character.

    Of an event in binary mode, its attributes. Of one with somebody's name in its subject, that it came from an edge.
    """


class RecordItem(_Fields, frozen=True, gc=False, tag="record"):
    """A record that the last event before it made. `subject`: without prefix, branch and partition.

    The key of `subject` in JSON lines is `place`. In archives, `place` is where it was in the log (`at` in JSON lines),
    and `time_ns` when it was stored (`stored`).
    """

    subject: str
    body: bytes
    place: Position = 0
    time_ns: TimeNs = 0


class ExpectedItem(_Fields, frozen=True, gc=False, tag="expected"):
    """The state of an entity after the last event, in logs that are tests: the body of its last record."""

    body: bytes


Item = StateItem | EventItem | RecordItem | ExpectedItem


class _Items(msgspec.Struct, gc=False, array_like=True):
    """Items to convert: msgspec works out the types of a struct once, and those of a union at each conversion."""

    items: list[Item]


class End(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The last part of a log file: how many items it holds. `sha256`: of all bytes before the end, uncompressed."""

    states: int = 0
    events: int = 0
    records: int = 0
    expected: int = 0
    sha256: str = ""


ITEM_NAMES: dict[type[Item], str] = {
    StateItem: "state", EventItem: "event", RecordItem: "record", ExpectedItem: "expected",
}  # fmt: skip
"""By its type, the name with which an item begins."""
Part = Header | Item | End


def headers_of(block: bytes, address: str) -> str:
    """The `headers` of an event with this header block. address: its subject from the root of the tree on."""
    lines = "".join(f"{name}: {value}\r\n" for name, value in binary_mode.headers(block))
    if without_actor(address) != address and binary_mode.TAKEN_OVER in block:
        lines += f"{binary_mode.TAKEN_OVER.decode().strip()} edge\r\n"
    return f"NATS/1.0\r\n{lines}\r\n".encode(errors="surrogateescape").decode("latin-1") if lines else ""


class Malformed(ValueError):
    """Bytes or a value that is no part of a log file."""


def pack(part: Part) -> bytes:
    """One part as msgpack: a map for the header, for all others an array that begins with the name of the item."""
    if isinstance(part, RecordItem) and not part.place:
        return codec.encode_parts(("record", part.subject, part.body))
    if isinstance(part, EventItem) and not part.headers:
        return codec.encode_parts(_as_before(part))
    if isinstance(part, Header):
        return codec.encode(_header_map(part))
    if isinstance(part, End):
        return codec.encode(("end", msgspec.to_builtins(part)))
    return codec.encode_struct(part)


def _header_map(header: Header) -> dict[str, Any]:
    found = {NAME: "log", **msgspec.to_builtins(header)}
    del found["divisions"]
    return found


def _as_before(part: EventItem) -> tuple[Any, ...]:
    """An event without the last fields, which it does not need, and which former versions do not read."""
    fields = ("event", part.sequence, part.time_ns, part.address, part.data, part.timer)
    return (*fields, True) if part.copied else fields


def unpack(value: Any) -> Part:
    """The part that a decoded msgpack value holds, as `pack` wrote it. Raises `Malformed`."""
    if isinstance(value, dict):
        return _header(value)
    try:
        if value[0] == "end":
            return msgspec.convert(value[1], End)
        return msgspec.convert([[value]], _Items).items[0]
    except (TypeError, ValueError, LookupError) as error:
        raise Malformed(f"not an item of a log: {value!r:.80}") from error


def unpack_items(values: list[Any]) -> list[Item] | None:
    """The items that decoded msgpack values hold, all at once; None if one of the values is no item."""
    try:
        return msgspec.convert([values], _Items).items
    except msgspec.ValidationError:
        return None


def to_line(part: Part) -> bytes:
    """One part as a line of JSON. Bodies are decoded; where that would lose bytes, `raw` has the exact ones."""
    return codec.encode_json(_line_map(part)) + b"\n"


def _line_map(part: Part) -> dict[str, Any]:
    if isinstance(part, Header):
        return _header_map(part)
    if isinstance(part, End):
        return {"end": msgspec.to_builtins(part)}
    if isinstance(part, EventItem):
        line: dict[str, Any] = {"sequence": part.sequence, "time": timestamp(part.time_ns), "address": part.address}
        line |= {"timer": True} if part.timer else {}
        line |= {"copied": True} if part.copied else {}
        line |= {"headers": part.headers} if part.headers else {}
        return {**line, **_body("event", part.data)}
    line = {}
    if isinstance(part, RecordItem):
        line = {"place": part.subject}
        line |= {"at": part.place, "stored": timestamp(part.time_ns)} if part.place else {}
    return {**line, **_body(ITEM_NAMES[type(part)], part.body)}


def from_line(line: bytes) -> Part:
    """The part that a line of JSON holds, as `to_line` wrote it. Raises `Malformed`."""
    try:
        values = codec.decode(line)
        if NAME in values or "specversion" in values:
            return _header(values)
        if "end" in values:
            return msgspec.convert(values["end"], End)
        return _item(values)
    except Malformed:
        raise
    except (codec.Undecodable, LookupError, TypeError, ValueError, AttributeError, OverflowError) as error:
        raise Malformed(f"not an item of a log: {line[:80].decode(errors='replace').strip()} ({error})") from error


def _item(values: dict[str, Any]) -> Item:
    name = next((name for name in ITEM_NAMES.values() if name in values), "")
    if not name:
        raise Malformed(f"not an item of a log, its only keys are {', '.join(values)[:80]}")
    body = base64.b64decode(values["raw"]) if "raw" in values else codec.encode(values[name])
    if name == "state":
        return StateItem(body)
    if name == "expected":
        return ExpectedItem(body)
    if "place" in values:
        stored = (values["at"], nanoseconds(values["stored"])) if "at" in values else ()
        return msgspec.convert(("record", values["place"], body, *stored), RecordItem)
    given = (
        "event", values["sequence"], nanoseconds(values["time"]), values["address"], body,
        bool(values.get("timer")), bool(values.get("copied")), values.get("headers", ""),
    )  # fmt: skip
    return msgspec.convert(given, EventItem)


def _body(name: str, body: bytes) -> dict[str, Any]:
    """A decoded body under `name`, and the bytes as `raw` if encoding it again would not give them back."""
    raw = {"raw": base64.b64encode(body).decode()}
    try:
        decoded = codec.decode(body)
        exact = codec.encode(codec.decode(codec.encode_json(decoded))) == body
    except (codec.Undecodable, TypeError, ValueError, OverflowError):
        return {name: None, **raw}
    return {name: decoded} if exact else {name: decoded, **raw}


def _header(values: Mapping[str, Any]) -> Header:
    if values.get(NAME) != "log":
        plain = ": these are plain events, send them with `phaseline publish --file`" if "specversion" in values else ""
        raise Malformed(f"it has no header{plain}")
    try:
        header = msgspec.convert({name: value for name, value in values.items() if name != NAME}, Header)
    except msgspec.ValidationError as error:
        raise Malformed(f"header: {error}") from error
    if header.format > FORMAT:
        raise Malformed(f"header: format {header.format} is newer than this Phaseline can read ({FORMAT})")
    return header
