"""What is known from a backup only: entities of which nothing was heard since their log was put back.

Belongs here: which entities of a view these are, and since when. Does not: the identity of a log (`identity`), what
counts as heard (`core.lives.of_log`), how it is printed (`surfaces.cli.render`).
"""

import asyncio
from collections.abc import Iterable, Sequence
from contextlib import suppress
from weakref import WeakSet

from phaseline.engine.log import foreign, latest
from phaseline.engine.log.log_records import record_in_state
from phaseline.engine.log.restored import identity
from phaseline.engine.log.restored.identity import LogIdentity
from phaseline.engine.log.state_view import StateView
from phaseline.engine.nats.direct_get import direct
from phaseline.engine.nats.stream_reader import read_all
from phaseline.engine.nats.wire import Wire
from phaseline.schemas.errors import EntityUnknown, NotPermitted
from phaseline.schemas.records import Entity, Record, Rejection

Key = tuple[str, str]
"""A kind and an id."""
ONE_BY_ONE = 32
"""The most entities whose records are read one by one."""
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
    records = await (_one_by_one(view, old) if len(old) <= ONE_BY_ONE else _all(view))
    heard = {
        (one.entity.kind, one.entity.id)
        for one in records
        if not isinstance(one, Rejection) and one.cause.sequence > note.position
    }
    return old - heard


async def _one_by_one(view: StateView, keys: Iterable[Key]) -> list[Record]:
    async def of(key: Key) -> list[Record]:
        found = [await _mark(view, *key)]
        with suppress(EntityUnknown):
            found.append(await view.last(*key))
        return [one for one in found if one is not None]

    return [one for some in await asyncio.gather(*map(of, keys)) for one in some]


async def _mark(view: StateView, kind: str, entity_id: str) -> Record | None:
    installation = view.installation
    subject = latest.mark_subject(installation, kind, entity_id)
    reply = await direct(installation.wire, f"{installation.layout.state}.{subject}")
    return None if reply is None else record_in_state(installation.layout.state, foreign.message_in(reply))


async def _all(view: StateView) -> list[Record]:
    """The last record and the last mark of everything."""
    installation, found = view.installation, list[Record](await view.states())
    for filter_ in latest.mark_filters(installation, None):
        async for messages in read_all(installation.wire, installation.layout.state, [filter_]):
            marks = (record_in_state(installation.layout.state, stored) for stored in messages)
            found += [one for one in marks if one is not None]
    return found
