"""The shapes of records on the wire: one struct for each map, and the only definition of the maps' field names.

Belongs here: the fields of each map in the order in which they are written, their types, and a line on each. The
encoder, the decoder and the JSON Schemas all follow from these structs. Does not: the conversion from and to the
in-memory `records` (`wire_codec`), bytes (`codec`).
"""

from collections.abc import Mapping
from typing import Annotated, Any, Generic, Literal, TypeVar

from msgspec import UNSET, Meta, Raw, Struct, UnsetType, field

from phaseline.schemas.records import By, Memory, Reason, What

D = TypeVar("D")

Kind = Annotated[str, Meta(description="The kind of the entity, like `node`.")]
Id = Annotated[str, Meta(description="The entity's id, a path from the root of its tree, like `c1/pool-a/n7`.")]
Trigger = Annotated[str, Meta(description="What happened, like `created`.")]
Version = Annotated[int, Meta(ge=1, description="Counts the changes of the entity over all its facets: 1, 2, 3, ...")]
Time = Annotated[str, Meta(extra_json_schema={"format": "date-time"})]
Why = Annotated[Reason, Meta(title="RejectionReason")]
Stayed = Annotated[
    tuple[str, ...], Meta(description="The conditions that stay because the report does not speak of them.")
]
Unread = Annotated[tuple[str, ...], Meta(description="The fields of the event's data that nothing reads.")]
Payload = Annotated[
    bytes,
    Meta(description="The first bytes of a body that was refused as an event. Binary in msgpack, base64 in JSON."),
]


class StateMap(Struct, frozen=True, gc=False):
    """A phase and the conditions that go with it."""

    state: Annotated[str, Meta(description="The phase.")]
    conditions: Annotated[
        tuple[str, ...], Meta(description="Reasons and limits, in the order in which they were added.")
    ]


class FacetMap(StateMap, frozen=True, gc=False, omit_defaults=True):
    """One facet (state machine) of an entity: its current state, and the base under it.

    `interrupted` is left out where the causes that stand interrupted nothing that comes back.
    """

    base: Annotated[
        StateMap, Meta(description="The entity's own state. The visible state is this base after views are applied.")
    ]
    since: Annotated[Time, Meta(description="When the entity entered this state.")]
    interrupted: Annotated[
        str | None, Meta(description="The phase that causes interrupted. It comes back when the last one is cleared.")
    ] = None


class EntityMap(Struct, frozen=True, gc=False, omit_defaults=True):
    """A whole entity after a record. All but `facets` and `attributes` is left out where it is empty or 0."""

    facets: Mapping[str, FacetMap]
    attributes: Mapping[str, Any]
    sequences: Annotated[
        Mapping[str, int], Meta(description="The last `sequence` of each source that numbers its events.")
    ] = field(default_factory=dict)
    timers: Annotated[Mapping[str, Time], Meta(description="When the timer of each facet that has one expires.")] = (
        field(default_factory=dict)
    )
    asked: Annotated[
        int,
        Meta(ge=0, description="The sequence number of the last request that the entity took, or of its deletion."),
    ] = 0
    born: Annotated[
        int,
        Meta(ge=0, description="The sequence number of the event that first showed this life, or asked for it."),
    ] = 0
    memory: Memory | None = None


class CauseMap(Struct, frozen=True, gc=False, omit_defaults=True, rename={"origin": "from"}):
    """The event that led to a record. `extensions` and `actor` are left out where they are empty."""

    sequence: Annotated[int, Meta(ge=0, description="The event's sequence number in the stream of events.")]
    event: Annotated[str, Meta(description="The event's `id`; empty if it could not be read.")]
    source: Annotated[str, Meta(description="The event's `source`; empty if it could not be read.")]
    by: Annotated[
        By, Meta(title="CauseBy", description="How the event led to this record: directly, or through what it set off.")
    ]
    origin: Annotated[
        str | None,
        Meta(description="`<kind>/<id>` of the entity whose change led to this one; null for the event's own entity."),
    ]
    time: Annotated[str | None, Meta(description="The time that the publisher gave, unchanged.")]
    records: Annotated[int, Meta(ge=1, description="How many records the event made in total.")]
    extensions: Annotated[
        Mapping[str, str | int | bool],
        Meta(description="The event's extension attributes, like `traceparent`: at most 16, of 1,024 bytes together."),
    ] = field(default_factory=dict)
    actor: Annotated[
        str,
        Meta(
            description="Whom the HTTP server had authenticated when it sent the event. `source`, and an `actor` among "
            "the extension attributes, are what the event says of itself."
        ),
    ] = ""


class TransitionData(Struct, frozen=True, gc=False, omit_defaults=True, rename={"before": "from", "after": "to"}):
    """A committed change of one facet of one entity. What follows on `entity` is left out where it is empty."""

    kind: Kind
    id: Id
    facet: Annotated[str, Meta(description="The facet (state machine) of the entity that changed.")]
    before: Annotated[StateMap | None, Meta(description="The state before; null for the first one of an entity.")]
    after: Annotated[StateMap, Meta(description="The state after; equal to `from` if only the base changed.")]
    version: Version
    trigger: Trigger
    reason: Annotated[str | None, Meta(description="A word for programs, from the event or the rule that moved it.")]
    message: Annotated[str | None, Meta(description="A sentence for people, from the event or the rule that moved it.")]
    cause: CauseMap
    entity: EntityMap
    unasked: Annotated[
        bool,
        Meta(description="Somebody acted outside: no single observation leads there, or a deletion without a request."),
    ] = False
    stayed: Stayed = ()
    unread: Unread = ()
    replaced: Annotated[
        str | None, Meta(description="The identity of the thing whose place this one took while it lived.")
    ] = None


