"""An installation whose notices are told: a worker of the installation of notices, and a notifier, while a block runs.

Belongs here: starting both, waiting for what they store, and what their tests take from the engine. Does not: the
tests.
"""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from typing import Any

from phaseline.engine.nats.wire import Wire
from phaseline.engine.products.notices import running
from phaseline.engine.products.notices.events import events_of, of_notices
from phaseline.engine.products.notices.fold import read_rules
from phaseline.engine.products.notices.fold.fold import Fold
from phaseline.engine.products.notices.fold.grouping import named
from phaseline.engine.products.notices.fold.rules import Receiver, Rules
from phaseline.engine.products.notices.notifier import Notifier
from phaseline.engine.products.notices.past import tried
from phaseline.engine.products.notices.sending.counts import DeliveryCounts
from phaseline.engine.products.notices.sending.sender import sending
from phaseline.engine.settings import Settings
from phaseline.engine.surfaces.client.client import Client
from phaseline.machines.built_in import installed
from phaseline.schemas.errors import EntityUnknown, NatsUnreachable
from phaseline.schemas.records import Transition
from tests.support.installation import at_work
from tests.support.patience import wait_for

__all__ = [
    "DeliveryCounts", "Notifier", "Receiver", "named", "of_notices", "read_rules", "running", "sending", "tried",
]  # fmt: skip

ROLES = ("STATE", "LIVE", "EVENTS", "LEASE", "LOG")


@asynccontextmanager
async def notices_of(settings: Settings, partitions: int = 2) -> AsyncIterator[Client]:
    """A client of the installation of notices, with a worker that works on it."""
    own = replace(of_notices(settings), partitions=partitions)
    async with Wire.open(own, name="test") as wire:
        async with at_work(own, wire, installed(own.prefix)), Client.open(own, source="/test") as client:
            yield client
        with suppress(NatsUnreachable, RuntimeError):
            for role in ROLES:
                wire.publish(wire.api_subject(f"STREAM.DELETE.{own.stream(role)}"), b"")


@asynccontextmanager
async def notifying(main: Client, notices: Client, rules: Rules | str) -> AsyncIterator[Notifier]:
    """A notifier at work, that has caught up once."""
    rules = read_rules.read(rules, main.kinds) if isinstance(rules, str) else rules
    notifier, stop = Notifier(main, notices, prefix_of(main), rules, lambda _: False), asyncio.Event()
    running = asyncio.create_task(notifier.run(stop))
    try:
        following = asyncio.create_task(notifier.is_following.wait())
        await asyncio.wait({following, running}, return_when=asyncio.FIRST_COMPLETED)
        following.cancel()
        if running.done():
            running.result()
        yield notifier
    finally:
        stop.set()
        await running


def prefix_of(client: Client) -> str:
    return client._session.settings.prefix


async def until(notices: Client, notice: str, fits: Callable[[Transition], bool], kind: str = "notice") -> Transition:
    """The record of a notice, or a delivery, once it fits."""
    found: list[Transition] = []

    async def is_so() -> bool:
        with suppress(EntityUnknown):
            found[:] = [await notices.last(kind, notice)]
        return bool(found) and fits(found[0])

    async def moved() -> object:
        return found[0].entity.version if found else 0

    await wait_for(is_so, moved)
    return found[0]


def is_in(phase: str) -> Callable[[Transition], bool]:
    """Whether an entity is in a phase."""
    return lambda record: record.entity.facets[0].state.phase == phase


async def records_of(client: Client, kind: str) -> list[Transition]:
    """All transitions of a kind that the notifier led to."""
    async with client.watch(kind, start="start", follow=False) as watch:
        return [record async for record in watch if record.cause.source == "/phaseline/notifier"]


async def replayed(
    main: Client, rules: Rules, after: int, kind: str = "notice"
) -> list[tuple[str, str, dict[str, Any]]]:  # fmt: skip
    """What a replay of the log stores of its notices, or deliveries: the id, the trigger and the data of each event."""
    fold, identity = Fold(main.kinds, rules), await main.log_identity()
    view = await main.at(after)
    events = fold.know(after, [record async for record in view.unsorted(deleted=True)], lambda _: False)
    async with main.watch(start=after + 1, rejections=True, follow=False) as watch:
        while some := await watch.batch():
            for one in some:
                events += fold.take(one.sequence, one.record)
    events += fold.advance(2**62)
    made = (each for one in events for each in events_of(one, identity))
    found = ((str(one.subject).partition("/"), one.type.partition("."), dict(one.data or {})) for one in made)
    return [(name, trigger, data) for (_, _, name), (own, _, trigger), data in found if own == kind]
