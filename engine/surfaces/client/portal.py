"""Runs the client's coroutines for callers without asyncio: in an event loop in a thread of its own.

Belongs here: `Portal`, the watch without asyncio, opening and closing. Does not: the methods of that client
(`sync_client`).
"""

import asyncio
import threading
import weakref
from collections.abc import AsyncIterator, Coroutine, Generator
from contextlib import AbstractAsyncContextManager
from types import TracebackType
from typing import Any, Generic, Self, TypeVar

from phaseline.engine.log import watch as log_watch
from phaseline.engine.log.log_records import Logged
from phaseline.engine.surfaces.follow import follow
from phaseline.engine.surfaces.follow.follow import Followed
from phaseline.engine.surfaces.overview import dwell_watch
from phaseline.engine.surfaces.overview.overview import Dwell
from phaseline.schemas.records import Rejection, Transition

SLICE = 256
"""The most values that are handed from one thread to the other at once."""
STOP_SECONDS = 10.0
"""How long a call that Ctrl-C interrupts may take to clean up."""

T = TypeVar("T")
R = TypeVar("R", bound=Transition | Rejection)


class Portal:
    """An event loop in a thread. It also works in programs and notebooks that run an event loop themselves."""

    def __init__(self) -> None:
        """Start the thread."""
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._serve, name="phaseline-client", daemon=True)
        self._thread.start()

    def _serve(self) -> None:
        asyncio.set_event_loop(self._loop)
        try:
            self._loop.run_forever()
        finally:
            self._loop.close()

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """The result of a coroutine. Ctrl-C cancels the coroutine and is raised when it has ended.

        Raises `RuntimeError` after `close`.
        """
        if not self._thread.is_alive() or threading.current_thread() is self._thread:
            work.close()
            raise RuntimeError("this client is closed, or is called from its own thread")
        ended = threading.Event()
        future = asyncio.run_coroutine_threadsafe(_announced(work, ended), self._loop)
        try:
            return future.result()
        except BaseException:
            if not ended.is_set():
                future.cancel()
                ended.wait(STOP_SECONDS)
            raise

    def iterate(self, values: AsyncIterator[T]) -> Generator[T, None, None]:
        """The values of an asynchronous iterator, read in slices."""
        try:
            while found := self.run(_slice(values)):
                yield from found
        finally:
            self.run(_close(values))

    def close(self) -> None:
        """Cancel what still runs, and end the thread."""
        if self._thread.is_alive() and threading.current_thread() is not self._thread:
            self.run(_cancel_all())
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join()


async def _announced(work: Coroutine[Any, Any, T], ended: threading.Event) -> T:
    """The result of `work`; says when it has ended, in whatever way."""
    try:
        return await work
    finally:
        ended.set()


async def _slice(values: AsyncIterator[T]) -> list[T]:
    found: list[T] = []
    async for value in values:
        found.append(value)
        if len(found) == SLICE:
            break
    return found


async def _close(values: object) -> None:
    close = getattr(values, "aclose", None)
    if close is not None:
        await close()


async def _cancel_all() -> None:
    tasks = asyncio.all_tasks() - {asyncio.current_task()}
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    await asyncio.get_running_loop().shutdown_asyncgens()


class OpenClient(Generic[T]):
    """A client that is connected, and the thread that runs it. `close` disconnects; at exit that happens by itself."""

    def __init__(self, opening: AbstractAsyncContextManager[T]) -> None:
        """Connect; raises what the asynchronous client raises."""
        self.portal = Portal()
        try:
            self.client = self.portal.run(_enter(opening))
        except BaseException:
            self.portal.close()
            raise
        self.close = weakref.finalize(self, _shut, self.portal, opening)
        """Disconnects and ends the thread; a second call does nothing."""


async def _enter(opening: AbstractAsyncContextManager[T]) -> T:
    return await opening.__aenter__()


async def _leave(opening: AbstractAsyncContextManager[Any]) -> None:
    await opening.__aexit__(None, None, None)


def _shut(portal: Portal, opening: AbstractAsyncContextManager[Any]) -> None:
    try:
        portal.run(_leave(opening))
    finally:
        portal.close()


class PortalIterator(Generic[T]):
    """`for one in watch`, over a watch that runs in the portal.

    `with watch:` begins at once and ends with the block; without it the watch begins when the first one is asked for.
    """

    def __init__(self, portal: Portal, watch: Any) -> None:
        self._portal, self._watch = portal, watch

    def __enter__(self) -> Self:
        self._portal.run(self._watch.__aenter__())
        return self

    def __exit__(
        self, _kind: type[BaseException] | None, _error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        self.close()

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> T:
        try:
            found: T = self._portal.run(self._watch.__anext__())
        except StopAsyncIteration:
            raise StopIteration from None
        return found

    def close(self) -> None:
        """End the watch: nothing follows."""
        self._portal.run(self._watch.close())

    @property
    def over(self) -> bool:
        """Whether the watch has ended."""
        return bool(self._watch.over)


class Follow(PortalIterator[Followed]):
    """`for change in follow`: transitions, each of which goes to one of the programs that follow under this name.

    Who asks for the next one has acknowledged the one before. One that was not acknowledged is handed out again.
    `with follow:` begins at once, and ends with the block.
    """

    _watch: follow.Follow

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._portal.run(self._watch.__aexit__(kind, error, trace))

    def ack(self) -> None:
        """Acknowledge the last transition, if it was not yet: before a `break`, for example."""
        self._portal.run(self._watch.ack())

    def later(self, seconds: float = 0) -> None:
        """Give the last transition back: it is handed out again, to whichever program asks, not before `seconds`."""
        self._portal.run(self._watch.later(seconds))

    @property
    def place(self) -> int:
        """The place of the last transition; 0 before the first."""
        return self._watch.place


class DwellWatch(PortalIterator[Dwell]):
    """`for dwell in watch`: who has been in a class for long enough. It begins and ends as `Watch` does."""

    _watch: dwell_watch.DwellWatch


class Watch(PortalIterator[R]):
    """`for record in watch`. `sequence` is the place in the log of the last record, `wire` its map on the wire.

    `start=watch.sequence + 1` continues after it. `with watch:` begins at once and ends with the block; without it
    the watch begins when the first record is asked for.
    """

    _watch: log_watch.Watch[R]

    def batch(self) -> list[Logged]:
        """The next records, with their places: as many as are there, at least one. Empty at the end."""
        return self._portal.run(self._watch.batch())

    @property
    def sequence(self) -> int:
        """The place in the log of the last record; 0 before the first."""
        return self._watch.sequence

    @property
    def wire(self) -> dict[str, Any]:
        """The last record as the map that it is on the wire."""
        return self._watch.wire

    @property
    def caught_up(self) -> bool:
        """Whether all records of the log have been handed out, as far as is known."""
        return self._watch.caught_up
