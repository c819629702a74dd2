"""A sender of notices at work, and what the notifier would store for it.

Belongs here: starting one, notices and their deliveries, waiting for what becomes of them. Does not: receivers
(`odd_receivers`), the tests.
"""

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

from phaseline.engine.products.notices.fold.rules import Receiver
from phaseline.engine.products.notices.sending.counts import DeliveryCounts
from phaseline.engine.products.notices.sending.sender import sending
from phaseline.engine.settings import Settings
from phaseline.engine.surfaces.client.client import Client
from phaseline.machines.built_in import installed
from phaseline.schemas.records import SECOND, Entity, timestamp
from tests.support.odd_receivers import OddReceiver

LIMIT = 120
KINDS = installed("x-notices")


def web(name: str, found: OddReceiver, **options: Any) -> Receiver:
    """A receiver by webhook."""
    return Receiver(name, "webhook", {"url": found.url, "allow-private": True, "timeout": "30s", **options})


@asynccontextmanager
async def at_send(settings: Settings, *receivers: Receiver) -> AsyncIterator[DeliveryCounts]:
    """A sender at work."""
    counts, stop = DeliveryCounts(), asyncio.Event()
    running = asyncio.create_task(sending(settings, {one.name: one for one in receivers}, counts, stop))
    try:
        yield counts
    finally:
        stop.set()
        await running


def data(now: int, **more: Any) -> dict[str, Any]:
    """What a notice says that opened at a time, ns."""
    return {
        "severity": "critical", "about": "node/c1/p/n1", "state": "{NotReady,[]}", "number": 1, "most": 1,
        "since": timestamp(now), "opened": timestamp(now), "due": timestamp(now), "names": ["node/c1/p/n1"], "ended": "",
        "ended_as": "", **more,
    }  # fmt: skip


async def began(client: Client, notice: str, *to: str, ago: float = 0) -> int:
    """A notice opens, so many seconds ago, and is to be told to these. Returns when."""
    now = (await client.at("now")).now_ns - round(ago * SECOND)
    await client.publish_and_wait("notice", "opened", notice, data(now), timeout=LIMIT)
    for name in to:
        await queued(client, f"{notice}/{name}", "begin", now)
    return now


async def ended(client: Client, notice: str, now: int, *to: str) -> None:
    """A notice ends a second after it opened, which these are told."""
    over = data(now, number=0, ended=timestamp(now + SECOND), ended_as="good", due=timestamp(now + SECOND))
    await client.publish_and_wait("notice", "closed", notice, over, timeout=LIMIT)
    for name in to:
        await queued(client, f"{notice}/{name}", "end", now)


async def queued(client: Client, delivery: str, word: str, opened: int) -> None:
    """Something is to be told of a notice that opened at a time, ns."""
    said = {"word": word, "opened": timestamp(opened)}
    await client.publish_and_wait("delivery", "queued", delivery, said, timeout=LIMIT)


async def until(client: Client, delivery: str, phase: str, **attributes: Any) -> Entity:
    """The delivery, once it is in a phase."""
    async with asyncio.timeout(LIMIT):
        async with client.watch("delivery", tree=delivery, start="start") as watch:
            async for record in watch:
                found: Mapping[str, Any] = record.entity.attributes
                if record.after.phase == phase and all(found.get(name) == one for name, one in attributes.items()):
                    return record.entity
    raise AssertionError(delivery)
