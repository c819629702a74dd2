"""Loss is loud: events that expired, an emptied STATE, an emptied LOG and lost timers are noticed and named.

See docs/trouble.md, What is missing.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import replace

import pytest
from structlog.testing import capture_logs

from phaseline.schemas import losses, wire_codec
from phaseline.schemas.records import Loss, Transition
from phaseline.schemas.subjects import Subjects
from tests.support.built_in_kinds import BUILT_IN_KINDS
from tests.support.emco_history import CTX, GROUP, context, resource
from tests.support.injections import AT, acknowledgement, inject
from tests.support.installation import Installation, Layout, Pacing, Settings, Wire, at_work, until_decided
from tests.support.log_check import assert_log_is_the_fold, audited, committed, stored
from tests.support.owners import LossWatch, checkpoint, take_over
from tests.support.random_events import RandomEvents, publish
from tests.support.state_stream import copied
from tests.support.streams import BUFFER, Reader


async def built(wire: Wire, settings: Settings, clusters: int = 1) -> tuple[Layout, RandomEvents]:
    """An installation with a history and no worker."""
    fleet = RandomEvents(settings.prefix)
    async with at_work(settings, wire) as layout:
        await publish(wire, list(fleet.built(clusters, 2)))
        await publish(wire, [fleet.event("node", "create", "c0/p/n0")])  # rejected: no state copies it
        await until_decided(wire, layout)
    return layout, fleet


async def lost(wire: Wire, layout: Layout) -> list[Loss]:
    return [losses.read(one.data) for one in await stored(wire, layout.log, [f"{layout.prefix}.log.*.loss.>"])]


async def until_logged(logs: Sequence[object], event: str) -> None:
    async with asyncio.timeout(120):
        while not any(isinstance(one, dict) and one["event"] == event for one in logs):
            await asyncio.sleep(0.05)


async def overtaken(wire: Wire, layout: Layout, fleet: RandomEvents, gone: int) -> None:
    """Publish a hundred events, of which the first ones are dropped before a worker sees them."""
    events = [fleet.event("node", trigger, "c0/p/n1") for trigger in ("not_ready", "ready") * 50]
    await publish(wire, events)
    first = (await wire.api(f"STREAM.INFO.{layout.events}"))["state"]["last_seq"] - 99
    await wire.api(f"STREAM.PURGE.{layout.events}", {"seq": first + gone})


@pytest.mark.parametrize("partitions", [1, 4])
async def test_events_that_expired_are_counted(wire: Wire, settings: Settings, partitions: int) -> None:
    settings = replace(settings, partitions=partitions, lease=1.0)
    layout, fleet = await built(wire, settings)
    await overtaken(wire, layout, fleet, 57)
    partition = Installation(wire, layout, BUILT_IN_KINDS).partition_of("c0")
    assert [gone.at_most for gone in (await audited(wire, layout)).losses if gone.partition == partition] == [57]
    with capture_logs() as logs:
        async with at_work(settings, wire):
            await until_logged(logs, "events_lost")
            await until_decided(wire, layout)
    found = {one.partition: one for one in await lost(wire, layout)}
    own = found[partition]
    assert own.at_most == 57
    assert own.at_least == (57 if partitions == 1 else 0)
    assert (own.first, own.last) == (own.last - 56, own.last)
    async with at_work(settings, wire):  # said once
        await until_decided(wire, layout)
    assert len(await lost(wire, layout)) == len(found)
    assert own in (await audited(wire, layout)).losses


async def test_events_that_expire_while_a_worker_lags_are_counted(wire: Wire, settings: Settings) -> None:
    settings = replace(settings, partitions=1)
    layout, fleet = await built(wire, settings)
    installation = Installation(wire, layout, BUILT_IN_KINDS)
    claim = await take_over(installation, 0, "slow")
    await publish(wire, [fleet.event("node", trigger, "c0/p/n1") for trigger in ("not_ready", "ready") * 2_000])
    watch = LossWatch(installation, claim)
    async with Reader(wire, layout.events, [installation.subjects.stored(0)], claim.position + 1) as inbox:
        async with asyncio.timeout(120):
            while inbox.buffered < BUFFER:
                await asyncio.sleep(0.05)
        await watch.look(inbox)
        assert await lost(wire, layout) == []
        last = inbox.delivered
        await wire.api(f"STREAM.PURGE.{layout.events}", {"seq": last + 101})
        for _ in range(2):
            await watch.look(inbox)
        (told,) = await lost(wire, layout)
    assert (told.first, told.last, told.at_least, told.at_most) == (last + 1, last + 100, 100, 100)
    assert (claim.position, claim.vouched) == (11, last + 100)
    assert claim.checkpoint.attempts == 1  # a note is no progress


async def test_a_retention_that_drops_decided_events_is_no_loss(wire: Wire, settings: Settings) -> None:
    settings = replace(settings, partitions=4, lease=1.0)
    layout, fleet = await built(wire, settings)
    async with at_work(settings, wire, pacing=Pacing(look_at_events=0.2)):
        await publish(wire, [fleet.event("node", trigger, "c0/p/n1") for trigger in ("not_ready", "ready") * 50])
        await until_decided(wire, layout)
        last = (await wire.api(f"STREAM.INFO.{layout.events}"))["state"]["last_seq"]
        await wire.api(f"STREAM.PURGE.{layout.events}", {"seq": last})
        async with asyncio.timeout(120):
            while not all([await vouched(wire, layout, partition) >= last - 1 for partition in range(4)]):
                await asyncio.sleep(0.1)
    async with at_work(settings, wire):
        await until_decided(wire, layout)
    assert await lost(wire, layout) == []


async def vouched(wire: Wire, layout: Layout, partition: int) -> int:
    """Up to which position no event waits, by the checkpoint."""
    found = await checkpoint.last(wire, layout.log, Subjects(layout.prefix).checkpoint(partition))
    return 0 if found is None else max(found.position, found.clear or 0)


async def test_events_that_begin_anew_are_named(wire: Wire, settings: Settings) -> None:
    settings = replace(settings, partitions=1)
    layout, _ = await built(wire, settings)
    await wire.api(f"STREAM.DELETE.{layout.events}")
    with capture_logs() as logs:
        async with at_work(settings, wire):
            await until_logged(logs, "events_restarted")
    assert [(one["position"], one["last"]) for one in logs if one["event"] == "events_restarted"] == [(11, 0)]


async def test_an_emptied_state_is_rebuilt(wire: Wire, settings: Settings) -> None:
    settings = replace(settings, partitions=1, lease=1.0)
    layout, fleet = await built(wire, settings)
    await wire.api(f"STREAM.PURGE.{layout.state}", {"filter": f"{layout.prefix}.state.0.node.>"})
    assert (await audited(wire, layout)).without_state == 2
    with capture_logs() as logs:
        async with at_work(settings, wire):
            await publish(wire, [fleet.event("node", "not_ready", "c0/p/n0")])
            await until_decided(wire, layout)
    (told,) = [one for one in logs if one["event"] == "state_rebuilt"]
    assert (told["missing"], told["entities"], told["log_level"]) == (2, 5, "warning")
    await wire.api(f"STREAM.DELETE.{layout.state}")  # the repair: a worker makes it again, the server fills it
    async with at_work(settings, wire):
        async with asyncio.timeout(120):
            while not await stored(wire, layout.state, [f"{layout.prefix}.state.0.node.c0.p.n1"]):
                await asyncio.sleep(0.05)
        await copied(wire, layout)
    await assert_log_is_the_fold(wire, layout, BUILT_IN_KINDS)


@pytest.mark.parametrize("anew", [False, pytest.param(True, marks=pytest.mark.slow)])
async def test_a_worker_does_not_go_on_from_an_emptied_log(wire: Wire, settings: Settings, *, anew: bool) -> None:
    """If LOG is made anew, the server takes ten seconds until STATE copies it again."""
    settings = replace(settings, partitions=1, lease=1.0)
    layout, fleet = await built(wire, settings)
    await wire.api(f"STREAM.DELETE.{layout.log}" if anew else f"STREAM.PURGE.{layout.log}")
    await publish(wire, [fleet.event("node", "not_ready", "c0/p/n0")])
    with capture_logs() as logs:
        async with at_work(settings, wire, pacing=Pacing(until_mended=0.2)):
            await until_logged(logs, "log_emptied")
            report = await audited(wire, layout)
            assert (report.emptied, report.holds) == ([0], False)
    assert [one.subject for one in await stored(wire, layout.log, [])] == [f"{layout.prefix}.tables.identity"]
    with capture_logs() as logs:
        async with at_work(replace(settings, accept_loss=True), wire):
            async with asyncio.timeout(120):
                await until_decided(wire, layout)
    (taken,) = [one for one in logs if one["event"] == "partition_taken"]
    assert (taken["epoch"], taken["entities"]) == (2, 5)
    assert [(one.what, one.at_most) for one in await lost(wire, layout)] == [("log", None)]
    (record,) = await committed(wire, layout, 0)
    assert ".transition.node.phase.Failed." in record.subject
    async with at_work(settings, wire):  # and no longer needs to be told
        await publish(wire, [fleet.event("node", "ready", "c0/p/n0")])
        async with asyncio.timeout(120):
            await until_decided(wire, layout)


async def test_a_checkpoint_that_a_foreign_message_removed_is_made_anew(wire: Wire, settings: Settings) -> None:
    settings = replace(settings, partitions=1, lease=1.0)
    layout, fleet = await built(wire, settings)
    await wire.publish_acked(f"{layout.prefix}.{AT['checkpoint']}", b"foreign", {"Nats-Rollup": "sub"})
    with capture_logs() as logs:
        async with at_work(settings, wire):
            await publish(wire, [fleet.event("node", "not_ready", "c0/p/n0")])
            async with asyncio.timeout(120):
                await until_decided(wire, layout)
    assert [one["position"] for one in logs if one["event"] == "checkpoint_rebuilt"] == [11]
    await assert_log_is_the_fold(wire, layout, BUILT_IN_KINDS)
    assert (await audited(wire, layout)).divergences == {}


DEADLINE = 2
"""Seconds that an app context may take."""


@pytest.mark.parametrize("running", [False, True])
async def test_a_timer_that_a_foreign_message_replaced_is_set_again(
    wire: Wire, settings: Settings, *, running: bool
) -> None:
    settings = replace(settings, partitions=1, lease=1.0)
    fleet, often = RandomEvents(settings.prefix), Pacing(look_at_events=0.2, look_at_timers=0.2)
    with capture_logs() as logs:
        async with at_work(settings, wire, pacing=often) as layout:
            await publish(
                wire,
                [
                    fleet.event("emco_resource", "create", GROUP),
                    fleet.event("emco_resource", "approve", GROUP),
                    fleet.event("app_context", "create", context(), deadline=DEADLINE),
                    fleet.event("rsync_resource", "add", resource("dep+Deployment")),
                    fleet.event("emco_resource", "instantiate", GROUP, context=CTX),
                ],
            )
            await until_decided(wire, layout)
            (timer,) = await stored(wire, layout.log, [f"{layout.prefix}.timer.>"])
            if running:
                await inject(wire, acknowledgement(layout, timer.subject.removeprefix(f"{layout.prefix}.")))
                await until_logged(logs, "timers_set_again")
        if not running:
            await inject(wire, acknowledgement(layout, timer.subject.removeprefix(f"{layout.prefix}.")))
        async with at_work(settings, wire, pacing=often):
            await until_logged(logs, "timers_set_again")
            await asyncio.sleep(DEADLINE + 0.5)
            await until_decided(wire, layout)
            found = await stored(wire, layout.log, [f"{layout.prefix}.log.0.transition.app_context.>"])
    records = [wire_codec.read(one.data) for one in found]
    assert [one.trigger for one in records if isinstance(one, Transition)].count("stalled") == 1
