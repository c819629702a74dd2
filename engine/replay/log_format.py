"""What a log as a file is made of, and the two ways it is written: a msgpack stream, or JSON lines (docs: Logs as files).

Belongs here: the items and their bytes. Does not: files, compression, checksums (`logfile`).
"""

import base64
from collections.abc import Mapping
from typing import Any, NamedTuple

import msgspec

from phaseline.schemas import codec
from phaseline.schemas.records import nanoseconds, timestamp

FORMAT = 1
NAME = "phaseline"
"""The key by which a header is known."""


class Header(msgspec.Struct, frozen=True, kw_only=True):
    """What a log holds. `first`, `last`: sequences in EVENTS; `since`, `until`: times of those events, ns.

    eras: per partition, which tables decided from which event on, as `tables.eras` has them.
    """

    format: int = FORMAT
    written_by: str = ""
    prefix: str
    partitions: int
    tree: str | None = None
    first: int = 1
    last: int = 0
    since: int = 0
    until: int = 0
    records: bool = False
    """Whether the records that the events made are in it too."""
    eras: dict[str, list[dict[str, Any]]] = {}


class StateItem(NamedTuple):
    """An entity as it stood before the first event: the body of its last record."""

    body: bytes


class EventItem(NamedTuple):
    """An event as it was stored. `address`: its subject from the root on. `sequence` in EVENTS, `time_ns`: the stream's."""

    sequence: int
    time_ns: int
    address: str
    data: bytes
    timer: bool = False
    """Whether it is a timer that fired, and no event from outside."""


class RecordItem(NamedTuple):
    """A message of the log that the last event before it made. `place`: its subject without prefix and partition."""

    place: str
    body: bytes


class ExpectedItem(NamedTuple):
    """An entity as it stood after the last event, for logs that are tests: the body of its last record."""

    body: bytes


class End(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What must have come before. `sha256`: of all bytes before the end, uncompressed."""

    states: int = 0
    events: int = 0
    records: int = 0
    expected: int = 0
    sha256: str = ""


Item = StateItem | EventItem | RecordItem | ExpectedItem
ITEMS: dict[str, type[Item]] = {
    "state": StateItem, "event": EventItem, "record": RecordItem, "expected": ExpectedItem,
}  # fmt: skip
WORDS: dict[type[Item], str] = {item: word for word, item in ITEMS.items()}
Part = Header | Item | End


class Malformed(ValueError):
    """An item that is none."""


def pack(part: Part) -> bytes:
    """One part as msgpack: the header a map, items arrays that begin with what they are."""
    if isinstance(part, Header):
        return codec.encode({NAME: "log", **msgspec.to_builtins(part)})
    if isinstance(part, End):
        return codec.encode(("end", msgspec.to_builtins(part)))
    return codec.encode((WORDS[type(part)], *part))


def unpack(value: Any) -> Part:
    """The inverse of `pack`, of a decoded value; raises `Malformed`."""
    if isinstance(value, dict):
        return _header(value)
    try:
        word, *rest = value
        if word == "end":
            return msgspec.convert(rest[0], End)
        return ITEMS[word](*rest)
    except (TypeError, ValueError, KeyError, IndexError) as error:
        raise Malformed(f"no item of a log: {str(value)[:80]}") from error


def to_line(part: Part) -> bytes:
    """One part as a line of JSON. Bodies are shown decoded; `raw` beside one says that only these bytes are exact."""
    return codec.encode_json(_told(part)) + b"\n"


def _told(part: Part) -> dict[str, Any]:
    if isinstance(part, Header):
        return {NAME: "log", **msgspec.to_builtins(part)}
    if isinstance(part, End):
        return {"end": msgspec.to_builtins(part)}
    if isinstance(part, EventItem):
        where: dict[str, Any] = {"sequence": part.sequence, "time": timestamp(part.time_ns), "address": part.address}
        where |= {"timer": True} if part.timer else {}
        return {**where, **_body("event", part.data)}
    where = {"place": part.place} if isinstance(part, RecordItem) else {}
    return {**where, **_body(WORDS[type(part)], part.body)}


def from_line(line: bytes) -> Part:
    """The inverse of `to_line`; raises `Malformed`."""
    try:
        told = codec.decode(line)
        if NAME in told or "specversion" in told:
            return _header(told)
        if "end" in told:
            return msgspec.convert(told["end"], End)
        return _item(told)
    except Malformed:
        raise
    except (codec.Undecodable, KeyError, TypeError, ValueError) as error:
        raise Malformed(f"no item of a log: {line[:80].decode(errors='replace').strip()} ({error})") from error


def _item(told: dict[str, Any]) -> Item:
    word = next((word for word in ITEMS if word in told), "")
    if not word:
        raise Malformed(f"no item, it has only {', '.join(told)[:80]}")
    body = base64.b64decode(told["raw"]) if "raw" in told else codec.encode(told[word])
    if word == "state":
        return StateItem(body)
    if word == "expected":
        return ExpectedItem(body)
    if "place" in told:
        return RecordItem(told["place"], body)
    return EventItem(told["sequence"], nanoseconds(told["time"]), told["address"], body, bool(told.get("timer")))


def _body(word: str, body: bytes) -> dict[str, Any]:
    """A body as people read it, and as bytes too where that would not give the same ones back."""
    raw = {"raw": base64.b64encode(body).decode()}
    try:
        found = codec.decode(body)
        exact = codec.encode(codec.decode(codec.encode_json(found))) == body
    except (codec.Undecodable, TypeError, ValueError, OverflowError):
        return {word: None, **raw}
    return {word: found} if exact else {word: found, **raw}


def _header(told: Mapping[str, Any]) -> Header:
    if told.get(NAME) != "log":
        plain = ": these are plain events, which `phaseline publish --file` sends" if "specversion" in told else ""
        raise Malformed(f"it has no header{plain}")
    try:
        header = msgspec.convert({name: value for name, value in told.items() if name != NAME}, Header)
    except msgspec.ValidationError as error:
        raise Malformed(f"header: {error}") from error
    if header.format > FORMAT:
        raise Malformed(f"header: format {header.format} is newer than this Phaseline can read ({FORMAT})")
    return header
