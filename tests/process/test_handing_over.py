"""Partitions are handed over: the next owner prepares, the owner finishes its commit, and nobody waits for a lease."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

import pytest
from structlog.testing import capture_logs

from tests.support.built_in_kinds import BUILT_IN_KINDS
from tests.support.installation import (
    LIMIT,
    Installation,
    Layout,
    Pacing,
    Settings,
    Wire,
    Worker,
    provision,
    until_decided,
)
from tests.support.log_check import assert_log_is_the_fold
from tests.support.own_installation import OwnInstallation
from tests.support.owners import hand_over
from tests.support.random_events import RandomEvents, publish

PARTITIONS = 6


class Running:
    """A worker in this process, with a connection of its own."""

    def __init__(self, wire: Wire, settings: Settings, name: str, hand_over: float = 600.0) -> None:
        """hand_over: seconds after which it gives up partitions for which nobody asks."""
        pacing = Pacing(hand_over=hand_over)
        self.worker, self.stop = Worker(wire, settings, BUILT_IN_KINDS, name, pacing=pacing), asyncio.Event()
        self.task = asyncio.create_task(self.worker.run(self.stop))

    async def leave(self) -> None:
        self.stop.set()
        await self.task


@asynccontextmanager
async def fleet(settings: Settings, *names: str, hand_over: float = 600.0) -> AsyncIterator[dict[str, Running]]:
    """Workers of these names. They are stopped together."""
    wires = [await Wire.start(settings, name) for name in names]
    running = {name: Running(wire, settings, name, hand_over) for name, wire in zip(names, wires, strict=True)}
    try:
        yield running
    finally:
        await asyncio.gather(*(one.leave() for one in running.values()))
        for wire in wires:
            await wire.close()


@pytest.fixture
def settings(settings: Settings) -> Settings:
    """Leases that do not expire in a test."""
    return replace(settings, partitions=PARTITIONS, lease=120.0)


async def until_owned(running: dict[str, Running], *names: str) -> None:
    """Wait until these workers own all partitions, in even shares."""
    async with asyncio.timeout(LIMIT):
        while sorted(len(running[name].worker.owned) for name in names) != [PARTITIONS // len(names)] * len(names):
            await asyncio.sleep(0.01)


def taken(logged: list[Any]) -> list[tuple[int, bool]]:
    return [(line["partition"], line["prepared"]) for line in logged if line["event"] == "partition_taken"]


async def test_a_worker_that_leaves_hands_its_partitions_over(wire: Wire, settings: Settings) -> None:
    layout = await provision(wire, settings)
    events = RandomEvents(settings.prefix)
    await publish(wire, list(events.built(8, 8)))
    async with fleet(settings, "a", "b") as running:
        await until_owned(running, "a", "b")
        await until_decided(wire, layout)
        with capture_logs() as logged:
            loading = asyncio.create_task(publish(wire, list(events.life(600, 8, 8))))
            await running["a"].leave()
            await until_owned(running, "b")
            await loading
            await until_decided(wire, layout)
        assert sorted(taken(logged)) == [(partition, True) for partition, _ in sorted(taken(logged))]
        assert len(taken(logged)) == PARTITIONS // 2
        handed = [line for line in logged if line["event"] == "partition_handed_over"]
        assert {line["worker"] for line in handed} == {"b"}
    assert await assert_log_is_the_fold(wire, layout, BUILT_IN_KINDS) > 400


async def test_a_worker_that_comes_gets_its_share_prepared(wire: Wire, settings: Settings) -> None:
    layout = await provision(wire, settings)
    events = RandomEvents(settings.prefix)
    await publish(wire, list(events.built(8, 8)))
    async with fleet(settings, "a") as running:
        await until_owned(running, "a")
        await until_decided(wire, layout)
        with capture_logs() as logged:
            async with fleet(settings, "b") as more:
                await until_owned({**running, **more}, "a", "b")
        assert [prepared for _, prepared in taken(logged)[: PARTITIONS // 2]] == [True] * (PARTITIONS // 2)
        await until_owned(running, "a")
    await assert_log_is_the_fold(wire, layout, BUILT_IN_KINDS)


async def test_nobody_waits_where_all_leave(installation: OwnInstallation) -> None:
    await installation.layout()
    async with fleet(installation.settings, "a", "b") as running:
        await until_owned(running, "a", "b")
        async with asyncio.timeout(LIMIT):
            await asyncio.gather(*(one.leave() for one in running.values()))


async def test_only_the_next_owner_gets_a_partition(wire: Wire, settings: Settings) -> None:
    layout = await provision(wire, settings)
    installation = Installation(wire, layout, BUILT_IN_KINDS)
    async with fleet(settings, "a") as running:
        await until_owned(running, "a")
        await running["a"].worker.wire.flush()  # the server knows its subscriptions
        for name in ("a", "b", "", "\udcff"):
            assert not await asked(installation, name)
        assert len(running["a"].worker.owned) == PARTITIONS
    assert await hand_over.ask(installation, 0, "a") is None  # nobody is there


async def asked(installation: Installation, name: str) -> bool:
    subject = installation.subjects.handing_over(0)
    reply = await installation.wire.request(subject, name.encode(errors="surrogateescape"))
    return reply.data != hand_over.KEPT


async def test_an_owner_that_is_not_asked_gives_up_in_time(
    wire: Wire, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As by a worker of an earlier version, which waits until a partition is free."""
    layout: Layout = await provision(wire, settings)

    async def never(*_: object) -> None:
        """Nobody asks."""

    monkeypatch.setattr(hand_over, "ask", never)
    settings = replace(settings, lease=1.0)
    async with fleet(settings, "a", hand_over=0.3) as running, fleet(settings, "b", hand_over=0.3) as more:
        await until_owned({**running, **more}, "a", "b")
        await running["a"].leave()
        await until_owned(more, "b")
    await assert_log_is_the_fold(wire, layout, BUILT_IN_KINDS)


async def test_a_worker_that_dies_while_it_prepares_changes_nothing(wire: Wire, settings: Settings) -> None:
    settings = replace(settings, lease=1.0)
    layout = await provision(wire, settings)
    events = RandomEvents(settings.prefix)
    await publish(wire, list(events.built(8, 8)))
    async with fleet(settings, "a") as running:
        await until_owned(running, "a")
        dead = await Wire.start(settings, "b")
        dying = Running(dead, settings, "b")
        async with asyncio.timeout(LIMIT):
            while len(running["a"].worker.owned) == PARTITIONS and not dying.task.done():
                await asyncio.sleep(0)
        dying.task.cancel()
        await asyncio.gather(dying.task, return_exceptions=True)
        await publish(wire, list(events.life(100, 8, 8)))
        await until_owned(running, "a")
        await until_decided(wire, layout)
        await dead.close()
    await assert_log_is_the_fold(wire, layout, BUILT_IN_KINDS)
