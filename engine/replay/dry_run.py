"""A dry run: decides one event on the current states of its tree and writes nothing.

Belongs here: loading one tree, deciding one event on it as a worker would. Does not: the result (`dry_run_result`), the
rules (`engine.core`), the output of the command (`surfaces.cli.render_dry_run`).
The tree comes from STATE, which copies the log a moment after each commit. Events that no worker has decided yet are
not in it. The result says if the tree has such events.
"""

import time
from collections.abc import Callable

from phaseline.engine.core import intake
from phaseline.engine.core.process import Processor
from phaseline.engine.core.tree import Tree, take_in
from phaseline.engine.log import checkpoint, table_eras
from phaseline.engine.log.explain.way_out import way_out
from phaseline.engine.log.installation import Installation
from phaseline.engine.log.latest import mark_filters, state_filters
from phaseline.engine.log.log_records import entities_in_state, last_transition
from phaseline.engine.log.table_eras import Era
from phaseline.engine.nats.direct_get import direct, last_sequence
from phaseline.engine.nats.reader import Stored
from phaseline.engine.nats.stream_reader import read_all
from phaseline.engine.publish.compose import EventMessage
from phaseline.engine.publish.outcomes import effect_of, held_against, repeated_in
from phaseline.engine.replay.dry_run_result import DryRun
from phaseline.engine.worker.faults import log_fault
from phaseline.machines.compiler.kinds import Kinds
from phaseline.schemas import codec
from phaseline.schemas.errors import NotPermitted
from phaseline.schemas.records import Rejection, entity_after
from phaseline.schemas.subjects import partition_of, unquote


async def dry_run(
    installation: Installation, message: EventMessage, progress: Callable[[int], None] | None = None
) -> DryRun:
    """Decide `message` as a worker would if it came next. Sends nothing.

    progress: called now and then with the number of states read so far. Raises `SetupError` if the tree holds a kind
    that is not installed here, and what `Wire` raises.
    """
    subjects = installation.subjects
    rest = message.subject.removeprefix(f"{installation.prefix}.events.")
    token = rest.partition(".")[0]
    partition = partition_of(token, installation.layout.partitions)
    decided = await _decided(installation, partition)
    eras = await table_eras.eras(installation, partition)
    tree, highest = await _load(installation, unquote(token), progress or (lambda _: None), eras[-1] if eras else None)
    inbox = f"{installation.prefix}.inbox.{partition}.{token}.>"
    behind = await _is_newer(installation, inbox, max(decided, highest))
    sequence = 1 + await last_sequence(installation.wire, installation.layout.events)
    subject = subjects.inbox(partition).removesuffix(">") + rest
    processor = Processor(tree, subjects, partition, as_json=installation.layout.feed == "json")
    event = Stored(subject, message.body, sequence, time.time_ns(), 0, None)
    read = intake.read(installation.kinds, subjects, subject, message.body, sequence, event.time_ns)
    decision = processor.answer(event)
    records = decision.records
    if decision.fault is not None:
        log_fault(event, decision.fault)
    address = subjects.address(subject)
    entity = tree.get(address.kind, address.id) if address.kind in installation.kinds else None
    repeat, older_than = None, 0
    if entity is not None and effect_of(records) == "none":
        about = (installation.kinds, entity, address.trigger, codec.decode(message.body))
        repeat, older_than = repeated_in(*about), held_against(*about, sequence)
    return DryRun(
        sequence,
        entity,
        tuple(records),
        tuple(processor.messages(records)),
        repeat=repeat,
        older_than=older_than,
        behind=behind,
        table_differences=_differing(installation.kinds, eras),
        way_out="" if not records or not isinstance(records[0], Rejection) else way_out(tree, records[0], read),
    )


async def _decided(installation: Installation, partition: int) -> int:
    """The position up to which the partition is decided, by the copy of its checkpoint in STATE; 0 if there is none."""
    subject = installation.subjects.state_checkpoint(partition)
    reply = await direct(installation.wire, f"{installation.layout.state}.{subject}")
    if reply is None:
        return 0
    try:
        return checkpoint.decode(reply.data).position
    except ValueError:  # STATE has copied a foreign message over it
        last = await checkpoint.last(
            installation.wire, installation.layout.log, installation.subjects.checkpoint(partition)
        )
        return 0 if last is None else last.position


async def _is_newer(installation: Installation, subject: str, sequence: int) -> bool | None:
    """Whether EVENTS has an event under `subject` after `sequence`; None if this user may not read EVENTS."""
    try:
        reply = await direct(installation.wire, installation.layout.events, {"last_by_subj": subject})
    except NotPermitted:
        return None
    return reply is not None and int(reply.headers["Nats-Sequence"]) > sequence


def _differing(kinds: Kinds, eras: list[Era]) -> str:
    """How these tables differ from those of the last worker that took the partition; empty if they do not."""
    return "" if not eras or eras[-1].digest in ("", kinds.digest) else table_eras.differing_kinds(kinds, eras[-1])


async def _load(
    installation: Installation, root: str, progress: Callable[[int], None], era: Era | None
) -> tuple[Tree, int]:
    """The tree of `root`, as the era says, and the position of the last event that made a record in it.

    States and marks are read one after the other, then restored in the order in which STATE stored them.
    """
    copies: list[Stored] = []
    for filter_ in (*state_filters(installation, None, root), *mark_filters(installation, root)):
        async for slice_ in read_all(installation.wire, installation.layout.state, [filter_]):
            copies += slice_
            progress(len(copies))
    tree, highest = installation.tree(), 0
    if era is not None:
        tree.silence_after, tree.log, tree.backup = era.silence_after, era.log, era.backup
    for stored in sorted(copies, key=lambda stored: stored.sequence):
        (found,) = entities_in_state(installation.layout.state, [stored])
        if found is None:
            last = await last_transition(installation, stored.subject.replace(".mark.", ".", 1))
            found = None if last is None else entity_after(last)
        highest = max(highest, 0 if found is None else take_in(tree, found))
    return tree, highest
