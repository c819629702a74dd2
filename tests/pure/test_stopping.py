"""What a worker does beside its partitions begins again after an error, and ends with them."""

import asyncio
from unittest import mock

from phaseline.engine.worker import stopping


async def test_a_part_that_fails_is_told_of_and_begins_again() -> None:
    begun, goes_on, ended = list[str](), asyncio.Event(), asyncio.Event()

    async def part() -> None:
        begun.append("again")
        if len(begun) == 1:
            raise ValueError("odd")
        goes_on.set()
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()

    with mock.patch.object(stopping, "PAUSE", 0.0), mock.patch.object(stopping.log, "exception") as told:
        async with stopping.beside("w1", odd=part):
            await goes_on.wait()
        assert ended.is_set()
    told.assert_called_once_with("worker_part_failed", worker="w1", part="odd", error="ValueError('odd')")
    assert len(begun) == 2


async def test_a_part_that_fails_at_its_end_ends() -> None:
    """What it gives back at the end needs a connection, which may be lost."""
    begun = list[str]()
    goes_on, released = asyncio.Event(), asyncio.Event()

    async def part() -> None:
        begun.append("again")
        goes_on.set()
        try:
            await asyncio.Event().wait()
        finally:
            await asyncio.sleep(0)
            released.set()
            raise RuntimeError("this connection is closed")

    with mock.patch.object(stopping, "PAUSE", 0.0), mock.patch.object(stopping.log, "exception") as told:
        async with stopping.beside("w1", odd=part):
            await goes_on.wait()
        assert released.is_set()
        for _ in range(3):
            await asyncio.sleep(0)
    assert (begun, told.call_args_list) == (["again"], [])


async def test_a_part_that_does_not_end_keeps_nobody() -> None:
    goes_on, ends = asyncio.Event(), asyncio.Event()

    async def part() -> None:
        goes_on.set()
        try:
            await asyncio.Event().wait()
        finally:
            await ends.wait()

    with mock.patch.object(stopping, "ENDING", 0.0):
        async with stopping.beside("w1", odd=part):
            await goes_on.wait()
    ends.set()
