"""All that makes notices real in one process: a worker of their installation, a notifier, and what sends them.

Belongs here: starting these, and stopping them in order. Does not: options (`surfaces.cli`), what each does.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AsyncExitStack
from functools import partial
from typing import Any, TypeVar

from phaseline.engine import logs
from phaseline.engine.products.notices.events import of_notices
from phaseline.engine.products.notices.fold.rules import Rules
from phaseline.engine.products.notices.notifier import AGAIN, Notifier
from phaseline.engine.products.notices.troubles import OwnTroubles
from phaseline.engine.settings import Settings
from phaseline.engine.surfaces.client.client import Client
from phaseline.engine.worker import system
from phaseline.engine.worker.stopping import unless_stopped
from phaseline.machines.built_in import installed
from phaseline.schemas.errors import NatsUnreachable

Answer = TypeVar("Answer")
Part = Callable[[Settings, Rules, asyncio.Event], Awaitable[None]]
"""Something more that runs beside the notifier, by the settings of the installation of notices, until it is stopped."""
TELLS_CHANGES = frozenset({"nats", "cloudevents", "slack"})
"""The types of receivers that are told changes too: programs, and those that can change a message in place."""

log = logs.get_logger(__name__)


async def run(
    settings: Settings, rules: Rules, stop: asyncio.Event, watch: system.Watch | None = None,
    parts: Sequence[Part] = (), following: Callable[[], None] = lambda: None,
) -> None:  # fmt: skip
    """Tell what `rules` make of the installation of `settings`, until `stop`. Raises the error that ends a part.

    watch: called with the worker. following: called once the notifier has caught up.
    """
    own = of_notices(settings)
    ready, ended = asyncio.Event(), asyncio.Event()
    worker = asyncio.create_task(system.run_worker(own, installed(own.prefix), ended, ready, watch))
    try:
        await _until(ready, worker, stop)
        async with AsyncExitStack() as stack:
            main = await _reached(lambda: stack.enter_async_context(Client.open(settings)), stop)
            notices = await _reached(lambda: stack.enter_async_context(Client.open(own)), stop)
            if main is not None and notices is not None:
                notifier = Notifier(main, notices, settings.prefix, rules, _tells_changes(rules))
                troubles = OwnTroubles(notices, notifier, settings.prefix, rules.receivers)
                works = [notifier.run(stop), troubles.run(stop), _said(notifier, stop, following)]
                works += [_reached(partial(part, own, rules, stop), stop) for part in parts]
                await _all_of(worker, works, stop)
    finally:
        ended.set()
        await worker
    log.info("notifier_stopped")


async def _reached(work: Callable[[], Awaitable[Answer]], stop: asyncio.Event) -> Answer | None:
    """What a work returns that needs the server; begun again while that cannot be reached. None after `stop`."""
    while not stop.is_set():
        try:
            return await work()
        except NatsUnreachable as error:
            log.warning("notify_waits", error=str(error))
            await unless_stopped(asyncio.sleep(AGAIN), stop)
    return None


def _tells_changes(rules: Rules) -> Callable[[str], bool]:
    """Whether a receiver is told changes too."""
    names = {name for name, one in rules.receivers.items() if one.type in TELLS_CHANGES}
    return names.__contains__


async def _until(ready: asyncio.Event, worker: "asyncio.Task[Any]", stop: asyncio.Event) -> None:
    """Wait for the installation, or until `stop`. Raises the error of a worker that ends before that."""
    waiting = [asyncio.create_task(one.wait()) for one in (ready, stop)]
    try:
        await asyncio.wait({*waiting, worker}, return_when=asyncio.FIRST_COMPLETED)
        if worker.done():
            worker.result()
    finally:
        for one in waiting:
            one.cancel()


async def _said(notifier: Notifier, stop: asyncio.Event, following: Callable[[], None]) -> None:
    if await unless_stopped(notifier.is_following.wait(), stop):
        following()


async def _all_of(worker: "asyncio.Task[Any]", works: Sequence[Awaitable[None]], stop: asyncio.Event) -> None:
    """Run all until `stop` and wait for their ends. The first error stops all of them, and is raised."""
    tasks: set[asyncio.Future[Any]] = {worker, *map(asyncio.ensure_future, works)}
    left = tasks
    while left - {worker}:
        done, left = await asyncio.wait(left, return_when=asyncio.FIRST_COMPLETED)
        if any(one.exception() for one in done) or worker in done:
            stop.set()
    for one in tasks - {worker}:
        one.result()
    if worker.done():
        worker.result()
