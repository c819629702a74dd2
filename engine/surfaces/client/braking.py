"""Counts what a snapshot of several events would end, before the first of them is sent.

Each event is braked by itself, over its own range: many of them can end a little each.
Belongs here: counting over all of it. Does not: how much is too much (`language.brake`), the events
(`engine.publish.snapshots`).
"""

from collections.abc import Collection
from typing import Any

from phaseline.engine.surfaces.client.entity_view import EntityView
from phaseline.machines.language.brake import BRAKE, USUAL, held_back, is_too_much
from phaseline.schemas.errors import EntityUnknown, EventRefused, NotPermitted


async def check(
    view: EntityView[Any], kind: str, entity_id: str, below: str, listed: Collection[str],
    after: str | None, upto: str | None, seen: int | None = None,
) -> None:  # fmt: skip
    """Raise `EventRefused` if a snapshot would end more of what lives in its range than the brake allows.

    listed: the ids that it lists, below the entity. seen: what its reporter has read; what has come since does not end
    by it. A client that may not read leaves the counting to the workers.
    """
    try:
        found = [one.entity for one in await view.last_of(below, tree=entity_id)]
        brake = await _brake(view, kind, entity_id)
    except NotPermitted:
        return
    born = {one.id[len(entity_id) + 1 :]: one.born for one in found}
    living = [one for one in born if (after is None or one > after) and (upto is None or one <= upto)]
    ends = len({one for one in living if seen is None or born[one] <= seen}.difference(listed))
    if is_too_much(ends, len(living), brake):
        raise EventRefused(reason="brake", message=held_back(ends, len(living), below, f"{kind} {entity_id}", brake))


async def _brake(view: EntityView[Any], kind: str, entity_id: str) -> float:
    for place in view.kinds[kind].places_above(entity_id):
        try:
            own = (await view.get(*place)).attributes.get(BRAKE)
        except EntityUnknown:
            continue
        if own is not None:
            return float(own)
    return USUAL
