"""From the changes of a cluster to events, without end: snapshots after each list, heartbeats while it answers.

Belongs here: when snapshots and heartbeats are sent. Does not: what they say (`snapshots`), listing and watching
(`cluster`), publishing.
"""

import asyncio
import time
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from typing import Any, TypeVar

from phaseline.engine.observe.cluster import Found, Listed
from phaseline.engine.observe.observer import Observer

Event = dict[str, Any]
T = TypeVar("T")


async def events(
    observer: Observer, found: AsyncIterator[Found], namespace: str | None, *, heartbeat: float, away: set[str]
) -> AsyncIterator[Event]:
    """The events of a cluster.

    heartbeat: seconds between heartbeats, 0 for none. away: the resources whose server does not answer; while there are
    any, no heartbeat is sent, because nobody looks.
    """
    async for one in with_ticks(found, heartbeat):
        if one is None:
            for event in () if away else observer.heartbeats():
                yield event
        elif isinstance(one, Listed):
            for event in observer.missing() if one.complete else ():
                yield event
            resource = one.resource
            group = resource.version.rpartition("/")[0]
            within = namespace if resource.namespaced else None
            for event in observer.relisted(group, resource.kind, within):
                yield event
        else:
            for event in observer.see(one):
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
