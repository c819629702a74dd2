"""What the owner of a partition is made of: the take-over, its claim, its processor, its commits.

Belongs here: what tests of several of these take from the engine. Does not: workers (`installation`), what an owner
reads the streams with (`streams`).
"""

from phaseline.engine.core.message import BATCH_LIMIT, NO_EVENT, Message
from phaseline.engine.core.process import Batch, Processor
from phaseline.engine.core.tables_change import moving
from phaseline.engine.core.tables_change.moving import TablesChange
from phaseline.engine.core.tree import Tree, evolve, take_all_in
from phaseline.engine.log import checkpoint, purge
from phaseline.engine.log.checkpoint import Checkpoint, Plan
from phaseline.engine.worker import hand_over
from phaseline.engine.worker.commits import Commits, WorkerShares
from phaseline.engine.worker.lease import Leases, shares
from phaseline.engine.worker.ownership import (
    atomic_batches,
    load_states,
    load_together,
    oversized_commit,
    repair_timers,
)
from phaseline.engine.worker.ownership.atomic_batches import SMALL, AtomicBatches, batch_frames
from phaseline.engine.worker.ownership.claim import Claim
from phaseline.engine.worker.ownership.event_loss import LossWatch
from phaseline.engine.worker.ownership.fenced_commit import Fence
from phaseline.engine.worker.ownership.load_states import PartitionStates
from phaseline.engine.worker.ownership.tables_change.tables_report import tables_report
from phaseline.engine.worker.ownership.takeover import take_over
from phaseline.engine.worker.partition import Partition

__all__ = [
    "BATCH_LIMIT", "NO_EVENT", "SMALL", "AtomicBatches", "Batch", "Checkpoint", "Claim", "Commits", "Fence", "Leases",
    "LossWatch", "Message", "Partition", "PartitionStates", "Plan", "Processor", "TablesChange", "Tree",
    "WorkerShares", "atomic_batches", "batch_frames", "checkpoint", "evolve", "hand_over", "load_states",
    "load_together", "moving", "oversized_commit", "purge", "repair_timers", "shares",
    "tables_report", "take_all_in", "take_over",
]  # fmt: skip
