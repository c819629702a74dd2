"""The load of a soak: a fleet whose size never changes, in which every kind of entity moves for ever.

Belongs here: what exists, the events of each second. Does not: publishing them, what is measured (`soak`).
"""

from collections.abc import Iterator
from itertools import cycle
from typing import Any

from benchmarks.workload import CLUSTERS, NODES, TROUBLES
from phaseline.schemas import codec
from phaseline.schemas.subjects import Subjects
from tests.support.large_deployment import desired, live

Event = tuple[str, bytes, str]
QUIET = 20
"""Clusters of which only heartbeats are heard, and whose pools have requests that nobody answers in time."""
BEAT = 5
"""Seconds between two heartbeats of each."""
SILENCE = 20
"""Seconds without a heartbeat after which a worker is to wait no more (`--silence-after`)."""
AWAY, TURN = 60, 240
"""A quiet cluster sends nothing for the first `AWAY` seconds of each `TURN`; the clusters take turns."""
DEADLINE, ANSWERED, ASKED = 3, 6, 10
"""Each quiet pool gets a request every `ASKED` seconds; its deadline, and when it is answered, in seconds."""
RESOURCES, CONTEXT = 40, "shop+web+v1+group/c1"
"""Of an EMCO context; as many Deployments are observed."""


class FleetLoad:
    """Events of one installation, numbered."""

    def __init__(self, prefix: str) -> None:
        self.subjects, self.number = Subjects(prefix), 0
        self.synced = [f"{CONTEXT}/app/provider+edge/config{one}+ConfigMap" for one in range(RESOURCES)]

    def event(self, kind: str, trigger: str, entity_id: str, **data: Any) -> Event:
        """One event: `(subject, body, message id)`."""
        self.number += 1
        name = f"e-{self.number}"
        body = {
            "specversion": "1.0", "id": name, "source": f"/agent/{entity_id.partition('/')[0]}",
            "type": f"{kind}.{trigger}", "data": {"reason": "Told", "message": "the agent says so", **data},
        }  # fmt: skip
        return self.subjects.event(kind, trigger, entity_id), codec.encode(body), name

    def built(self) -> Iterator[Event]:
        """What makes all that exists from then on."""
        for cluster in (*range(CLUSTERS), *(f"q{one}" for one in range(QUIET))):
            root = cluster if isinstance(cluster, str) else f"c{cluster}"
            yield from self._made("cluster", root)
            yield from self._made("node_pool", f"{root}/pool")
            if isinstance(cluster, int):
                yield from self._made("component", f"{root}/dns")
                for node in range(NODES):
                    yield from self._made("node", f"{root}/pool/node-{node}")
        yield self.event("emco_resource", "create", CONTEXT.partition("/")[0])
        yield self.event("emco_resource", "approve", CONTEXT.partition("/")[0])
        yield self.event("app_context", "create", CONTEXT)
        for synced in self.synced:
            yield self.event("rsync_resource", "add", synced, version="v1")

    def _made(self, kind: str, entity_id: str) -> Iterator[Event]:
        yield self.event(kind, "create", entity_id)
        yield self.event(kind, "created", entity_id)

    def steady(self) -> Iterator[Event]:
        """What happens at once, for ever: nine tenths about nodes, the rest about all other kinds."""
        others = cycle((self._pool, self._component, self._synced, self._cluster, self._observed))
        for turn, (cluster, node, trouble) in enumerate(self._nodes()):
            for trigger in trouble:
                yield self.event("node", trigger, f"c{cluster}/pool/node-{node}")
            if turn % 10 == 0:
                yield from next(others)(turn // 50)

    def _nodes(self) -> Iterator[tuple[int, int, tuple[str, str]]]:
        for trouble in cycle(TROUBLES):
            for node in range(NODES):
                for cluster in range(CLUSTERS):
                    yield cluster, node, trouble

    def _pool(self, turn: int) -> Iterator[Event]:
        pool = f"c{turn % CLUSTERS}/pool"
        yield self.event("node_pool", "scale", pool, desired=NODES)
        yield self.event("node_pool", "scaled", pool)

    def _component(self, turn: int) -> Iterator[Event]:
        yield self.event("component", ("degraded", "recovered")[turn // CLUSTERS % 2], f"c{turn % CLUSTERS}/dns")

    def _cluster(self, turn: int) -> Iterator[Event]:
        yield self.event("cluster", "update", f"c{turn % CLUSTERS}")
        yield self.event("cluster", "updated", f"c{turn % CLUSTERS}")

    def _synced(self, turn: int) -> Iterator[Event]:
        trigger = ("applied", "deleted")[turn // RESOURCES % 2]
        yield self.event("rsync_resource", trigger, self.synced[turn % RESOURCES])

    def _observed(self, turn: int) -> Iterator[Event]:
        name = f"web-{turn % RESOURCES}"
        found = live(name, turn // RESOURCES % 4)
        found["metadata"]["resourceVersion"] = str(turn)
        address = f"shop/shop/apps:Deployment/shop/{name}"
        yield self.event("resource", "observed", address, live=found, desired=desired(name))

    def in_second(self, second: int) -> Iterator[Event]:
        """What falls into this second since the start: heartbeats, requests, and their late answers."""
        for cluster in range(QUIET):
            own = second + cluster * TURN // QUIET
            if own % TURN < AWAY:
                continue
            if own % BEAT == 0:
                yield self.event("cluster", "heartbeat", f"q{cluster}")
            if own % ASKED == 0:
                yield self.event("node_pool", "scale", f"q{cluster}/pool", desired=3, deadline=DEADLINE)
            if own % ASKED == ANSWERED:
                yield self.event("node_pool", "scaled", f"q{cluster}/pool")
