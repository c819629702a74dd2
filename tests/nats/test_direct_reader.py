"""What the reader without consumers does in its own way. What both readers must do is in test_reader.py."""

import asyncio
import random
from typing import Any

import pytest
from msgspec.structs import replace

from phaseline.engine.nats import stream_reader
from phaseline.engine.nats.stream_reader import BATCH, MAX_BYTES
from phaseline.schemas.records import timestamp
from tests.support.installation import Settings, Stored, Wire
from tests.support.streams import DirectReader, Reader

LIMIT = 60


async def stream_of(wire: Wire, name: str) -> str:
    config = {"name": name, "subjects": [f"{name}.>"], "allow_direct": True}
    await wire.api(f"STREAM.CREATE.{name}", config)
    return name


async def everything(reader: Reader | DirectReader) -> list[Stored]:
    found: list[Stored] = []
    async with asyncio.timeout(LIMIT), reader:
        while not reader.caught_up:
            found += await reader.take(700)
    return [replace(one, pending=0) for one in found]


async def test_both_readers_read_the_same(wire: Wire, settings: Settings) -> None:
    stream, chance = await stream_of(wire, settings.prefix), random.Random(1)
    frames = [wire.frame(f"{stream}.{chance.choice('abcd')}.{n % 7}", b"%d" % n) for n in range(3 * BATCH)]
    wire.send(b"".join(frames[:-1]))
    last = await wire.publish_acked(f"{stream}.a.last", b"x")
    assert last.seq == 3 * BATCH
    for number in chance.sample(range(1, 3 * BATCH), 200):
        await wire.api(f"STREAM.MSG.DELETE.{stream}", {"seq": number, "no_erase": True})
    for filters in ([], ["a.>"], ["b.*", "c.3"], ["a.>", "b.>", "c.>", "d.>"], ["nobody"], ["a.last"]):
        wanted = [f"{stream}.{filter_}" for filter_ in filters]
        for start in ("start", 1_500, 3 * BATCH, 3 * BATCH + 1, "now"):
            expected = await everything(Reader(wire, stream, wanted, start))
            assert await everything(DirectReader(wire, stream, wanted, start)) == expected, (filters, start)


async def test_several_filters_keep_the_order_while_messages_come(wire: Wire, settings: Settings) -> None:
    stream, count = await stream_of(wire, settings.prefix), 2_000

    async def send() -> None:
        for number in range(count):
            wire.publish(f"{stream}.{number % 3}.x", b"%d" % number)
            if number % 20 == 0:
                await asyncio.sleep(0.002)

    sending = asyncio.create_task(send())
    found: list[int] = []
    async with asyncio.timeout(LIMIT), DirectReader(wire, stream, [f"{stream}.{n}.*" for n in range(3)]) as reader:
        while len(found) < count:
            found += [stored.sequence for stored in await reader.take(100)]
    await sending
    assert found == list(range(1, count + 1))


async def test_many_bytes_come_in_several_answers(wire: Wire, settings: Settings) -> None:
    stream = await stream_of(wire, settings.prefix)
    large = b"x" * (1_000_000 - 100)
    for _ in range(3 * MAX_BYTES // len(large)):
        await wire.publish_acked(f"{stream}.x", large)
    async with DirectReader(wire, stream, []) as reader:
        assert 0 < reader.buffered < 3 * MAX_BYTES // len(large)
    assert len(await everything(DirectReader(wire, stream, []))) == 3 * MAX_BYTES // len(large)


async def test_headers_of_a_publisher_pass_for_none_of_the_servers(wire: Wire, settings: Settings) -> None:
    stream = await stream_of(wire, settings.prefix)
    false = {
        "Nats-Sequence": "99",
        "Nats-Subject": "other",
        "Nats-Num-Pending": "77",
        "Nats-Time-Stamp": "2000-01-01T00:00:00Z",
        "Status": "503",
        "Description": "No Responders",
        "Nats-Stream": "copied",
    }
    await wire.publish_acked(f"{stream}.x", b"none")
    await wire.publish_acked(f"{stream}.x", b"one", {"A": "b"})
    for number in range(3):
        await wire.publish_acked(f"{stream}.x", b"%d" % number, false)
    assert await everything(DirectReader(wire, stream, [])) == await everything(Reader(wire, stream, []))


class AtALaggingReplica(DirectReader):
    """Direct gets are answered by a replica that has the first two messages only."""

    async def _get(self, body: dict[str, Any]) -> list[Stored]:
        return [stored for stored in await super()._get(body) if stored.sequence <= 2]


async def test_a_replica_that_lags_behind_a_time(wire: Wire, settings: Settings) -> None:
    """It has nothing since then; the leader has."""
    stream = await stream_of(wire, settings.prefix)
    for number in range(5):
        await wire.publish_acked(f"{stream}.{number}", b"x")
    times = [one.time_ns for one in await everything(DirectReader(wire, stream, []))]
    for time_ns, expected in ((times[3], [4, 5]), (times[1], [2, 3, 4, 5]), (times[4] + 1, [])):
        found = await everything(AtALaggingReplica(wire, stream, [], timestamp(time_ns)))
        assert [one.sequence for one in found] == expected


async def test_news_are_heard_on_a_feed(wire: Wire, settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stream_reader, "POLL_BESIDE_FEED", 10.0 * LIMIT)  # without a word it looks too late
    stream = await stream_of(wire, settings.prefix)
    async with DirectReader(wire, stream, [], "now", feed=[f"{stream}.>"]) as reader:
        waiting = asyncio.create_task(reader.take(1))
        await asyncio.sleep(0.1)
        await wire.publish_acked(f"{stream}.x", b"")
        assert [stored.sequence for stored in await asyncio.wait_for(waiting, LIMIT)] == [1]
