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
from phaseline.engine.log import checkpoint, table_eras
from phaseline.engine.log.installation import Installation
from phaseline.engine.log.latest import state_filters
from phaseline.engine.publish.compose import Outgoing
from phaseline.schemas import codec
from phaseline.schemas.records import Entity, Record, Rejection, Transition
from phaseline.schemas.subjects import partition_of, unquote


class Rehearsed(NamedTuple):
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


async def rehearse(
    installation: Installation, message: Outgoing, progress: Callable[[int], None] | None = None
) -> Rehearsed:
    """Answer `message` as the worker would that came to it next; nothing is sent.

    progress: called with the number of states read so far, now and then. Raises `KindMissing` where the tree holds a kind
    that is not installed here, or as `Wire` does.
    """
    subjects = installation.subjects
    rest = message.subject.removeprefix(f"{installation.prefix}.events.")
    token = rest.partition(".")[0]
    partition = partition_of(token, installation.layout.partitions)
    decided = await _decided(installation, partition)
    tree, highest = await _load(installation, unquote(token), progress or (lambda _: None))
    inbox = f"{installation.prefix}.inbox.{partition}.{token}.>"
    behind = await _is_newer(installation, inbox, max(decided, highest))
    events = await installation.wire.api(f"STREAM.INFO.{installation.layout.events}")
    sequence = int(events["state"]["last_seq"]) + 1
    subject = subjects.inbox(partition).removesuffix(">") + rest
    processor = Processor(tree, subjects, partition)
    event = Stored(subject, message.body, sequence, time.time_ns(), 0, None)
    records, _, fault = processor.answer(event)
    if fault is not None:
        log_fault(event, fault)
    address = subjects.address(subject)
    return Rehearsed(
        sequence,
        tree.get(address.kind, address.id) if address.kind in installation.kinds else None,
        tuple(records),
        tuple(processor.messages(records)),
        # Whatever has a `sequence` and is no repeat leaves a record, a mark at least.
        repeat=not records and codec.decode(message.body).get("sequence") is not None,
        behind=behind,
        differing=await _differing(installation, partition),
    )


async def _decided(installation: Installation, partition: int) -> int:
    """Up to which event the partition is decided, by the checkpoint that STATE has a copy of; 0 where there is none yet."""
    subject = installation.subjects.state_checkpoint(partition)
    found = await _asked(installation, f"{installation.layout.state}.{subject}", b"")
    return 0 if found is None else checkpoint.decode(found.data).position


async def _is_newer(installation: Installation, subject: str, sequence: int) -> bool | None:
    """Whether EVENTS has an event under `subject` after `sequence`; None where this user may not ask."""
    try:
        found = await _asked(installation, installation.layout.events, json.dumps({"last_by_subj": subject}).encode())
    except NotPermitted:
        return None
    return found is not None and int(found.headers["Nats-Sequence"]) > sequence


async def _differing(installation: Installation, partition: int) -> str:
    """How these tables differ from those that the last worker to take the partition had, if they do."""
    kinds, eras = installation.kinds, await table_eras.eras(installation, partition)
    return "" if not eras or eras[-1].digest in ("", kinds.digest) else table_eras.how(kinds, eras[-1])


async def _asked(installation: Installation, where: str, payload: bytes) -> Reply | None:
    """What a direct get finds."""
    reply = await installation.wire.request(f"$JS.API.DIRECT.GET.{where}", payload)
    return None if frames.STATUS in reply.headers else reply


async def _load(installation: Installation, root: str, progress: Callable[[int], None]) -> tuple[Tree, int]:
    """The tree of `root`, and the last event that made a record in it.

    Marks are read after states although they may be older: what was copied last counts.
    """
    states = state_filters(installation, None, root)
    branch = f"{installation.prefix}.state."
    found: list[Stored] = []
    for filter_ in (*states, *(_of_marks(branch, subject) for subject in states)):
        async for slice_ in read_all(installation.wire, installation.layout.state, [filter_]):
            found += slice_
            progress(len(found))
    tree, highest = installation.tree(), 0
    for stored in sorted(found, key=lambda stored: stored.sequence):
        highest = max(highest, restore(tree, stored.data))
    return tree, highest


def _of_marks(branch: str, subject: str) -> str:
    """`pl.state.3.*.c1.>` -> `pl.state.3.mark.*.c1.>`."""
    partition, _, rest = subject.removeprefix(branch).partition(".")
    return f"{branch}{partition}.mark.{rest}"
