"""What a reader asks the server for: an ephemeral consumer that starts at the right place.

Belongs here: the consumer's configuration, the request for more, the answers' words. Does not: asking (`reader`).
"""

import json
from collections.abc import Sequence
from typing import Any

from phaseline.schemas.records import SECOND

PULL = 1_000
"""Messages asked for at once."""
EXPIRES = 30
HEARTBEAT = 2
KEEP = 60
"""Seconds after which the server forgets a consumer that nobody pulls from."""

IDLE = "100"
FULL = "Message Size Exceeds MaxBytes"
ENDED = ("Request Timeout", FULL, "Batch Completed")
"""What the status says that ends a request in good order: its time, its bytes or its messages are used up."""


def pull(most: int) -> bytes:
    """The request for the next messages, of `most` bytes in all.

    Without that limit the server takes us for a slow reader, and hangs up on everything that shares the connection.
    """
    request = {
        "batch": PULL,
        "max_bytes": most,
        "expires": EXPIRES * SECOND,
        "idle_heartbeat": HEARTBEAT * SECOND,
    }
    return json.dumps(request).encode()


def config(stream: str, name: str, filters: Sequence[str], start: int | str, last: int) -> dict[str, Any]:
    """The body of CONSUMER.CREATE. `last`: the sequence read last, 0 where nothing was; `start` as `Reader` has it."""
    found: dict[str, Any] = {
        "name": name,
        "ack_policy": "none",
        "replay_policy": "instant",
        "inactive_threshold": KEEP * SECOND,
        "mem_storage": True,
        "num_replicas": 1,
        "max_waiting": 16,
        **_where(start, last),
    }
    if len(filters) == 1:
        found["filter_subject"] = filters[0]
    elif filters:
        found["filter_subjects"] = list(filters)
    return {"stream_name": stream, "config": found, "action": "create"}


def _where(start: int | str, last: int) -> dict[str, Any]:
    if last:
        return {"deliver_policy": "by_start_sequence", "opt_start_seq": last + 1}
    if isinstance(start, int):
        return {"deliver_policy": "by_start_sequence", "opt_start_seq": max(1, start)}
    if start == "start":
        return {"deliver_policy": "all"}
    return {"deliver_policy": "by_start_time", "opt_start_time": start}
