"""Small commits of several partitions share an atomic batch, and each of them is stored whole or not at all."""

import asyncio
import selectors
from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Any

import pytest
import pytest_asyncio

from phaseline.schemas.errors import Fenced, ServerRefused
from tests.support.installation import (
    EmbeddedServer,
    Layout,
    Settings,
    Stored,
    Wire,
    at_work,
    provision,
    until_decided,
)
from tests.support.log_check import stored
from tests.support.owners import SMALL, AtomicBatches, Batch, Checkpoint, Fence, Message, Processor, checkpoint
from tests.support.random_events import RandomEvents, publish
from tests.support.tcp_proxy import proxy_to

COUNT = 4


@pytest_asyncio.fixture
async def layout(wire: Wire, settings: Settings) -> Layout:
    return await provision(wire, settings)


class Owner:
    """The owner of one partition, which commits through the batches of its process."""

    def __init__(self, wire: Wire, layout: Layout, number: int, batches: AtomicBatches) -> None:
        self.layout, self.number = layout, number
        self.fence = Fence(wire, layout.log, f"{layout.prefix}.log.{number}.checkpoint", 0, None, batches)

    def records(self, position: int, count: int, size: int = 10) -> list[Message]:
        subject = f"{self.layout.prefix}.log.{self.number}.transition.node.phase.Running"
        return [
            Message(f"{subject}.c{n}", b"%d-%d-%d." % (self.number, position, n) + b"x" * size) for n in range(count)
        ]

    async def commit(self, position: int, count: int = 2, size: int = 10) -> None:
        write = Checkpoint(epoch=1, worker="w", position=position).encode_as
        await self.fence.append(self.records(position, count, size), write, shared=True)


@pytest_asyncio.fixture
async def owners(wire: Wire, layout: Layout) -> AsyncIterator[list[Owner]]:
    batches = AtomicBatches(wire)
    yield [Owner(wire, layout, number, batches) for number in range(COUNT)]


async def records(wire: Wire, layout: Layout) -> list[Stored]:
    return await stored(wire, layout.log, [f"{layout.prefix}.log.*.transition.>"])


async def test_commits_that_come_while_one_is_under_way_share_the_next_batch(
    wire: Wire, layout: Layout, owners: list[Owner]
) -> None:
    for position in (1, 2, 3):
        await asyncio.gather(*(owner.commit(position) for owner in owners))
    found = await records(wire, layout)
    wanted = [one.body for at in (1, 2, 3) for owner in owners for one in owner.records(at, 2)]
    assert [message.data for message in found] == wanted
    assert len({message.headers["Nats-Batch-Id"] for message in found}) == 2 * 3
    for owner in owners:
        mark = await checkpoint.last(wire, layout.log, owner.fence.subject)
        assert mark is not None
        assert mark.position == 3


async def test_who_lost_its_partition_does_not_stop_the_others(wire: Wire, layout: Layout, owners: list[Owner]) -> None:
    await asyncio.gather(*(owner.commit(1) for owner in owners))
    lost = owners[2]
    successor = Fence(wire, layout.log, lost.fence.subject, lost.fence.sequence)
    await successor.move(Checkpoint(epoch=2, worker="other", position=1).encode_as)
    outcomes = await asyncio.gather(*(owner.commit(2) for owner in owners), return_exceptions=True)
    assert [type(outcome) for outcome in outcomes] == [type(None), type(None), Fenced, type(None)]
    kept = {one.body for o in owners for at in (1, 2) for one in o.records(at, 2) if (o, at) != (lost, 2)}
    assert {message.data for message in await records(wire, layout)} == kept
    await asyncio.gather(*(owner.commit(3) for owner in owners if owner is not lost))


async def test_a_record_that_is_too_large_fails_its_own_commit_alone(
    wire: Wire, layout: Layout, owners: list[Owner]
) -> None:
    sizes = (10, 10, wire.max_payload, 10)
    commits = (owner.commit(1, size=size) for owner, size in zip(owners, sizes, strict=True))
    outcomes = await asyncio.gather(*commits, return_exceptions=True)
    assert [type(outcome) for outcome in outcomes] == [type(None), type(None), ServerRefused, type(None)]
    assert ServerRefused.payload_too_large.made(outcomes[2])
    assert len(await records(wire, layout)) == 2 * (COUNT - 1)


async def test_a_large_commit_waits_for_nobody_and_shares_nothing(
    wire: Wire, layout: Layout, owners: list[Owner]
) -> None:
    await asyncio.gather(*(owner.commit(1, count=SMALL) for owner in owners))
    found = await records(wire, layout)
    assert len(found) == COUNT * SMALL
    assert len({message.headers["Nats-Batch-Id"] for message in found}) == COUNT


async def test_a_commit_whose_partition_ends_while_it_waits_is_not_sent(
    wire: Wire, layout: Layout, owners: list[Owner]
) -> None:
    commits = [asyncio.create_task(owner.commit(1)) for owner in owners]
    await asyncio.sleep(0)
    commits[1].cancel()
    await asyncio.gather(*commits, return_exceptions=True)
    assert {message.data[:1] for message in await records(wire, layout)} == {b"0", b"2", b"3"}


@pytest.mark.parametrize("which", [1, 2])
async def test_after_a_lost_reply_each_commit_is_stored_once(
    wire: Wire, server: EmbeddedServer, settings: Settings, layout: Layout, which: int
) -> None:
    """which: the batch whose reply is lost, the lone one or the shared one."""
    async with proxy_to(server.port) as line:
        through = replace(settings, nats=(f"nats://127.0.0.1:{line.port}",), request_timeout=0.3)
        async with Wire.open(through) as far:
            batches = AtomicBatches(far)
            owners = [Owner(far, layout, number, batches) for number in range(COUNT)]
            if which == 1:
                line.swallow_next = True
                await asyncio.gather(*(owner.commit(1) for owner in owners))
            else:
                first = asyncio.create_task(owners[0].commit(1))
                others = [asyncio.create_task(owner.commit(1)) for owner in owners[1:]]
                await first
                line.swallow_next = True
                await asyncio.gather(*others)
            assert not line.swallow_next
            await asyncio.gather(*(owner.commit(2) for owner in owners))
    found = sorted(message.data for message in await records(wire, layout))
    assert found == sorted(one.body for at in (1, 2) for owner in owners for one in owner.records(at, 2))


async def test_sockets_are_looked_at_between_two_slices(
    wire: Wire, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever waits to be decided in other partitions, commits are sent and their answers are heard."""
    settings, fleet, looks, slices = replace(settings, partitions=8), RandomEvents(settings.prefix), [0], list[int]()
    select, process = selectors.DefaultSelector.select, Processor.process

    def counted(self: selectors.DefaultSelector, timeout: float | None = None) -> Any:
        looks[0] += 1
        return select(self, timeout)

    def noted(self: Processor, *values: Any) -> Batch:
        slices.append(looks[0])
        return process(self, *values)

    layout = await provision(wire, settings)
    await publish(wire, list(fleet.built(40, 3)))
    monkeypatch.setattr(selectors.DefaultSelector, "select", counted)
    monkeypatch.setattr(Processor, "process", noted)
    async with at_work(settings, wire):
        await until_decided(wire, layout)
    assert len(slices) >= layout.partitions
    assert len(set(slices)) == len(slices)
