"""Conversion between the records in memory and their shapes on the wire, in both directions.

Belongs here: which field of `records` becomes which field of `wire_types`; one step from each version of a record's
map to the next (tests/golden keeps bytes that each version wrote). Does not: the shapes themselves (`wire_types`), the
bytes of any other body (`codec`).
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache, lru_cache
from sys import intern
from typing import Any, NamedTuple

import msgspec

from phaseline.schemas import codec
from phaseline.schemas.errors import NewerRecord
from phaseline.schemas.records import (
    NONE,
    NOTHING,
    Cause,
    Entity,
    FacetState,
    LeftOut,
    Mark,
    Noted,
    Record,
    Rejection,
    State,
    Transition,
    facets_of,
    lean,
    nanoseconds,
    state,
    timestamp,
)
from phaseline.schemas.wire_types import (
    CauseMap,
    EntityMap,
    EntityPart,
    FacetMap,
    LeftOutMap,
    MarkData,
    RecordMap,
    RejectionData,
    StateMap,
    TransitionData,
    TransitionPart,
)

RECORD_VERSION = 2
"""The version of the records that this package writes."""
Data = TransitionData | RejectionData | MarkData
WithEntity = TransitionData | MarkData | TransitionPart | EntityPart
TRANSITIONED, REJECTED, MARKED = "transitioned", "rejected", "marked"
SHAPES: dict[str, type[Data]] = {TRANSITIONED: TransitionData, REJECTED: RejectionData, MARKED: MarkData}
"""The shape of `data` by the last word of a record's `type`."""

LARGEST_JSON = 900_000
"""The most bytes of a record in JSON: with its headers it fits a message of a server that takes 1 MB."""


class Numbered(NamedTuple):
    """Which record of its event a record is: number `number` of `records`, from 0; `cause`: the event's position."""

    cause: int
    number: int
    records: int


class _Cause(msgspec.Struct, frozen=True, gc=False):
    sequence: int
    records: int


class _CauseOnly(msgspec.Struct, frozen=True, gc=False):
    cause: _Cause


class _WithCause(msgspec.Struct, frozen=True, gc=False):
    id: str
    data: _CauseOnly


_cause_in_msgpack, _cause_in_json = msgspec.msgpack.Decoder(_WithCause), msgspec.json.Decoder(_WithCause)
_msgpack, _json = (
    {verb: decoder(RecordMap[shape]).decode for verb, shape in SHAPES.items()}  # type: ignore[valid-type]
    for decoder in (msgspec.msgpack.Decoder, msgspec.json.Decoder)
)
"""By verb, what decodes a whole record of the current version."""
_HEAD = 200
"""Within so many bytes a record says what it is, unless its names are very long."""


class _IdOnly(msgspec.Struct, gc=False):
    """Any record, of which only the id is read."""

    id: str


class _MakerOnly(msgspec.Struct, gc=False):
    """Any record, of which only is read what it is about, and the version of the table that made it."""

    subject: str = ""
    tableversion: str = ""


_msgpack_made, _json_made = msgspec.msgpack.Decoder(_MakerOnly).decode, msgspec.json.Decoder(_MakerOnly).decode
_msgpack_named, _json_named = msgspec.msgpack.Decoder(_IdOnly).decode, msgspec.json.Decoder(_IdOnly).decode


def write(
    record: Record, index: int, records: int, installation: str, tables: str = "", *, as_json: bool = False
) -> bytes:
    """The msgpack body of a record; the arguments are those of `to_wire`.

    as_json: as JSON. A record that JSON does not hold exactly, with bytes in its attributes, or that is too large as
    JSON, is msgpack nevertheless.
    """
    wire = to_wire(record, index, records, installation, tables)
    return next(bodies([record], [wire], as_json=as_json))


def bodies(records: Iterable[Record], wires: Iterable[RecordMap[Data]], *, as_json: bool) -> Iterator[bytes]:
    """The bodies of records, whose envelopes are `wires`; as in `write`."""
    if as_json:
        return map(_as_json, records, wires)
    return map(codec.encode_struct, wires)


