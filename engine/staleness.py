"""What is stale: states at or below a place that is silent may have changed since it was heard last.

Belongs here: since when an entity's states are stale, reading the places that say so. Does not: when a place falls
silent (`core.hearing`), how staleness is printed (`cli.render`).
"""

import asyncio
from collections.abc import Iterable, Mapping, Sequence

from phaseline.engine.log.state_view import StateView
from phaseline.machines.compiler.kinds import Kinds
from phaseline.machines.language.contact import SILENT, silent_since
from phaseline.schemas.errors import EntityUnknown
from phaseline.schemas.records import Entity, timestamp
from phaseline.schemas.subjects import ancestor_id

Key = tuple[str, str]
"""A kind and an id."""
ONE_BY_ONE = 32
"""The most places that are read one by one. Of more, all silent ones of their kinds are read."""


def places_of(kinds: Kinds, entity: Entity) -> Iterable[Key]:
    """The places at and above an entity, from the bottom up."""
    kind = kinds.get(entity.kind)
    return () if kind is None else kind.places_above(entity.id)


def stale_since(kinds: Kinds, entity: Entity, silent: Mapping[Key, int]) -> int | None:
    """When the lowest silent place at or above an entity was heard last, ns; None if there is no silent one.

    silent: when each silent place was heard last.
    """
    return next((silent[place] for place in places_of(kinds, entity) if place in silent), None)


async def silences(view: StateView, entities: Sequence[Entity]) -> dict[Key, int]:
    """When each silent place at or above some entities was heard last, ns."""
    kinds = view.installation.kinds
    # Many entities have the same one above, so the places of each are looked for once.
    above = {(one.kind, one.id.rpartition("/")[0]) for one in entities}
    missing = {place for kind, parent in above for place in _places_above(kinds, kind, parent)}
    if missing:
        missing.difference_update([(one.kind, one.id) for one in entities])
    places = [*entities, *await _read(view, missing)]
    return {(one.kind, one.id): since for one in places if (since := silent_since(one)) is not None}


def _places_above(kinds: Kinds, kind: str, parent: str) -> Iterable[Key]:
    """The places above an entity of a kind, whose parent has this id."""
    known, parts = kinds.get(kind), parent.count("/") + 1 if parent else 0
    places = () if known is None else known.places
    return [(name, ancestor_id(parent, arity)) for name, arity in places if arity <= parts]


async def _read(view: StateView, places: Iterable[Key]) -> list[Entity]:
    """The places that exist; of many, at least those that are silent."""
    wanted = sorted(places)
    if len(wanted) > ONE_BY_ONE:
        found = await asyncio.gather(*(view.states(kind, state=SILENT) for kind in dict(wanted)))
        return [record.entity for records in found for record in records]
    return [one for one in await asyncio.gather(*(_one(view, place) for place in wanted)) if one is not None]


async def _one(view: StateView, place: Key) -> Entity | None:
    try:
        return (await view.last(*place)).entity
    except EntityUnknown:
        return None


def shown(since: int | None) -> dict[str, str]:
    """`stale_since` as JSON shows it; empty if nothing is stale."""
    return {} if since is None else {"stale_since": timestamp(since)}
