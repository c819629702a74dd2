"""The sources of EVENTS: whose events it takes. Edges are added and removed one at a time.

Belongs here: changing the list, and the lock for it. Does not: what a source looks like (`edge_streams`), the other
steps (`adding`).
The server has no update that depends on what was read before. So whoever changes the list holds a lock: a consumer of
EVENTS that nobody reads. Only one can be made, and the server deletes it if its owner is killed.
"""

import asyncio
import secrets
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Any

from phaseline.engine.errors import ApiFailed, NoAnswer, StreamsDiffer
from phaseline.engine.jetstream.streams import Layout
from phaseline.engine.jetstream.wire import Wire
from phaseline.schemas.records import SECOND

LOCK = "phaseline-edges"
CONSUMER_EXISTS = 10148
LONGEST = 10
"""Seconds after which the server deletes the lock of somebody who was killed."""
PATIENCE = 3 * LONGEST
"""Seconds to wait for the lock."""
PAUSE = 0.1
TRIES = 20
"""How often a change is tried where programs without the lock change the stream at the same time."""


async def take_in(wire: Wire, layout: Layout, source: dict[str, Any] | None, without: str = "") -> bool:
    """Let EVENTS have this source, and none of the stream `without`. Returns whether anything was changed.

    An update writes the whole configuration, so one that another program makes at the same time may undo ours.
    """
    changed = False
    async with _locked(wire, layout.events):
        for _ in range(TRIES):
            config = (await wire.api(f"STREAM.INFO.{layout.events}"))["config"]
            sources = config.get("sources") or []
            name = without if source is None else source["name"]
            others = [one for one in sources if one["name"] != name]
            wanted = [*others, *([] if source is None else [source])]
            if len(wanted) == len(sources) and has(wanted, sources):
                return changed
            await wire.api(f"STREAM.UPDATE.{layout.events}", {**config, "sources": wanted})
            changed = True
    problem = "other programs change its sources again and again"
    raise StreamsDiffer(stream=layout.events, difference=problem, way_out="try again once they have ended")


def has(wanted: list[dict[str, Any]], found: list[dict[str, Any]] | None) -> bool:
    """Whether all wanted sources are there. The server may add fields of its own."""
    by_name = {one["name"]: one for one in found or ()}
    return all(one["name"] in by_name and {**by_name[one["name"]], **one} == by_name[one["name"]] for one in wanted)


@asynccontextmanager
async def _locked(wire: Wire, stream: str) -> AsyncIterator[None]:
    """Nobody else adds or removes an edge meanwhile."""
    config = {
        "name": LOCK, "ack_policy": "none", "deliver_policy": "new", "mem_storage": True, "num_replicas": 1,
        "inactive_threshold": LONGEST * SECOND, "metadata": {"phaseline_by": secrets.token_hex(8)},
    }  # fmt: skip
    wanted = {"stream_name": stream, "config": config, "action": "create"}
    limit = time.monotonic() + PATIENCE
    while True:
        try:
            await wire.api(f"CONSUMER.CREATE.{stream}.{LOCK}", wanted)
            break
        except ApiFailed as error:
            if error.err_code != CONSUMER_EXISTS:
                raise
            if time.monotonic() > limit:
                problem = f"its consumer {LOCK} stays, with which another program adds or removes an edge"
                way_out = "try again once that has ended"
                raise StreamsDiffer(stream=stream, difference=problem, way_out=way_out) from None
        await asyncio.sleep(PAUSE)
    try:
        yield
    finally:
        with suppress(ApiFailed, NoAnswer):  # it would end by itself
            await wire.api(f"CONSUMER.DELETE.{stream}.{LOCK}")
