"""Reading a stream in order through interruptions, on a real server."""

import asyncio
import gc
import weakref
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import UTC, datetime
from urllib.parse import urlsplit

import pytest

from phaseline.schemas.errors import ApiFailed, NoAnswer
from tests.support.installation import EmbeddedServer, Settings, Stored, Wire
from tests.support.owners import Checkpoint, Fence, Message
from tests.support.streams import BUFFER, BUFFER_BYTES, LEAST_BUFFER, DirectReader, Reader, StreamReader, read_all
from tests.support.tcp_proxy import Proxy, proxy_to

LIMIT = 120
Kind = type[Reader] | type[DirectReader]


@pytest.fixture(params=[Reader, DirectReader])
def kind(request: pytest.FixtureRequest) -> Kind:
    """Both ways to read a stream: with a consumer, and by direct gets."""
    found: Kind = request.param
    return found


async def stream_of(wire: Wire, name: str) -> str:
    await wire.api(
        f"STREAM.CREATE.{name}", {"name": name, "subjects": [f"{name}.>"], "storage": "file", "allow_direct": True}
    )
    return name


async def last_sequence(wire: Wire, stream: str) -> int:
    while True:
        try:
            return int((await wire.api(f"STREAM.INFO.{stream}"))["state"]["last_seq"])
        except NoAnswer as error:
            if not NoAnswer.connection_lost.made(error):
                raise
            # The server was killed; the connection notices it only now.
            await wire.until_connected(LIMIT)


async def fill(wire: Wire, stream: str, count: int, start: int = 0, subject: str = "x") -> None:
    frames = [wire.frame(f"{stream}.{subject}", b"%d" % n) for n in range(start, start + count)]
    before = await last_sequence(wire, stream)
    wire.send(b"".join(frames))
    await wire.flush()
    async with asyncio.timeout(LIMIT):
        while await last_sequence(wire, stream) < before + count:  # a flush does not wait until all is stored
            await asyncio.sleep(0.005)


async def take(reader: StreamReader, count: int) -> list[Stored]:
    found: list[Stored] = []
    async with asyncio.timeout(LIMIT):
        while len(found) < count:
            found += await reader.take(count - len(found))
    return found


def numbers(messages: list[Stored]) -> list[int]:
    return [int(message.data) for message in messages]


async def test_stored_messages_come_in_order_and_then_new_ones(wire: Wire, settings: Settings, kind: Kind) -> None:
    stream = await stream_of(wire, settings.prefix)
    await fill(wire, stream, 3 * BUFFER)
    async with kind(wire, stream, []) as reader:
        assert numbers(await take(reader, 3 * BUFFER)) == list(range(3 * BUFFER))
        assert reader.caught_up
        assert await reader.take(10, timeout=0.01) == []
        await fill(wire, stream, 10, 3 * BUFFER)
        assert numbers(await take(reader, 10)) == list(range(3 * BUFFER, 3 * BUFFER + 10))


async def test_a_batch_through_several_filters(wire: Wire, settings: Settings, kind: Kind) -> None:
    name = settings.prefix
    await wire.api(
        f"STREAM.CREATE.{name}",
        {
            "name": name,
            "subjects": [f"{name}.>"],
            "allow_atomic": True,
            "allow_rollup_hdrs": True,
            "allow_direct": True,
        },
    )
    fence = Fence(wire, name, f"{name}.checkpoint", 0)
    for number in range(10):
        async with kind(wire, name, [f"{name}.a.*", f"{name}.b.>", f"{name}.checkpoint"], "now") as reader:
            sent = [Message(f"{name}.{rest}", b"0") for rest in (f"a.{number}", "b.same.place", "a.same")]
            await fence.append(sent, lambda commit: Checkpoint().encode_as(commit))
            found = await take(reader, 4)
        assert [message.subject for message in found[:3]] == [message.subject for message in sent]


async def test_starts(wire: Wire, settings: Settings, kind: Kind) -> None:
    stream = await stream_of(wire, settings.prefix)
    await fill(wire, stream, 5)
    await asyncio.sleep(0.02)
    moment = datetime.now(UTC).isoformat()
    await fill(wire, stream, 5, 5)
    for start, first in (("start", 0), (3, 2), (moment, 5)):
        async with kind(wire, stream, [], start) as reader:
            assert numbers(await reader.take(1)) == [first]
    async with kind(wire, stream, [], "now") as reader:
        await fill(wire, stream, 1, 99)
        assert numbers(await reader.take(1)) == [99]


