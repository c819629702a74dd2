"""The sources of EVENTS: whose events it takes. Edges are added and removed one at a time.

Belongs here: changing the list, and the lock for it. Does not: what a source looks like (`edge_streams`), the other
steps (`adding`).
The server has no update that depends on what was read before. So whoever changes the list holds a lock: a consumer of
EVENTS that nobody reads. Only one can be made, and the server deletes it if its owner is killed. In a cluster that
server may be killed too; then whoever waits deletes it, once nobody can hold it any more.
"""

import asyncio
import secrets
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Any

from phaseline.engine.nats.streams import Layout
from phaseline.engine.nats.wire import Wire
from phaseline.schemas.errors import ApiFailed, NoAnswer, SetupError
from phaseline.schemas.records import SECOND

LOCK = "phaseline-edges"
CONSUMER_EXISTS = 10148
LONGEST = 10
"""Seconds after which the server deletes the lock of somebody who was killed. So nobody has it for longer."""
DEAD = 1.5 * LONGEST
"""Seconds after which a lock that is still the same is one that its server cannot delete."""
PATIENCE = 3 * LONGEST
"""Seconds to wait for the lock."""
PAUSE = 0.1
TRIES = 20
"""How often a change is tried where programs without the lock change the stream at the same time."""


async def take_in(
    wire: Wire, layout: Layout, source: dict[str, Any] | None, without: str = "", note: dict[str, str] | None = None
) -> bool:
    """Let EVENTS have this source, and none of the stream `without`. Returns whether anything was changed.

    note: metadata that EVENTS gets with the change.
    An update writes the whole configuration, so one that another program makes at the same time may undo ours.
    """
    changed = False
    async with locked(wire, layout.events):
        for _ in range(TRIES):
            config = (await wire.api(f"STREAM.INFO.{layout.events}"))["config"]
            sources = config.get("sources") or []
            name = without if source is None else source["name"]
            others = [one for one in sources if one["name"] != name]
            wanted = [*others, *([] if source is None else [source])]
            if len(wanted) == len(sources) and has_sources(wanted, sources):
                return changed
            metadata = {**(config.get("metadata") or {}), **(note or {})}
            await wire.api(f"STREAM.UPDATE.{layout.events}", {**config, "sources": wanted, "metadata": metadata})
            changed = True
    problem = "other programs change its sources again and again"
    raise SetupError.streams_differ(stream=layout.events, difference=problem, way_out="try again once they have ended")


def has_sources(wanted: list[dict[str, Any]], found: list[dict[str, Any]] | None) -> bool:
    """Whether all wanted sources are there. The server may add fields of its own."""
    by_name = {one["name"]: one for one in found or ()}
    return all(one["name"] in by_name and {**by_name[one["name"]], **one} == by_name[one["name"]] for one in wanted)


@asynccontextmanager
async def locked(wire: Wire, stream: str) -> AsyncIterator[None]:
    """Nobody else adds or removes an edge meanwhile."""
    own = secrets.token_hex(8)
    config = {
        "name": LOCK, "ack_policy": "none", "deliver_policy": "new", "mem_storage": True, "num_replicas": 1,
        "inactive_threshold": LONGEST * SECOND, "metadata": {"phaseline_by": own},
    }  # fmt: skip
    wanted = {"stream_name": stream, "config": config, "action": "create"}
    began, first = time.monotonic(), ""
    while not await _made(wire, stream, wanted):
        waited = time.monotonic() - began
        first = first or await _holder(wire, stream)
        if waited > PATIENCE:
            problem = f"its consumer {LOCK} stays, with which another program adds or removes an edge"
            raise SetupError.streams_differ(stream=stream, difference=problem, way_out="try again once that has ended")
        if waited > DEAD and await _holder(wire, stream) == first:
            await _delete(wire, stream)
        await asyncio.sleep(PAUSE)
    try:
        yield
    finally:
        if await _holder(wire, stream) == own:  # after LONGEST it may be another's
            await _delete(wire, stream)  # it would end by itself


async def _made(wire: Wire, stream: str, wanted: dict[str, Any]) -> bool:
    """Make the lock; False if somebody else has it."""
    try:
        await wire.api(f"CONSUMER.CREATE.{stream}.{LOCK}", wanted)
    except ApiFailed as error:
        if error.err_code != CONSUMER_EXISTS:
            raise
        return False
    return True


async def _holder(wire: Wire, stream: str) -> str:
    """Who has the lock: a word of their own; `unknown` if the server of the lock is away."""
    try:
        return str((await wire.api(f"CONSUMER.INFO.{stream}.{LOCK}"))["config"]["metadata"]["phaseline_by"])
    except (ApiFailed, NoAnswer):
        return "unknown"


async def _delete(wire: Wire, stream: str) -> None:
    with suppress(ApiFailed, NoAnswer):
        await wire.api(f"CONSUMER.DELETE.{stream}.{LOCK}")
