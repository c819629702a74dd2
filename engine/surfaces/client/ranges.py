"""What happened between two moments: the work behind `ReadingClient.timeline` and `ReadingClient.changes`.

Belongs here: resolving both ends, reading the records between them. Does not: making a timeline or changes of records
(`engine.log`), states at one moment (`entity_view`).
"""

from collections.abc import AsyncIterator

from phaseline.engine.log import as_of, log_records, state_view
from phaseline.engine.log.as_of import AsOf
from phaseline.engine.log.changes import Change, Changes
from phaseline.engine.log.event_order import timeline_by_event
from phaseline.engine.log.log_records import Logged
from phaseline.engine.log.timeline import Timeline, timeline
from phaseline.engine.log.watch import Clock, RecordFilter
from phaseline.engine.log.when import NOW, START, Moment, When, check_order
from phaseline.engine.surfaces.client.session import Session
from phaseline.schemas.errors import InvalidInput, TreeUnknown
from phaseline.schemas.records import Transition


async def timeline_between(
    session: Session, entity_id: str, kind: str | None, start: When | None, end: When | None, depth: int | None,
    clock: Clock,
) -> Timeline:  # fmt: skip
    """The states of an entity and of those below it; raises `TreeUnknown`, `InvalidInput`."""
    if depth is not None and depth < 0:
        raise InvalidInput.bad_depth(depth=depth)
    RecordFilter(kind=kind, below=entity_id).check(session.kinds)
    installation = await session.installation()
    if clock == "event":
        return await timeline_by_event(installation, kind, entity_id, start, end, depth)
    after, up_to = await _range(session, start, end)
    before = await AsOf(installation, after).states(kind, entity_id, deleted=True)
    batches = _between(session, kind, entity_id, after, up_to)
    records = [logged.record async for some in batches for logged in some]
    found = [record for record in records if isinstance(record, Transition)]
    if not before and not found:
        raise TreeUnknown(root=entity_id) if end is None else AsOf(installation, up_to).unknown_tree(entity_id)
    first = after.time_ns or min(record.time_ns for record in (*before, *found))
    return timeline(before, found, first, max(first, up_to.time_ns), depth)


async def changes_between(
    session: Session, kind: str | None, tree: str | None, start: When, end: When | None
) -> list[Change]:
    """How entities differ between two moments, and what happened in between; raises `InvalidInput.start_after_end`."""
    RecordFilter(kind=kind, below=tree).check(session.kinds)
    after, up_to = await _range(session, start, end)
    found = Changes()
    async for some in _between(session, kind, tree, after, up_to):
        for logged in some:
            found.take(logged.record)
    return found.sorted()


async def _range(session: Session, start: When | None, end: When | None) -> tuple[Moment, Moment]:
    """Both ends, each resolved once. The beginning of the log has no time: 0."""
    after = Moment(0, 0) if start in (None, START) else await session.moment(start)
    up_to = await session.moment(NOW if end is None else end)
    check_order(start, end, after, up_to)
    return after, up_to


async def _between(
    session: Session, kind: str | None, tree: str | None, after: Moment, up_to: Moment
) -> AsyncIterator[list[Logged]]:
    """The transitions of a kind, of a tree, of both or of all, after one moment and up to another, many at a time."""
    installation = await session.installation()
    for pattern in state_view.patterns(installation, kind, tree):
        subject = as_of.transition_filter(installation, pattern)
        async for some in log_records.batches(installation, subject, after.place, up_to.place):
            yield some
