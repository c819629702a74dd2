"""What is known from a backup only: entities of which nothing was heard since their log was put back.

Belongs here: which entities of a view these are, and since when. Does not: the identity of a log (`identity`), what
counts as heard (`core.lives.of_log`), how it is printed (`surfaces.cli.render`).
"""

import asyncio
from collections.abc import Iterable, Sequence
from weakref import WeakSet

from phaseline.engine.log import latest
from phaseline.engine.log.restored import identity
from phaseline.engine.log.restored.identity import LogIdentity
from phaseline.engine.log.state_view import ONE_BY_ONE, Key, StateView
from phaseline.engine.nats.wire import Wire
from phaseline.schemas.errors import NotPermitted
from phaseline.schemas.records import Entity, Record, Rejection

_refused = WeakSet[Wire]()
"""The connections of users who may not read the log."""


async def backup_of(view: StateView) -> LogIdentity | None:
    """The note of a log whose states go on from a backup; None for any other one, for the past, and where it is secret.

    Who may not read the log is told nothing of it.
    """
    wire = view.installation.wire
    if view.moment is not None or wire in _refused:
        return None
    try:
        note = await identity.last(view.installation)
    except NotPermitted:
        _refused.add(wire)
        return None
    return note if note is not None and note.is_backup else None


async def unheard(view: StateView, note: LogIdentity, entities: Sequence[Entity]) -> set[Key]:
    """Those of these entities that were not heard of since their log was put back."""
    old = {(one.kind, one.id) for one in entities if max(facet.since_ns for facet in one.facets) <= note.found_ns}
    if not old:
        return old
    if len(old) <= ONE_BY_ONE:
        records = await _one_by_one(view, old)
    else:
        records = [*await view.states(), *await latest.marks(view.installation, None)]
    heard = {
        (one.entity.kind, one.entity.id)
        for one in records
        if not isinstance(one, Rejection) and one.cause.sequence > note.position
    }
    return old - heard


async def _one_by_one(view: StateView, keys: Iterable[Key]) -> list[Record]:
    """The last record and the last mark of these."""
    asked = [one for key in keys for one in (latest.mark_of(view.installation, *key), view.found(*key))]
    found: list[Record | None] = await asyncio.gather(*asked)
    return [one for one in found if one is not None]
