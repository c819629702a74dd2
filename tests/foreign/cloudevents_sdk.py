"""The CloudEvents SDK for Python: publishes in both modes, and reads the records as CloudEvents.

Arguments: the URL of the server, the prefix of the installation. Prints the records that it read as JSON.
"""

import asyncio
import json
import sys
from collections.abc import Callable
from typing import Any

import nats
from cloudevents.core.bindings import http
from cloudevents.core.v1.event import CloudEvent


async def main(url: str, prefix: str) -> None:
    """Publish two events, and read the two records."""
    client = await nats.connect(url)
    feed = await client.subscribe(f"{prefix}.transition.>", max_msgs=2)
    modes: dict[str, Callable[..., http.HTTPMessage]] = {
        "binary": http.to_binary_event,
        "structured": http.to_structured_event,
    }
    for cluster, pack in modes.items():
        attributes = {"source": "/cloudevents.py", "type": "cluster.adopt", "traceparent": f"00-{cluster}"}
        message = pack(CloudEvent(attributes, {"phase": "Running", "message": f"adopted by {cluster} \u8d26"}))
        subject = f"{prefix}.events.{cluster}.cluster.adopt"
        await client.request(subject, message.body, headers=message.headers, timeout=5)
    found: list[dict[str, Any]] = []
    async for message in feed.messages:
        event = http.from_http_event(http.HTTPMessage(headers=message.headers, body=message.data))
        found.append({"type": event.get_type(), "source": event.get_source(), "data": event.get_data()})
    print(json.dumps(found))
    await client.close()


asyncio.run(main(*sys.argv[1:]))
