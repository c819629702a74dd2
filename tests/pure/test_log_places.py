"""Who reads the log next: callers in turn, so that none waits for all that another one asked for."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager

import pytest

from phaseline.engine.surfaces.http.live import log_places
from phaseline.engine.surfaces.http.live.log_places import AT_ONCE, OF_ONE, WAITING, LogPlaces
from phaseline.schemas.errors import NoAnswer
from tests.support.raising import raises


class Queue:
    """Requests that read until they are ended. begun: whose began, in order."""

    def __init__(self) -> None:
        self.places, self.begun = LogPlaces(), list[str]()
        self._tasks = list[tuple[str, asyncio.Event, asyncio.Task[None]]]()

    async def ask(self, who: str, times: int = 1, *, is_seated: bool = False) -> list[asyncio.Task[None]]:
        """Let a caller send so many requests."""
        made = []
        for _ in range(times):
            end = asyncio.Event()
            task = asyncio.create_task(self._read(who, end, is_seated=is_seated))
            self._tasks.append((who, end, task))
            made.append(task)
            await asyncio.sleep(0)
        return made

    async def _read(self, who: str, end: asyncio.Event, *, is_seated: bool) -> None:
        await self.places.take(who, is_seated=is_seated)
        self.begun.append(who)
        try:
            await end.wait()
        finally:
            self.places.give_back(who)

    async def end(self, who: str) -> None:
        """Let the oldest request of a caller end that reads."""
        at = next(at for at, (name, *_) in enumerate(self._tasks) if name == who)
        _, end, task = self._tasks.pop(at)
        end.set()
        await task
        await asyncio.sleep(0)

    async def cancel(self) -> None:
        """Cancel all that is left."""
        for *_, task in self._tasks:
            task.cancel()
        await asyncio.gather(*(task for *_, task in self._tasks), return_exceptions=True)


@asynccontextmanager
async def queue() -> AsyncIterator[Queue]:
    found = Queue()
    async with AsyncExitStack() as stack:
        stack.push_async_callback(found.cancel)
        yield found


async def test_one_caller_leaves_a_turn_to_others() -> None:
    async with queue() as asked:
        await asked.ask("greedy", AT_ONCE + WAITING)
        assert asked.begun == ["greedy"] * OF_ONE
        await asked.ask("modest")
        assert asked.begun[OF_ONE:] == ["modest"]


async def test_who_has_fewest_turns_is_next() -> None:
    async with queue() as asked:
        await asked.ask("greedy", 20)
        await asked.ask("second")
        await asked.ask("third")  # all turns are taken
        await asked.end("greedy")
        assert asked.begun == ["greedy", "greedy", "second", "third"]


async def test_streams_wait_for_their_turn_too() -> None:
    async with queue() as asked:
        await asked.ask("greedy", 2 * WAITING, is_seated=True)
        await asked.ask("modest")
        assert asked.begun == [*["greedy"] * OF_ONE, "modest"]


async def test_where_too_many_wait_the_last_of_the_one_with_most_goes() -> None:
    async with queue() as asked:
        await asked.ask("other", OF_ONE)
        greedy = await asked.ask("greedy", 1 + WAITING)  # the first one reads
        assert not any(one.done() for one in greedy)
        await asked.ask("modest")
        await asyncio.sleep(0)
        assert [one.done() for one in greedy] == [*[False] * WAITING, True]
        with raises(NoAnswer.server_full, match="requests that read the log"):
            await greedy[-1]
        with raises(NoAnswer.server_full):
            await asked.places.take("greedy", is_seated=False)


async def test_who_waits_too_long_or_leaves_takes_no_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    async with queue() as asked:
        await asked.ask("a", OF_ONE)
        await asked.ask("b")
        monkeypatch.setattr(log_places, "PATIENCE", 0.0)
        with raises(NoAnswer.server_full):
            await asked.places.take("c", is_seated=False)
        monkeypatch.undo()
        [left] = await asked.ask("d")
        left.cancel()
        await asyncio.gather(left, return_exceptions=True)
        await asked.ask("e")
        await asked.end("b")
        assert asked.begun[OF_ONE:] == ["b", "e"]


async def test_a_turn_that_begins_as_its_request_is_cancelled_is_not_lost() -> None:
    async with queue() as asked:
        await asked.ask("a", OF_ONE)
        await asked.ask("b")
        [left] = await asked.ask("c")
        asked.places.give_back("b")  # the turn begins, and the task has not noticed yet
        left.cancel()
        await asyncio.gather(left, return_exceptions=True)
        assert asked.begun[OF_ONE:] == ["b"]
        await asked.ask("d")
        assert asked.begun[OF_ONE:] == ["b", "d"]
