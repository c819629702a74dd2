"""The records that the engine commits: transitions, rejections and marks; and losses, which belong to no entity.

Belongs here: their shapes in memory, timestamps. Does not: their shapes on the wire (`wire_types`), the rules that make
them (`engine.core`).

Times, here and in all other values that users get: `time_ns` is exact, in ns since 1970, and what the engine uses;
`time` is the same as a datetime in UTC, to the microsecond. It is made when it is asked for.
"""

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from functools import cache, lru_cache
from typing import Annotated, Any, Literal, NamedTuple

import msgspec

from phaseline.schemas.errors import InvalidInput, NameUnknown

By = Literal["event", "cascade", "view", "tally", "timer", "tables"]
"""How an event led to a record. tables: no event did, a map of states moved the entity when its table changed."""
CHANGE_OF_TABLES: By = "tables"
"""Begins the `event` of such a cause, and what follows the position in the ids of its records."""
Reason = Literal[
    "illegal",
    "guard",
    "undecodable",
    "invalid",
    "unknown_kind",
    "unknown_trigger",
    "unknown_parent",
    "derived",
    "stale",
    "left_out",
    "brake",
    "changed",
    "repeat",
    "fault",
    "secret",
]
What = Literal["events", "states", "log", "restored"]
"""What can be lost."""
MAX_PAYLOAD = 4096
"""The most bytes of an undecodable body that its rejection keeps."""


class State(NamedTuple):
    """A phase and the conditions that go with it, in the order in which they were added."""

    phase: str
    conditions: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"{self.phase} [{', '.join(self.conditions)}]" if self.conditions else self.phase


@cache
def state(phase: str, conditions: tuple[str, ...] = ()) -> State:
    """The one `State` object of a value, which all entities in that state share."""
    return State(phase, conditions)


class FacetState(msgspec.Struct, frozen=True, gc=False):
    """One state machine of an entity: its base, its visible state, and since when."""

    base: State
    state: State
    since_ns: int
    interrupted: str | None = None
    """In the accumulating phase, the phase that its causes interrupted, if it does not return to the healthy one."""

    @property
    def since(self) -> datetime:
        """Since when it is in its state."""
        return utc(self.since_ns)


SECOND = 1_000_000_000
"""One second in ns."""
NONE: Mapping[str, Any] = {}
"""The empty map that entities without attributes, sequences or timers share. It is never changed."""


class Heard(msgspec.Struct, frozen=True, gc=False, omit_defaults=True):
    """What an entity remembers of a source that numbers its events, beside its last number."""

    at_ns: Annotated[
        int, msgspec.Meta(description="When the event with that number was stored, in ns; 0 if that is not remembered.")
    ]
    epoch: Annotated[int, msgspec.Meta(description="The epoch in which the number counts.")] = 0
    asked: Annotated[
        int | None, msgspec.Meta(description="The number of the last intent, which a new life does not forget.")
    ] = None
    repeats: Annotated[
        int, msgspec.Meta(description="The event that began a run of repeats, until an event is taken.")
    ] = 0

    @property
    def at(self) -> datetime:
        """When the event with the last number was stored."""
        return utc(self.at_ns)


class Stay(msgspec.Struct, frozen=True, gc=False, rename={"state_class": "class", "since_text": "since"}):
    """Since when an entity is in its class of states, such as `bad`."""

    state_class: Annotated[str, msgspec.Meta(description="The class in which the entity is.")]
    since_text: Annotated[str, msgspec.Meta(description="Since when, RFC 3339 in UTC, to the nanosecond.")]

    @property
    def since_ns(self) -> int:
        """Since when, in ns since 1970."""
        return nanoseconds(self.since_text)

    @property
    def since(self) -> datetime:
        """Since when."""
        return utc(self.since_ns)