async def test_filters(wire: Wire, settings: Settings) -> None:
    stream = await stream_of(wire, settings.prefix)
    for subject in ("a", "b", "c", "a"):
        await fill(wire, stream, 1, subject=subject)
    found = [m.subject async for ms in read_all(wire, stream, [f"{stream}.a", f"{stream}.c"]) for m in ms]
    assert found == [f"{stream}.a", f"{stream}.c", f"{stream}.a"]
    assert [m async for m in read_all(wire, stream, [f"{stream}.nobody"])] == []


async def test_messages_deleted_during_the_read_are_not_waited_for(wire: Wire, settings: Settings) -> None:
    stream = await stream_of(wire, settings.prefix)
    await fill(wire, stream, 3 * BUFFER)
    found: list[Stored] = []
    async with asyncio.timeout(LIMIT):
        async for messages in read_all(wire, stream, []):
            found += messages
            await wire.api(f"STREAM.PURGE.{stream}")
    assert 0 < len(found) < 3 * BUFFER
    assert numbers(found) == sorted(set(numbers(found)))


async def test_read_all_ends_while_messages_keep_coming(wire: Wire, settings: Settings) -> None:
    stream = await stream_of(wire, settings.prefix)
    await fill(wire, stream, 10)
    found: list[Stored] = []
    async with asyncio.timeout(LIMIT):
        async for messages in read_all(wire, stream, []):
            found += messages
            await fill(wire, stream, BUFFER, len(found))
    assert numbers(found)[:10] == list(range(10))


async def test_large_messages_are_requested_in_small_numbers(wire: Wire, settings: Settings) -> None:
    stream = await stream_of(wire, settings.prefix)
    large, count = b"x" * (wire.max_payload - 1), 100
    for _ in range(count):
        await wire.publish_acked(f"{stream}.x", large)
    broken: list[None] = []
    forget = wire.on_disconnect(lambda: broken.append(None))
    async with Reader(wire, stream, []) as reader:
        await take(reader, 1)
        await wire.flush(LIMIT)
        assert reader.buffered * len(large) < 2 * BUFFER_BYTES
        await take(reader, count - 1)
    forget()
    assert broken == []


async def test_a_closed_reader_needs_no_collection_of_garbage(wire: Wire, settings: Settings, kind: Kind) -> None:
    """A worker opens some for each partition again and again, and collects what stands in circles rarely."""
    stream = await stream_of(wire, settings.prefix)
    await fill(wire, stream, 10)
    gc.disable()
    try:
        reader = kind(wire, stream, [])
        closed = weakref.ref(reader)
        async with reader:
            assert await reader.take(5)
        del reader
        await asyncio.sleep(0)
        assert closed() is None
    finally:
        gc.enable()


