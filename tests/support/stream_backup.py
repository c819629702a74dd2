"""Backs a stream up and restores it, as `nats stream backup` and `nats stream restore` do.

Belongs here: the two requests of the JetStream API, and their chunks. Does not: the tests.
"""

import asyncio
import base64
import json
from pathlib import Path
from typing import Any, NamedTuple

import zstandard

from phaseline.engine.nats.api_reply import read_reply
from phaseline.engine.nats.wire import Wire

LIMIT = 60
COPIES = ("STATE", "LIVE")
"""The ends of the names of streams that copy others."""


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
        if reply:  # small ones want no answer
            wire.send(wire.frame(reply, b""))

    sid = await wire.subscribe(inbox, take)
    told = await wire.api(f"STREAM.SNAPSHOT.{stream}", {"deliver_subject": inbox, "no_consumers": True})
    await asyncio.wait_for(over.wait(), LIMIT)
    await wire.unsubscribe(sid)
    return Backup(stream, {"config": told["config"], "state": told["state"]}, chunks)


def read(path: Path) -> list[Backup]:
    """The backups in a file that `record_logs` wrote, in the order in which streams follow each other."""
    with zstandard.open(path) as file:
        found = json.load(file)
    kept = [
        Backup(one["stream"], {"config": one["config"], "state": one["state"]}, [*map(base64.b64decode, one["chunks"])])
        for one in found
    ]
    return sorted(kept, key=lambda one: one.stream.endswith(COPIES))


async def restore(wire: Wire, backup: Backup) -> None:
    """Put a backup in the place of the stream."""
    await wire.api(f"STREAM.DELETE.{backup.stream}")
    await put(wire, backup)


async def put(wire: Wire, backup: Backup) -> None:
    """Make the stream of a backup."""
    where = (await wire.api(f"STREAM.RESTORE.{backup.stream}", backup.told))["deliver_subject"]
    for chunk in backup.chunks:
        await wire.request(where, chunk, timeout=LIMIT)
    read_reply(where, (await wire.request(where, b"", timeout=LIMIT)).data)