class Memory(msgspec.Struct, frozen=True, gc=False, omit_defaults=True):
    """What an entity remembers to judge later events by. No rule of a kind reads it."""

    uids: Annotated[
        Mapping[str, str], msgspec.Meta(description="By scheme, the identity of the thing, as its makers name it.")
    ] = NONE
    versions: Annotated[
        Mapping[str, int],
        msgspec.Meta(
            description="By scheme, the version of the thing of which something was told that changed it here."
        ),
    ] = NONE
    former: Annotated[
        tuple[str, ...],
        msgspec.Meta(description="The identities of earlier lives, `<scheme>:<text>`, the oldest first."),
    ] = ()
    awaited: Annotated[
        bool, msgspec.Meta(description="Whether nothing has shown yet that this life is there: it was only asked for.")
    ] = False
    settled: Annotated[
        int,
        msgspec.Meta(
            description="The version before the last records, if all of them were of the facet `contact`; else 0."
        ),
    ] = 0
    sources: Annotated[
        Mapping[str, Heard], msgspec.Meta(description="By source, what belongs to its last `sequence`.")
    ] = NONE
    taken: Annotated[
        tuple[str, ...],
        msgspec.Meta(
            description="The last intents that it took, the oldest first: a digest of source and id, and the event's "
            "sequence number."
        ),
    ] = ()
    reasons: Annotated[Mapping[str, str], msgspec.Meta(description="By condition, the reason that was given last.")] = (
        NONE
    )
    stay: Stay | None = None
    """Since when it is in its class, where that differs from what `since` of its states tells."""

    @property
    def identities(self) -> tuple[str, ...]:
        """The identities of the present life, `<scheme>:<text>`."""
        return tuple(f"{scheme}:{text}" for scheme, text in self.uids.items())


NO_MEMORY = Memory()
"""The memory of an entity that remembers nothing; entities themselves hold None."""
AWAITED = Memory(awaited=True)
"""The memory of an entity that was asked for and not seen yet. Nearly all such entities share it."""


@lru_cache(maxsize=4096)
def of_reasons(known: tuple[tuple[str, str], ...]) -> Memory:
    """What is remembered where these conditions have reasons, and nothing else is. Entities share it."""
    return Memory(reasons=dict(known))


def lean(memory: Memory) -> Memory:
    """A memory that was decoded, as entities hold it: what many have alike is one object, as are empty maps."""
    if memory == AWAITED:
        return AWAITED
    if memory.reasons and memory == (shared := of_reasons(tuple(memory.reasons.items()))):
        return shared
    return Memory(
        memory.uids or NONE, memory.versions or NONE, memory.former, memory.awaited, memory.settled,
        memory.sources or NONE, memory.taken, memory.reasons or NONE, memory.stay,
    )  # fmt: skip


class Entity(msgspec.Struct, frozen=True, gc=False):
    """A whole entity after a record.

    version: how many transitions it has had, over all facets. names: the names of its facets, in the order of `facets`.
    attributes: by name; the fields of its kind say their types. Times among them are in ns since 1970.
    """

    kind: str
    id: str
    version: int
    names: tuple[str, ...]
    facets: tuple[FacetState, ...]
    attributes: Mapping[str, Any]
    sequences: Mapping[str, int]
    """By source, the last `sequence` of each publisher that numbers its events."""
    timers_ns: Mapping[str, int] = msgspec.field(default_factory=lambda: NONE)
    """By facet, when its timer expires, in ns."""
    asked: int = 0
    """The position of the event with the last request that the entity took, or with its deletion; 0 for none."""
    born: int = 0
    """The position of the event that first showed this life to be there; until then, that of its request."""
    memory: Memory | None = None

    @property
    def timers(self) -> dict[str, datetime]:
        """By facet, when its timer expires."""
        return {facet: utc(due) for facet, due in self.timers_ns.items()}

    def facet(self, name: str) -> FacetState:
        """The facet of that name; raises `NameUnknown`."""
        if name not in self.names:
            raise NameUnknown.among(f"facet of the {self.kind} {self.id}", name, self.names)
        return self.facets[self.names.index(name)]

    @property
    def state(self) -> State:
        """The state of its only facet, `signals` and `contact` aside; raises `InvalidInput` if it has several."""
        own = own_facets(self)
        if len(own) > 1:
            names = self.names[: len(own)]
            raise InvalidInput.several_facets(
                kind=self.kind, id=self.id, facets=", ".join(names), calls=f'entity.facet("{names[0]}").state'
            )
        return own[0].state

    def __str__(self) -> str:
        return f"{self.kind} {self.id}: {', '.join(f'{name} {one.state}' for name, one in facets_of(self))}"

    def _repr_pretty_(self, printer: Any, _: bool) -> None:
        """How notebooks show it."""
        printer.text(str(self))


CONTACT = "contact"
"""The facet of a place that says whether it was heard from lately."""


SIGNALS = "signals"
"""The facet that says whether a signal stands, and the attribute that holds the signals."""
_SIGNALS = (SIGNALS,)


