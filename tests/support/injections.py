"""Injections: messages that the server stores at the reply subject of a request, whoever may publish there.

Belongs here: the requests. Does not: what must follow from them (`tests/nats/test_foreign_messages.py`).
"""

import json
from collections.abc import Callable
from functools import partial
from typing import NamedTuple

from phaseline.engine.nats.streams import Layout
from phaseline.engine.nats.wire import Wire

AT = {
    "checkpoint": "mark.0.transition.checkpoint.-.-.-",
    "mark": "mark.0.transition.mark.-.-.node.c0.p.n0",
    "transition": "log.0.transition.node.phase.Running.c0.p.n0",
    "transition of another state": "log.0.transition.node.main.Running.c0.p.n1",
    "transition of nothing": "log.0.transition.node.phase.Running.c9.p.n9",
    "transition of no kind": "log.0.transition.bogus.x.y.z",
    "rejection": "log.0.rejection.node.guard.c0.p.n0",
    "tables": "tables.0",
    "plan": "plan.0.0",
    "timer": "timer.0.node.phase.c0.p.n0",
    "fired": "fired.c0.node.ready.p.n0",
    "lease of the partition": "lease.partition.0",
    "lease of a worker": "lease.worker.x",
}
"""Subjects without the prefix, by what they are for."""

AT_NOTES = {
    "archive": "tables.archived",
    "purge": "tables.0.purged",
    "loss": "log.0.loss.events",
    "copy in JSON": "log.0.json.transition.node.phase.Running.c0.p.n0",
    "number of partitions": "tables.divisions",
    "checkpoint of no partition": "mark.1000.transition.checkpoint.-.-.-",
    "record of no partition": "log.1000.rejection.node.guard.c0.p.n0",
    "tables of no partition": "tables.1000",
}
"""The same, of what archives and purges write, and of what an earlier version wrote."""


class Injection(NamedTuple):
    """A request to `subject` whose answer the server stores at `reply`."""

    subject: str
    body: bytes
    reply: str


def acknowledgement(layout: Layout, reply: str) -> Injection:
    """An event whose acknowledgement goes to `reply`."""
    return Injection(f"{layout.prefix}.events.c0.cluster.create", b"{}", f"{layout.prefix}.{reply}")


def copy(layout: Layout, role: str, stored_at: str, reply: str) -> Injection:
    """A direct get of the last message at `stored_at` in the stream of that role, whose answer goes to `reply`."""
    wanted = {"last_by_subj": f"{layout.prefix}.{stored_at}"}
    return Injection(
        f"$JS.API.DIRECT.GET.{getattr(layout, role)}", json.dumps(wanted).encode(), f"{layout.prefix}.{reply}"
    )


Copy = Callable[[Layout], Injection]
COPIES: dict[str, Copy] = {
    "a state as another entity's": partial(
        copy, role="state", stored_at="state.0.node.c0.p.n1", reply=AT["transition"]
    ),
    "a state as a checkpoint": partial(copy, role="state", stored_at="state.0.node.c0.p.n1", reply=AT["checkpoint"]),
    "a state as a note": partial(copy, role="state", stored_at="state.0.node.c0.p.n1", reply=AT["tables"]),
    "a state as a lease": partial(
        copy, role="state", stored_at="state.0.node.c0.p.n1", reply=AT["lease of the partition"]
    ),
    "a checkpoint as a checkpoint": partial(
        copy, role="state", stored_at="state.0.checkpoint.-", reply=AT["checkpoint"]
    ),
    "a checkpoint of LOG": partial(copy, role="log", stored_at=AT["checkpoint"], reply=AT["checkpoint"]),
    "a checkpoint as a state": partial(
        copy, role="state", stored_at="state.0.checkpoint.-", reply=AT["transition of nothing"]
    ),
    "a record as another": partial(
        copy, role="log", stored_at="log.0.transition.node.*.*.c0.p.n1", reply=AT["transition"]
    ),
    "a note as a note": partial(copy, role="log", stored_at=AT["tables"], reply=AT["tables"]),
    "a note as a checkpoint": partial(copy, role="log", stored_at=AT["tables"], reply=AT["checkpoint"]),
    "nothing as a checkpoint": partial(copy, role="log", stored_at="log.9.nothing", reply=AT["checkpoint"]),
    "an event as a checkpoint": partial(copy, role="events", stored_at="inbox.0.c0.>", reply=AT["checkpoint"]),
    "an event as a record": partial(copy, role="events", stored_at="inbox.0.c0.>", reply=AT["transition"]),
    "a worker as a lease": partial(copy, role="lease", stored_at="lease.worker.*", reply=AT["lease of the partition"]),
    "a worker as another": partial(copy, role="lease", stored_at="lease.worker.*", reply=AT["lease of a worker"]),
}
"""Copies of stored messages, by what is copied to where."""

NOTES: list[Copy] = [
    *(partial(acknowledgement, reply=reply) for reply in AT_NOTES.values()),
    *(
        partial(copy, role=role, stored_at=stored_at, reply=reply)
        for reply in AT_NOTES.values()
        for role, stored_at in (
            ("state", "state.0.checkpoint.-"), ("log", AT["tables"]), ("log", "tables.*.>"), ("log", "log.9.nothing"),
        )
    ),
]  # fmt: skip
"""Acknowledgements and copies of stored messages at all of `AT_NOTES`."""
INJECTIONS: dict[str, Copy] = {
    **{f"acknowledgement as {what}": partial(acknowledgement, reply=reply) for what, reply in AT.items()},
    **COPIES,
}


async def inject(wire: Wire, injection: Injection, times: int = 2) -> None:
    """Send a request some times."""
    for _ in range(times):
        wire.send(wire.frame(injection.subject, injection.body, None, injection.reply))
    await wire.flush()
