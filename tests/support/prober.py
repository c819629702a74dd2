"""Asks `/livez` of some servers, from a process of its own: a new connection for each question, as a probe does.

Belongs here: measuring one question, the figures of many. Does not: attacks (`attacked_server`), what is asserted.
It is run as a program, with the URLs. Each line that it reads begins anew; the answer is the figures up to there.
The servers are asked at the same moments. So what only a busy machine costs is seen at the one that nobody attacks.
"""

import asyncio
import json
import sys
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlsplit

PAUSE = 0.02
LONGEST = 20.0
"""Seconds after which a question counts as not answered, however often it was asked."""
QUESTION = b"GET /livez HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
AIM = 0.1
"""Seconds within which a probe should be answered."""


class Figures(NamedTuple):
    """What the questions took, in ms. late: how many took over `AIM`. failed: how many had no answer in `LONGEST`."""

    asked: int
    failed: int
    late: int
    p50: float
    p99: float
    most: float
    connect: float
    first: float
    """The longest time until a connection was there, and from there to the first byte."""

    def __str__(self) -> str:
        """In one line."""
        took = f"p50 {self.p50:.1f}, p99 {self.p99:.1f}, max {self.most:.1f} ms"
        parts = f"connect {self.connect:.1f}, first byte {self.first:.1f}"
        return f"{took} ({parts}; {self.late} of {self.asked} above {AIM * 1000:.0f} ms, {self.failed} failed)"


class Question(NamedTuple):
    """Seconds to the connection, to the first byte, and to the end."""

    connect: float
    first: float
    whole: float
    good: bool


async def ask(host: str, port: int) -> Question:
    """One question on a connection of its own."""
    began = connected = first = time.perf_counter()
    answer = b""
    with suppress(OSError, TimeoutError):
        async with asyncio.timeout(LONGEST):
            reader, writer = await asyncio.open_connection(host, port)
            try:
                connected = first = time.perf_counter()
                writer.write(QUESTION)
                answer = await reader.read(1 << 12)
                first = time.perf_counter()
                while more := await reader.read(1 << 12):
                    answer += more
            finally:
                writer.transport.abort()
    ended = time.perf_counter()
    return Question(connected - began, first - connected, ended - began, answer.startswith(b"HTTP/1.1 200 "))


def figures(found: Sequence[Question]) -> Figures:
    """The figures of at least one question."""
    took = sorted(one.whole * 1000 for one in found)
    failed, late = sum(not one.good for one in found), sum(one.whole > AIM for one in found)
    most = {name: max(getattr(one, name) for one in found) * 1000 for name in ("connect", "first")}
    return Figures(
        len(took), failed, late, took[len(took) // 2], took[min(len(took) - 1, len(took) * 99 // 100)], took[-1], **most
    )


async def probe(url: str, found: list[Question]) -> None:
    """Ask one server, for ever."""
    parts = urlsplit(url)
    host, port = str(parts.hostname), int(parts.port or 80)
    while True:
        answer, limit = await ask(host, port), time.perf_counter() + LONGEST
        while not answer.good and time.perf_counter() < limit:
            answer = await ask(host, port)  # under a flood, who has not sent in time may be ended, and asks again
        found.append(answer)
        await asyncio.sleep(PAUSE)


async def main(urls: Sequence[str]) -> None:
    """Ask all servers, and answer each line."""
    found: dict[str, list[Question]] = {url: [] for url in urls}
    asking = [asyncio.create_task(probe(url, found[url])) for url in urls]
    while await asyncio.to_thread(sys.stdin.readline):
        while not all(found.values()):
            await asyncio.sleep(PAUSE)
        sys.stdout.write(json.dumps([figures(found[url]) for url in urls]) + "\n")
        sys.stdout.flush()
        for questions in found.values():
            questions.clear()
    for task in asking:
        task.cancel()


class Prober:
    """The process, seen from a test."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process

    async def report(self) -> list[Figures]:
        """The figures of each server since the last report."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(b"\n")
        return [Figures(*one) for one in json.loads(await self._process.stdout.readline())]


@asynccontextmanager
async def probing(*urls: str) -> AsyncIterator[Prober]:
    """Ask these servers while the block runs."""
    words = [sys.executable, str(Path(__file__)), *urls]
    process = await asyncio.create_subprocess_exec(
        *words, stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE
    )
    try:
        yield Prober(process)
    finally:
        assert process.stdin is not None
        process.stdin.close()
        await process.wait()


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1:]))
