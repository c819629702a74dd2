"""States and facets of records by their bytes: those that were read before are not decoded again.

Facets of many entities differ only in a time, so their bytes without it are remembered. Bytes decide only whether a
state or a facet is found, never what it is.
Belongs here: `state_in`, `facets_in`, what is remembered. Does not: which field is which (`wire_codec`), other parts of
records (`entity_part`, `whole_record`).
"""

from collections.abc import Sequence
from typing import NamedTuple

import msgspec
from msgspec.structs import replace

from phaseline.schemas import wire_codec
from phaseline.schemas.records import FacetState, State, nanoseconds, timestamp
from phaseline.schemas.wire_types import FacetMap, StateMap

MOST = 2_048
"""The most facets that are remembered, of about 100 bytes each, and the most states."""
SOME_TIME = timestamp(0)
_TIME = len(SOME_TIME)

Facets = tuple[tuple[str, ...], tuple[FacetState, ...]]
"""The names of an entity's facets, and the facets."""

_decode_state = msgspec.msgpack.Decoder(StateMap).decode
_decode_facets = msgspec.msgpack.Decoder(dict[str, FacetMap]).decode


class _Facet(NamedTuple):
    """The only facet of an entity, all but its time. names: the tuple that entities of its kind share."""

    names: tuple[str, ...]
    base: State
    state: State
    interrupted: str | None


known_states: dict[bytes, State] = {}
"""States by the bytes of their `StateMap`."""
known_facets: dict[bytes, _Facet] = {}
"""Facets by the bytes of a map of facets up to the time at its end."""


def state_in(body: bytes) -> State:
    """The state in an encoded `StateMap`; raises `ValueError`."""
    found = known_states.get(body)
    if found is None:
        found = wire_codec.state_of(_decode_state(body))
        if len(known_states) >= MOST:
            known_states.clear()
        known_states[body] = found
    return found


def facets_in(body: bytes, time: str, time_ns: int) -> Facets:
    """The facets in an encoded map of them; raises `ValueError`. time, time_ns: those of their record."""
    found = known_facets.get(body[:-_TIME])
    if found is None:
        return _decoded(body, time, time_ns)
    since = body[-_TIME:].decode()
    return found.names, (
        FacetState(found.base, found.state, time_ns if since == time else nanoseconds(since), found.interrupted),
    )


def all_facets(bodies: Sequence[bytes]) -> list[Facets]:
    """As `facets_in` for each of these maps, of records whose times nobody knows."""
    known = [known_facets.get(body[:-_TIME]) for body in bodies]
    times = [body[-_TIME:] for body in bodies]
    return [
        _decoded(body) if one is None
        else (one.names, (FacetState(one.base, one.state, nanoseconds(time.decode()), one.interrupted),))
        for body, time, one in zip(bodies, times, known, strict=True)
    ]  # fmt: skip


def _decoded(body: bytes, time: str = "", time_ns: int = 0) -> Facets:
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
    known_facets[start] = _Facet(names, facet.base, facet.state, facet.interrupted)
