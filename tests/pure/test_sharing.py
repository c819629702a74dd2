"""Answers that many ask for at once: one making at a time, and none that is older than its question."""

import asyncio

import pytest

from phaseline.engine.surfaces.http import service
from phaseline.engine.surfaces.http.service import SharedMaking

LIMIT = 20


class World:
    """What answers are made of: `now`. made: what was made, one after the other."""

    def __init__(self) -> None:
        self.now, self.at_once = 0, 0
        self.made: list[int] = []
        self.go = asyncio.Event()

    async def make(self) -> int:
        """Take what is so now, and take long."""
        self.at_once += 1
        assert self.at_once == 1
        seen = self.now
        self.made.append(seen)
        await self.go.wait()
        self.at_once -= 1
        return seen


async def test_who_asks_while_one_is_made_shares_the_next_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(service, "LONGEST_PAUSE", 0.0)
    shared, world = SharedMaking[int](), World()
    async with asyncio.timeout(LIMIT):
        first = [asyncio.create_task(shared.get("key", world.make)) for _ in range(100)]
        while not world.made:
            await asyncio.sleep(0)
        world.now = 1
        later = [asyncio.create_task(shared.get("key", world.make)) for _ in range(1_000)]
        await asyncio.sleep(0)
        world.now = 2
        world.go.set()
        assert set(await asyncio.gather(*first)) == {0}
        assert set(await asyncio.gather(*later)) == {2}  # at least as new as the question
        assert await shared.get("key", world.make) == 2
    assert world.made == [0, 2, 2]


async def test_other_keys_do_not_wait_and_a_reader_that_goes_ends_nothing() -> None:
    shared, world, other = SharedMaking[int](), World(), World()
    async with asyncio.timeout(LIMIT):
        going = asyncio.create_task(shared.get("key", world.make))
        staying = asyncio.create_task(shared.get("key", world.make))
        await asyncio.sleep(0)
        going.cancel()
        other.go.set()
        assert await shared.get("another", other.make) == 0
        world.go.set()
        assert await staying == 0
    assert going.cancelled()
    assert world.made == [0]


async def test_an_error_reaches_all_who_asked_and_the_next_begins_anew() -> None:
    shared = SharedMaking[int]()

    async def fails() -> int:
        raise ValueError("no")

    async def works() -> int:
        return 1

    async with asyncio.timeout(LIMIT):
        found = await asyncio.gather(*(shared.get("key", fails) for _ in range(3)), return_exceptions=True)
        assert [repr(one) for one in found] == ["ValueError('no')"] * 3
        assert await shared.get("key", works) == 1
