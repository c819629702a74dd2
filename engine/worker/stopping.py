"""Work that ends when a worker is told to stop: at once (`unless_stopped`), or with what it is done beside (`beside`).

Belongs here: these two, waiting for work that goes on (`until_stopped`). Does not: what is told to stop, or who says so
(`worker.system`).
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from typing import Any, TypeVar

from phaseline.engine import logs

T = TypeVar("T")
PAUSE = 10.0
"""Seconds before work that failed is done again."""
ENDING = 2.0
"""The most seconds that parts have to end."""

log = logs.get_logger(__name__)


async def unless_stopped(work: Coroutine[Any, Any, T], stop: asyncio.Event) -> T | None:
    """The result of `work`, or None if `stop` came first: then the work is cancelled."""
    working = asyncio.ensure_future(work)
    try:
        await until_stopped(working, stop)
        return working.result() if working.done() else None
    finally:
        if not working.done():
            working.cancel()
            await asyncio.wait({working})


async def until_stopped(task: asyncio.Future[Any], stop: asyncio.Event) -> None:
    """Wait until a task is done, or `stop` comes. Nothing is cancelled."""
    stopping = asyncio.ensure_future(stop.wait())
    try:
        await asyncio.wait({task, stopping}, return_when=asyncio.FIRST_COMPLETED)
    finally:
        stopping.cancel()


@asynccontextmanager
async def beside(worker: str, **parts: Callable[[], Coroutine[Any, Any, None]]) -> AsyncIterator[None]:
    """Do the parts of this worker's work beside the block, until it ends. One that fails is logged and begins again.

    At the end each has a moment to give back what it holds at the server, such as a lock.
    """
    tasks = [asyncio.create_task(_again_and_again(worker, name, work)) for name, work in parts.items()]
    try:
        yield
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.wait(tasks, timeout=ENDING)


def is_ending() -> bool:
    """Whether this task was cancelled, and what failed since then is of its end."""
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0


async def _again_and_again(worker: str, name: str, work: Callable[[], Coroutine[Any, Any, None]]) -> None:
    while True:
        try:
            await work()
        except Exception as error:
            if is_ending():
                return
            log.exception("worker_part_failed", worker=worker, part=name, error=repr(error))
        await asyncio.sleep(PAUSE)
