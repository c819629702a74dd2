"""What was: states and records as the log had them at an earlier place.

Belongs here: reads of the log that end at a place in it. Does not: states now (`queries`), records to come (`watching`).
A place is a sequence of LOG. What is read is what had been committed by then, so it does not change any more.
"""

from collections.abc import AsyncIterator
from datetime import datetime, timedelta

from phaseline.engine import frames, queries
from phaseline.engine.errors import ApiFailed, EntityNotYet, TreeNotYet
from phaseline.engine.fold import BATCH
from phaseline.engine.gathering import gather
from phaseline.engine.queries import Logged
from phaseline.engine.reader import BUFFER, Reader
from phaseline.engine.streams import Layout
from phaseline.engine.wire import Wire
from phaseline.machines.kinds import Kinds
from phaseline.schemas import codec
from phaseline.schemas.records import Transition, nanoseconds, timestamp
from phaseline.schemas.subjects import Subjects, partition_of_id, quoted_id

TOO_MANY = "413"
"""What the server answers where more than 1,024 subjects would have to be looked at."""
SEQUENCE, SUBJECT = "Nats-Sequence", "Nats-Subject"
NEAR = 100
"""Places to look back for a message: checkpoints that were moved on are gone."""
Moment = int | str | datetime
LATEST = 2**63
"""A place beyond every end."""


async def place_of(wire: Wire, layout: Layout, moment: Moment) -> int:
    """The last place in the log at or before a moment: a place, an RFC 3339 time, or a `datetime`.

    Moved back so that no event shows in part: all its records are in one batch. Of more than 999 they are in several,
    and may show in part. 0 is before everything; a place beyond the end is the end.
    """
    place = int((await wire.api(f"STREAM.INFO.{layout.log}"))["state"]["last_seq"])
    if isinstance(moment, int):
        place = max(0, min(moment, place))
    else:
        async with Reader(wire, layout.log, [], _just_after(moment)) as reader:
            if not reader.caught_up and (found := await reader.take(1)):
                place = found[0].sequence - 1
    return place - await _cut(wire, layout, place)


def _just_after(moment: str | datetime) -> str:
    if isinstance(moment, datetime):
        return (moment.astimezone() + timedelta(microseconds=1)).isoformat()
    return timestamp(nanoseconds(moment) + 1)


async def _cut(wire: Wire, layout: Layout, place: int) -> int:
    """How many records of an event stand up to `place` while others of it follow."""
    found = await gather(wire, f"$JS.API.DIRECT.GET.{layout.log}", {"seq": place}) if place else []
    if not found or not found[0].headers.get(SUBJECT, "").startswith(f"{layout.prefix}.log."):
        return 0
    body = codec.decode(found[0].data)
    at, total = int(body["id"].partition("-")[2]) + 1, int(body["data"]["cause"]["records"])
    return at if at < total <= BATCH else 0


async def time_of(wire: Wire, layout: Layout, place: int) -> int:
    """When the last message at or before a place was stored, ns; 0 where there is none any more."""
    for sequence in range(place, max(0, place - NEAR), -1):
        found = await gather(wire, f"$JS.API.DIRECT.GET.{layout.log}", {"seq": sequence})
        if found and frames.STATUS not in found[0].headers:
            return nanoseconds(found[0].headers["Nats-Time-Stamp"])
    return 0


async def last(wire: Wire, layout: Layout, kind: str, entity_id: str, place: int) -> Transition:
    """The last transition of one entity at `place`, which holds its whole state; raises `EntityNotYet`."""
    subjects = Subjects(layout.prefix)
    wanted = subjects.transition(partition_of_id(entity_id, layout.partitions), kind, "*", "*", entity_id)
    found = await under(wire, layout, [wanted], place)
    if not found:
        raise EntityNotYet(kind=kind, id=entity_id, place=place)
    return found[0]


async def states(
    wire: Wire, layout: Layout, kinds: Kinds, kind: str | None, below: str | None, state: str | None, *,
    deleted: bool, place: int,
) -> list[Transition]:  # fmt: skip
    """The last transition at `place` of each entity that fits, ids in natural order; as `queries.states`, but then."""
    found = await under(wire, layout, filters(layout, kinds, kind, below), place)
    return queries.in_order(found, state, deleted=deleted)


async def tree(wire: Wire, layout: Layout, kinds: Kinds, root: str, *, deleted: bool, place: int) -> list[Transition]:
    """The last transition at `place` of `root` and of each entity under it; raises `TreeNotYet`."""
    found = await states(wire, layout, kinds, None, root, None, deleted=True, place=place)
    if not found:
        raise TreeNotYet(root=root, place=place)
    return [record for record in found if queries.fits(record.entity, None, deleted=deleted)]


def filters(layout: Layout, kinds: Kinds, kind: str | None, below: str | None) -> list[str]:
    """The log's subjects of the transitions of a kind, of what is under an id, of both or of all."""
    if below is None:
        return [f"{layout.prefix}.log.*.transition.{kind or '*'}.*.*.>"]
    place = f"{layout.prefix}.log.{partition_of_id(below, layout.partitions)}.transition.{kind or '*'}.*.*"
    return [f"{place}.{quoted_id(below)}{end}" for end in queries.ends(kinds, kind, below)]


async def under(wire: Wire, layout: Layout, subjects: list[str], place: int) -> list[Transition]:
    """The last transition at `place` of each entity on these subjects of LOG: in one request if they are few, else all read."""
    found: dict[tuple[str, str], Logged] = {}
    if place < 1:
        return []
    replies = await gather(wire, f"$JS.API.DIRECT.GET.{layout.log}", {"multi_last": subjects, "up_to_seq": place})
    if replies and replies[0].headers.get(frames.STATUS) == TOO_MANY:
        for subject in subjects:
            async for logged in records(wire, layout, subject, 0, place):
                _keep(found, logged)
    for reply in replies:
        status = reply.headers.get(frames.STATUS)
        if status is None:
            body = codec.decode(reply.data)
            _keep(found, Logged(int(reply.headers[SEQUENCE]), queries.read_record(body), body))
        elif status not in (queries.NOT_FOUND, TOO_MANY):
            raise ApiFailed(
                subject=layout.log, code=int(status), description=reply.headers.get(frames.DESCRIPTION, ""), err_code=0
            )
    return [logged.record for logged in found.values() if isinstance(logged.record, Transition)]


def _keep(found: dict[tuple[str, str], Logged], logged: Logged) -> None:
    """An entity has a subject for each state it was in: the one that came last counts."""
    if isinstance(logged.record, Transition):
        key = (logged.record.entity.kind, logged.record.entity.id)
        if key not in found or found[key].sequence < logged.sequence:
            found[key] = logged


async def records(wire: Wire, layout: Layout, filter_: str, after: int, up_to: int) -> AsyncIterator[Logged]:
    """Transitions and rejections under one filter subject, with after < place <= up_to, in order."""
    if up_to <= after:
        return
    async with Reader(wire, layout.log, [filter_], after + 1) as reader:
        while not reader.caught_up:
            for stored in await reader.take(BUFFER):
                if stored.sequence > up_to:
                    return
                body = codec.decode(stored.data)
                yield Logged(stored.sequence, queries.read_record(body), body)
