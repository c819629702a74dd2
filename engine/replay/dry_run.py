"""A dry run of one event: what it would do to the tree as it stands, and nothing of it written.

Belongs here: loading one tree, answering one event on it as a worker would. Does not: any rule (`fold`), words (`cli`).
The tree comes from STATE, which copies the log a moment after each commit, and events that no worker has decided yet
are not in it: where the tree has such, the answer says so.
"""

import json
import time
from collections.abc import Callable
from typing import Literal, NamedTuple

from phaseline.engine.core.message import Message
from phaseline.engine.core.process import Processor
from phaseline.engine.core.tree import Tree, restore
from phaseline.engine.errors import NotPermitted
from phaseline.engine.faults import log_fault
from phaseline.engine.jetstream import frames
from phaseline.engine.jetstream.api_reply import Reply
from phaseline.engine.jetstream.reader import Stored, read_all
from phaseline.engine.jetstream.streams import Layout
from phaseline.engine.jetstream.wire import Wire
from phaseline.engine.log import checkpoint, table_eras
from phaseline.engine.log.installation import Installation
from phaseline.engine.log.latest import state_filters
from phaseline.engine.publish.compose import EventMessage
from phaseline.engine.scripts.runner import shared_runner
from phaseline.machines.compiler.kinds import Kinds
from phaseline.schemas import codec
from phaseline.schemas.records import Entity, Record, Rejection, Transition
from phaseline.schemas.subjects import Subjects, partition_of, unquote


class DryRun(NamedTuple):
    """What one event would do.

    sequence: the place in EVENTS that it would get, if nothing came before it. entity: what it is about, as it stands.
    records, messages: what would be committed, and the same as the log would hold it. repeat: whether its own
    `sequence` says that it was there already. behind: whether events of this tree that came before are not in the states
    that it was held against; None where this user may not ask. differing: in which kinds the tables here are not those by
    which the installation decides, as `changed: node; missing: release`; empty where they are the same.
    """

    sequence: int
    entity: Entity | None
    records: tuple[Record, ...]
    messages: tuple[Message, ...]
    repeat: bool
    behind: bool | None
    differing: str

    @property
    def transitions(self) -> tuple[Transition, ...]:
        """What it would move."""
        return tuple(record for record in self.records if isinstance(record, Transition))

    @property
    def rejection(self) -> Rejection | None:
        """Why it would be refused, if it would."""
        return next((record for record in self.records if isinstance(record, Rejection)), None)

    @property
    def effect(self) -> Literal["transitions", "rejection", "none"]:
        """In a word, as `Outcome` has it."""
        if self.rejection is not None:
            return "rejection"
        return "transitions" if self.transitions else "none"


async def dry_run(
    wire: Wire, layout: Layout, kinds: Kinds, message: EventMessage, progress: Callable[[int], None] | None = None
) -> DryRun:
    """Answer `message` as the worker would that came to it next; nothing is sent.

    progress: called with the number of states read so far, now and then. Raises `KindMissing` where the tree holds a kind
    that is not in `kinds`, or as `Wire` does.
    """
    subjects = Subjects(layout.prefix)
    rest = message.subject.removeprefix(f"{layout.prefix}.events.")
    token = rest.partition(".")[0]
    partition = partition_of(token, layout.partitions)
    decided = await _decided(wire, layout, partition)
    tree, highest = await _load(wire, layout, kinds, unquote(token), progress or (lambda _: None))
    behind = await _is_newer(wire, layout, f"{layout.prefix}.inbox.{partition}.{token}.>", max(decided, highest))
    sequence = int((await wire.api(f"STREAM.INFO.{layout.events}"))["state"]["last_seq"]) + 1
    subject = subjects.inbox(partition).removesuffix(">") + rest
    processor = Processor(tree, subjects, partition)
    event = Stored(subject, message.body, sequence, time.time_ns(), 0, None)
    records, _, fault = processor.answer(event)
    if fault is not None:
        log_fault(event, fault)
    address = subjects.address(subject)
    return DryRun(
        sequence,
        tree.get(address.kind, address.id) if address.kind in kinds else None,
        tuple(records),
        tuple(processor.messages(records)),
        # Whatever has a `sequence` and is no repeat leaves a record, a mark at least.
        repeat=not records and codec.decode(message.body).get("sequence") is not None,
        behind=behind,
        table_differences=await _differing(wire, layout, kinds, partition),
    )


async def _decided(wire: Wire, layout: Layout, partition: int) -> int:
    """Up to which event the partition is decided, by the checkpoint that STATE has a copy of; 0 where there is none yet."""
    found = await _asked(wire, f"{layout.state}.{Subjects(layout.prefix).state_checkpoint(partition)}", b"")
    return 0 if found is None else checkpoint.decode(found.data).position


async def _is_newer(wire: Wire, layout: Layout, subject: str, sequence: int) -> bool | None:
    """Whether EVENTS has an event under `subject` after `sequence`; None where this user may not ask."""
    try:
        found = await _asked(wire, layout.events, json.dumps({"last_by_subj": subject}).encode())
    except NotPermitted:
        return None
    return found is not None and int(found.headers["Nats-Sequence"]) > sequence


async def _differing(wire: Wire, layout: Layout, kinds: Kinds, partition: int) -> str:
    """How these tables differ from those that the last worker to take the partition had, if they do."""
    eras = await table_eras.eras(Installation(wire, layout, kinds), partition)
    return "" if not eras or eras[-1].digest in ("", kinds.digest) else table_eras.how(kinds, eras[-1])


async def _asked(wire: Wire, where: str, payload: bytes) -> Reply | None:
    """What a direct get finds."""
    reply = await wire.request(f"$JS.API.DIRECT.GET.{where}", payload)
    return None if frames.STATUS in reply.headers else reply


async def _load(
    wire: Wire, layout: Layout, kinds: Kinds, root: str, progress: Callable[[int], None]
) -> tuple[Tree, int]:
    """The tree of `root`, and the last event that made a record in it.

    Marks are read after states although they may be older: what was copied last counts.
    """
    states = state_filters(layout, kinds, None, root)
    place = f"{layout.prefix}.state."
    found: list[Stored] = []
    for filter_ in (*states, *(_of_marks(place, subject) for subject in states)):
        async for slice_ in read_all(wire, layout.state, [filter_]):
            found += slice_
            progress(len(found))
    tree, highest = Tree(kinds, shared_runner()), 0
    for stored in sorted(found, key=lambda stored: stored.sequence):
        highest = max(highest, restore(tree, stored.data))
    return tree, highest


def _of_marks(place: str, subject: str) -> str:
    """`pl.state.3.*.c1.>` -> `pl.state.3.mark.*.c1.>`."""
    partition, _, rest = subject.removeprefix(place).partition(".")
    return f"{place}{partition}.mark.{rest}"
