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
        await ended.wait()
    told.assert_called_once_with("worker_part_failed", worker="w1", part="odd", error="ValueError('odd')")
    assert len(begun) == 2