def _as_json(record: Record, wire: RecordMap[Data]) -> bytes:
    """The body of a record, as JSON if JSON holds it."""
    if isinstance(record, Rejection) or codec.json_holds(record.entity.attributes):
        body = codec.encode_json(wire)
        if len(body) <= LARGEST_JSON:
            return body
    return codec.encode_struct(wire)


def _name_tables(body: dict[str, Any]) -> dict[str, Any]:
    """1 -> 2: records did not name the version of the table that made them."""
    return {**body, "tableversion": ""}


STEPS: dict[int, Callable[[dict[str, Any]], dict[str, Any]]] = {1: _name_tables}
"""By version, the function that makes the map of the next version."""


def upcast(body: dict[str, Any]) -> dict[str, Any]:
    """The map of a record in the shape of `RECORD_VERSION`; raises `NewerRecord`."""
    found: int = body["schemaversion"]
    if found > RECORD_VERSION:
        raise NewerRecord(version=found, known=RECORD_VERSION)
    for version in range(found, RECORD_VERSION):
        body = STEPS[version](body)
    return {**body, "schemaversion": RECORD_VERSION}


def read(body: bytes) -> Record:
    """The record in a body of the log or of the live feed, of any version; raises `NewerRecord` or `ValueError`."""
    try:
        if (found := shapes_of(body)) is not None:
            return _record(found.data, found.time)
    except ValueError:
        pass  # from_wire says what is wrong
    return from_wire(codec.decode(body))


def shapes_of(body: bytes) -> RecordMap[Data] | None:
    """The envelope and the data of a record of the current version, decoded at once; None for most other bodies."""
    decoders = _json if codec.is_json(body) else _msgpack
    # What the body says at its head is only a guess, for what it is decodes in one pass.
    verb = (
        TRANSITIONED if looks_like_transition(body) else REJECTED if body.find(b".rejected", 0, _HEAD) > 0 else MARKED
    )
    try:
        found = decoders[verb](body)
        if found.schemaversion != RECORD_VERSION or _verb(found.type) != verb:
            return None
    except (ValueError, RecursionError):
        return None
    return None if decoders is _msgpack and _may_hold_timestamp(body, found.data) else found


def looks_like_transition(body: bytes) -> bool:
    """Whether a body seems to hold a transition, by its head."""
    return body.find(b".transitioned", 0, _HEAD) > 0


def _may_hold_timestamp(body: bytes, data: Data) -> bool:
    """Whether an attribute may be a timestamp: no other field can hold one."""
    return not isinstance(data, RejectionData) and bool(data.entity.attributes) and codec.may_hold_timestamp(body)


def read_id(body: bytes) -> str:
    """The `id` of a record in a body of the log, of any version, without the rest; raises `ValueError`."""
    try:
        return (_json_named if codec.is_json(body) else _msgpack_named)(body).id
    except RecursionError as error:
        raise ValueError(f"no record: {error}") from error


def made_by(body: bytes) -> tuple[str, str]:
    """The kind that a record is about, and the version of the table that made it; empty if a body says neither."""
    try:
        found = (_json_made if codec.is_json(body) else _msgpack_made)(body)
    except (ValueError, RecursionError):
        return "", ""
    return (found.subject.partition("/")[0], found.tableversion) if found.tableversion else ("", "")


def numbered(body: bytes) -> Numbered:
    """Which record of its event a record of the log is; raises `ValueError` for a body that is no record."""
    found = (_cause_in_json if codec.is_json(body) else _cause_in_msgpack).decode(body)
    cause = found.data.cause
    return Numbered(cause.sequence, int(found.id.rpartition("-")[2]), cause.records)


