"""What can be read of an event that as a whole cannot be read: who sent it, and where the fault is.

Belongs here: bodies that are cut off, broken, or of a wrong shape; batches. Does not: reading whole events
(`envelope`), the rejection that keeps what was found (the engine's core).
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from phaseline.schemas import codec
from phaseline.schemas.cloudevents import binary_mode

LONGEST = 1_024
"""The most characters of an attribute, as in an event that is whole."""
LOOKED_AT = 65_536
"""The most bytes of a broken JSON text that are looked at."""
MOST = 100
"""The most events of a batch that are looked at."""
NAMED = 5
"""The most of them that a message names."""
_TOKEN = re.compile(rb'"(?:[^"\\]|\\.)*+"?|[\[\]{}:,]|[^\s"\[\]{}:,]+', re.DOTALL)
_OPEN, _CLOSE = (b"{", b"["), (b"}", b"]")
_ATTRIBUTES = ("id", "source", "type", "subject")


class Readable(NamedTuple):
    """What was read of an event: its attributes, empty where they are none. within: the member in which reading ended.

    It is empty where reading came to the end of the event, or where the member is not known.
    """

    id: str = ""
    source: str = ""
    type: str = ""
    subject: str = ""
    within: str = ""


def of_event(body: bytes, block: bytes | None) -> Readable:
    """What can be read of a message that is no event."""
    if block is not None and binary_mode.is_binary(block):
        return _of_map(binary_mode.readable(block))
    return next(iter(_events(body)), Readable())


def of_batch(body: bytes) -> str | None:
    """What is said of a body that is a list of events, and names them; None for any other body."""
    found = _events(body) if body.lstrip()[:1] == b"[" else []
    if not found:
        return None
    named = ", ".join(f"{one.id!r} of {one.source!r}" for one in found[:NAMED])
    more = f" and {len(found) - NAMED} more" if len(found) > NAMED else ""
    return f"JSON: a batch, and a message holds one event: send each by itself; it holds {named}{more}"


def _of_map(found: Mapping[str, Any], within: str = "") -> Readable:
    texts = {name: text for name in _ATTRIBUTES if isinstance(text := found.get(name), str) and len(text) <= LONGEST}
    return Readable(**texts, within=within[:64])


def _events(body: bytes) -> list[Readable]:
    """What can be read of the events in a body: one, or those of a batch."""
    if body.lstrip()[:1] in _OPEN:
        return [_of_map(found, within) for found, within in _json_maps(body[:LOOKED_AT])]
    found, within = codec.first_members(body)
    return [_of_map(found, within)]


def _json_maps(body: bytes) -> Iterator[tuple[dict[str, Any], str]]:
    """The texts among the members of a JSON object, or of each object in a list, as far as they can be found.

    With each the name of the member in which it is cut off.
    """
    level = 2 if body.lstrip()[:1] == b"[" else 1
    depth, count, key, found = 0, 0, "", dict[str, Any]()
    for token in (one.group() for one in _TOKEN.finditer(body)):
        if token in _OPEN:
            depth += 1
            if depth == level and token == b"{":
                key, found = "", {}
        elif token in _CLOSE:
            depth -= 1
            if depth == level - 1 and token == b"}":
                yield found, ""
                count += 1
                if level == 1 or count == MOST:
                    return
        elif depth == level and token == b",":
            key = ""
        elif depth == level and token[:1] == b'"' and (text := _text(token)) is not None:
            if key:
                found.setdefault(key, text)
            else:
                key = text
    if depth >= level:
        yield found, key


def _text(token: bytes) -> str | None:
    try:
        text = codec.decode_text(token)
    except codec.Undecodable:
        return None
    return text if isinstance(text, str) else None