async def test_readers_side_by_side_share_the_memory_of_one(wire: Wire, settings: Settings) -> None:
    stream = await stream_of(wire, settings.prefix)
    await fill(wire, stream, BUFFER)
    async with Reader(wire, stream, [], room=BUFFER // 100) as reader:
        found = await take(reader, 1)
        await wire.flush(LIMIT)
        assert 0 < reader.buffered < LEAST_BUFFER
        assert numbers(found + await take(reader, BUFFER - 1)) == list(range(BUFFER))


async def test_an_absent_stream_is_an_error(wire: Wire, kind: Kind) -> None:
    with pytest.raises(ApiFailed, match="stream not found"):
        async with kind(wire, "nowhere", []):
            pass


async def test_who_reads_to_the_end_gives_up_a_stream_that_is_deleted(
    wire: Wire, settings: Settings, kind: Kind
) -> None:
    stream = await stream_of(wire, settings.prefix)
    await fill(wire, stream, 3 * BUFFER)
    async with asyncio.timeout(LIMIT), kind(wire, stream, [], patience=0.5) as reader:
        await take(reader, 1)
        await wire.api(f"STREAM.DELETE.{stream}")
        with pytest.raises((ApiFailed, NoAnswer)):
            await take(reader, 3 * BUFFER)


@asynccontextmanager
async def reader_behind_proxy(
    settings: Settings, wire: Wire, kind: Kind, patience: float
) -> AsyncIterator[tuple[StreamReader, Proxy]]:
    """What reads a stream of more than it buffers, and what its connection goes through."""
    stream = await stream_of(wire, settings.prefix)
    await fill(wire, stream, 3 * BUFFER)
    async with proxy_to(urlsplit(settings.nats[0]).port or 0) as proxy:
        far = replace(settings, nats=(f"nats://127.0.0.1:{proxy.port}",))
        async with Wire.open(far) as cut, asyncio.timeout(LIMIT), kind(cut, stream, [], patience=patience) as reader:
            yield reader, proxy


async def test_who_reads_to_the_end_gives_up_a_server_that_stays_away(
    settings: Settings, wire: Wire, kind: Kind
) -> None:
    async with reader_behind_proxy(settings, wire, kind, 0.5) as (reader, proxy):
        await take(reader, 1)
        proxy.hang_up()
        with pytest.raises(NoAnswer, match="NATS"):
            await take(reader, 3 * BUFFER)


async def test_who_reads_to_the_end_goes_on_if_the_server_is_back_in_time(
    settings: Settings, wire: Wire, kind: Kind
) -> None:
    async with reader_behind_proxy(settings, wire, kind, LIMIT) as (reader, proxy):
        found = await take(reader, 1)
        for _ in range(3):  # one outage right after another
            proxy.hang_up()
            await proxy.listen()
            found += await take(reader, 1)
        assert numbers(found + await take(reader, 3 * BUFFER - len(found))) == list(range(3 * BUFFER))


@pytest.mark.parametrize("is_frozen", [False, True], ids=["away", "frozen"])
async def test_who_follows_goes_on_after_an_outage_at_the_end(
    settings: Settings, wire: Wire, kind: Kind, is_frozen: bool
) -> None:
    stream = await stream_of(wire, settings.prefix)
    await fill(wire, stream, 3)
    async with proxy_to(urlsplit(settings.nats[0]).port or 0) as proxy:
        far = replace(settings, nats=(f"nats://127.0.0.1:{proxy.port}",), request_timeout=0.2)
        async with Wire.open(far) as cut, kind(cut, stream, []) as reader:
            await take(reader, 3)
            taking = asyncio.create_task(take(reader, 2))
            await asyncio.sleep(0.3)  # it looks now and then whether there is more
            if is_frozen:
                proxy.answers.clear()
            else:
                proxy.hang_up()
            done, _ = await asyncio.wait({taking}, timeout=1.5)
            assert not done, taking.exception()
            proxy.answers.set()
            if not is_frozen:
                await proxy.listen()
            await fill(wire, stream, 2, 3)
            assert numbers(await taking) == [3, 4]


async def test_the_reader_survives_the_deletion_of_its_consumer(wire: Wire, settings: Settings) -> None:
    stream = await stream_of(wire, settings.prefix)
    await fill(wire, stream, 10)
    async with Reader(wire, stream, []) as reader:
        assert numbers(await take(reader, 4)) == [0, 1, 2, 3]
        names = (await wire.api(f"CONSUMER.NAMES.{stream}"))["consumers"]
        await wire.api(f"CONSUMER.DELETE.{stream}.{names[0]}")
        await fill(wire, stream, 5, 10)
        assert numbers(await take(reader, 11)) == list(range(4, 15))


async def test_the_reader_survives_kills_of_the_server(
    own_server: EmbeddedServer, own_settings: Settings, kind: Kind
) -> None:
    async with Wire.open(own_settings, patient=True) as wire:
        stream = await stream_of(wire, "s")
        async with kind(wire, stream, []) as reader:
            for lot in range(4):
                await fill(wire, stream, 50, lot * 50)
                found = await take(reader, 25)
                await own_server.kill()
                async with asyncio.timeout(LIMIT):
                    while wire.connected:
                        await asyncio.sleep(0.005)
                await own_server.start()
                await wire.until_connected(LIMIT)
                assert numbers(found + await take(reader, 25)) == list(range(lot * 50, lot * 50 + 50))


async def test_the_reader_survives_cut_connections(
    server: EmbeddedServer, wire: Wire, settings: Settings, kind: Kind
) -> None:
    stream = await stream_of(wire, settings.prefix)
    async with proxy_to(server.port) as line:
        through = replace(settings, nats=(f"nats://127.0.0.1:{line.port}",))
        async with Wire.open(through, patient=True) as far, kind(far, stream, []) as reader:
            for lot in range(5):
                await fill(wire, stream, 200, lot * 200)
                found = await take(reader, 100)
                line.close()
                assert numbers(found + await take(reader, 100)) == list(range(lot * 200, lot * 200 + 200))
