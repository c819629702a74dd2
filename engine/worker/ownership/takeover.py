"""Taking over a partition: fence out the former owner, load the committed tree, note the tables.

Belongs here: the steps from nothing to a `Claim` (docs/design.md, Taking over a partition). Does not: the claim's
commits (`claim`), the loop that follows (`worker.partition`), which worker should own which partition (`worker.lease`).
"""

import time

from msgspec.structs import replace

from phaseline.engine import logs
from phaseline.engine.log import table_eras
from phaseline.engine.log.installation import Installation
from phaseline.engine.log.table_eras import Era
from phaseline.engine.worker.ownership import event_loss, events_behind, former_owner, identity_keeping, repair_timers
from phaseline.engine.worker.ownership.atomic_batches import AtomicBatches
from phaseline.engine.worker.ownership.claim import Claim
from phaseline.engine.worker.ownership.fenced_commit import Fence
from phaseline.engine.worker.ownership.former_owner import Former
from phaseline.engine.worker.ownership.load_states import Holding, PartitionStates
from phaseline.engine.worker.ownership.tables_change.carry_out import change_tables
from phaseline.schemas.errors import SetupError
from phaseline.schemas.records import Loss

log = logs.get_logger(__name__)


async def take_over(
    installation: Installation, partition: int, worker: str, accepted: str = "",
    *, accept_stranded: str = "", accept_loss: bool = False, silence_after: float = 0.0,
    batches: AtomicBatches | None = None, states: PartitionStates | None = None,
) -> Claim:  # fmt: skip
    """Own `partition` from here on; raises `Fenced` if another worker was faster, `SetupError`, or as `Wire` does.

    Raises `SetupError.partitions_moved` if an earlier version closed it for good.
    Where other tables decided before: raises `SetupError`, unless `accepted` is the digest of the tables at hand. If
    they lack states that entities are in: as `change_tables`; accept_stranded is its `accepted`.
    Where the log was emptied: raises `LogDamaged.log_emptied`, unless `accept_loss`. silence_after: as in the settings.
    batches: as for `Fence`. states: what was read before, by a worker that prepared to own the partition, or owned it.
    If nobody has committed since, it goes on without reading anything.
    """
    began, states = time.monotonic(), states or PartitionStates(installation, partition)
    read = states.read
    kinds, subject = installation.kinds, installation.subjects.checkpoint(partition)
    log_identity = await identity_keeping.ensured(installation, worker)
    former = await former_owner.read(installation, partition, accept_loss=accept_loss)
    last = former.checkpoint
    if last.closed:
        raise SetupError.partitions_moved(prefix=installation.prefix)
    # The era is read after the checkpoint. A worker that notes other tables later moves the checkpoint, so that our
    # fence fails.
    era = await table_eras.latest(installation, partition)
    table_eras.check(kinds, era, partition, accepted)
    own = replace(last, epoch=last.epoch + 1, worker=worker, attempts=last.attempts + 1)
    fence = Fence(installation.wire, installation.layout.log, subject, former.sequence, former.end, batches)
    await fence.move(own.encode_as)
    if installation.wire.clustered:  # a former leader may have answered that knows of former tables only
        era = await table_eras.latest(installation, partition, fence.barrier)
        table_eras.check(kinds, era, partition, accepted)
    wanted = table_eras.continued(
        Era(0, kinds.digest, kinds.versions, worker, silence_after), era, log_identity, former.checkpoint.position
    )
    states.count_from(wanted.backup)
    is_whole = states.holds(Holding(former.sequence, last.epoch, last.worker))
    # While a plan is under way, some records of its event are in the tree, and some are not.
    least = last.entities if last.plan is None else 0
    tree, highest = await states.complete(fence.sequence, least, is_whole=is_whole)
    position = max(last.position, highest) if last.plan is None else last.position
    log.info(
        "partition_taken", partition=partition, epoch=own.epoch, entities=len(tree), position=position,
        prepared=read > 0, read=states.read - read, seconds=round(time.monotonic() - began, 3),
    )  # fmt: skip
    pending = last.pending if position == last.position else 0
    claim = Claim(partition, tree, fence, own, position, pending, installation.layout.prefix, last.worker)
    if last.attempts and last.plan is None and position > last.position:
        # Lone records do not write the checkpoint: the former owner did get on.
        until = own.until or own.position
        claim.checkpoint = replace(own, position=position, attempts=1, trying=0, triers=(), until=until)
        await fence.move(claim.checkpoint.encode_as)
    await events_behind.move_events_on(installation, claim, accept_loss=accept_loss)
    if log_identity.was_restored and (era is None or era.log != wanted.log):
        await event_loss.of_restore(installation, claim, log_identity)
    await change_tables(installation, claim, states, era, wanted, accept_stranded)
    await _note_losses(installation, claim, former, least)
    if claim.checkpoint.plan is None and not is_whole:
        await repair_timers.repair(installation, claim)
    return claim


async def _note_losses(installation: Installation, claim: Claim, former: Former, least: int) -> None:
    """Write into the log what is missing."""
    worker, now = claim.checkpoint.worker, time.time_ns()
    if former.lost:
        log.warning("log_loss_accepted", partition=claim.partition, position=claim.position, entities=len(claim.tree))
        await event_loss.append(installation, claim, Loss(claim.partition, "log", 0, 0, 0, None, worker, now))
    if (missing := least - len(claim.tree)) > 0:
        log.error("states_lost", partition=claim.partition, missing=missing, entities=len(claim.tree))
        loss = Loss(claim.partition, "states", 0, 0, missing, missing, worker, now)
        await event_loss.append(installation, claim, loss)
    await event_loss.at_take_over(installation, claim)
