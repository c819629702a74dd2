"""A contender for replay: nodes as aggregates of the `eventsourcing` library, written as in its documentation.

Belongs here: that contender. Does not: timing (`replay`).
Each aggregate is stored and rebuilt by itself, in memory, with the library's default transcoder (JSON). It has no
guards, views, cascades or tallies, and rejects nothing.
"""

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

from eventsourcing.application import Application
from eventsourcing.domain import Aggregate, event

from benchmarks.workload import CLUSTERS, NODES, TROUBLES

if TYPE_CHECKING:
    from uuid import UUID

AFTER = {
    "not_ready": "Failed",
    "ready": "Running",
    "update": "Updating",
    "updated": "Running",
    "overdue": "Failed",
    "renewed": "Running",
}


class Node(Aggregate):
    """A node: its state, its conditions and its last reason."""

    @event("Created")
    def __init__(self, name: str, source: str) -> None:
        self.name, self.source = name, source
        self.state, self.conditions, self.reason, self.message = "Creating", ["Progressing"], "", ""

    @event("Moved")
    def move(self, trigger: str, reason: str, message: str, source: str) -> None:
        """Apply a trigger."""
        self.state = AFTER.get(trigger, self.state)
        if trigger == "cordon":
            self.conditions = [*self.conditions, "Unschedulable"]
        elif trigger == "uncordon":
            self.conditions = [condition for condition in self.conditions if condition != "Unschedulable"]
        self.reason, self.message, self.source = reason, message, source


def stored(count: int) -> Callable[[], Awaitable[None]]:
    """Store about `count` events of all nodes. The measured work is to rebuild every node from them."""
    application: Application[UUID] = Application()
    names = [f"c{cluster}/pool/node-{node}" for cluster in range(CLUSTERS) for node in range(NODES)]
    triggers = [trigger for pair in TROUBLES for trigger in pair]
    ids = []
    for name in names:
        node = Node(name, "/agent")
        for number in range(count // len(names) - 1):
            node.move(triggers[number % len(triggers)], "KubeletStatus", "the kubelet says so", "/agent")
        application.save(node)
        ids.append(node.id)

    async def rebuild() -> None:
        for found in ids:
            application.repository.get(found)

    return rebuild