def from_wire(body: dict[str, Any]) -> Record:
    """The record in a decoded body, of any version; raises `NewerRecord`, or `ValueError` if it is no record."""
    if body.get("schemaversion") != RECORD_VERSION:
        body = upcast(body)
    found = msgspec.convert(body, RecordMap[SHAPES[_verb(body["type"])]])  # type: ignore[misc]  # chosen at run time
    return _record(found.data, found.time)


def to_wire(record: Record, index: int | str, records: int, installation: str, tables: str = "") -> RecordMap[Data]:
    """The CloudEvents envelope of a record.

    index, records: the record is number `index` of the `records` that its event made. A text, if no event made it: the
    name of what did, and behind a `-` the number.
    tables: the version of the table that made it; empty if its kind is unknown.
    """
    of = record.cause
    cause = CauseMap(of.sequence, of.event, of.source, of.by, of.origin, of.time_text, records, of.extensions, of.actor)
    data: Data
    if isinstance(record, Transition):
        verb, data = "transitioned", _transition_to_wire(record, cause)
    elif isinstance(record, Rejection):
        verb, data = "rejected", _rejection_to_wire(record, cause)
    else:
        entity = record.entity
        verb, data = "marked", MarkData(
            entity.kind, entity.id, entity.version, cause, entity_to_wire(entity), record.noted.unread
        )  # fmt: skip
    return RecordMap(
        "1.0",
        f"{of.sequence}-{index}",
        installation,
        f"{data.kind}.{verb}",
        f"{data.kind}/{data.id}",
        timestamp(record.time_ns),
        RECORD_VERSION,
        tables,
        data,
    )


@cache
def state_to_wire(found: State) -> StateMap:
    """A state on the wire. All records that show this state share the one object."""
    return StateMap(found.phase, found.conditions)


def entity_to_wire(entity: Entity) -> EntityMap:
    """The `entity` of a record."""
    facets = {
        name: FacetMap(
            facet.state.phase,
            facet.state.conditions,
            state_to_wire(facet.base),
            timestamp(facet.since_ns),
            facet.interrupted,
        )
        for name, facet in facets_of(entity)
    }
    timers = timers_to_wire(entity.timers_ns) if entity.timers_ns else NONE
    return EntityMap(facets, entity.attributes, entity.sequences, timers, entity.asked, entity.born, entity.memory)


def timers_to_wire(timers: Mapping[str, int]) -> Mapping[str, str]:
    """When timers expire, by facet."""
    return {name: timestamp(due) for name, due in timers.items()}


def state_map(found: State) -> dict[str, Any]:
    """A state as JSON output shows it: as on the wire."""
    return msgspec.structs.asdict(state_to_wire(found))


def entity_map(entity: Entity) -> dict[str, Any]:
    """An entity as JSON output shows it: as on the wire."""
    return codec.to_map(entity_to_wire(entity))


def moved_map(record: Transition) -> dict[str, Any]:
    """What moved an entity, as JSON output shows it."""
    cause = record.cause
    return {
        "trigger": record.trigger,
        "reason": record.reason,
        "message": record.message,
        **({"unasked": True} if record.unasked else {}),
        **{name: value for name, value in record.noted._asdict().items() if value},
        "time": timestamp(record.time_ns),
        "cause": {
            "sequence": cause.sequence, "event": cause.event, "source": cause.source, "by": cause.by,
            "from": cause.origin, "time": cause.time_text,
            **({"actor": cause.actor} if cause.actor else {}),
            **({"extensions": dict(cause.extensions)} if cause.extensions else {}),
        },
    }  # fmt: skip


def _transition_to_wire(record: Transition, cause: CauseMap) -> TransitionData:
    entity = record.entity
    return TransitionData(
        entity.kind,
        entity.id,
        record.facet,
        None if record.before is None else state_to_wire(record.before),
        state_to_wire(record.after),
        entity.version,
        record.trigger,
        record.reason,
        record.message,
        cause,
        entity_to_wire(entity),
        record.unasked,
        *record.noted,
    )


