"""Commits on a real server are fenced, all or nothing, and stored once, even where the reply is lost.

See docs/design.md, The commit.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from dataclasses import replace

import pytest
import pytest_asyncio

from phaseline.schemas.errors import ApiFailed, Fenced, ServerRefused
from tests.support.installation import LIMIT, EmbeddedServer, Layout, Settings, Wire, provision
from tests.support.log_check import stored
from tests.support.owners import Checkpoint, Fence, Message
from tests.support.raising import raises
from tests.support.streams import last_message_from_leader
from tests.support.tcp_proxy import Proxy, proxy_to

RECORD = "log.0.transition.node.phase.Running.c1"


def write(position: int) -> Callable[[str], bytes]:
    return Checkpoint(epoch=1, worker="w", position=position).encode_as


@pytest_asyncio.fixture
async def layout(wire: Wire, settings: Settings) -> Layout:
    return await provision(wire, settings)


async def fence_of(wire: Wire, layout: Layout) -> Fence:
    subject = f"{layout.prefix}.log.0.checkpoint"
    last = await last_message_from_leader(wire, layout.log, subject)
    fence = Fence(wire, layout.log, subject, last.sequence if last else 0)
    await fence.move(write(0))
    return fence


async def records(wire: Wire, layout: Layout) -> list[bytes]:
    return [message.data for message in await stored(wire, layout.log, [f"{layout.prefix}.log.*.transition.>"])]


def messages(layout: Layout, count: int, size: int = 10) -> list[Message]:
    return [Message(f"{layout.prefix}.{RECORD}.{n}", b"%06d" % n + b"x" * size) for n in range(count)]


Form = Callable[[Fence, Layout], Awaitable[None]]
FORMS: dict[str, Form] = {
    "append": lambda fence, layout: fence.append(messages(layout, 5), write(9)),
    "append_one": lambda fence, layout: fence.append_one(messages(layout, 1)[0]),
    "move": lambda fence, _: fence.move(write(9)),
}


async def test_a_full_batch_is_stored_whole(wire: Wire, layout: Layout) -> None:
    fence = await fence_of(wire, layout)
    await fence.append(messages(layout, 999), write(1))
    await fence.append_one(Message(f"{layout.prefix}.{RECORD}", b"lone"))
    assert await records(wire, layout) == [*(one.body for one in messages(layout, 999)), b"lone"]


async def test_a_batch_that_is_too_large_stores_nothing(wire: Wire, layout: Layout) -> None:
    fence = await fence_of(wire, layout)
    with pytest.raises(ApiFailed, match="too large"):
        await fence.append(messages(layout, 1_000), write(1))
    assert await records(wire, layout) == []


async def test_large_records_fit(wire: Wire, layout: Layout) -> None:
    fence = await fence_of(wire, layout)
    await fence.append(messages(layout, 20, size=900_000), write(1))
    assert len(await records(wire, layout)) == 20


async def test_a_record_larger_than_a_message_does_not_break_the_connection(wire: Wire, layout: Layout) -> None:
    fence = await fence_of(wire, layout)
    broken: list[None] = []
    wire.on_disconnect(lambda: broken.append(None))
    too_large = [*messages(layout, 2), *messages(layout, 1, size=wire.max_payload)]
    with raises(ServerRefused.payload_too_large, match="at most 1048576"):
        await fence.append(too_large, write(1))
    with raises(ServerRefused.payload_too_large, match="at most 1048576"):
        await fence.append_one(too_large[-1])
    await fence.append(messages(layout, 2), write(1))
    assert len(await records(wire, layout)) == 2
    assert broken == []


async def test_a_former_owner_stores_nothing_in_any_form(wire: Wire, layout: Layout) -> None:
    old = await fence_of(wire, layout)
    new = await fence_of(wire, layout)
    for form in FORMS.values():
        with pytest.raises(Fenced, match="no longer owns"):
            await form(old, layout)
    await new.append(messages(layout, 1), write(1))
    assert len(await records(wire, layout)) == 1


@pytest_asyncio.fixture
async def line(server: EmbeddedServer) -> AsyncIterator[Proxy]:
    async with proxy_to(server.port) as proxy:
        yield proxy


async def hold(proxy: Proxy) -> None:
    """Hold replies back until some tries have timed out."""
    proxy.answers.clear()
    await asyncio.sleep(1.0)
    proxy.answers.set()


async def lose(proxy: Proxy) -> None:
    """Lose the reply and the connection."""
    proxy.swallow_next = True


@pytest.mark.parametrize("trouble", [hold, lose])
@pytest.mark.parametrize("form", FORMS)
async def test_after_a_lost_reply_each_record_is_stored_once(
    wire: Wire,
    settings: Settings,
    layout: Layout,
    line: Proxy,
    form: str,
    trouble: Callable[[Proxy], Coroutine[None, None, None]],
) -> None:
    through = replace(settings, nats=(f"nats://127.0.0.1:{line.port}",), request_timeout=0.3)
    async with Wire.open(through) as far:
        fence = await fence_of(far, layout)
        troubling = asyncio.create_task(trouble(line))
        await asyncio.sleep(0)
        await FORMS[form](fence, layout)
        await troubling
        assert not line.swallow_next
        await fence.append([Message(f"{layout.prefix}.{RECORD}.after", b"after")], write(10))
    landed = {"append": 5, "append_one": 1, "move": 0}[form]
    assert await records(wire, layout) == [*(one.body for one in messages(layout, landed)), b"after"]


async def test_the_server_restarts_during_a_commit(own_server: EmbeddedServer, own_settings: Settings) -> None:
    async with Wire.open(own_settings, patient=True) as wire:
        layout = await provision(wire, own_settings)
        fence = await fence_of(wire, layout)
        for number in range(3):
            appending = asyncio.create_task(
                fence.append([Message(f"pl.{RECORD}.{number}", b"%d" % number)], write(number))
            )
            await asyncio.sleep(0.001 * number)
            await own_server.kill()
            await own_server.start()
            await appending
        await wire.until_connected(LIMIT)
        assert await records(wire, layout) == [b"0", b"1", b"2"]
