"""Events in binary mode: their attributes stand in headers, `ce-id` and so on, and the body is their data.

The rules are those of the NATS binding of CloudEvents: names in any case; a value may stand in double quotes, and is
then percent-decoded once. Some libraries do not encode values, such as that for Go: where a value of a message holds
what would have been encoded, none of its values is decoded.
Belongs here: recognising such a message, and the map of its event. Does not: the rules of the envelope itself
(`schemas.envelope`).
"""

import re
from collections.abc import Sequence
from typing import Any
from urllib.parse import unquote_to_bytes

from phaseline.schemas import codec, envelope
from phaseline.schemas.cloudevents import content_types
from phaseline.schemas.envelope import Event, Invalid

PREFIX = "ce-"
REQUIRED = ("specversion", "id", "source", "type")
_BEGIN = f"\r\n{PREFIX}".encode()
_STRUCTURED = re.compile(rb"\r\ncontent-type:[ \t]*" + re.escape(content_types.CLOUD_EVENTS).encode())
_OURS = f"\r\n{content_types.HEADER}: {content_types.MSGPACK_EVENT}\r\n\r\n".encode()
"""The end of the header block of events that our client sends, in structured mode."""
TAKEN_OVER = b"\r\nNats-Stream-Source:"
"""What the server writes into the header block of a message that a stream takes from another one, as those of edges.

No publisher can write it."""
_NAME = re.compile(r"[a-z0-9]+\Z")
_BODY = ("data", "data_base64")
_RAW = re.compile(r'[^!-~]|"|%(?![0-9A-Fa-f]{2})')
"""What no value holds that was percent-encoded."""
_ESCAPED = re.compile(r"\\(.)")


def is_binary(block: bytes) -> bool:
    """Whether a message with this header block holds an event in binary mode."""
    if block.endswith(_OURS):
        return False
    block = block.lower()
    return block.find(_BEGIN) >= 0 and _STRUCTURED.search(block) is None


def headers(block: bytes | None) -> tuple[tuple[str, str], ...]:
    """The headers of an event in binary mode that are part of the event, as they were sent; none of other messages."""
    if block is None or not is_binary(block):
        return ()
    pairs = [line.decode(errors="surrogateescape").partition(":") for line in block.split(b"\r\n")[1:]]
    return tuple(
        (name.strip(), value.strip())
        for name, colon, value in pairs
        if colon and (name.strip().lower() == content_types.HEADER or name.strip().lower().startswith(PREFIX))
    )


def decode(body: bytes, block: bytes) -> Event:
    """The event in binary mode; raises `Invalid`, or `Undecodable` if its data cannot be decoded."""
    found = read(body, block)
    if missing := [f"{PREFIX}{name}" for name in REQUIRED if name not in found]:
        needed = ", ".join(f"{PREFIX}{name}" for name in REQUIRED)
        raise Invalid(f"headers: {', '.join(missing)} is missing; an event in binary mode has {needed}")
    return envelope.read(found)


def read(body: bytes, block: bytes) -> dict[str, Any]:
    """The map that the same event has in structured mode; raises as `decode` does."""
    found: dict[str, Any] = {}
    content_type, given = None, headers(block)
    encoded = _are_encoded(given)
    for header, value in given:
        name = header.lower()
        if name == content_types.HEADER:
            content_type = value
            continue
        name = name.removeprefix(PREFIX)
        _check_name(header, name, found)
        found[name] = _text(header, value, encoded=encoded)
    if "schemaversion" in found:
        found["schemaversion"] = _whole(found["schemaversion"])
    if body:
        type_ = found.setdefault("datacontenttype", content_type) if content_type else found.get("datacontenttype")
        found["data"] = envelope.decode_data(body, type_, "the body, which is the data in binary mode")
    return _unwrapped(found) if found.get("data", {}).keys() >= {*REQUIRED} else found


def _unwrapped(found: dict[str, Any]) -> dict[str, Any]:
    """The map of an event whose body is the whole envelope once more, as some senders of both modes write it."""
    whole: dict[str, Any] = found.pop("data")
    of_body = found.pop("datacontenttype", None)
    for name, value in found.items():
        if whole.get(name, value) != value:
            raise Invalid(f"headers: {PREFIX}{name} differs from the {name} of the event in the body: send one of both")
    return {"datacontenttype": of_body, **whole, **found}


def readable(block: bytes) -> dict[str, Any]:
    """The attributes that can be read, each by itself, of an event in binary mode that as a whole cannot be."""
    found: dict[str, Any] = {}
    given = headers(block)
    encoded = _are_encoded(given)
    for header, value in given:
        try:
            found.setdefault(header.lower().removeprefix(PREFIX), _text(header, value, encoded=encoded))
        except Invalid:
            continue
    return found


def structured(body: bytes, block: bytes | None) -> bytes:
    """The body of the same event in structured mode; the body itself of any other message, and of what is no event."""
    if block is None or not is_binary(block):
        return body
    try:
        return codec.encode(read(body, block))
    except (Invalid, codec.Undecodable, TypeError, OverflowError):
        return body


def _check_name(header: str, name: str, found: dict[str, Any]) -> None:
    shown = header[:64]
    if name in _BODY:
        raise Invalid(f"headers: {shown} is no attribute; in binary mode the body is the data")
    if not _NAME.match(name):
        raise Invalid(f"headers: {shown!r} names no attribute, whose name has lower-case letters and digits only")
    if name in found:
        raise Invalid(f"headers: {shown} stands twice")


def _are_encoded(given: Sequence[tuple[str, str]]) -> bool:
    """Whether the sender of these headers has percent-encoded their values."""
    values = (value for header, value in given if header.lower() != content_types.HEADER)
    return not any(_RAW.search(value) for value in values if not _is_quoted(value))


def _is_quoted(value: str) -> bool:
    return len(value) > 1 and value[0] == value[-1] == '"'


def _text(header: str, value: str, *, encoded: bool) -> str:
    if _is_quoted(value):
        value = _ESCAPED.sub(r"\1", value[1:-1])
    raw = value.encode(errors="surrogateescape")
    try:
        return (unquote_to_bytes(raw) if encoded else raw).decode()
    except UnicodeDecodeError:
        shown = value[:64].encode(errors="replace").decode()
        raise Invalid(f"headers: {header[:64]} does not decode to UTF-8, found {shown!r}") from None


def _whole(text: str) -> int | str:
    """The number that a text stands for; the text itself, which the envelope refuses, if it is no number."""
    return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else text
