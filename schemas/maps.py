"""The shapes of the maps on the wire, typed: the one definition of their field names (design: Records).

Belongs here: fields, their types and a line on each, from which the JSON Schemas are made too. Does not: making such
maps or reading them (`forms`), bytes (`codec`).
"""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Generic, Literal, NotRequired, TypedDict, TypeVar

from msgspec import Meta

from phaseline.schemas.records import By, Reason

D = TypeVar("D")

Kind = Annotated[str, Meta(description="The kind of the entity, like `node`.")]
Id = Annotated[str, Meta(description="The entity's id, a path from the root of its tree, like `c1/pool-a/n7`.")]
Trigger = Annotated[str, Meta(description="What happened, like `created`.")]
Version = Annotated[int, Meta(ge=1, description="Per entity 1, 2, 3, ... without a gap, over all its facets.")]
Time = Annotated[str, Meta(extra_json_schema={"format": "date-time"})]
Payload = Annotated[bytes, Meta(description="The first bytes of a body that was no event. Binary in msgpack.")]


class StateMap(TypedDict):
    """A phase and the conditions that go with it."""

    state: Annotated[str, Meta(description="The phase.")]
    conditions: Annotated[Sequence[str], Meta(description="Reasons and limits, in order of arrival.")]


class FacetMap(StateMap):
    """One state machine of an entity as it stands: its state, and the base under it."""

    base: Annotated[StateMap, Meta(description="What the entity itself is; the state is the base seen through views.")]
    since: Annotated[Time, Meta(description="When the state was entered.")]


class EntityMap(TypedDict):
    """A whole entity after a record."""

    facets: Mapping[str, FacetMap]
    attributes: Mapping[str, Any]
    sequences: NotRequired[
        Annotated[Mapping[str, int], Meta(description="The last `sequence` of each source that numbers its events.")]
    ]
    timers: NotRequired[
        Annotated[Mapping[str, Time], Meta(description="When what waits for a facet to leave its phase will fire.")]
    ]


_Origin = TypedDict(
    "_Origin",
    {
        "from": Annotated[
            str | None,
            Meta(description="`<kind>/<id>` of the entity whose change set it off; null for the event's own."),
        ]
    },
)


class CauseMap(_Origin):
    """Where a record comes from."""

    sequence: Annotated[int, Meta(ge=0, description="The event's sequence in the stream of events.")]
    event: Annotated[str, Meta(description="The event's `id`; empty where it could not be read.")]
    source: Annotated[str, Meta(description="The event's `source`; empty where it could not be read.")]
    by: Annotated[By, Meta(description="How the event came to move this: itself, or what it set off.")]
    time: Annotated[str | None, Meta(description="The publisher's clock, as it gave it.")]
    records: Annotated[int, Meta(ge=1, description="How many records the event made in all.")]


_From = TypedDict(
    "_From", {"from": Annotated[StateMap | None, Meta(description="The state before; null for an entity's first.")]}
)


class TransitionData(_From):
    """A committed change of one facet of one entity."""

    kind: Kind
    id: Id
    facet: Annotated[str, Meta(description="Which of the entity's state machines moved.")]
    to: Annotated[StateMap, Meta(description="The state after; equal to `from` where only the base under it moved.")]
    version: Version
    trigger: Trigger
    reason: Annotated[str | None, Meta(description="A word for machines, as the event gave it.")]
    message: Annotated[str | None, Meta(description="A sentence for people, as the event gave it.")]
    cause: CauseMap
    entity: EntityMap


class RejectionData(TypedDict):
    """The committed answer to an event that was not taken."""

    kind: Kind
    id: Id
    trigger: Trigger
    reason: Reason
    message: Annotated[str, Meta(description="Why, for a person.")]
    state: Annotated[
        Mapping[str, StateMap] | None, Meta(description="What each facet is in; null while the entity is unknown.")
    ]
    legal: Annotated[Sequence[str], Meta(description="The triggers that would have been legal.")]
    cause: CauseMap
    payload: Payload | None


class MarkData(TypedDict):
    """A publisher's `sequence`, remembered although its event had no effect."""

    kind: Kind
    id: Id
    version: Version
    cause: CauseMap
    entity: EntityMap


class RecordMap(TypedDict, Generic[D]):
    """A record's CloudEvents envelope."""

    specversion: Literal["1.0"]
    id: Annotated[
        str, Meta(description="`<sequence of the cause>-<place among its records>`: the same on every replay.")
    ]
    source: Annotated[str, Meta(description="The installation.")]
    type: Annotated[str, Meta(description="`<kind>.transitioned`, `<kind>.rejected` or `<kind>.marked`.")]
    subject: Annotated[str, Meta(description="`<kind>/<id>`.")]
    time: Annotated[Time, Meta(description="When the server stored the cause.")]
    schemaversion: Annotated[int, Meta(description="The version of these schemas.")]
    tableversion: Annotated[
        str, Meta(description="The version of the kind's table that made it; empty where the kind is unknown.")
    ]
    data: D
