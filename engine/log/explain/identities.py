"""Which things entities stand for: identities as they are shown, and those that stand at two places of one tree.

Belongs here: reading what marks keep of identities, finding those that are doubled. Does not: what they mean for an
event (`core.lives`), how they are printed (`surfaces.cli`).
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from msgspec.structs import replace

from phaseline.engine.log import latest
from phaseline.engine.log.state_view import Key, StateView
from phaseline.machines.language.table import ABSENT, DELETED
from phaseline.schemas.records import Entity
from phaseline.schemas.subjects import ancestor_id

Doubled = Mapping[Key, Mapping[str, Sequence[Key]]]
"""By entity, its identities that stand elsewhere in its tree too, each with those places."""
NOTHING_DOUBLED: Doubled = {}


def doubled(entities: Iterable[Entity]) -> Doubled:
    """The living entities of which an identity stands at another place of the same tree too, in the order of those."""
    at: dict[tuple[str, str], list[Key]] = defaultdict(list)
    for entity in entities:
        if entity.facets[0].base.phase not in (ABSENT, DELETED):
            for uid in () if entity.memory is None else entity.memory.identities:
                at[ancestor_id(entity.id, 1), uid].append((entity.kind, entity.id))
    found: dict[Key, dict[str, list[Key]]] = defaultdict(dict)
    for (_, uid), places in at.items():
        if len(places) > 1:
            for place in places:
                found[place][uid] = sorted(other for other in places if other != place)
    return found


async def remembered(view: StateView, entity: Entity) -> Entity:
    """An entity with what a mark has noted since its last transition. Of an earlier moment, it is returned as it is."""
    if view.moment is not None:
        return entity
    mark = await latest.mark_of(view.installation, entity.kind, entity.id)
    return entity if mark is None else _newer(entity, mark.entity)


async def all_remembered(view: StateView, entities: Sequence[Entity], tree: str | None = None) -> list[Entity]:
    """The same for many. tree: all are in it."""
    if view.moment is not None:
        return [*entities]
    found = await latest.marks(view.installation, tree)
    marked = {(one.entity.kind, one.entity.id): one.entity for one in found}
    return [_newer(one, marked.get((one.kind, one.id), one)) for one in entities]


def _newer(entity: Entity, marked: Entity) -> Entity:
    """The entity with the memory of its mark, if no transition came after that."""
    return replace(entity, memory=marked.memory) if marked.version == entity.version else entity
