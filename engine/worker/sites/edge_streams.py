"""The streams of an edge, as JetStream wants them.

Belongs here: their configuration, and the sources between them. Does not: making them (`adding`), their names
(`edge_names`).

The server makes the consumers of both sources, each time under a subject of its own. A durable consumer that we make,
with one subject for ever, is not safe: the server of the other side may send on that subject while nobody stores what
comes, and the confirmation that follows counts it as stored (docs/decisions/18-sources-of-edges.md).

A store is a work queue. So the server confirms what the inlet has, and only then the store gives it up.

A server that was killed finds the position of a source in the last message that it has from there. So the inlet keeps
its last message: it gives up only what `inlet_keeping` removes. Without any, the server would begin with the first
message that the store has not been told about.
"""

from typing import Any

from phaseline.engine.worker.sites.edge_names import EdgeNames, inbox_subject, tree_subjects, trees_of
from phaseline.schemas.records import SECOND

INLET_BYTES = 256 << 20
"""The most bytes in an inlet. It is nearly empty unless EVENTS takes nothing; then the edge keeps what follows."""
RETENTION = "limits"
"""What an inlet keeps: all that nobody removes. In earlier versions it dropped what EVENTS had, also the last one."""
UNTOLD = 1_000
"""The most messages that the hub has and a store has not been told about. The server fixes it.

It asks the hub once there are so many, and after each second without a message. So none is held for longer than this
number of seconds.
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


def store_source(names: EdgeNames) -> dict[str, Any]:
    """The source of the inlet. It takes all: the hub does not trust what an edge filters.

    Both sources say to begin with the first message. Where a stream has no copy from there, and its own first messages
    are gone, the server would skip what came before its last message.
    """
    external = {"api": names.domain_api, "deliver": names.up}
    return {"name": names.store, "opt_start_seq": 1, "external": external}


def inlet_source(names: EdgeNames, trees: tuple[str, ...], partitions: int, account_api: str | None) -> dict[str, Any]:
    """The source of EVENTS: only what is of the edge's trees. This is what keeps others' events out.

    It gives an event the subject that EVENTS would give it. account_api: None in one account.
    """
    external = {} if account_api is None else {"external": {"api": account_api, "deliver": names.down}}
    return {
        "name": names.inlet,
        "opt_start_seq": 1,
        "subject_transforms": [
            {"src": source, "dest": inbox_subject(names.prefix, source, partitions)}
            for source in tree_subjects(names.prefix, trees)
        ],
        **external,
    }


def trees_taken(prefix: str, source: dict[str, Any]) -> tuple[str, ...]:
    """The trees whose events EVENTS takes from an inlet; none if an earlier version has made its source."""
    return () if is_former(source) else trees_of(prefix, [one["src"] for one in source.get("subject_transforms") or ()])


def is_former(source: dict[str, Any]) -> bool:
    """Whether an earlier version has made a source: with a consumer of ours."""
    return "consumer" in source
