"""The entity in a record, for those that need nothing else of it, such as a tree that is loaded.

Of a record in the current version, in msgpack, nothing else is decoded. Facets of many entities differ only in a time,
so their bytes without it are remembered. Bytes decide only whether facets are found, never what they are.
Belongs here: `read_entities`, remembered facets. Does not: which field is which (`wire_codec`), whole records.
"""

from collections.abc import Sequence
from typing import NamedTuple

import msgspec
from msgspec.structs import replace

from phaseline.schemas import codec, wire_codec
from phaseline.schemas.records import EntityAfter, FacetState, State, entity_after, nanoseconds, timestamp
from phaseline.schemas.upcasting import RECORD_VERSION
from phaseline.schemas.wire_types import EntityPart, FacetMap, RecordPart

WITH_ENTITY = (".transitioned", ".marked")
"""How the types of the records end that hold a whole entity."""
MOST = 2_048
"""The most facets that are remembered, of about 100 bytes each."""
SOME_TIME = timestamp(0)
_TIME = len(SOME_TIME)

Facets = tuple[tuple[str, ...], tuple[FacetState, ...]]
"""The names of an entity's facets, and the facets."""

_decode = msgspec.msgpack.Decoder(RecordPart).decode
_decode_facets = msgspec.msgpack.Decoder(dict[str, FacetMap]).decode


class _Facet(NamedTuple):
    """The only facet of an entity, all but its time. names: the tuple that entities of its kind share."""

    names: tuple[str, ...]
    base: State
    state: State
    interrupted: str | None


_remembered: dict[bytes, _Facet] = {}
"""By the bytes of a map of facets up to the time at its end."""


def read_entities(bodies: Sequence[bytes]) -> list[EntityAfter]:
    """What a tree takes from records, in bodies of the log of any version; raises as `wire_codec.read`.

    Each step is done for all of them before the next one, because the caches of the processor hold only a few steps.
    """
    try:
        parts = [] if bodies and bodies[0][:1] == b"{" else [*map(_decode, bodies)]
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
    facets = _facets([*map(bytes, [data.entity.facets for data in found])])
    entities = [wire_codec.entity_of(data, names, own) for data, (names, own) in zip(found, facets, strict=True)]
    return [EntityAfter(one, data.cause.sequence) for one, data in zip(entities, found, strict=True)]


def _facets(bodies: list[bytes]) -> list[Facets]:
    """The facets in encoded maps of them; raises `ValueError`."""
    known = [_remembered.get(body[:-_TIME]) for body in bodies]
    times = [body[-_TIME:] for body in bodies]
    return [
        _decoded(body) if one is None
        else (one.names, (FacetState(one.base, one.state, nanoseconds(time.decode()), one.interrupted),))
        for body, time, one in zip(bodies, times, known, strict=True)
    ]  # fmt: skip


def _decoded(body: bytes) -> Facets:
    """The facets in an encoded map. A single one is remembered."""
    found = _decode_facets(body)
    if len(found) == 1:
        _remember(body[:-_TIME], found)
    return wire_codec.facets_in(found)


def _remember(start: bytes, found: dict[str, FacetMap]) -> None:
    """Remember the facet in `found`, if its bytes are `start` and its time: another time there changes nothing else."""
    try:
        other = _decode_facets(start + SOME_TIME.encode())
    except ValueError:
        return
    if other != {name: replace(facet, since=SOME_TIME) for name, facet in found.items()}:
        return
    if len(_remembered) >= MOST:
        _remembered.clear()
    names, (facet,) = wire_codec.facets_in(other)
    _remembered[start] = _Facet(names, facet.base, facet.state, facet.interrupted)
