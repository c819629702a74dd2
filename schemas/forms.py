"""Records to the maps they are on the wire, and back (design: Records).

Belongs here: making and reading those maps. Does not: their shapes, which are the contract (`maps`), bytes (`codec`).
"""

from functools import cache
from sys import intern
from typing import Any

from phaseline.schemas.maps import (
    CauseMap,
    EntityMap,
    FacetMap,
    MarkData,
    RecordMap,
    RejectionData,
    StateMap,
    TransitionData,
)
from phaseline.schemas.records import (
    NONE,
    Cause,
    Entity,
    Facet,
    Mark,
    Record,
    Rejection,
    State,
    Transition,
    nanoseconds,
    state,
    timestamp,
)
from phaseline.schemas.upcasting import RECORD_VERSION, upcast

Data = TransitionData | RejectionData | MarkData


@cache
def state_to_wire(found: State) -> StateMap:
    """`{"state", "conditions"}`; one map for all records that show this state, never changed."""
    return {"state": found.phase, "conditions": found.conditions}


def state_from_wire(found: dict[str, Any]) -> State:
    """The inverse of `state_to_wire`."""
    return state(found["state"], tuple(found["conditions"]))


def entity_to_wire(entity: Entity) -> EntityMap:
    """The record's `entity`: facets with state, conditions, base and since; attributes; sequences if any."""
    facets: dict[str, FacetMap] = {
        name: {
            "state": facet.state.phase,
            "conditions": facet.state.conditions,
            "base": state_to_wire(facet.base),
            "since": timestamp(facet.since),
        }
        for name, facet in zip(entity.names, entity.facets, strict=True)
    }
    found: EntityMap = {"facets": facets, "attributes": entity.attributes}
    if entity.sequences:
        found["sequences"] = entity.sequences
    if entity.timers:
        found["timers"] = {name: timestamp(due) for name, due in entity.timers.items()}
    return found


@cache
def _names(names: tuple[str, ...]) -> tuple[str, ...]:
    """One tuple for all entities of a kind."""
    return names


def entity_from_wire(kind: str, entity_id: str, version: int, found: dict[str, Any]) -> Entity:
    """The inverse of `entity_to_wire`."""
    facets = found["facets"]
    return Entity(
        intern(kind),
        entity_id,
        version,
        _names(tuple(facets)),
        tuple(
            Facet(state_from_wire(facet["base"]), state_from_wire(facet), nanoseconds(facet["since"]))
            for facet in facets.values()
        ),
        found["attributes"] or NONE,
        found.get("sequences") or NONE,
        {name: nanoseconds(due) for name, due in found["timers"].items()} if "timers" in found else NONE,
    )


def cause_to_wire(cause: Cause, records: int) -> CauseMap:
    """The record's `cause`."""
    return {
        "sequence": cause.sequence,
        "event": cause.event,
        "source": cause.source,
        "by": cause.by,
        "from": cause.origin,
        "time": cause.time,
        "records": records,
    }


def cause_from_wire(found: dict[str, Any]) -> Cause:
    """The inverse of `cause_to_wire`."""
    return Cause(found["sequence"], found["event"], found["source"], found["by"], found["from"], found["time"])


def to_wire(record: Record, place: int, records: int, installation: str, tables: str = "") -> RecordMap[Data]:
    """The CloudEvents envelope of a record, the `place`-th of the `records` that its event made.

    tables: the version of the table that made it; empty where its kind is unknown.
    """
    cause = cause_to_wire(record.cause, records)
    data: Data
    if isinstance(record, Transition):
        verb, data = "transitioned", _transition_data(record, cause)
    elif isinstance(record, Rejection):
        verb, data = "rejected", _rejection_data(record, cause)
    else:
        verb, data = "marked", _mark_data(record, cause)
    kind, entity_id = data["kind"], data["id"]
    return {
        "specversion": "1.0",
        "id": f"{record.cause.sequence}-{place}",
        "source": installation,
        "type": f"{kind}.{verb}",
        "subject": f"{kind}/{entity_id}",
        "time": timestamp(record.time),
        "schemaversion": RECORD_VERSION,
        "tableversion": tables,
        "data": data,
    }


def _transition_data(record: Transition, cause: CauseMap) -> TransitionData:
    entity = record.entity
    return {
        "kind": entity.kind,
        "id": entity.id,
        "facet": record.facet,
        "from": None if record.before is None else state_to_wire(record.before),
        "to": state_to_wire(record.after),
        "version": entity.version,
        "trigger": record.trigger,
        "reason": record.reason,
        "message": record.message,
        "cause": cause,
        "entity": entity_to_wire(entity),
    }


def _rejection_data(record: Rejection, cause: CauseMap) -> RejectionData:
    states = record.state
    return {
        "kind": record.kind,
        "id": record.id,
        "trigger": record.trigger,
        "reason": record.reason,
        "message": record.message,
        "state": None if states is None else {facet: state_to_wire(found) for facet, found in states.items()},
        "legal": record.legal,
        "cause": cause,
        "payload": record.payload,
    }


def _mark_data(record: Mark, cause: CauseMap) -> MarkData:
    entity = record.entity
    return {
        "kind": entity.kind,
        "id": entity.id,
        "version": entity.version,
        "cause": cause,
        "entity": entity_to_wire(entity),
    }


def from_wire(body: dict[str, Any]) -> Record:
    """The record in a decoded body of the log or of the live feed, of whatever version; raises `NewerRecord`."""
    if body["schemaversion"] != RECORD_VERSION:
        body = upcast(body)
    data, time = body["data"], nanoseconds(body["time"])
    cause = cause_from_wire(data["cause"])
    if body["type"].endswith(".rejected"):
        states = data["state"]
        return Rejection(
            data["kind"],
            data["id"],
            data["trigger"],
            data["reason"],
            data["message"],
            None if states is None else {facet: state_from_wire(found) for facet, found in states.items()},
            tuple(data["legal"]),
            cause,
            time,
            data["payload"],
        )
    entity = entity_from_wire(data["kind"], data["id"], data["version"], data["entity"])
    if body["type"].endswith(".marked"):
        return Mark(entity, cause, time)
    return Transition(
        data["facet"],
        None if data["from"] is None else state_from_wire(data["from"]),
        state_from_wire(data["to"]),
        data["trigger"],
        data["reason"],
        data["message"],
        cause,
        entity,
        time,
    )
