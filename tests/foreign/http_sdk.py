"""The CloudEvents SDK for Python: sends to the HTTP server in both modes, and reads the records as CloudEvents.

Argument: the URL of the server. Prints the records that it read as JSON.
"""

import json
import sys
from collections.abc import Callable
from typing import Any
from urllib.request import Request, urlopen

from cloudevents.core.bindings import http
from cloudevents.core.v1.event import CloudEvent


def main(url: str) -> None:
    """Send two events, wait for their outcomes, and read the two records."""
    modes: dict[str, Callable[..., http.HTTPMessage]] = {
        "binary": http.to_binary_event,
        "structured": http.to_structured_event,
    }
    last = 0
    for cluster, pack in modes.items():
        attributes = {
            "source": "/cloudevents.py", "type": "cluster.adopt", "subject": f"cluster/{cluster}",
            "traceparent": f"00-{cluster}", "datacontenttype": "application/json",
        }  # fmt: skip
        message = pack(CloudEvent(attributes, {"phase": "Running", "message": f"adopted by {cluster} \u8d26"}))
        headers = {**message.headers, "Prefer": "wait=60"}
        with urlopen(Request(f"{url}/v1/events", data=message.body, headers=headers, method="POST")) as answer:
            last = json.load(answer)["last"]
    asked = Request(f"{url}/v1/transitions?from=1&to={last}", headers={"Accept": "application/cloudevents-batch+json"})
    with urlopen(asked) as answer:
        batch = json.load(answer)
    found: list[dict[str, Any]] = []
    for one in batch:
        headers = {"content-type": "application/cloudevents+json"}
        event = http.from_http_event(http.HTTPMessage(headers=headers, body=json.dumps(one).encode()))
        found.append({"type": event.get_type(), "source": event.get_source(), "data": event.get_data()})
    print(json.dumps(found))


main(*sys.argv[1:])
