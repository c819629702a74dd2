"""Whether a worker is alive and ready, check by check, as Kubernetes asks (`/livez`, `/readyz?verbose`).

Belongs here: the checks. Does not: answering requests (`endpoint`).
A worker without NATS is alive and not ready: to start it again would not help. One that owns nothing is ready.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from phaseline.engine.worker.worker import Worker

TICKS = 5.0
"""Seconds within which the event loop must have turned."""


class ProbeCheck(NamedTuple):
    """One thing that was looked at."""

    name: str
    is_fine: bool
    found: str


def loop(seconds: float) -> ProbeCheck:
    """Whether the event loop turns. seconds: since its last turn that was noted."""
    return ProbeCheck("loop", seconds < TICKS, f"it turned {seconds:.1f} s ago")


def readiness(worker: Worker | None) -> Iterator[ProbeCheck]:
    """What a worker needs to work. None: it has not reached NATS yet."""
    if worker is None:
        yield ProbeCheck("nats", False, "not reached yet")
        return
    if worker.ends is not None:
        yield ProbeCheck("decisions", False, str(worker.ends))
    connected = worker.wire.connected
    yield ProbeCheck("nats", connected, "connected" if connected else "the connection is down")
    streams = worker.ready.is_set()
    yield ProbeCheck("streams", streams, "found, and its tables are accepted" if streams else "not found yet")
    if not streams:
        return
    yield _partitions(worker)


def _partitions(worker: Worker) -> ProbeCheck:
    loading = sorted(number for number, (partition, _, _) in worker.owned.items() if partition.tree is None)
    owned = len(worker.owned) - len(loading)
    if not worker.has_share:
        return ProbeCheck("partitions", False, "its share of them is not known yet")
    if loading:
        return ProbeCheck("partitions", False, f"{', '.join(map(str, loading))} not loaded yet, {owned} loaded")
    return ProbeCheck("partitions", True, f"{owned} loaded")


def text(checks: Sequence[ProbeCheck], what: str) -> str:
    """The checks as lines for people."""
    lines = [f"[{'+' if one.is_fine else '-'}] {one.name}: {one.found}" for one in checks]
    verdict = "ok" if all(one.is_fine for one in checks) else "failed"
    return "\n".join([*lines, f"{what}: {verdict}", ""])
