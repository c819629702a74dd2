"""The entity in a record, for those that need nothing else of it, such as a tree that is loaded.

Of a record in the current version, in msgpack, nothing else is decoded.
Belongs here: `read_entities`. Does not: which field is which (`wire_codec`), whole records (`whole_record`).
"""

from collections.abc import Sequence

import msgspec

from phaseline.schemas import codec, wire_codec
from phaseline.schemas.records import EntityAfter, entity_after
from phaseline.schemas.templates.remembered import all_facets
from phaseline.schemas.upcasting import RECORD_VERSION
from phaseline.schemas.wire_types import EntityPart, RecordPart

WITH_ENTITY = (".transitioned", ".marked")
"""How the types of the records end that hold a whole entity."""

_decode = msgspec.msgpack.Decoder(RecordPart).decode


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
    facets = all_facets([*map(bytes, [data.entity.facets for data in found])])
    entities = [wire_codec.entity_of(data, names, own) for data, (names, own) in zip(found, facets, strict=True)]
    return [EntityAfter(one, data.cause.sequence) for one, data in zip(entities, found, strict=True)]
