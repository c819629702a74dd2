"""Requests and statuses of a reader's consumer: an ephemeral pull consumer without acknowledgements.

Belongs here: the consumer's configuration, the request for messages, the statuses in replies. Does not: sending them
(`reader`).
"""

import json
from collections.abc import Sequence
from functools import cache
from typing import Any

from phaseline.schemas.records import SECOND

BATCH = 1_000
"""Messages in one request, at most."""
EXPIRES = 30
"""Seconds after which the server ends a request."""
HEARTBEAT = 2
"""Seconds without a message after which the server sends a heartbeat."""
INACTIVE = 60
"""Seconds without a request after which the server deletes the consumer."""

IDLE, DELIVERED = "100", "Nats-Last-Consumer"
"""The status of a heartbeat, and its header that says how many messages the consumer has delivered."""
SIZE_EXCEEDED = "Message Size Exceeds MaxBytes"
ENDED = ("Request Timeout", SIZE_EXCEEDED, "Batch Completed")
"""The descriptions of a request's normal end: its time, its bytes or its messages are used up."""


@cache
def pull_request(batch: int, max_bytes: int) -> bytes:
    """The request for the next `batch` messages, with `max_bytes` bytes in total.

    Without this limit the server treats us as a slow consumer and closes the connection of the whole process.
    """
    request = {
        "batch": batch,
        "max_bytes": max_bytes,
        "expires": EXPIRES * SECOND,
        "idle_heartbeat": HEARTBEAT * SECOND,
    }
    return json.dumps(request).encode()


def create_request(stream: str, name: str, filters: Sequence[str], start: int | str, last: int) -> dict[str, Any]:
    """The body of CONSUMER.CREATE. `last`: the sequence of the last message read, or 0. `start`: as for `Reader`."""
    config: dict[str, Any] = {
        "name": name,
        "ack_policy": "none",
        "replay_policy": "instant",
        "inactive_threshold": INACTIVE * SECOND,
        "mem_storage": True,
        "num_replicas": 1,
        "max_waiting": 16,
        **_deliver_policy(start, last),
    }
    if len(filters) == 1:
        config["filter_subject"] = filters[0]
    elif filters:
        config["filter_subjects"] = list(filters)
    return {"stream_name": stream, "config": config, "action": "create"}


def _deliver_policy(start: int | str, last: int) -> dict[str, Any]:
    """The fields that say with which message the consumer starts."""
    if last:
        return {"deliver_policy": "by_start_sequence", "opt_start_seq": last + 1}
    if isinstance(start, int):
        return {"deliver_policy": "by_start_sequence", "opt_start_seq": max(1, start)}
    if start == "start":
        return {"deliver_policy": "all"}
    return {"deliver_policy": "by_start_time", "opt_start_time": start}