def _rejection_to_wire(record: Rejection, cause: CauseMap) -> RejectionData:
    states = record.state
    return RejectionData(
        record.kind,
        record.id,
        record.trigger,
        record.reason,
        record.message,
        None if states is None else {facet: state_to_wire(found) for facet, found in states.items()},
        record.legal,
        cause,
        record.payload,
        [LeftOutMap(*item) for item in record.left_out],
    )


@lru_cache(maxsize=1024)
def _verb(type_: str) -> str:
    """The last word of a record's `type`; raises `ValueError` if it names no record."""
    verb = type_.rpartition(".")[2]
    if verb not in SHAPES:
        raise ValueError(f"type {type_[:64]!r} names no record: it must end in {', '.join(SHAPES)}")
    return verb


def _record(data: Data, time: str) -> Record:
    cause, time_ns = cause_of(data.cause), nanoseconds(time)
    if isinstance(data, RejectionData):
        return _rejection(data, cause, time_ns)
    entity = entity_of(data, *facets_in(data.entity.facets, time, time_ns))
    if isinstance(data, MarkData):
        return Mark(entity, cause, time_ns, Noted(unread=data.unread) if data.unread else NOTHING)
    return Transition(
        data.facet,
        None if data.before is None else state_of(data.before),
        state_of(data.after),
        data.trigger,
        data.reason,
        data.message,
        cause,
        entity,
        time_ns,
        data.unasked,
        noted_of(data),
    )


def _rejection(data: RejectionData, cause: Cause, time: int) -> Rejection:
    return Rejection(
        data.kind,
        data.id,
        data.trigger,
        data.reason,
        data.message,
        None if data.state is None else {facet: state_of(found) for facet, found in data.state.items()},
        data.legal,
        cause,
        time,
        data.payload,
        tuple(LeftOut(item.id, item.reason, item.message) for item in data.left_out),
    )


def cause_of(found: CauseMap) -> Cause:
    """The cause of a record. Many have the same source."""
    source, extensions = intern(found.source), found.extensions or NONE
    return Cause(found.sequence, found.event, source, found.by, found.origin, found.time, extensions, found.actor)


def noted_of(found: TransitionData | TransitionPart) -> Noted:
    """What a transition says beside its change."""
    noted = Noted(found.stayed, found.unread, found.replaced)
    return NOTHING if noted == NOTHING else noted


def state_of(found: StateMap) -> State:
    """A state on the wire as all entities share it."""
    return state(found.state, found.conditions)


def entity_of(data: WithEntity, names: tuple[str, ...], facets: tuple[FacetState, ...]) -> Entity:
    """The entity in the data of a record, with these facets."""
    found = data.entity
    return Entity(
        intern(data.kind),
        data.id,
        data.version,
        names,
        facets,
        found.attributes or NONE,
        found.sequences or NONE,
        {name: nanoseconds(due) for name, due in found.timers.items()} if found.timers else NONE,
        found.asked,
        found.asked if found.born == found.asked else found.born,  # one number takes less room than two
        None if found.memory is None else lean(found.memory),
    )


def facets_in(
    found: Mapping[str, FacetMap], time: str = "", time_ns: int = 0
) -> tuple[tuple[str, ...], tuple[FacetState, ...]]:
    """The names and the facets of an entity. time, time_ns: those of its record, if they are known."""
    return _shared(tuple(found)), tuple([_facet(facet, time, time_ns) for facet in found.values()])


def _facet(found: FacetMap, time: str, time_ns: int) -> FacetState:
    """A facet. Many entered their state at the time of the record, which is known in ns."""
    shown, base = state(found.state, found.conditions), found.base
    below = shown if (base.state, base.conditions) == shown else state(base.state, base.conditions)
    since_ns = time_ns if found.since == time else nanoseconds(found.since)
    return FacetState(below, shown, since_ns, found.interrupted)


@cache
def _shared(names: tuple[str, ...]) -> tuple[str, ...]:
    """The one tuple that all entities of a kind share."""
    return names
