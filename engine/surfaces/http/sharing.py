"""An answer that takes long and that many ask for: one making at a time, for all who ask meanwhile.

Belongs here: who shares which making, and the pause after one. Does not: what is made (`reading.entities`).
"""

import asyncio
import time
from collections.abc import Awaitable, Callable, Hashable
from typing import Any, Generic, TypeVar

T = TypeVar("T")
LONGEST_PAUSE = 1.0
"""Seconds after a making at most: the pause is as long as the making took, so half of a processor stays for others."""


class SharedMaking(Generic[T]):
    """Makings by key. Who asks while one runs shares the next one, so no answer is older than its question."""

    def __init__(self) -> None:
        """Nobody asks yet."""
        self._next = dict[Hashable, asyncio.Task[T]]()
        self._running = dict[Hashable, asyncio.Task[Any]]()
        """By key, the making under way with the pause behind it."""

    async def get(self, key: Hashable, make: Callable[[], Awaitable[T]]) -> T:
        """What `make` returns when it is called after now; raises what it raises."""
        task = self._next.get(key)
        if task is None:
            task = self._next[key] = asyncio.create_task(self._made(key, make))
            task.add_done_callback(lambda done: done.cancelled() or done.exception())  # nobody may wait for it any more
        return await asyncio.shield(task)

    async def _made(self, key: Hashable, make: Callable[[], Awaitable[T]]) -> T:
        if (before := self._running.get(key)) is not None:
            await asyncio.wait([before])
        began = time.monotonic()
        del self._next[key]
        making = asyncio.ensure_future(make())
        self._running[key] = asyncio.create_task(self._with_pause(key, making, began))
        return await making

    async def _with_pause(self, key: Hashable, making: "asyncio.Future[T]", began: float) -> None:
        await asyncio.wait([making])
        await asyncio.sleep(min(time.monotonic() - began, LONGEST_PAUSE))
        if self._running.get(key) is asyncio.current_task():
            del self._running[key]
