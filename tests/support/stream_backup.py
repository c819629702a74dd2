"""Backs a stream up and restores it, as `nats stream backup` and `nats stream restore` do.

Belongs here: the two requests of the JetStream API, and their chunks. Does not: the tests.
"""

import asyncio
from typing import Any, NamedTuple

from phaseline.engine.jetstream.api_reply import read_reply
from phaseline.engine.jetstream.wire import Wire

LIMIT = 60


class Backup(NamedTuple):
    """What a stream held. told: its configuration and state, as the server wants them back."""

    stream: str
    told: dict[str, Any]
    chunks: list[bytes]


async def backed_up(wire: Wire, stream: str) -> Backup:
    """What a stream holds now."""
    inbox, chunks, over = wire.inbox(), list[bytes](), asyncio.Event()

    def take(_: str, data: bytes, __: bytes | None, reply: str) -> None:
        if not data:
            over.set()
            return
        chunks.append(data)
        wire.send(wire.frame(reply, b""))

    sid = await wire.subscribe(inbox, take)
    told = await wire.api(f"STREAM.SNAPSHOT.{stream}", {"deliver_subject": inbox, "no_consumers": True})
    await asyncio.wait_for(over.wait(), LIMIT)
    await wire.unsubscribe(sid)
    return Backup(stream, {"config": told["config"], "state": told["state"]}, chunks)


async def restore(wire: Wire, backup: Backup) -> None:
    """Put a backup in the place of the stream."""
    await wire.api(f"STREAM.DELETE.{backup.stream}")
    where = (await wire.api(f"STREAM.RESTORE.{backup.stream}", backup.told))["deliver_subject"]
    for chunk in backup.chunks:
        await wire.request(where, chunk, timeout=LIMIT)
    read_reply(where, (await wire.request(where, b"", timeout=LIMIT)).data)
