"""Records read with the states and facets that were read before: the whole ones, or only their entities.

States and facets are found by their bytes. Facets of many entities differ only in a time, so their bytes without it are
remembered. Bytes decide only whether a state or a facet is found, never what it is.
Belongs here: `read`, `read_entities`, what is remembered. Does not: which field is which (`wire_codec`).
"""

from collections.abc import Sequence

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
from phaseline.schemas.upcasting import RECORD_VERSION
from phaseline.schemas.wire_types import EntityPart, FacetMap, RecordMap, RecordPart, StateMap, TransitionPart

WITH_ENTITY = (".transitioned", ".marked")
"""How the types of the records end that hold a whole entity."""
MOST = 2_048
"""The most facets that are remembered, of about 100 bytes each, and the most states."""
SOME_TIME = timestamp(0)
_TIME = len(SOME_TIME)

Facets = tuple[tuple[str, ...], tuple[FacetState, ...]]
"""The names of an entity's facets, and the facets."""

_NULL = b"\xc0"
"""None in msgpack."""
_decode_transition = msgspec.msgpack.Decoder(RecordMap[TransitionPart]).decode
_decode_entity = msgspec.msgpack.Decoder(RecordPart).decode
_decode_state = msgspec.msgpack.Decoder(StateMap).decode
_decode_facets = msgspec.msgpack.Decoder(dict[str, FacetMap]).decode


known_states: dict[bytes, State] = {}
"""States by the bytes of their `StateMap`."""
known_facets: dict[bytes, tuple[tuple[str, ...], FacetState]] = {}
"""The name and the only facet of an entity, with any time, by the bytes of their map up to the time at its end."""


def read(body: bytes) -> Record:
    """As `wire_codec.read`. Of a transition in the current version, in msgpack, known states are not decoded again."""
    if not codec.is_json(body) and wire_codec.looks_like_transition(body):
        try:
            if (found := _transition(body)) is not None:
                return found
        except (ValueError, RecursionError):
            pass  # `wire_codec` says what is wrong
    return wire_codec.read(body)


def _transition(body: bytes) -> Transition | None:
    """The transition in a body; None if it may be something else, or hold a timestamp. Raises `ValueError`."""
    found = _decode_transition(body)
    data, time = found.data, found.time
    if found.schemaversion != RECORD_VERSION or not found.type.endswith(".transitioned"):
        return None
    if data.entity.attributes and codec.may_hold_timestamp(body):
        return None
    before, time_ns = bytes(data.before), nanoseconds(time)
    return Transition(
        data.facet,
        None if before == _NULL else _state(before),
        _state(bytes(data.after)),
        data.trigger,
        data.reason,
        data.message,
        wire_codec.cause_of(data.cause),
        wire_codec.entity_of(data, *_facets(bytes(data.entity.facets), time, time_ns)),
        time_ns,
        data.unasked,
    )


def read_entities(bodies: Sequence[bytes]) -> list[EntityAfter]:
    """What a tree takes from records, in bodies of the log of any version; raises as `wire_codec.read`.

    Each step is done for all of them before the next one, because the caches of the processor hold only a few steps.
    """
    try:
        parts = [] if bodies and codec.is_json(bodies[0]) else [*map(_decode_entity, bodies)]
        if _are_enough(parts, bodies):
            return _after([part.data for part in parts])
    except (ValueError, RecursionError):
        pass  # one of them is a rejection, or no record
    if len(bodies) == 1:
        return [entity_after(wire_codec.read(bodies[0]))]
    return [after for body in bodies for after in read_entities([body])]


def _are_enough(parts: list[RecordPart], bodies: Sequence[bytes]) -> bool:
    """Whether these parts of bodies are as the whole bodies would be."""
    if {part.schemaversion for part in parts} != {RECORD_VERSION}:
        return False
    if not all(one.endswith(WITH_ENTITY) for one in {part.type for part in parts}):
        return False
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
        found = wire_codec.state_of(_decode_state(body))
        if len(known_states) >= MOST:
            known_states.clear()
        known_states[body] = found
    return found


def _facets(body: bytes, time: str, time_ns: int) -> Facets:
    """The facets in an encoded map of them; raises `ValueError`. time, time_ns: those of their record, if known."""
    found = known_facets.get(body[:-_TIME])
    if found is None:
        return _decoded(body, time, time_ns)
    names, facet = found
    since = body[-_TIME:].decode()
    since_ns = time_ns if since == time else nanoseconds(since)
    return names, (FacetState(facet.base, facet.state, since_ns, facet.interrupted),)


def _decoded(body: bytes, time: str, time_ns: int) -> Facets:
    """The facets in an encoded map. A single one is remembered."""
    found = _decode_facets(body)
    if len(found) == 1:
        _remember(body[:-_TIME], found)
    return wire_codec.facets_in(found, time, time_ns)


def _remember(start: bytes, found: dict[str, FacetMap]) -> None:
    """Remember the facet in `found`, if its bytes are `start` and its time: another time there changes nothing else."""
    try:
        other = _decode_facets(start + SOME_TIME.encode())
    except ValueError:
        return
    if other != {name: replace(facet, since=SOME_TIME) for name, facet in found.items()}:
        return
    if len(known_facets) >= MOST:
        known_facets.clear()
    names, (facet,) = wire_codec.facets_in(other)
    known_facets[start] = names, facet
