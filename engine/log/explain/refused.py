"""What was said of an entity since its last record and was refused: what is shown is older than what was seen.

Nothing of it is stored beside the rejection, so that it is found when somebody asks, as far back as the log goes.
Belongs here: the rejections of observations of an entity, and of snapshots above it; which of them a later word has
replaced. Does not: what a rejection says (`core.rejections`), what was said and taken (`said`).
"""

from collections.abc import AsyncIterator, Sequence
from collections.abc import Set as AbstractSet
from typing import TYPE_CHECKING

from phaseline.engine.log.explain.model import Contradiction
from phaseline.engine.log.foreign import message_in
from phaseline.engine.log.installation import Installation
from phaseline.engine.log.log_records import record_in_log
from phaseline.engine.log.state_view import StateView
from phaseline.engine.nats.direct_get import gather, stored_ns
from phaseline.engine.nats.stream_reader import read_all
from phaseline.machines.compiler.kinds import Kinds
from phaseline.machines.compiler.relations import with_all_above
from phaseline.machines.compiler.reports import SNAPSHOT
from phaseline.schemas.errors import ApiFailed, NoAnswer, NotPermitted
from phaseline.schemas.records import Entity, Rejection, Transition, timestamp

if TYPE_CHECKING:
    from phaseline.engine.core.intake import Arrival

MOST = 1_000
"""The most rejections, and the most events after them, that are looked at, so that one who asks does not wait."""
SHOWN = 3
"""The most that are told, the last ones."""
OLD = ("stale",)
"""The reasons of rejections that say that something is older than what is shown."""


async def refused_of(view: StateView, last: Transition) -> tuple[Contradiction, ...]:
    """What was said of an entity since its last record and was refused, unless it was replaced; the first first.

    Nothing as of a moment of the past: what was refused until then may be archived, or have been mended since.
    """
    if view.moment is not None:
        return ()
    try:
        newer = (one async for one in _rejections(view, last.entity, last.time_ns) if _is_newer(one, last))
        all_ = sorted([one async for one in newer], key=lambda one: one.cause.sequence)
        found = [one for one in all_ if _is_about(one, last, view.installation.kinds)]
        replaced = await _replaced(view, last, found, {one.cause.sequence for one in all_}) if found else frozenset()
    except (ApiFailed, NoAnswer, NotPermitted):  # one who may not read it still learns what the states say
        return ()
    return tuple(_told(one, last.entity.id) for one in found if one.cause.sequence not in replaced)[-SHOWN:]


async def refused_since(view: StateView, entity: Entity, since_ns: int) -> frozenset[int] | None:
    """The positions of those events at an entity, or above it, that were refused since a time; None: too many."""
    found = [one.cause.sequence async for one in _rejections(view, entity, since_ns)]
    return frozenset(found) if len(found) < MOST else None


def _is_newer(record: Rejection, last: Transition) -> bool:
    return record.cause.sequence > last.cause.sequence


async def _rejections(view: StateView, entity: Entity, since_ns: int) -> AsyncIterator[Rejection]:
    """The rejections of events of the entity and of those above it, since a time."""
    installation, left = view.installation, MOST
    stream = installation.layout.log
    for subject in await _subjects(installation, entity, since_ns):  # one by one: with several, the server is slow
        async for some in read_all(installation.wire, stream, [subject], timestamp(since_ns)):
            for stored in some:
                if left == 0:
                    return
                left -= 1
                record = record_in_log(stream, stored)
                if isinstance(record, Rejection):
                    yield record


async def _subjects(installation: Installation, entity: Entity, since_ns: int) -> list[str]:
    """Where rejections stand that came since a time and may concern an entity; of most there are none."""
    partition = installation.partition_of(entity.id)
    names = with_all_above(installation.kinds, entity.kind, entity.id)
    filters = [installation.subjects.rejection(partition, kind, "*", name) for kind, name in names]
    where = installation.wire.api_subject(f"DIRECT.GET.{installation.layout.log}")
    replies = await gather(installation.wire, where, {"multi_last": filters})
    return [message_in(one).subject for one in replies if stored_ns(one) >= since_ns]


def _is_about(record: Rejection, last: Transition, kinds: Kinds) -> bool:
    """Whether a rejection refuses what was said of the entity."""
    entity, kind = last.entity, kinds.get(record.kind)
    if kind is None or record.reason in OLD:
        return False
    if (record.kind, record.id) == (entity.kind, entity.id):
        return kind.roles.get(record.trigger) == "observation"
    return record.trigger == SNAPSHOT and any(f"{record.id}/{one.id}" == entity.id for one in record.left_out)


def _told(record: Rejection, entity_id: str) -> Contradiction:
    whom = "" if record.id == entity_id else f" of {record.kind} {record.id}"
    part = next((one.message for one in record.left_out if f"{record.id}/{one.id}" == entity_id), record.message)
    text = (
        f"{record.cause.source or 'somebody'} said {record.trigger}{whom} at {timestamp(record.time_ns)}"
        f" (event {record.cause.event}), and was refused ({record.reason})"
    )
    return Contradiction("", text, part, None)


async def _replaced(
    view: StateView, last: Transition, found: Sequence[Rejection], refused: AbstractSet[int]
) -> frozenset[int]:
    """The sequences of those refused events after which a word about the same was taken, by whomever.

    refused: those of all that was refused, so that it is not taken for such a word.
    """
    from phaseline.engine.log.explain.said import arrivals  # noqa: PLC0415  # of most entities nothing was refused

    replaced = set[int]()
    names = [*dict.fromkeys((one.kind, one.trigger, one.id) for one in found)]
    async for arrival in arrivals(view, names, found[0].cause.sequence):
        if arrival.cause.sequence not in refused:
            replaced |= {one.cause.sequence for one in found if _replaces(arrival, one, last)}
    return frozenset(replaced)


def _replaces(arrival: "Arrival", one: Rejection, last: Transition) -> bool:
    if arrival.cause.sequence < one.cause.sequence or (arrival.kind, arrival.id) != (one.kind, one.id):
        return False
    if one.trigger != SNAPSHOT or one.id == last.entity.id:
        return arrival.trigger == one.trigger
    name, data = last.entity.id[len(one.id) + 1 :], arrival.data
    after, upto = data.get("after"), data.get("upto")
    in_range = not (after is not None and name <= after) and not (upto is not None and name > upto)
    return arrival.trigger == SNAPSHOT and data.get("kind") == last.entity.kind and in_range
