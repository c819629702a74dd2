"""Asking for what is: states now, out of STATE; single messages of the log and of EVENTS.

Belongs here: reads that end. Does not: what comes in future (`watching`).
STATE copies the log a moment after each commit: what is read here may be some milliseconds old, and while a large
cascade is being copied it may show the first part of it.
"""

import json
import re
from collections.abc import AsyncIterator, Sequence
from typing import Any

from phaseline.engine import frames
from phaseline.engine.answers import Reply
from phaseline.engine.errors import ApiFailed, EntityUnknown, RecordGone, TreeUnknown
from phaseline.engine.fold import partition_of_id
from phaseline.engine.reader import Stored, read_all
from phaseline.engine.streams import Layout
from phaseline.engine.wire import Wire
from phaseline.machines.kinds import Kinds
from phaseline.machines.table import DELETED
from phaseline.schemas import codec, forms
from phaseline.schemas.records import Entity, Rejection, Transition
from phaseline.schemas.subjects import Subjects, quote

NOT_FOUND = "404"
_NUMBER = re.compile(r"(\d+)")


async def last(wire: Wire, layout: Layout, kind: str, entity_id: str) -> Transition:
    """The last transition of one entity, which holds its whole state; raises `EntityUnknown`."""
    subjects = Subjects(layout.prefix)
    subject = subjects.state(partition_of_id(entity_id, layout.partitions), kind, entity_id)
    reply = await _direct(wire, f"{layout.state}.{subject}", b"")
    if reply is None:
        raise EntityUnknown(kind=kind, id=entity_id)
    record = read_record(reply.data)
    if not isinstance(record, Transition):
        raise EntityUnknown(kind=kind, id=entity_id)
    return record


async def states(
    wire: Wire, layout: Layout, kinds: Kinds, kind: str | None, tree: str | None, state: str | None, *, deleted: bool
) -> list[Transition]:
    """The last transition of each entity that fits, ids in natural order; `deleted` ones only where asked for."""
    found: dict[tuple[str, str], Transition] = {}
    for subject in state_filters(layout, kinds, kind, tree):
        async for slice_ in read_all(wire, layout.state, [subject]):
            for record in filter(None, map(_transition_in, slice_)):
                found[record.entity.kind, record.entity.id] = record
    wanted = [record for record in found.values() if fits(record.entity, state, deleted=deleted)]
    return sorted(wanted, key=lambda record: (natural(record.entity.id), record.entity.kind))


async def tree(wire: Wire, layout: Layout, kinds: Kinds, root: str, *, deleted: bool) -> list[Transition]:
    """The last transition of each entity under `root`, the root's own included; raises `TreeUnknown`."""
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


def state_filters(layout: Layout, kinds: Kinds, kind: str | None, root: str | None) -> Sequence[str]:
    """Subjects of STATE, to be read one after another: a consumer of several is slow where there are many subjects."""
    start = f"{layout.prefix}.state"
    if root is None:
        return [f"{start}.*.{kind or '*'}.>"]
    partition, token = partition_of_id(root, layout.partitions), quote(root)
    arities = {found.arity for found in kinds.values() if kind in (None, found.name)}
    ends = [*([""] if 1 in arities else []), *([".>"] if arities - {1} else [])]
    return [f"{start}.{partition}.{kind or '*'}.{token}{end}" for end in ends]


def natural(entity_id: str) -> list[tuple[tuple[int, str | int], ...]]:
    """A key that sorts ids part by part, `n2` before `n10`."""
    return [
        tuple((0, int(piece)) if piece.isdecimal() else (1, piece) for piece in _NUMBER.split(part) if piece)
        for part in entity_id.split("/")
    ]


def _transition_in(stored: Stored) -> Transition | None:
    """The transition in a message of STATE, or None for the checkpoint's and the marks among them."""
    if not stored.data:
        return None
    body = codec.decode(stored.data)
    if not str(body.get("type", "")).endswith(".transitioned"):
        return None
    record = forms.from_wire(body)
    return record if isinstance(record, Transition) else None


async def history(wire: Wire, layout: Layout, kind: str, entity_id: str) -> AsyncIterator[tuple[int, Transition]]:
    """An entity's transitions in order, with their places in the log; raises `EntityUnknown` where there is none."""
    subjects = Subjects(layout.prefix)
    subject = subjects.transition(partition_of_id(entity_id, layout.partitions), kind, "*", "*", entity_id)
    known = False
    async for slice_ in read_all(wire, layout.log, [subject]):
        for stored in slice_:
            record = read_record(stored.data)
            if isinstance(record, Transition):
                known = True
                yield stored.sequence, record
    if not known:
        raise EntityUnknown(kind=kind, id=entity_id)


async def record_at(wire: Wire, layout: Layout, sequence: int) -> tuple[str, Transition | Rejection]:
    """Subject and record of one message of the log; raises `RecordGone` where it is no record, or is not there."""
    reply = await _direct(wire, layout.log, json.dumps({"seq": sequence}).encode())
    subject = "" if reply is None else reply.headers.get("Nats-Subject", "")
    if reply is None or subject.removeprefix(f"{layout.prefix}.log.").count(".") < 3:  # noqa: PLR2004
        held = (await wire.api(f"STREAM.INFO.{layout.log}"))["state"]
        raise RecordGone(sequence=sequence, first=held["first_seq"], last=held["last_seq"])
    return subject, read_record(reply.data)


async def event_at(wire: Wire, layout: Layout, sequence: int) -> tuple[str, bytes] | None:
    """Inbox subject and body of one stored event; None where it is gone."""
    reply = await _direct(wire, layout.events, json.dumps({"seq": sequence}).encode())
    return None if reply is None else (reply.headers.get("Nats-Subject", ""), reply.data)


def read_record(body: bytes) -> Transition | Rejection:
    """The record in a message of the log that is a transition or a rejection."""
    record = forms.from_wire(codec.decode(body))
    if not isinstance(record, Transition | Rejection):
        raise AssertionError(f"a {type(record).__name__} among the records of the log")  # noqa: TRY004
    return record


async def _direct(wire: Wire, where: str, payload: bytes) -> Reply | None:
    """A direct get; None where there is no such message."""
    subject = f"$JS.API.DIRECT.GET.{where}"
    reply = await wire.request(subject, payload)
    status = reply.headers.get(frames.STATUS)
    if status == NOT_FOUND:
        return None
    if status is not None:
        described: dict[str, Any] = {"description": reply.headers.get(frames.DESCRIPTION, ""), "err_code": 0}
        raise ApiFailed(subject=subject, code=int(status), **described)
    return reply
