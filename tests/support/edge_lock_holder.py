"""Takes the lock of `edge add`, says so, and keeps it: `python -m tests.support.edge_lock_holder URLS STREAM SECONDS`.

Belongs here: the process that a test kills. Does not: the tests. SECONDS: after which the server deletes its lock.
"""

import asyncio
import os
import sys

from phaseline.engine.nats.wire import Wire
from phaseline.engine.settings import Settings
from phaseline.engine.worker.sites import event_sources
from tests.support import forked_process


async def held_and_killed(urls: tuple[str, ...], stream: str, seconds: int) -> None:
    """Let a process take the lock, and kill it."""
    words = (",".join(urls), stream, str(seconds))
    process = await forked_process.start("tests.support.edge_lock_holder", *words, environment=os.environ)
    assert process.stdout is not None
    assert await process.stdout.readline() == b"held\n"
    process.kill()
    await process.communicate()


async def main(urls: str, stream: str, seconds: str) -> None:
    event_sources.LONGEST = int(seconds)
    async with Wire.open(Settings(nats=tuple(urls.split(",")))) as wire, event_sources.locked(wire, stream):
        sys.stdout.write("held\n")
        sys.stdout.flush()
        await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
