"""Asking for what is: states now, out of STATE; single messages of the log and of EVENTS.

Belongs here: reads that end. Does not: what comes in future (`watching`).
STATE copies the log a moment after each commit: what is read here may be some milliseconds old, and while a large
cascade is being copied it may show the first part of it.
"""

import json
from collections.abc import Sequence
from typing import Any, NamedTuple

from phaseline.engine import frames
from phaseline.engine.answers import Reply
from phaseline.engine.errors import ApiFailed, EntityUnknown, IdUnfit, RecordGone, TreeUnknown, WordUnknown
from phaseline.engine.intake import check_arity
from phaseline.engine.reader import Stored, read_all
from phaseline.engine.streams import Layout
from phaseline.engine.wire import Wire
from phaseline.machines.kinds import Kind, Kinds
from phaseline.machines.table import DELETED
from phaseline.schemas import codec, wire_codec
from phaseline.schemas.envelope import Invalid
from phaseline.schemas.records import Entity, Mark, Rejection, Transition
from phaseline.schemas.subjects import BadSubject, Subjects, check_id, natural, partition_of_id, quoted_id

NOT_FOUND = "404"


async def last(wire: Wire, layout: Layout, kind: str, entity_id: str) -> Transition:
    """The last transition of one entity, which holds its whole state; raises `EntityUnknown`."""
    subjects = Subjects(layout.prefix)
    subject = subjects.state(partition_of_id(entity_id, layout.partitions), kind, entity_id)
    reply = await direct(wire, f"{layout.state}.{subject}", b"")
    if reply is None:
        raise EntityUnknown(kind=kind, id=entity_id)
    record = read_record(codec.decode(reply.data))
    if not isinstance(record, Transition):
        raise EntityUnknown(kind=kind, id=entity_id)
    return record


async def states(
    wire: Wire, layout: Layout, kinds: Kinds, kind: str | None, below: str | None, state: str | None, *, deleted: bool
) -> list[Transition]:
    """The last transition of each entity that fits, ids in natural order; `deleted` ones only where asked for."""
    found = await under(wire, layout, state_filters(layout, kinds, kind, below))
    return in_order(found, state, deleted=deleted)


async def under(wire: Wire, layout: Layout, subjects: Sequence[str]) -> list[Transition]:
    """The last transition of each entity on these subjects of STATE."""
    found: dict[tuple[str, str], Transition] = {}
    for subject in subjects:
        async for slice_ in read_all(wire, layout.state, [subject]):
            for record in filter(None, map(_transition_in, slice_)):
                found[record.entity.kind, record.entity.id] = record
    return list(found.values())


def in_order(found: Sequence[Transition], state: str | None, *, deleted: bool) -> list[Transition]:
    """Those that fit, ids in natural order."""
    wanted = [record for record in found if fits(record.entity, state, deleted=deleted)]
    return sorted(wanted, key=lambda record: (natural(record.entity.id), record.entity.kind))


async def tree(wire: Wire, layout: Layout, kinds: Kinds, root: str, *, deleted: bool) -> list[Transition]:
    """The last transition of `root` and of each entity under it; raises `TreeUnknown`."""
    found = await states(wire, layout, kinds, None, root, None, deleted=True)
    if not found:
        raise TreeUnknown(root=root)
    return [record for record in found if fits(record.entity, None, deleted=deleted)]


def fits(entity: Entity, state: str | None, *, deleted: bool) -> bool:
    """Whether a facet of the entity is in `state`; where none is asked for, whether it still exists (or `deleted`)."""
    phases = {facet.state.phase for facet in entity.facets}
    if state is not None:
        return state in phases
    return deleted or phases != {DELETED}


def state_filters(layout: Layout, kinds: Kinds, kind: str | None, below: str | None) -> Sequence[str]:
    """Subjects of STATE, to be read one after another: a consumer of several is slow where there are many subjects."""
    start = f"{layout.prefix}.state"
    if below is None:
        return [f"{start}.*.{kind or '*'}.>"]
    partition = partition_of_id(below, layout.partitions)
    return [f"{start}.{partition}.{kind or '*'}.{quoted_id(below)}{end}" for end in ends(kinds, kind, below)]