class CausePart(Struct, frozen=True, gc=False):
    """Of a cause, only which event it was."""

    sequence: int


class BodyPart(Struct, frozen=True, gc=False):
    """A whole entity, as `EntityMap`, whose facets are not decoded yet."""

    facets: Raw
    attributes: Mapping[str, Any]
    sequences: Mapping[str, int] | UnsetType = UNSET
    timers: Mapping[str, str] | UnsetType = UNSET
    asked: Annotated[int, Meta(ge=0)] = 0
    born: Annotated[int, Meta(ge=0)] = 0
    memory: Memory | None = None


class TransitionPart(Struct, frozen=True, gc=False, rename={"before": "from", "after": "to"}):
    """A transition, as `TransitionData`, whose states and facets are not decoded yet."""

    kind: Kind
    id: Id
    facet: str
    before: Raw
    after: Raw
    version: Version
    trigger: Trigger
    reason: str | None
    message: str | None
    cause: CauseMap
    entity: BodyPart
    unasked: bool = False
    stayed: tuple[str, ...] = ()
    unread: tuple[str, ...] = ()
    replaced: str | None = None


class EntityPart(Struct, frozen=True, gc=False):
    """Of a transition or a mark, only the whole entity after it, and which event made it."""

    kind: Kind
    id: Id
    version: Version
    cause: CausePart
    entity: BodyPart


class LeftOutMap(Struct, frozen=True, gc=False):
    """What of a snapshot was not taken: an item, or that something is gone which it does not list."""

    id: Annotated[str, Meta(description="The id below the snapshot's entity; empty if an item names none.")]
    reason: Why
    message: Annotated[str, Meta(description="The explanation, for people.")]


class RejectionData(Struct, frozen=True, gc=False, omit_defaults=True):
    """The committed answer to an event that was rejected. `left_out` is there for a snapshot only."""

    kind: Kind
    id: Id
    trigger: Trigger
    reason: Why
    message: Annotated[str, Meta(description="The explanation, for people.")]
    state: Annotated[
        Mapping[str, StateMap] | None, Meta(description="The state of each facet; null if the entity is unknown.")
    ]
    legal: Annotated[tuple[str, ...], Meta(description="The triggers that would have been legal.")]
    cause: CauseMap
    payload: Payload | None
    left_out: Annotated[
        list[LeftOutMap],
        Meta(
            description="What of the snapshot was not taken: the first items that do not fit, or those that the "
            "brake did not let it end. The transitions of the others stand."
        ),
    ] = field(default_factory=list)


class MarkData(Struct, frozen=True, gc=False, omit_defaults=True):
    """A record of a publisher's `sequence` whose event had no other effect. `unread` is left out where it is empty."""

    kind: Kind
    id: Id
    version: Version
    cause: CauseMap
    entity: EntityMap
    unread: Unread = ()


class LossData(Struct, frozen=True, gc=False):
    """What a worker found missing when it took a partition over, or while it worked on it."""

    partition: Annotated[int, Meta(ge=0, description="The number of the partition.")]
    what: Annotated[
        What,
        Meta(
            title="LossWhat",
            description="`events`: events expired before they were decided. `states`: entities are in neither STATE "
            "nor the log. `log`: the log was emptied, and the worker was told to go on from STATE. `restored`: LOG or "
            "EVENTS was put back from a backup, or made anew.",
        ),
    ]
    first: Annotated[
        int, Meta(ge=0, description="For `events` and `restored`: the first position that may be missing; else 0.")
    ]
    last: Annotated[int, Meta(ge=0, description="For `events`: the last position that may be missing; else 0.")]
    at_least: Annotated[int, Meta(ge=0, description="How many are missing at least; equal to `at_most` if exact.")]
    at_most: Annotated[int | None, Meta(description="How many are missing at most; null if nobody can know.")]
    worker: Annotated[str, Meta(description="The worker that found it.")]


class RecordMap(Struct, Generic[D], frozen=True, gc=False):
    """A record's CloudEvents envelope."""

    specversion: Annotated[Literal["1.0"], Meta(title="Specversion")]
    id: Annotated[
        str, Meta(description="`<sequence of the cause>-<index among its records>`: the same on every replay.")
    ]
    source: Annotated[str, Meta(description="The installation.")]
    type: Annotated[str, Meta(description="`<kind>.transitioned`, `<kind>.rejected` or `<kind>.marked`.")]
    subject: Annotated[str, Meta(description="`<kind>/<id>`.")]
    time: Annotated[Time, Meta(description="When the server stored the event that led to this record.")]
    schemaversion: Annotated[int, Meta(description="The version of these schemas.")]
    tableversion: Annotated[
        str, Meta(description="The version of the kind's table that made the record; empty if the kind is unknown.")
    ]
    data: D


class RecordPart(Struct, frozen=True, gc=False):
    """Of a record, only what a tree takes from it. What is left out here is not decoded."""

    type: str
    schemaversion: int
    data: EntityPart
