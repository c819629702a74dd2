"""Events of a fleet, made from a seed: mostly legal, some illegal, some repeats, some nonsense.

Belongs here: making events as publishers do. Does not: deciding them.
"""

import asyncio
import random
from collections.abc import Iterator
from typing import NamedTuple

from phaseline.engine.nats.wire import Wire
from phaseline.schemas import codec
from phaseline.schemas.errors import PhaselineError
from phaseline.schemas.subjects import Subjects


class Sent(NamedTuple):
    """An event ready to be published."""

    subject: str
    body: bytes
    message_id: str


class RandomEvents:
    """Events of one installation, numbered."""

    def __init__(self, prefix: str, seed: int = 0) -> None:
        self.subjects = Subjects(prefix)
        self.random = random.Random(seed)
        self.number = 0

    def event(self, kind: str, trigger: str, entity_id: str, **data: object) -> Sent:
        """One event."""
        self.number += 1
        body = {
            "specversion": "1.0",
            "id": str(self.number),
            "source": "/fleet",
            "type": f"{kind}.{trigger}",
            "data": data,
        }
        return Sent(self.subjects.event(kind, trigger, entity_id), codec.encode(body), str(self.number))

    def built(self, clusters: int, nodes: int) -> Iterator[Sent]:
        """Build running clusters, each with a pool of running nodes and a component."""
        for number in range(clusters):
            cluster = f"c{number}"
            yield from self.cluster(cluster, nodes)

    def cluster(self, cluster: str, nodes: int) -> Iterator[Sent]:
        """One running cluster."""
        for kind, entity_id in (("cluster", cluster), ("node_pool", f"{cluster}/p"), ("component", f"{cluster}/dns")):
            yield self.event(
                kind, "create", entity_id, **({"autoscaling_mode": "Recycle"} if kind == "node_pool" else {})
            )
            yield self.event(kind, "created", entity_id)
        for node in range(nodes):
            yield self.event("node", "create", f"{cluster}/p/n{node}")
            yield self.event("node", "created", f"{cluster}/p/n{node}")

    def life(self, events: int, clusters: int, nodes: int) -> Iterator[Sent]:
        """Random events about them."""
        for _ in range(events):
            yield self._any(f"c{self.random.randrange(clusters)}", f"n{self.random.randrange(nodes)}")

    def troubles(self, clusters: int, nodes: int) -> Iterator[Sent]:
        """Each node fails again and again; it recovers before it fails the next time."""
        for begins, ends in (
            ("not_ready", "ready"),
            ("cordon", "uncordon"),
            ("update", "updated"),
            ("overdue", "renewed"),
        ):
            for cluster in range(clusters):
                for node in range(nodes):
                    yield self.event("node", begins, f"c{cluster}/p/n{node}")
                    yield self.event("node", ends, f"c{cluster}/p/n{node}")

    def _any(self, cluster: str, node: str) -> Sent:
        dice = self.random.random()
        if dice < 0.05:
            return self.event(
                "cluster", self.random.choice(("overdue", "renewed", "started", "update", "updated")), cluster
            )
        if dice < 0.12:
            return self.event(
                "node_pool", self.random.choice(("scale", "scaled", "error", "recovered")), f"{cluster}/p"
            )
        if dice < 0.18:
            return self.event(
                "component", self.random.choice(("crash_loop", "recovered", "degraded")), f"{cluster}/dns"
            )
        if dice < 0.20:
            self.number += 1
            return Sent(self.subjects.event("node", "ready", f"{cluster}/p/{node}"), b"\xc1 nonsense", str(self.number))
        trigger = self.random.choice(
            ("not_ready", "ready", "cordon", "uncordon", "overdue", "renewed", "update", "updated", "stop")
        )
        return self.event("node", trigger, f"{cluster}/p/{node}")


async def publish(wire: Wire, events: list[Sent], window: int = 200) -> None:
    """Publish each event until it is acknowledged. The server drops repeats."""
    for start in range(0, len(events), window):
        waiting = events[start : start + window]
        while waiting:
            answers = await asyncio.gather(*(_publish(wire, event) for event in waiting), return_exceptions=True)
            for answer in answers:
                if isinstance(answer, BaseException) and not isinstance(answer, PhaselineError):
                    raise answer
            waiting = [e for e, answer in zip(waiting, answers, strict=True) if isinstance(answer, PhaselineError)]
            if waiting:
                await asyncio.sleep(0.1)


async def _publish(wire: Wire, event: Sent) -> None:
    await wire.publish_acked(event.subject, event.body, {"Nats-Msg-Id": event.message_id})
