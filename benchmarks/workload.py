"""The workload: the events of 1,000 nodes in 50 clusters.

Belongs here: making and publishing it, the same bytes for every contender. Does not: timing.
"""

from collections.abc import Iterator

from phaseline.engine.nats.streams import Layout, provision
from phaseline.engine.nats.wire import Wire
from phaseline.engine.settings import Settings
from phaseline.machines.built_in import installed
from phaseline.schemas import codec
from phaseline.schemas.subjects import Subjects

CLUSTERS = 50
NODES = 20
TROUBLES = (("not_ready", "ready"), ("cordon", "uncordon"), ("update", "updated"), ("overdue", "renewed"))
PIECE = 500


class Workload:
    """Events as a publisher sends them: `(subject, body, message id)`."""

    def __init__(self, prefix: str, count: int) -> None:
        self.subjects = Subjects(prefix)
        self.count = count
        self.number = 0

    def events(self) -> Iterator[tuple[str, bytes, str]]:
        """First the clusters start, then their nodes fail and recover."""
        for at, event in enumerate(self._endless()):
            if at == self.count:
                return
            yield event

    def _endless(self) -> Iterator[tuple[str, bytes, str]]:
        for cluster in range(CLUSTERS):
            yield from self._pair("cluster", "create", "created", f"c{cluster}")
            yield from self._pair("node_pool", "create", "created", f"c{cluster}/pool")
            for node in range(NODES):
                yield from self._pair("node", "create", "created", f"c{cluster}/pool/node-{node}")
        while True:
            for begins, ends in TROUBLES:
                for cluster in range(CLUSTERS):
                    for node in range(NODES):
                        yield from self._pair("node", begins, ends, f"c{cluster}/pool/node-{node}")

    def _pair(self, kind: str, begins: str, ends: str, entity_id: str) -> Iterator[tuple[str, bytes, str]]:
        for trigger in (begins, ends):
            self.number += 1
            name = f"e-{self.number}"
            body = {
                "specversion": "1.0",
                "id": name,
                "source": f"/agent/{entity_id.partition('/')[0]}",
                "type": f"{kind}.{trigger}",
                "time": "2026-03-02T08:00:00Z",
                "data": {"reason": "KubeletStatus", "message": "the kubelet says so"},
            }
            yield self.subjects.event(kind, trigger, entity_id), codec.encode(body), name


async def installation(wire: Wire, settings: Settings, count: int) -> Layout:
    """Make streams with an own prefix, and store `count` events in them."""
    layout = await provision(wire, settings, installed().copies.values())
    await store(wire, layout, list(Workload(settings.prefix, count).events()))
    return layout


async def store(wire: Wire, layout: Layout, events: list[tuple[str, bytes, str]]) -> None:
    """Store events in an empty installation."""
    await send(wire, events)
    found = (await wire.api(f"STREAM.INFO.{layout.events}"))["state"]["messages"]
    if found != len(events):
        raise AssertionError(f"{found} events are stored, not {len(events)}")


async def send(wire: Wire, events: list[tuple[str, bytes, str]]) -> None:
    """Store events after others."""
    for start in range(0, len(events), PIECE):
        piece = events[start : start + PIECE]
        frames = [wire.frame(subject, body, {"Nats-Msg-Id": name}) for subject, body, name in piece]
        last = await wire.request(*events[start][:1], b"", {"Nats-Msg-Id": piece[-1][2]}, ahead=b"".join(frames))
        if b'"duplicate":true' not in last.data.replace(b" ", b""):
            raise AssertionError(f"the server did not take the events in order: {last.data!r}")
