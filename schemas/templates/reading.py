"""Records read with the states and facets that were read before: the whole ones, or only their entities.

States and facets are found by their bytes, in msgpack and in JSON, whose bytes begin differently. Facets of many
entities differ only in a time, so their bytes without it are remembered. Bytes decide only whether a state or a facet
is found, never what it is.
Belongs here: `read`, `read_entities`, what is remembered. Does not: which field is which (`wire_codec`).
"""

from collections.abc import Callable, Sequence
from sys import intern
from typing import Any

import msgspec
from msgspec.structs import replace

from phaseline.schemas import codec, wire_codec
from phaseline.schemas.records import (
    EntityAfter,
    FacetState,
    Record,
    State,
    Transition,
    entity_after,
    nanoseconds,
    timestamp,
)
from phaseline.schemas.wire_codec import RECORD_VERSION
from phaseline.schemas.wire_types import EntityPart, FacetMap, RecordMap, RecordPart, StateMap, TransitionPart

WITH_ENTITY = (".transitioned", ".marked")
"""How the types of the records end that hold a whole entity."""
MOST = 2_048
"""The most facets that are remembered, of about 100 bytes each, and the most states."""
SOME_TIME = timestamp(0)
_TIME = len(SOME_TIME)
_AFTER = 3
"""In JSON, the characters behind the time at the end of a single facet: a quote, and the ends of two objects."""
_OBJECT = ord("{")

Facets = tuple[tuple[str, ...], tuple[FacetState, ...]]
"""The names of an entity's facets, and the facets."""

_NULLS = (b"\xc0", b"null")
"""None in msgpack and in JSON."""


class _Decoders:
    """What decodes parts of records in one of the formats."""

    def __init__(self, made: Any) -> None:
        self.transition = made(RecordMap[TransitionPart]).decode
        self.entity = made(RecordPart).decode
        self.state = made(StateMap).decode
        self.facets = made(dict[str, FacetMap]).decode


_msgpack, _json = _Decoders(msgspec.msgpack.Decoder), _Decoders(msgspec.json.Decoder)


known_states: dict[bytes, State] = {}
"""States by the bytes of their `StateMap`."""
known_facets: dict[bytes, tuple[tuple[str, ...], FacetState]] = {}
"""The name and the only facet of an entity, with any time, by the bytes of their map up to the time at its end.

In msgpack nothing follows the time. In JSON only `_AFTER` can follow it, where the time is one.
"""


def read(body: bytes) -> Record:
    """As `wire_codec.read`. Of a transition in the current version, known states are not decoded again."""
    if wire_codec.looks_like_transition(body):
        try:
            if (found := _transition(body)) is not None:
                return found
        except (ValueError, RecursionError):
            pass  # `wire_codec` says what is wrong
    return wire_codec.read(body)


def _transition(body: bytes) -> Transition | None:
    """The transition in a body; None if it may be something else, or hold a timestamp. Raises `ValueError`."""
    is_json = codec.is_json(body)
    found: RecordMap[TransitionPart] = (_json if is_json else _msgpack).transition(body)
    data, time = found.data, found.time
    if found.schemaversion != RECORD_VERSION or not found.type.endswith(".transitioned"):
        return None
    if data.entity.attributes and not is_json and codec.may_hold_timestamp(body):
        return None
    before, time_ns = bytes(data.before), nanoseconds(time)
    return Transition(
        intern(data.facet),
        None if before in _NULLS else _state(before),
        _state(bytes(data.after)),
        intern(data.trigger),
        data.reason,
        data.message,
        wire_codec.cause_of(data.cause),
        wire_codec.entity_of(data, *_facets(bytes(data.entity.facets), time, time_ns)),
        time_ns,
        data.unasked,
        wire_codec.noted_of(data),
    )


def read_entities(bodies: Sequence[bytes]) -> list[EntityAfter]:
    """What a tree takes from records, in bodies of the log of any version; raises as `wire_codec.read`.

    Each step is done for all of them before the next one, because the caches of the processor hold only a few steps.
    """
    try:
        is_json = bool(bodies) and codec.is_json(bodies[0])
        parts = [*map((_json if is_json else _msgpack).entity, bodies)]
        if _are_enough(parts, bodies, is_json=is_json):
            return _after([part.data for part in parts])
    except (ValueError, RecursionError):
        pass  # one of them is a rejection, no record, or in the other format
    if len(bodies) == 1:
        return [entity_after(wire_codec.read(bodies[0]))]
    return [after for body in bodies for after in read_entities([body])]


def _are_enough(parts: list[RecordPart], bodies: Sequence[bytes], *, is_json: bool) -> bool:
    """Whether these parts of bodies are as the whole bodies would be."""
    if {part.schemaversion for part in parts} != {RECORD_VERSION}:
        return False
    if not all(one.endswith(WITH_ENTITY) for one in {part.type for part in parts}):
        return False
    if is_json:
        return True
    with_attributes = [body for part, body in zip(parts, bodies, strict=True) if part.data.entity.attributes]
    return not any(map(codec.may_hold_timestamp, with_attributes))


def _after(found: list[EntityPart]) -> list[EntityAfter]:
    facets = [_facets(bytes(data.entity.facets), "", 0) for data in found]
    entities = [wire_codec.entity_of(data, names, own) for data, (names, own) in zip(found, facets, strict=True)]
    return [EntityAfter(one, data.cause.sequence) for one, data in zip(entities, found, strict=True)]


def _state(body: bytes) -> State:
    """The state in an encoded `StateMap`; raises `ValueError`."""
    found = known_states.get(body)
    if found is None:
        found = wire_codec.state_of((_json if body[0] == _OBJECT else _msgpack).state(body))
        if len(known_states) >= MOST:
            known_states.clear()
        known_states[body] = found
    return found


def _facets(body: bytes, time: str, time_ns: int) -> Facets:
    """The facets in an encoded map of them; raises `ValueError`. time, time_ns: those of their record, if known."""
    if body[0] == _OBJECT:
        start, since_bytes = body[: -_TIME - _AFTER], body[-_TIME - _AFTER : -_AFTER]
    else:
        start, since_bytes = body[:-_TIME], body[-_TIME:]
    found = known_facets.get(start)
    if found is None:
        return _decoded(body, start, time, time_ns)
    names, facet = found
    since = since_bytes.decode()
    since_ns = time_ns if since == time else nanoseconds(since)
    return names, (FacetState(facet.base, facet.state, since_ns, facet.interrupted),)


def _decoded(body: bytes, start: bytes, time: str, time_ns: int) -> Facets:
    """The facets in an encoded map. A single one is remembered. start: the bytes up to the time at the end."""
    decode = (_json if body[0] == _OBJECT else _msgpack).facets
    found = decode(body)
    if len(found) == 1:
        _remember(start, body[len(start) + _TIME :], decode, found)
    return wire_codec.facets_in(found, time, time_ns)


def _remember(
    start: bytes, end: bytes, decode: Callable[[bytes], dict[str, FacetMap]], found: dict[str, FacetMap]
) -> None:
    """Remember the facet in `found`, if its bytes are `start`, its time and `end`: another time is all that changes."""
    try:
        other = decode(start + SOME_TIME.encode() + end)
    except ValueError:
        return
    if other != {name: replace(facet, since=SOME_TIME) for name, facet in found.items()}:
        return
    if len(known_facets) >= MOST:
        known_facets.clear()
    names, (facet,) = wire_codec.facets_in(other)
    known_facets[start] = names, facet
