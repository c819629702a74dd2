"""From the changes of a cluster to events, without end: snapshots after each list, heartbeats while it answers.

Belongs here: when snapshots and heartbeats are sent. Does not: what they say (`snapshots`), listing and watching
(`cluster`), publishing.
"""

import asyncio
import time
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Iterable
from functools import partial
from itertools import chain
from typing import Any, NamedTuple, TypeVar

from phaseline.engine.products.observe.cluster import AllSeen, ClusterReport
from phaseline.engine.products.observe.discovery import Resource
from phaseline.engine.products.observe.observer import Observer
from phaseline.engine.products.observe.roots import Known

Event = dict[str, Any]
AGAIN = 600.0
"""Seconds after which the past is asked again: workers may not have decided yet what the last run reported."""
T = TypeVar("T")


class Past(NamedTuple):
    """What can be asked about earlier runs: `Known`, and `IsGone` of each resource."""

    known: Known
    is_gone: Callable[[Resource, str], Awaitable[bool]]


async def events(
    observer: Observer, found: AsyncIterator[ClusterReport], namespace: str | None, *, heartbeat: float, away: set[str],
    past: Past | None = None,
) -> AsyncIterator[Event]:  # fmt: skip
    """The events of a cluster.

    heartbeat: seconds between heartbeats, 0 for none. away: the resources whose server does not answer; while there are
    any, no heartbeat is sent, because nobody looks. past: tells what earlier runs reported; None if nobody can.
    """
    listed: dict[Resource, float] = {}
    """The resources that were listed, and when the past was asked about them last."""
    if past is not None and observer.by_marks:
        await observer.remember(past.known)
    async for one in with_ticks(found, heartbeat):
        if one is None:
            for event in chain(() if away else observer.heartbeats(), observer.unwatched(away)):
                yield event
            for event in observer.overdue():
                yield event
            old = [of for of, asked in listed.items() if time.monotonic() - asked >= AGAIN]
            async for event in _vanished(observer, past, () if away else old, listed):
                yield event
        elif isinstance(one, AllSeen):
            observer.sees_owned = observer.sees_owned and not one.denied
            for event in observer.missing() if one.complete else ():
                yield event
            resource = one.resource
            within = namespace if resource.namespaced else None
            for event in () if one.denied else observer.relisted(*resource.sort, within, whole=one.complete):
                yield event
            async for event in _vanished(observer, past, (resource,), listed):
                yield event
        else:
            for event in observer.see(one):
                yield event


async def _vanished(
    observer: Observer, past: Past | None, resources: Iterable[Resource], listed: dict[Resource, float]
) -> AsyncIterator[Event]:
    """The events of what vanished while nobody looked, of resources that were listed."""
    for resource in resources:
        listed[resource] = time.monotonic()
        if past is not None:
            async for event in observer.vanished(resource.sort, past.known, partial(past.is_gone, resource)):
                yield event


async def with_ticks(
    source: AsyncIterator[T], seconds: float, clock: Callable[[], float] = time.monotonic
) -> AsyncGenerator[T | None, None]:
    """What comes from `source`, and None every so many seconds, whether something comes meanwhile or not."""
    pending = asyncio.ensure_future(anext(source, END))
    due = clock() + seconds
    try:
        while True:
            await asyncio.wait({pending}, timeout=max(0.0, due - clock()) if seconds else None)
            if seconds and clock() >= due:
                due = clock() + seconds
                yield None
            if pending.done():
                found: Any = pending.result()
                if found is END:
                    return
                pending = asyncio.ensure_future(anext(source, END))
                yield found
    finally:
        pending.cancel()
        await asyncio.gather(pending, return_exceptions=True)


END: Any = object()
"""What stands for the end of a source."""
