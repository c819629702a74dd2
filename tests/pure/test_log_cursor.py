"""The cursor over the log of a partition: however its reader cuts the stream, each event gets the same records."""

import asyncio
from typing import Self

import pytest

from phaseline.engine.nats.reader import Stored
from phaseline.engine.replay.server_log import LogCursor
from phaseline.schemas import codec

OURS = b"NATS/1.0\r\nNats-Batch-Id: b\r\n\r\n"
CAUSES = (1, 1, 2, 2, 5, 3, 6, 6, 6, 9)
"""The events that made the records, in the order of the log: that of 3 came late, those of 4, 7 and 8 made none."""


class CutReader:
    """A reader that gives so many messages at a time."""

    stream = "LOG"

    def __init__(self, messages: list[Stored], at_once: int) -> None:
        self.messages, self.at_once = messages, at_once

    @property
    def caught_up(self) -> bool:
        return not self.messages

    @property
    def buffered(self) -> int:
        return len(self.messages)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None: ...

    async def take(self, limit: int, timeout: float | None = None) -> list[Stored]:  # noqa: ARG002  # as of readers
        taken, self.messages = self.messages[: self.at_once], self.messages[self.at_once :]
        return taken


def log() -> list[Stored]:
    """Records, and what else stands between them."""
    found = [Stored("pl.log.0.checkpoint", b"", 1, 0, 0, OURS)]
    for place, cause in enumerate(CAUSES, 1):
        body = codec.encode({"specversion": "1.0", "id": f"{cause}-0"})
        found += [
            Stored(f"pl.log.0.transition.{place}", body, 10 * place, 0, 0, OURS),
            Stored("pl.timer.0", b"", 10 * place + 1, 0, 0, OURS),
        ]
    return found


async def read(at_once: int) -> list[tuple[list[int], int, int | None, int]]:
    """By event: the places of its records, how many have an earlier cause, what follows them."""
    cursor = LogCursor(CutReader(log(), at_once), lambda subject: ".transition." in subject)
    await cursor.fetch()
    found = []
    for event in range(1, 11):
        taken = [one.sequence for one in await cursor.take_up_to(event)]
        found.append((taken, cursor.earlier, cursor.cause, cursor.place))
    return found


@pytest.mark.parametrize("at_once", [1, 2, 3, 7])
def test_each_event_gets_its_records_however_the_stream_is_cut(at_once: int) -> None:
    whole = asyncio.run(read(1_000))
    assert [taken for taken, *_ in whole] == [[10, 20], [30, 40], [], [], [50, 60], [70, 80, 90], [], [], [100], []]
    assert [earlier for _, earlier, *_ in whole] == [0, 0, 0, 0, 1, 0, 0, 0, 0, 0]
    assert asyncio.run(read(at_once)) == whole
