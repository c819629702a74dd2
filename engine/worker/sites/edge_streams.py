"""The streams and consumers of an edge, as JetStream wants them.

Belongs here: their configuration. Does not: making them (`adding`), their names (`edge_names`).

Both consumers are durable and acknowledge what the other side has stored (`flow_control`). So the store gives its
messages up only then. A source with a consumer of its own also comes back sooner: without one, a server that starts
before its leaf nodes are connected waits for 40 s.

A server that was killed finds the position of a source in the last message that it has from there. So the inlet keeps
its last message: it gives up only what `inlet_keeping` removes. Without any, the server would begin with the first
message that the store has not been told about.
"""

from typing import Any

from phaseline.engine.worker.sites.edge_names import TO_EVENTS, TO_HUB, EdgeNames, tree_subjects
from phaseline.schemas.records import SECOND

INLET_BYTES = 256 << 20
"""The most bytes in an inlet. It is nearly empty unless EVENTS takes nothing; then the edge keeps what follows."""
RETENTION = "limits"
"""What an inlet keeps: all that nobody removes. In earlier versions it dropped what EVENTS had, also the last one."""
UNTOLD = 256
"""The most messages that the other side has and the stream has not been told about.

The server asks the other side once there are so many, and after each second without a message. So none is held for
longer than this number of seconds. A larger one lets more messages cross in one round trip: 2,560 a second at 0.1 s.
"""
UNTOLD_INLET = 100_000
"""The same for the inlet, whose messages stay until a worker removes them.

A server that was killed may know a former state of this consumer. It then sends again what EVENTS has, and EVENTS says
nothing about messages that it has had before. So the number must be larger than what the server stores between two
states: with 256 the consumer waited for ever.
"""


def store(names: EdgeNames, trees: tuple[str, ...], max_bytes: int, dedupe_window: float) -> dict[str, Any]:
    """The stream at the edge. It holds an event until the hub has it. If it is full it refuses new ones."""
    return {
        "name": names.store,
        "subjects": tree_subjects(names.prefix, trees),
        "retention": "workqueue",
        "discard": "new",
        "max_bytes": max_bytes,
        "duplicate_window": int(dedupe_window * SECOND),
        "storage": "file",
        "allow_direct": True,
    }


def inlet(names: EdgeNames, events: dict[str, Any]) -> dict[str, Any]:
    """The stream at the hub, without its source. If it is full it takes nothing more. events: EVENTS."""
    return {
        "name": names.inlet,
        "retention": RETENTION,
        "discard": "new",
        "max_bytes": INLET_BYTES,
        "duplicate_window": SECOND // 10,  # the least: the store has told repeats apart, and EVENTS does
        "storage": events["storage"],
        "num_replicas": events["num_replicas"],
        "allow_direct": True,
    }


def store_consumer(names: EdgeNames) -> dict[str, Any]:
    """The consumer of the store. It gives all: the hub does not trust what an edge filters."""
    return _consumer(TO_HUB, names.up, UNTOLD)


def inlet_consumer(names: EdgeNames, trees: tuple[str, ...]) -> dict[str, Any]:
    """The consumer of the inlet: only what is of the edge's trees. This is what keeps others' events out."""
    return {**_consumer(TO_EVENTS, names.down, UNTOLD_INLET), "filter_subjects": tree_subjects(names.prefix, trees)}


def _consumer(name: str, subject: str, untold: int) -> dict[str, Any]:
    return {
        "durable_name": name,
        "deliver_subject": subject,
        "deliver_policy": "all",
        "ack_policy": "flow_control",
        "max_ack_pending": untold,
        "flow_control": True,
        "idle_heartbeat": SECOND,
    }


def store_source(names: EdgeNames) -> dict[str, Any]:
    """The source of the inlet."""
    consumer = {"name": TO_HUB, "deliver_subject": names.up}
    return {"name": names.store, "external": {"api": names.domain_api, "deliver": ""}, "consumer": consumer}


def inlet_source(names: EdgeNames, events: dict[str, Any], account_api: str | None) -> dict[str, Any]:
    """The source of EVENTS. It transforms subjects as the stream itself does. account_api: None in one account."""
    external = {} if account_api is None else {"external": {"api": account_api, "deliver": ""}}
    return {
        "name": names.inlet,
        "consumer": {"name": TO_EVENTS, "deliver_subject": names.down},
        "subject_transforms": [events["subject_transform"]],
        **external,
    }
