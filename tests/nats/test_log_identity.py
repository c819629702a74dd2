"""A log has an identity, and another one from when it was put back from a backup (docs/restored.md)."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from structlog.testing import capture_logs

from phaseline.schemas import losses
from phaseline.schemas.errors import InvalidInput
from tests.support.built_in_kinds import BUILT_IN_KINDS
from tests.support.installation import Installation, Layout, Pacing, Settings, Stored, Wire, at_work, until_decided
from tests.support.log_check import audited, stored
from tests.support.own_installation import Client
from tests.support.random_events import RandomEvents, publish
from tests.support.stream_backup import Backup, backed_up, restore
from tests.support.two_sites import identity, log_identity

LIMIT = 120


@pytest.fixture
def one(settings: Settings) -> Settings:
    """One partition, whose worker is soon noticed to be gone."""
    return replace(settings, partitions=1, lease=1.0)


async def history(wire: Wire, settings: Settings) -> tuple[Layout, RandomEvents]:
    """An installation with a history and no worker."""
    fleet = RandomEvents(settings.prefix)
    async with at_work(settings, wire) as layout:
        await publish(wire, list(fleet.built(1, 2)))
        await until_decided(wire, layout)
    return layout, fleet


async def gone_on(wire: Wire, settings: Settings, fleet: RandomEvents, events: int = 20) -> None:
    """Let the installation go on for some events of one node."""
    async with at_work(settings, wire) as layout:
        await publish(wire, [fleet.event("node", ("not_ready", "ready")[one % 2], "c0/p/n1") for one in range(events)])
        await until_decided(wire, layout)


async def put_back(wire: Wire, backups: Sequence[Backup]) -> None:
    for backup in backups:
        await restore(wire, backup)


async def all_backed_up(wire: Wire, layout: Layout) -> list[Backup]:
    return [await backed_up(wire, name) for name in (layout.log, layout.events, layout.state)]


async def messages(wire: Wire, layout: Layout, of: str) -> list[Stored]:
    """The messages of LOG on these subjects."""
    return await stored(wire, layout.log, [f"{layout.prefix}.{of}"])


async def outcome(client: Client, trigger: str, entity_id: str, data: dict[str, Any]) -> list[str]:
    """What became of an observation of a node: the states after it, the reason of a rejection, or `mark`."""
    found = await client.publish_and_wait("node", trigger, entity_id, data, timeout=LIMIT)
    if found.rejection is not None:
        return [found.rejection.reason]
    return [str(one.after) for one in found.transitions]


async def test_an_identity_is_made_with_the_log_and_stays(wire: Wire, one: Settings) -> None:
    async with at_work(one, wire) as layout:
        first = await log_identity(Installation(wire, layout, BUILT_IN_KINDS))
        assert 1.5e15 < first < 2**53
    async with at_work(one, wire):
        assert await log_identity(Installation(wire, layout, BUILT_IN_KINDS)) == first
    (note,) = await identity.notes(Installation(wire, layout, BUILT_IN_KINDS)).all_of()
    assert not note.was_restored


async def test_a_log_that_was_put_back_is_another_one(wire: Wire, one: Settings) -> None:
    layout, fleet = await history(wire, one)
    installation = Installation(wire, layout, BUILT_IN_KINDS)
    before, backups = await log_identity(installation), await all_backed_up(wire, layout)
    await gone_on(wire, one, fleet)
    read = (await wire.api(f"STREAM.INFO.{layout.events}"))["state"]["last_seq"]
    await put_back(wire, backups)
    with capture_logs() as logs:
        async with at_work(one, wire), Client.open(one, kinds=BUILT_IN_KINDS) as client:
            now = await client.log_identity()
            assert now > before
            # The reporter read the former log further than this one goes: that proves nothing here.
            assert await outcome(client, "reported", "c0/p/n1", {"phase": "Deleted", "seen": read, "log": before}) == [
                "Deleted"
            ]
            view = await client.at()
            assert {key for key, stale in (await view.stale(await view.tree("c0"))).items() if stale.is_of_backup} == {
                ("cluster", "c0"), ("node_pool", "c0/p"), ("node", "c0/p/n0"), ("component", "c0/dns")
            }  # fmt: skip
            for _ in range(2):
                assert await outcome(client, "reported", "c0/p/n0", {"phase": "Running", "seen": 1, "log": now}) == []
            assert ("node", "c0/p/n0") not in await view.stale(await view.tree("c0"))
            for place in (f"1@{before}", "100000"):
                with pytest.raises(InvalidInput, match="place"):
                    await client.get("node", "c0/p/n0", at=place)
            with pytest.raises(InvalidInput, match="put back"):
                await anext(client.watch(start=f"1@{before}"))
            assert (await client.get("cluster", "c0", at=f"20@{now}")).id == "c0"
            assert ((await client.source("late")).epoch or 0) > now
            await until_decided(wire, layout)
            told = [losses.read(found.data) for found in await messages(wire, layout, "log.*.loss.>")]
            assert len(await messages(wire, layout, "mark.*.transition.mark.-.-.node.c0.p.n0")) == 1
    assert [(loss.partition, loss.what) for loss in told] == [(0, "restored")]
    assert [found["event"] for found in logs if found["log_level"] == "error"] == ["log_restored"]
    note = await identity.last(installation)
    assert note is not None
    assert (note.number, note.former) == (now, before)
    assert note.backup_ns <= note.found_ns
    assert (await audited(wire, layout)).divergences == {}


async def test_a_running_worker_notices_that_the_log_was_put_back(wire: Wire, one: Settings) -> None:
    layout, _ = await history(wire, one)
    installation = Installation(wire, layout, BUILT_IN_KINDS)
    often = Pacing(look_at_log=0.2)
    async with at_work(one, wire, pacing=often), Client.open(one, kinds=BUILT_IN_KINDS) as client:
        before = await client.log_identity()
        backups = await all_backed_up(wire, layout)  # nothing is committed after it: the fence is the same in both
        await put_back(wire, backups)
        async with asyncio.timeout(LIMIT):
            while (now := await log_identity(installation)) == before:
                await asyncio.sleep(0.1)
        data = {"phase": "Deleted", "seen": 1, "log": before}
        async with asyncio.timeout(LIMIT):
            while not await messages(wire, layout, "log.*.loss.restored"):
                await asyncio.sleep(0.1)
        assert await outcome(client, "reported", "c0/p/n1", {**data, "log": now}) == ["stale"]
        assert await outcome(client, "reported", "c0/p/n1", data) == ["Deleted"]


async def test_events_that_were_put_back_alone_are_not_taken_for_decided_ones(wire: Wire, one: Settings) -> None:
    layout, fleet = await history(wire, one)
    events = await backed_up(wire, layout.events)
    await gone_on(wire, one, fleet)
    await restore(wire, events)
    with capture_logs() as logs:
        async with at_work(one, wire):
            await publish(wire, [fleet.event("node", "not_ready", "c0/p/n0")])
            async with asyncio.timeout(LIMIT):
                while not any(found["event"] == "events_behind" for found in logs):
                    await asyncio.sleep(0.05)
    async with at_work(replace(one, accept_loss=True), wire), Client.open(one, kinds=BUILT_IN_KINDS) as client:
        async with asyncio.timeout(LIMIT):
            while not await messages(wire, layout, "log.*.loss.events"):
                await asyncio.sleep(0.05)
        assert await outcome(client, "not_ready", "c0/p/n0", {}) == ["Failed [NotReady]"]


async def test_empty_events_go_on_behind_what_is_decided(wire: Wire, one: Settings) -> None:
    layout, _ = await history(wire, one)
    await wire.api(f"STREAM.DELETE.{layout.events}")
    async with at_work(one, wire), Client.open(one, kinds=BUILT_IN_KINDS) as client:
        async with asyncio.timeout(LIMIT):
            while (await wire.api(f"STREAM.INFO.{layout.events}"))["state"]["first_seq"] < 2:
                await asyncio.sleep(0.05)
        assert await outcome(client, "not_ready", "c0/p/n0", {}) == ["Failed [NotReady]"]