def written_facets(entity: Entity) -> tuple[FacetState, ...]:
    """The facets that a record holds.

    `contact` is among them only once somebody waited for the entity's reporter, `signals` once somebody told one.
    """
    names, facets = entity.names, entity.facets
    if names[-1] != CONTACT:
        return facets
    contact = facets[-1]
    if names[-2] == SIGNALS and not facets[-2].since_ns:
        return (*facets[:-2], contact) if contact.since_ns else facets[:-2]
    return facets if contact.since_ns else facets[:-1]


def facets_of(entity: Entity) -> Iterator[tuple[str, FacetState]]:
    """These facets, by name."""
    names = entity.names
    if names[-1] == CONTACT and _untold(entity):
        names = (*names[:-2], CONTACT)
    return zip(names, written_facets(entity), strict=False)


def states_of(entity: Entity) -> dict[str, State]:
    """The states of an entity by facet."""
    return {name: facet.state for name, facet in facets_of(entity)}


def _untold(entity: Entity) -> bool:
    """Whether the facet before `contact` is that of signals, of which nobody told one yet."""
    return entity.names[-2:-1] == _SIGNALS and not entity.facets[-2].since_ns


def own_facets(entity: Entity) -> tuple[FacetState, ...]:
    """The facets that say what an entity is in: all but `signals` and `contact`."""
    own = len(entity.names)
    while own > 1 and entity.names[own - 1] in (CONTACT, SIGNALS):
        own -= 1
    return entity.facets[:own]


class Cause(msgspec.Struct, frozen=True, gc=False):
    """The event that led to a record.

    sequence: the position of the event in EVENTS. event, source: its `id` and its `source`. by: how it led to the
    record: by itself (`event`), by a `cascade`, a `view`, a `tally` or a `timer`, or by a change of `tables`.
    """

    sequence: int
    event: str
    source: str
    by: By
    origin: str | None = None
    """`<kind>/<id>` of the entity whose change led to this one; None for the event's own entity. `from` on the wire."""
    time_text: str | None = None
    """The time that the publisher gave, unchanged."""
    extensions: Mapping[str, str | int | bool] = msgspec.field(default_factory=lambda: NONE)
    """The event's extension attributes, like `traceparent`, within bounds."""
    actor: str = ""
    """Whom `phaseline serve` had authenticated when it sent the event: the name of a token, the subject of a JWT, the
    user of a proxy. Empty for an event that came otherwise, or by a server that asks nobody."""

    @property
    def time(self) -> datetime | None:
        """The time that the publisher gave; None if it gave none, or one outside of the years 1 to 9999."""
        try:
            return None if self.time_text is None else datetime.fromisoformat(self.time_text).astimezone(UTC)
        except (ValueError, OverflowError):
            return None


class Noted(NamedTuple):
    """What a record says beside its change.

    stayed: the conditions that were out of the scope of a report. unread: the fields of an event that nothing reads.
    replaced: the identity of the thing whose place this one took; None where a life did not follow on another at once.
    """

    stayed: tuple[str, ...] = ()
    unread: tuple[str, ...] = ()
    replaced: str | None = None


NOTHING = Noted()
"""What most records say beside their change."""


class Transition(msgspec.Struct, frozen=True, gc=False):
    """A committed change of one facet of one entity.

    before, after: the states, as everybody sees them; before is None for an entity's first transition. Both are equal
    where only the base or attributes changed. reason, message: those of the event, or the message of the table.
    entity: the whole entity after it. time_ns: when the server stored the event, in ns since 1970.
    """

    facet: str
    before: State | None
    after: State
    trigger: str
    reason: str | None
    message: str | None
    cause: Cause
    entity: Entity
    time_ns: int
    unasked: bool = False
    """Whether somebody acted outside: a report that no single observation row explains, a deletion without request."""
    noted: Noted = NOTHING

    @property
    def time(self) -> datetime:
        """When the event was stored that led to the record."""
        return utc(self.time_ns)

    def __str__(self) -> str:
        said = ": ".join(filter(None, (self.reason, self.message)))
        changed = f"{self.entity.kind} {self.entity.id}: {self.facet} {self.before} -> {self.after}"
        return f"{changed} by {self.trigger}{said and f': {said}'}"

    def _repr_pretty_(self, printer: Any, _: bool) -> None:
        """How notebooks show it."""
        printer.text(str(self))


class LeftOut(NamedTuple):
    """What of a snapshot was not taken: an item, or that something is gone which it does not list (reason `brake`).

    `id`: as the snapshot names it; empty if it names none.
    """

    id: str
    reason: Reason
    message: str


