"""What a notice keeps of each record that concerns it: no more than it may say, and once for all that say the same.

A storm by one cause has thousands of records, and one saying.
Belongs here: `Saying`, `NoticeMember`, `Unwelcome`, sharing them. Does not: who is concerned (`groups`), what an event
of a notice says (`telling`).
"""

from collections.abc import Hashable
from functools import lru_cache
from typing import Any, NamedTuple, TypeVar

from phaseline.engine.surfaces.overview.explaining import UnwellSign, sign_of
from phaseline.machines.compiler.classes.entity_classes import Unwell
from phaseline.machines.compiler.kinds import Kinds
from phaseline.machines.language.endings import state_for_people
from phaseline.schemas.records import Rejection, Transition, own_facets

LONGEST = 1_024
"""The most characters of a message that is repeated."""
ALIKE = 4_096
"""How many sayings are known to be shared. Beyond them some are kept twice."""
Shared = TypeVar("Shared", bound=Hashable)


class Saying(NamedTuple):
    """What a record says of its entity: its states as text, what made it, the reason and the message."""

    state: str
    trigger: str
    reason: str
    message: str
    event: str | None
    source: str
    by: str
    position: int
    actor: str | None


class NoticeMember(NamedTuple):
    """Somebody who is concerned: since when, ns, and what the last record says."""

    since: int
    said: Saying


class Unwelcome(NamedTuple):
    """An entity that is bad or excused: what tells of its cause, and what its last record says."""

    sign: UnwellSign
    said: Saying


def shared(one: Shared) -> Shared:
    """The one object for all that are equal."""
    found: Shared = _known(one)
    return found


@lru_cache(maxsize=ALIKE)
def _known(one: Hashable) -> Any:
    return one


def saying_of(record: Transition | Rejection) -> Saying:
    """What a record says."""
    cause = record.cause
    state = "rejected" if isinstance(record, Rejection) else states_of(record)
    return shared(Saying(
        state, record.trigger, record.reason or "", (record.message or "")[:LONGEST], cause.event, cause.source,
        cause.by, cause.sequence, cause.actor,
    ))  # fmt: skip


def unwelcome(kinds: Kinds, one: Unwell) -> Unwelcome:
    """What is kept of an entity that is bad or excused."""
    return shared(Unwelcome(sign_of(kinds, one), saying_of(one.record)))


def states_of(record: Transition) -> str:
    """The states of the entity of a record, as people are told of them."""
    attributes = record.entity.attributes
    return ", ".join(str(state_for_people(facet.state, attributes)) for facet in own_facets(record.entity))
