"""What the code of workers and edges does for exactly-once, taken out one by one: a seed must then find a problem.

Belongs here: the safeguards, and what their absence leads to. Does not: safeguards of the model (`commit_model`).
"""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any, NamedTuple
from unittest import mock

from phaseline.engine.log import foreign, table_eras
from phaseline.engine.nats.reader import Reader
from phaseline.engine.replay.archive import log_slice
from phaseline.engine.replay.archive.last_states import LastStates
from phaseline.engine.worker.ownership import repair_timers
from phaseline.engine.worker.ownership.fenced_commit import Fence
from phaseline.engine.worker.ownership.load_states import PartitionStates
from phaseline.engine.worker.sites import edge_server
from phaseline.engine.worker.sites.adding import EdgeSource
from phaseline.engine.worker.sites.inlet_keeping import InletKeeper
from phaseline.engine.worker.sites.origins import Origins
from phaseline.engine.worker.sites.uplink import Uplink
from tests.support.simulation.stream import VirtualStream


class Safeguard(NamedTuple):
    """What is taken out, the troubles that it is for, whether at edges, and the problem that follows.

    first: the seed at which the search begins, where problems are rare.
    """

    taken_out: Callable[[], AbstractContextManager[Any]]
    troubles: tuple[str, ...]
    edges: bool = False
    problem: str = "LOG of partition"
    first: int = 0


async def _never(*_: object) -> bool:
    """The answer of a safeguard that does not look."""
    return False


def _this_one(_: object, __: str, item: int) -> list[int]:
    """What may go: each record."""
    return [item]


def _no_repeats(*_: object) -> list[object]:
    """No event came before."""
    return []


def _no_refusal(*_: object) -> None:
    """Nothing is expected of a subject."""


async def _empty(keeper: InletKeeper, way: Uplink, inlet: dict[str, Any], source: EdgeSource, taken: int) -> None:
    """Remove from an inlet all that EVENTS has."""
    await way.at_hub(f"STREAM.PURGE.{way.names.inlet}", {"seq": taken + 1})


async def _nobody_asked(_: object) -> int:
    """Where a reader ends that believes any replica."""
    return 0


@contextmanager
def _any_replica_believed() -> Iterator[None]:
    """Nobody asks the leader where a stream ends; nor does an archive know of a record that it must reach."""
    with mock.patch.object(Reader, "_last_of_leader", _nobody_asked), mock.patch.object(log_slice, "barrier", _nothing):
        yield


async def _nothing(*_: object) -> None:
    """A safeguard that does nothing."""


SAFEGUARDS = {
    "the last message of an inlet": Safeguard(
        lambda: mock.patch.object(InletKeeper, "_empty", _empty),
        ("hub_dies_in_a_cut",),
        edges=True,
        problem="doubled ['c",
    ),
    "the origins in the checkpoint": Safeguard(
        lambda: mock.patch.object(Origins, "repeats", _no_repeats),
        ("taken_again",),
        edges=True,
        problem="doubled ['c",
    ),
    "the disk of an edge": Safeguard(
        lambda: mock.patch.object(edge_server, "SYNC", "2m"),
        ("edge_loses_power",),
        edges=True,
        problem="lost ['c",
    ),
    "the fence": Safeguard(
        lambda: mock.patch.object(VirtualStream, "unexpected", _no_refusal),
        ("worker_freezes", "worker_comes"),
    ),
    "the look for a record without an answer": Safeguard(
        lambda: mock.patch.object(Fence, "_is_stored", _never),
        ("answers_lost",),
    ),
    "the end that the leader says": Safeguard(
        _any_replica_believed,
        ("replicas_lag", "archived"),
        problem="",
        first=350,
    ),
    "asking behind a message of one's own": Safeguard(
        lambda: mock.patch.object(foreign, "barrier", _nothing),
        ("leader_elected", "worker_dies", "worker_comes"),
        problem="log_emptied",
    ),
    "setting timers again": Safeguard(
        lambda: mock.patch.object(repair_timers, "repair", _nothing),
        ("injected",),
        problem="never came",
    ),
    "telling foreign records": Safeguard(
        lambda: mock.patch.object(foreign, "is_by_worker", return_value=True),
        ("injected", "worker_leaves"),
        problem="",
    ),
    "refusing former tables": Safeguard(
        lambda: mock.patch.object(table_eras, "check", _no_refusal),
        ("tables_changed",),
        problem="go back",
    ),
    "the last record of each entity": Safeguard(
        lambda: mock.patch.object(LastStates, "take", _this_one),
        ("archived",),
        problem="STATE differs",
    ),
    "waiting for STATE": Safeguard(
        lambda: mock.patch.object(PartitionStates, "_read_checkpoint", _nothing),
        ("copies_late", "worker_comes", "worker_leaves"),
    ),
}
"""By what it is."""
