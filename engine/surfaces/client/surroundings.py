"""What others tell of entities: why they are stale, what is not known of their parts, what shuts them to new work.

Belongs here: reading all of it for some entities at a time. Does not: finding each out (`log.explain`), how it is shown
(`maps`, the commands).
"""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

from phaseline.engine.log.explain.shut import Shut, ShutBy, Shutters
from phaseline.engine.log.explain.staleness import Marks, Stale, Staleness
from phaseline.engine.log.explain.unknown_parts import Parts, PartsOf, PartsReader
from phaseline.engine.log.state_view import StateView
from phaseline.machines.language.fields import UNWATCHED, free_attributes
from phaseline.schemas.records import Entity


class Surroundings(NamedTuple):
    """What others tell of some entities, by kind and id.

    stale: why they are. unknown: by facet, what is not known of their parts, or lacking. shut: by facet, what shuts
    them to new work; None if nobody has looked at what is above.
    """

    stale: Marks = MappingProxyType({})
    unknown: PartsOf = MappingProxyType({})
    shut: ShutBy | None = None

    def stale_of(self, entity: Entity) -> Stale | None:
        """Why an entity is stale; None if it is not."""
        return self.stale.get((entity.kind, entity.id))

    def parts_of(self, entity: Entity) -> Mapping[str, Parts]:
        """By facet, what is not known of the parts of an entity, or lacking."""
        return self.unknown.get((entity.kind, entity.id), {})

    def shut_of(self, entity: Entity) -> Mapping[str, Shut] | None:
        """By facet, what shuts an entity; None if nobody has looked."""
        return None if self.shut is None else self.shut.get((entity.kind, entity.id), {})


async def unwatched_by(states: StateView, entity: Entity) -> tuple[Entity, str] | None:
    """What is above an entity and says that nobody may look at it now, and how it names such things."""
    known = states.installation.kinds.get(entity.kind)
    for kind, entity_id in () if known is None else known.places_above(entity.id):
        named = entity.id[len(entity_id) + 1 :].partition("/")[0]
        if ":" not in named:
            continue  # no sort of objects
        above = await states.found(kind, entity_id)
        told = None if above is None else free_attributes(above.entity.attributes).get(UNWATCHED)
        if above is not None and named in str(told).split(", "):
            return above.entity, named
    return None


ALONE = Surroundings()
"""Nothing is told by others."""


class SurroundingsReader:
    """Reads them for some entities at a time. What many have in common is read once."""

    def __init__(self, states: StateView, *, with_shut: bool = True) -> None:
        """Read from these states. with_shut: what shuts them, too."""
        self._staleness, self._parts = Staleness(states), PartsReader(states)
        self._shutters = Shutters(states) if with_shut else None

    async def of(self, entities: Sequence[Entity]) -> Surroundings:
        """What others tell of these entities."""
        stale, unknown = await self._staleness.of(entities), await self._parts.of(entities)
        return Surroundings(stale, unknown, None if self._shutters is None else await self._shutters.of(entities))
