"""What shuts an entity to new work although its own state allows it: something above it is in such a state.

Belongs here: reading what is above, the text. Does not: which states these are (the tables say that).
"""

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from phaseline.engine.log.state_view import ONE_BY_ONE, Key, StateView
from phaseline.machines.compiler.kinds import Kinds
from phaseline.machines.language.predicates import Above
from phaseline.schemas.records import Entity
from phaseline.schemas.subjects import ancestor_id


class Shut(NamedTuple):
    """What is above, and the state that it is in: `cluster c1`, `Stopped [Balance]`."""

    by: Key
    state: str

    def text(self) -> str:
        """`the cluster is Stopped [Balance]`."""
        return f"the {self.by[0]} is {self.state}"


ShutBy = Mapping[Key, Mapping[str, Shut]]
"""By entity and facet, what shuts it. The others are left out."""


def _asked(kinds: Kinds, one: Entity) -> Iterator[tuple[str, Above, Key]]:
    """By facet of an entity, what its table looks at, and the entity that this is about."""
    known = kinds.get(one.kind)
    for facet in known.table.facets if known is not None else ():
        for above in facet.unschedulable_while:
            if above.kind in kinds:
                yield facet.name, above, (above.kind, ancestor_id(one.id, kinds[above.kind].arity))


class Shutters:
    """Says what shuts entities of a view. What it has read of what is above it does not read again."""

    def __init__(self, view: StateView) -> None:
        """Read from this view."""
        self._view = view
        self._known: dict[Key, Entity | None] = {}
        self._whole: set[str] = set()

    async def of(self, entities: Sequence[Entity]) -> ShutBy:
        """What shuts these entities."""
        kinds = self._view.installation.kinds
        asked = [(one, *each) for one in entities for each in _asked(kinds, one)]
        await self._read(sorted({place for *_, place in asked}.difference(self._known)))
        found = dict[Key, dict[str, Shut]]()
        for one, facet, above, place in asked:
            if (owner := self._known.get(place)) is not None:
                at = owner.facets[above.facet]
                shown = at.base if above.base else at.state
                if shown.phase in above.phases:
                    found.setdefault((one.kind, one.id), {}).setdefault(facet, Shut(place, str(shown)))
        return found

    async def _read(self, places: Sequence[Key]) -> None:
        wanted = [place for place in places if place[0] not in self._whole]
        if len(wanted) <= ONE_BY_ONE:
            found = await asyncio.gather(*(self._view.found(*place) for place in wanted))
            self._known |= {
                place: None if one is None else one.entity for place, one in zip(wanted, found, strict=True)
            }
            return
        for kind in sorted({kind for kind, _ in wanted}):
            self._whole.add(kind)
            self._known |= {(kind, one.entity.id): one.entity for one in await self._view.states(kind)}
