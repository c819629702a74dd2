"""The demo scenario: the morning of a small fleet, event by event.

Belongs here: reading the scenario, publishing its events. Does not: showing it (`cli.demo`).
"""

import asyncio
import json
from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from typing import Any

from phaseline.engine.publish.outcomes import Outcome
from phaseline.engine.surfaces.client.client import Client

MORNING = Path(__file__).with_name("morning.jsonl")
"""Also `examples/morning.jsonl`: invented events of several clusters, their consoles, agents and billing."""
WARM_UP = 30.0
"""Seconds that an event may wait for its outcome. The first one waits until a worker has started."""


def scenario(path: Path = MORNING) -> list[dict[str, Any]]:
    """The events of a file of JSON lines, as CloudEvents maps."""
    return [json.loads(line) for line in path.read_text().splitlines() if line.strip()]


async def play(
    client: Client, events: list[dict[str, Any]], pause: float
) -> AsyncIterator[tuple[Mapping[str, Any], Outcome]]:
    """Publish one event after the other, `pause` seconds apart, and yield each with its outcome."""
    for event in events:
        kind, _, trigger = event["type"].partition(".")
        details = {name: event[name] for name in ("source", "sequence", "time") if name in event}
        outcome = await client.publish_and_wait(
            kind,
            trigger,
            event["subject"].partition("/")[2],
            event.get("data"),
            event_id=event["id"],
            timeout=WARM_UP,
            **details,
        )
        yield event, outcome
        await asyncio.sleep(pause)
