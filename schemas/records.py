"""The records the engine commits: transitions, rejections and marks (design: Records).

Belongs here: their shapes. Does not: the maps they are on the wire (`wire_codec`), what makes one (`engine.decide`).
"""

from collections.abc import Mapping
from datetime import UTC, datetime
from functools import cache, lru_cache
from typing import Any, Literal, NamedTuple

import msgspec

By = Literal["event", "cascade", "view", "tally", "timer"]
Reason = Literal[
    "illegal",
    "guard",
    "undecodable",
    "invalid",
    "unknown_kind",
    "unknown_trigger",
    "unknown_parent",
    "derived",
    "fault",
]
MAX_PAYLOAD = 4096
"""Bytes of an undecodable body that its rejection keeps."""


class State(NamedTuple):
    """A phase and the conditions that go with it, in order of arrival."""

    phase: str
    conditions: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"{self.phase} [{', '.join(self.conditions)}]" if self.conditions else self.phase


@cache
def state(phase: str, conditions: tuple[str, ...] = ()) -> State:
    """The one `State` object of that value, so that thousands of entities share it."""
    return State(phase, conditions)


class Facet(msgspec.Struct, frozen=True, gc=False):
    """One state machine of an entity as it stands. `since`: ns since the epoch at which the state was entered."""

    base: State
    state: State
    since: int


SECOND = 1_000_000_000
"""In ns."""
NONE: Mapping[str, Any] = {}
"""What entities without attributes or sequences share. Never changed."""


class Entity(msgspec.Struct, frozen=True, gc=False):
    """A whole entity after a record. `names` are its facets' names, in the order of `facets`."""

    kind: str
    id: str
    version: int
    names: tuple[str, ...]
    facets: tuple[Facet, ...]
    attributes: Mapping[str, Any]
    sequences: Mapping[str, int]
    """The last `sequence` of each source that numbers its events."""
    timers: Mapping[str, int] = msgspec.field(default_factory=lambda: NONE)
    """Until when each facet that is being timed may stay in its phase, ns."""


class Cause(msgspec.Struct, frozen=True, gc=False):
    """Where a record comes from. `sequence` is the event's in EVENTS, `records` how many it made in all."""

    sequence: int
    event: str
    source: str
    by: By
    origin: str | None = None
    """`<kind>/<id>` of the entity whose change made it so; None for the event's own entity. `from` on the wire."""
    time: str | None = None
    """The publisher's clock, as it gave it."""


class Transition(msgspec.Struct, frozen=True, gc=False):
    """A committed change of one facet of one entity. `before` is None for an entity's first; `time` in ns."""

    facet: str
    before: State | None
    after: State
    trigger: str
    reason: str | None
    message: str | None
    cause: Cause
    entity: Entity
    time: int


class Rejection(msgspec.Struct, frozen=True, gc=False):
    """The committed answer to an event that was not taken. `state`: what each facet is in, None while unknown."""

    kind: str
    id: str
    trigger: str
    reason: Reason
    message: str
    state: dict[str, State] | None
    legal: tuple[str, ...]
    cause: Cause
    time: int
    payload: bytes | None = None


class Mark(msgspec.Struct, frozen=True, gc=False):
    """A publisher's `sequence`, remembered although its event had no effect. `entity` is whole, its version unmoved."""

    entity: Entity
    cause: Cause
    time: int


Record = Transition | Rejection | Mark


@lru_cache(maxsize=4096)
def _second(second: int) -> str:
    return datetime.fromtimestamp(second, UTC).strftime("%Y-%m-%dT%H:%M:%S.")


@lru_cache(maxsize=1024)
def timestamp(time_ns: int) -> str:
    """RFC 3339 with nanoseconds, UTC."""
    second, rest = divmod(time_ns, SECOND)
    return f"{_second(second)}{rest:09d}Z"


def nanoseconds(text: str) -> int:
    """The inverse of `timestamp`, to the nanosecond; takes any RFC 3339 timestamp with an offset."""
    head, _, tail = text.partition(".")
    if tail.endswith("Z") and tail[:-1].isdigit() and len(tail) <= 10:
        return int(datetime.fromisoformat(head + "+00:00").timestamp()) * SECOND + int(tail[:-1].ljust(9, "0"))
    moment = datetime.fromisoformat(text)
    return int(moment.replace(microsecond=0).timestamp()) * SECOND + moment.microsecond * 1000