def ends(kinds: Kinds, kind: str | None, below: str) -> list[str]:
    """What follows `below` in the subjects of entities that are it or under it; raises `IdUnfit` where none can be."""
    parts = below.count("/") + 1
    arities = {found.arity for found in kinds.values() if kind in (None, found.name)}
    found = [*([""] if parts in arities else []), *([".>"] if any(arity > parts for arity in arities) else [])]
    if not found:
        raise IdUnfit(problem=f"no {kind or 'kind'} can be under {below!r}: its ids are shorter")
    return found


def check_kind(kinds: Kinds, kind: str) -> Kind:
    """The kind of that name; raises `WordUnknown`."""
    if kind not in kinds:
        raise WordUnknown(what="kind", word=kind, known=", ".join(kinds))
    return kinds[kind]


def check_name(kinds: Kinds, kind: str, entity_id: str) -> None:
    """Raise `WordUnknown` or `IdUnfit` unless `kind/entity_id` may name an entity."""
    try:
        check_arity(check_kind(kinds, kind), entity_id)
        check_id(entity_id)
    except (Invalid, BadSubject) as error:
        raise IdUnfit(problem=error) from None


def check_tree(below: str) -> None:
    """Raise `IdUnfit` unless `below` may be the id of something."""
    try:
        check_id(below)
    except BadSubject as error:
        raise IdUnfit(problem=f"{below!r} can be no id: {error}") from None


def _transition_in(stored: Stored) -> Transition | None:
    """The transition in a message of STATE, or None for the checkpoint's and the marks among them."""
    if not stored.data:
        return None
    body = codec.decode(stored.data)
    if not str(body.get("type", "")).endswith(".transitioned"):
        return None
    record = wire_codec.from_wire(body)
    return record if isinstance(record, Transition) else None


class Logged(NamedTuple):
    """A record with its place in the log, and the map it is on the wire."""

    sequence: int
    record: Transition | Rejection
    wire: dict[str, Any]


class Kept(NamedTuple):
    """An event as EVENTS keeps it. `subject`: the inbox's; `time`: when it was stored, RFC 3339."""

    subject: str
    body: bytes
    time: str


async def record_at(wire: Wire, layout: Layout, sequence: int) -> Logged:
    """The record at `sequence` of the log; raises `RecordGone` where there is none."""
    reply = await direct(wire, layout.log, json.dumps({"seq": sequence}).encode())
    body = {} if reply is None else codec.decode(reply.data)
    if not str(body.get("type", "")).endswith((".transitioned", ".rejected")):
        held = (await wire.api(f"STREAM.INFO.{layout.log}"))["state"]
        raise RecordGone(sequence=sequence, first=held["first_seq"], last=held["last_seq"])
    return Logged(sequence, read_record(body), body)


async def event_at(wire: Wire, layout: Layout, sequence: int) -> Kept | None:
    """One stored event; None where it is gone."""
    reply = await direct(wire, layout.events, json.dumps({"seq": sequence}).encode())
    return None if reply is None else Kept(reply.headers["Nats-Subject"], reply.data, reply.headers["Nats-Time-Stamp"])


def read_record(body: dict[str, Any]) -> Transition | Rejection:
    """The record in a map that is known to be one of these two."""
    record = wire_codec.from_wire(body)
    if isinstance(record, Mark):
        raise TypeError("a mark is no record of what happened")
    return record


async def direct(wire: Wire, where: str, payload: bytes = b"") -> Reply | None:
    """A direct get of `<stream>` or `<stream>.<subject>`; None where there is no such message."""
    subject = f"$JS.API.DIRECT.GET.{where}"
    reply = await wire.request(subject, payload)
    status = reply.headers.get(frames.STATUS)
    if status == NOT_FOUND:
        return None
    if status is not None:
        described: dict[str, Any] = {"description": reply.headers.get(frames.DESCRIPTION, ""), "err_code": 0}
        raise ApiFailed(subject=subject, code=int(status), **described)
    return reply
