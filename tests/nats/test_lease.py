"""Leases on a real server: even shares, one owner for each partition, quick take-over (docs/design.md)."""

import asyncio
from collections import Counter
from dataclasses import replace

import pytest
from structlog.testing import capture_logs

from tests.support.built_in_kinds import BUILT_IN_KINDS
from tests.support.installation import EmbeddedServer, Installation, Layout, Pacing, Settings, Wire, provision
from tests.support.log_check import stored
from tests.support.own_installation import OwnInstallation
from tests.support.owners import Leases, shares
from tests.support.streams import Ack

LIMIT = 120
PARTITIONS = 12


class Owner:
    """A worker that only holds leases, and writes into a ledger which partitions it owns."""

    def __init__(self, leases: Leases, ledger: dict[int, set[str]], name: str) -> None:
        self.leases, self.ledger, self.name = leases, ledger, name
        self.stop = asyncio.Event()
        self.task = asyncio.create_task(leases.run(self.stop, self._gained, self._lost, self._await))

    async def _gained(self, partition: int) -> None:
        self.ledger[partition].add(self.name)
        assert len(self.ledger[partition]) == 1, self.ledger

    async def _lost(self, partition: int) -> None:
        self.ledger[partition].discard(self.name)

    def _await(self, partitions: frozenset[int]) -> None:
        """Nobody prepares here."""

    async def leave(self) -> None:
        self.stop.set()
        await self.task
        for partition in list(self.leases.held):
            await self._lost(partition)
        await self.leases.release_all()

    async def die(self) -> None:
        """End as after SIGKILL, without giving up leases."""
        self.task.cancel()
        await asyncio.gather(self.task, return_exceptions=True)
        for owners in self.ledger.values():
            owners.discard(self.name)


async def until_shared(ledger: dict[int, set[str]], names: set[str]) -> None:
    async with asyncio.timeout(LIMIT):
        while [*ledger.values()] != [{owner} for owner in shares(PARTITIONS, frozenset(names))]:
            await asyncio.sleep(0.05)


def leases_of(wire: Wire, layout: Layout, name: str, hand_over: float = 8.0) -> Leases:
    """hand_over: seconds; nobody prepares here, so with 0 owners give up at once."""
    return Leases(Installation(wire, layout, BUILT_IN_KINDS, pacing=Pacing(hand_over=hand_over)), name, 1.0)


def ledger_of() -> dict[int, set[str]]:
    return {partition: set() for partition in range(PARTITIONS)}


async def test_shares_follow_the_workers(installation: OwnInstallation) -> None:
    installation = installation.having(partitions=PARTITIONS, lease=1.0)
    layout = await installation.layout()
    ledger = ledger_of()
    owners = {name: Owner(leases_of(installation.wire, layout, name, 0.0), ledger, name) for name in ("a", "b", "c")}
    await until_shared(ledger, {"a", "b", "c"})
    await owners["b"].die()
    await until_shared(ledger, {"a", "c"})
    await owners["c"].leave()
    await until_shared(ledger, {"a"})
    await owners["a"].leave()
    assert await owners["a"].leases.workers() == frozenset()
    assert await stored(installation.wire, layout.lease, []) == []


async def test_leases_outlive_a_server_restart(own_server: EmbeddedServer, own_settings: Settings) -> None:
    settings = replace(own_settings, partitions=PARTITIONS, lease=1.0)
    async with Wire.open(settings, patient=True) as wire:
        layout = await provision(wire, settings)
        ledger = ledger_of()
        owner = Owner(leases_of(wire, layout, "a"), ledger, "a")
        await until_shared(ledger, {"a"})
        await own_server.kill()
        await own_server.start()
        await wire.until_connected(LIMIT)
        await until_shared(ledger, {"a"})
        await owner.leave()


async def test_a_lease_that_has_expired_is_given_up_without_a_word(installation: OwnInstallation) -> None:
    layout, stop = await installation.layout(), asyncio.Event()
    leases, gained = leases_of(installation.wire, layout, "a"), asyncio.Event()

    async def gain(_: int) -> None:
        gained.set()

    running = asyncio.create_task(leases.run(stop, gain, gain, lambda _: None))
    await gained.wait()
    stop.set()
    await running
    await installation.wire.api(f"STREAM.PURGE.{layout.lease}")  # as if their time were over
    with capture_logs() as logs:
        await leases.release_all()
    assert (leases.held, logs) == ({}, [])


async def test_what_is_given_up_while_it_is_renewed_stays_given_up(
    wire: Wire, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A partition that fails gives its lease up at any moment; another worker, or this one, must get it then."""
    layout, stop = await provision(wire, replace(settings, partitions=4)), asyncio.Event()
    leases, running, failing = leases_of(wire, layout, "a"), set[int](), list[asyncio.Task[None]]()
    publish = wire.publish_acked

    async def gain(partition: int) -> None:
        running.add(partition)

    async def fail(partition: int) -> None:
        running.discard(partition)
        await leases.give_up(partition)

    async def fail_during_renewal(subject: str, payload: bytes, headers: dict[str, str] | None = None) -> Ack:
        if "lease.partition" in subject and len(failing) < 8:
            failing.extend(asyncio.create_task(fail(partition)) for partition in list(leases.held))
            await asyncio.sleep(0)
        return await publish(subject, payload, headers)

    monkeypatch.setattr(wire, "publish_acked", fail_during_renewal)
    renewing = asyncio.create_task(leases.run(stop, gain, gain, lambda _: None))
    async with asyncio.timeout(LIMIT):
        while running != {0, 1, 2, 3} or len(failing) < 8:
            assert not renewing.done(), renewing
            await asyncio.sleep(0.05)
    assert leases.held.keys() == running
    await asyncio.gather(*failing)
    stop.set()
    await renewing


@pytest.mark.parametrize(("partitions", "count"), [(8, 2), (8, 3), (12, 3), (64, 5), (256, 7), (3, 5)])
def test_shares_are_even_and_few_move(partitions: int, count: int) -> None:
    workers = frozenset(f"w{n}" for n in range(count))
    owners = shares(partitions, workers)
    load = Counter(dict.fromkeys(workers, 0) | Counter(owners))
    assert max(load.values()) - min(load.values()) <= 1
    for gone in workers:
        without = shares(partitions, workers - {gone})
        moved = sum(a != b for a, b in zip(owners, without, strict=True))
        assert moved <= 1.5 * load[gone] + 2
