"""Which workers are alive, and whether they know divisions.

Belongs here: asking each worker about itself. Does not: what they own (`publish.backlog`).
"""

import asyncio

from phaseline.engine.log.division.notes import METADATA
from phaseline.engine.log.installation import Installation
from phaseline.engine.publish.living_workers import living
from phaseline.schemas import codec

ASKED = "$SRV.INFO.phaseline"
"""Each worker answers it about itself, by the conventions of NATS services."""
PATIENCE = 3.0
"""Seconds in which a worker that is alive answers. One that does not counts as one that does not know divisions."""


async def alive(installation: Installation) -> tuple[str, ...]:
    """The names of the workers that have a lease."""
    return tuple(sorted(await living(installation.wire, installation.layout)))


async def without_divisions(installation: Installation, names: tuple[str, ...]) -> list[str]:
    """Those of these workers that do not say that they know divisions: they are of an earlier version."""
    wire, missing, heard = installation.wire, set(names), asyncio.Event()

    def take(_: str, data: bytes, __: bytes | None, ___: str) -> None:
        about = _metadata(data)
        if about.get("prefix") == installation.prefix and METADATA in about:
            missing.discard(about.get("worker", ""))
        if not missing:
            heard.set()

    inbox = wire.inbox()
    sid = await wire.subscribe(inbox, take)
    try:
        if missing:
            wire.send(wire.frame(ASKED, b"", None, inbox))
            async with asyncio.timeout(PATIENCE):
                await heard.wait()
    except TimeoutError:
        pass
    finally:
        await wire.unsubscribe(sid)
    return sorted(missing)


def _metadata(data: bytes) -> dict[str, str]:
    """What a service says about itself, as far as it is text; empty if that cannot be read."""
    try:
        found = codec.decode(data).get("metadata")
    except codec.Undecodable:
        return {}
    return {name: said for name, said in found.items() if isinstance(said, str)} if isinstance(found, dict) else {}
