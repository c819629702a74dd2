"""What users of the accounts can send: all requests of each, and the subjects that are not theirs.

Belongs here: literal lists, and how full the streams are. Does not: who may do what (`tests/nats/test_accounts.py`).
"""

import json

from phaseline.engine.nats.wire import Wire

INTERNAL = [
    "pl.mark.0.transition.checkpoint.-.-.-",
    "pl.mark.0.transition.mark.-.-.cluster.c1",
    "pl.log.0.transition.cluster.phase.Running.c1",
    "pl.log.0.rejection.cluster.illegal.c1",
    "pl.plan.0.0",
    "pl.log.0.loss.events",
    "pl.log.0.json.transition.cluster.phase.Running.c1",
    "pl.tables.0",
    "pl.tables.0.purged",
    "pl.tables.archived",
    "pl.tables.operated",
    "pl.timer.0.cluster.phase.c1",
    "pl.fired.c1.cluster.created",
    "pl.lease.worker.w1",
    "pl.lease.partition.0",
    "pl.owner.0.c1",
    "pl.owner.0",
    "pl.owner.workers",
    "pl.inbox.0.c1.cluster.create",
    "pl.due.0.c1.cluster.created",
    "pl.state.0.cluster.c1",
    "pl.live.0.c1",
    "pl.transition.cluster.phase.Failed.c1",
    "pl.rejection.cluster.illegal.c1",
    "pl.loss.events",
    "pl.json.transition.cluster.phase.Failed.c1",
    "pl.edge.c1.up",
    "pl.edge.c1.up.S.x",
    "pl.edge.c1.down.S.x",
    "pl.edge.c1.api.STREAM.DELETE.pl-INLET-c1",
    "pl.edge.c1.far.STREAM.DELETE.pl-EDGE",
    "$JS.API.STREAM.DELETE.pl-LOG",
    "$JS.API.STREAM.DELETE.pl-EVENTS",
    "$JS.API.STREAM.PURGE.pl-LOG",
    "$JS.API.STREAM.PURGE.pl-STATE",
    "$JS.API.STREAM.MSG.DELETE.pl-LOG",
    "$JS.API.STREAM.UPDATE.pl-LOG",
    "$JS.API.STREAM.CREATE.pl-MORE",
    "$JS.API.STREAM.LEADER.STEPDOWN.pl-LOG",
    "$JS.API.CONSUMER.CREATE.pl-LOG.c",
    "$JS.API.CONSUMER.DURABLE.CREATE.pl-LOG.c",
    "$JS.ACK.pl-LOG.c.1.1.1.1.0",
    "$JS.FC.pl-INLET-c1.c",
    "$JS.pl-edge-c1.API.STREAM.DELETE.pl-EDGE",
    "$SRV.INFO.phaseline",
]
OTHER_TREES = [
    "pl.events.c2.cluster.create", "pl.events.c2.node.created.p.n1", "pl.events.c1.~.ann.cluster.create",
    "pl.events.c1.~.tree-c1.node.created.p.n1",
]  # fmt: skip
"""Those of other trees, and of the own tree in somebody's name."""

EVENT = json.dumps({"specversion": "1.0", "id": "1", "source": "/x", "type": "cluster.update"}).encode()
STREAM = {"seq": 1, "next_by_subj": ">", "batch": 3}
REQUESTS: dict[str, list[tuple[str, bytes]]] = {
    "tree-c1": [("pl.events.c1.cluster.update", EVENT)],
    "reader": [
        *((f"pl.read.STREAM.INFO.pl-{name}", b"") for name in ("EVENTS", "LOG", "STATE")),
        *(
            (f"pl.read.STREAM.MSG.GET.pl-{name}", b'{"seq":1,"next_by_subj":">"}')
            for name in ("EVENTS", "LOG", "STATE")
        ),
        *((f"pl.read.DIRECT.GET.pl-{name}", json.dumps(STREAM).encode()) for name in ("EVENTS", "LOG", "STATE")),
        # An answer without a body is a whole request to some calls of the API.
        *((f"pl.read.DIRECT.GET.pl-{name}", b'{"last_by_subj":"none"}') for name in ("EVENTS", "LOG", "STATE")),
        ("pl.read.DIRECT.GET.pl-STATE.pl.state.1.cluster.c1", b""),
        ("pl.read.DIRECT.GET.pl-LIVE.pl.live.1.c1", b""),
        ("pl.status.c1", b""),
        ("pl.status.backlog.0", b""),
    ],
    "watcher": [],
}
"""All requests that a user outside the engine's account may make."""


async def sizes(wire: Wire) -> dict[str, int]:
    """The last sequence of each stream."""
    found = {}
    for name in ("EVENTS", "LOG", "STATE", "LIVE", "LEASE"):
        found[f"pl-{name}"] = int((await wire.api(f"STREAM.INFO.pl-{name}"))["state"]["last_seq"])
    return found
