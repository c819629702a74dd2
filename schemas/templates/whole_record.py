"""Whole records, read with the states and facets that were read before.

Belongs here: `read`, for those who read many records. Does not: which field is which (`wire_codec`), those who need
only the entity (`entity_part`).
"""

import msgspec

from phaseline.schemas import codec, wire_codec
from phaseline.schemas.records import Record, Transition, nanoseconds
from phaseline.schemas.templates.remembered import facets_in, state_in
from phaseline.schemas.upcasting import RECORD_VERSION
from phaseline.schemas.wire_types import RecordMap, TransitionPart

_decode = msgspec.msgpack.Decoder(RecordMap[TransitionPart]).decode
_NULL = b"\xc0"
"""None in msgpack."""


def read(body: bytes) -> Record:
    """As `wire_codec.read`. Of a transition in the current version, in msgpack, known states are not decoded again."""
    if body[:1] != b"{" and wire_codec.looks_like_transition(body):
        try:
            if (found := _transition(body)) is not None:
                return found
        except (ValueError, RecursionError):
            pass  # `wire_codec` says what is wrong
    return wire_codec.read(body)


def _transition(body: bytes) -> Transition | None:
    """The transition in a body; None if it may be something else, or hold a timestamp. Raises `ValueError`."""
    found = _decode(body)
    data, time = found.data, found.time
    if found.schemaversion != RECORD_VERSION or not found.type.endswith(".transitioned"):
        return None
    if data.entity.attributes and codec.may_hold_timestamp(body):
        return None
    before, time_ns = bytes(data.before), nanoseconds(time)
    return Transition(
        data.facet,
        None if before == _NULL else state_in(before),
        state_in(bytes(data.after)),
        data.trigger,
        data.reason,
        data.message,
        wire_codec.cause_of(data.cause),
        wire_codec.entity_of(data, *facets_in(bytes(data.entity.facets), time, time_ns)),
        time_ns,
        data.unasked,
    )