class Rejection(msgspec.Struct, frozen=True, gc=False):
    """The committed answer to an event that was rejected.

    reason: one of those in docs/bad-input.md. message: why, and a way out. state: by facet; None if the entity is
    unknown. legal: the triggers that the entity would take instead. time_ns: when the server stored the event, in ns
    since 1970. payload: the first 4,096 bytes of a body that could not be read; None for every other event.
    """

    kind: str
    id: str
    trigger: str
    reason: Reason
    message: str
    state: dict[str, State] | None
    legal: tuple[str, ...]
    cause: Cause
    time_ns: int
    payload: bytes | None = None
    left_out: tuple[LeftOut, ...] = ()
    """Of a snapshot, the items that were not taken, or what the brake did not let it end. All else of it was taken: the
    transitions stand beside the rejection.
    """

    @property
    def time(self) -> datetime:
        """When the event was stored."""
        return utc(self.time_ns)

    def __str__(self) -> str:
        return f"{self.kind} {self.id}: {self.trigger} rejected, {self.reason}: {self.message}"


class Mark(msgspec.Struct, frozen=True, gc=False):
    """A record of a publisher's `sequence` whose event had no other effect. The version of `entity` stays the same."""

    entity: Entity
    cause: Cause
    time_ns: int
    noted: Noted = NOTHING

    @property
    def time(self) -> datetime:
        """When the event was stored."""
        return utc(self.time_ns)


Record = Transition | Rejection | Mark


class EntityAfter(msgspec.Struct, frozen=True, gc=False):
    """What a tree takes from a record: the whole entity after it, and the position of the event that made it.

    entity: None from a rejection.
    """

    entity: Entity | None
    sequence: int


def entity_after(record: Record) -> EntityAfter:
    """What a tree takes from a record."""
    return EntityAfter(None if isinstance(record, Rejection) else record.entity, record.cause.sequence)


class Loss(msgspec.Struct, frozen=True, gc=False):
    """What a worker found missing in a partition. It belongs to no entity, so it is no `Record`.

    first, last: the positions of the events between which some are missing. at_least, at_most: how many; None if nobody
    can know. time_ns: when it was found.
    """

    partition: int
    what: What
    first: int
    last: int
    at_least: int
    at_most: int | None
    worker: str
    time_ns: int

    @property
    def count(self) -> str:
        """How many are missing, in words."""
        if self.at_most is None:
            return "an unknown number of"
        if self.at_least == self.at_most:
            return str(self.at_least)
        return f"{self.at_least} to {self.at_most}" if self.at_least else f"at most {self.at_most}"


_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def utc(time_ns: int) -> datetime:
    """A time in ns as a datetime in UTC, to the microsecond."""
    return _EPOCH + timedelta(microseconds=time_ns // 1000)


@lru_cache(maxsize=4096)
def _second(second: int) -> str:
    minute, rest = divmod(second, 60)
    return f"{_minute(minute)}{rest:02d}."


@lru_cache(maxsize=64)
def _minute(minute: int) -> str:
    return datetime.fromtimestamp(minute * 60, UTC).strftime("%Y-%m-%dT%H:%M:")


@lru_cache(maxsize=64)
def timestamp(time_ns: int) -> str:
    """A time in ns as an RFC 3339 timestamp in UTC, to the nanosecond."""
    return f"{_second(time_ns // SECOND)}{str(time_ns % SECOND + SECOND)[1:]}Z"


@lru_cache(maxsize=4096)
def _utc_minute(text: str) -> int:
    return int(datetime.fromisoformat(f"{text}00+00:00").timestamp()) * SECOND


def nanoseconds(text: str) -> int:
    """The time in ns of any RFC 3339 timestamp with an offset, to the nanosecond; the inverse of `timestamp`."""
    if text[29:] == "Z" and text[19] == "." and text[16] == ":":  # as `timestamp` writes it
        digits = text[17:19] + text[20:29]
        if digits.isdecimal() and digits.isascii() and digits < "6":
            return _utc_minute(text[:17]) + int(digits)
    head, _, tail = text.partition(".")
    zone = tail.lstrip("0123456789")
    fraction = tail[: len(tail) - len(zone)]
    if fraction and zone:
        whole = datetime.fromisoformat(head + ("+00:00" if zone == "Z" else zone))
        return int(whole.timestamp()) * SECOND + int(fraction[:9].ljust(9, "0"))
    time = datetime.fromisoformat(text)
    return int(time.replace(microsecond=0).timestamp()) * SECOND + time.microsecond * 1000
