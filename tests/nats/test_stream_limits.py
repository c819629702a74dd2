"""At the limit of a stream nothing is lost: it is said, publishers and workers wait, and all goes on with more room."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace
from functools import partial

import pytest
from structlog.testing import capture_logs

from phaseline.machines.built_in import PRODUCTS
from phaseline.machines.compiler.kinds import Kinds
from phaseline.schemas.errors import NoRoom
from tests.support import timed_kinds
from tests.support.built_in_kinds import BUILT_IN_KINDS
from tests.support.command import shell_of
from tests.support.installation import Pacing, Settings, Wire, Worker, at_work, inspect, provision, until_decided
from tests.support.log_check import assert_log_is_the_fold, decided
from tests.support.own_installation import Client, examined
from tests.support.patience import LIMIT
from tests.support.random_events import RandomEvents, publish
from tests.support.streams import Fill, change, reports

MB = 1_000_000
PADDING = "x" * 4_000
OFTEN = Pacing(look_at_streams=0.05, look_at_full_log=0.05)


async def limit(wire: Wire, settings: Settings) -> None:
    """Change the streams as `phaseline admin streams --apply` does."""
    layout = await inspect(wire, settings)
    for report in await reports(wire, settings, layout, BUILT_IN_KINDS.copies.values()):
        if report.differences:
            await change.change(wire, report, lambda _: None)


async def until(true: Callable[[], Awaitable[bool]]) -> None:
    async with asyncio.timeout(LIMIT):
        while not await true():
            await asyncio.sleep(0.05)


async def fill_of(wire: Wire, stream: str) -> Fill:
    return Fill.of(await wire.api(f"STREAM.INFO.{stream}"))


def updates(count: int, padding: str = PADDING) -> list[dict[str, object]]:
    return [
        {"specversion": "1.0", "id": f"u{n}-{len(padding)}", "source": "/test", "type": "cluster.update", "subject": "cluster/c1",
         "data": {"message": padding}}
        for n in range(count)
    ]  # fmt: skip


async def test_a_full_events_refuses_and_loses_nothing(wire: Wire, settings: Settings) -> None:
    """Also those that its server makes: timers that are due wait for room."""
    settings = replace(settings, partitions=1)
    layout = await provision(wire, replace(settings, events_max_bytes=MB))
    async with Client.open(settings) as client:
        with capture_logs() as logged, pytest.raises(NoRoom, match="maximum bytes exceeded"):
            await client.publish_many(updates(400), patience=0.3, check=False)
        assert [line["log_level"] for line in logged if line["event"] == "publish_waits"] == ["warning"]
        with pytest.raises(NoRoom, match=r"no room for t\d+\.events\.c1.*maximum bytes"):
            await client.publish("cluster", "create", "c1", {"message": PADDING})
        before = (await wire.api(f"STREAM.INFO.{layout.events}"))["state"]
        assert before["first_seq"] == 1
        found = {one.check: one for one in await examined(settings, BUILT_IN_KINDS)}[f"stream {layout.events}"]
        assert (found.verdict, "of 1.0 MB (9" in found.found) == ("problem", True)
        await limit(wire, replace(settings, events_max_bytes=9 * MB))
        sent = await client.publish_many(updates(400), check=False)
        assert (sent.duplicates, sum(sent)) == (before["messages"], 400)


async def test_timers_wait_while_events_is_full(wire: Wire, settings: Settings) -> None:
    settings, kinds = replace(settings, partitions=1), Kinds(timed_kinds.KINDS, products=PRODUCTS)
    layout = await provision(wire, replace(settings, events_max_bytes=MB))
    async with at_work(settings, wire, kinds, OFTEN), Client.open(settings, kinds=kinds) as client:
        await client.publish_and_wait("probe", "start", "p1", {"first": 4.0, "again": 9_000.0})  # full before that
        for events in (updates(400), updates(400, padding="")):
            with pytest.raises(NoRoom):
                await client.publish_many(events, patience=0.2, check=False)

        async def fired() -> bool:
            found = await wire.api(f"STREAM.INFO.{layout.log}", {"subjects_filter": f"{layout.prefix}.fired.>"})
            return bool(found["state"].get("subjects"))

        await until(fired)
        assert (await client.get("probe", "p1")).attributes["rings"] == 0
        await limit(wire, replace(settings, events_max_bytes=9 * MB))

        async def rang() -> bool:
            return bool((await client.get("probe", "p1")).attributes["rings"])

        await until(rang)


async def test_a_full_log_holds_commits_and_drops_nothing(wire: Wire, settings: Settings) -> None:
    settings = replace(settings, partitions=2, log_max_bytes=MB)
    fleet = RandomEvents(settings.prefix)
    with capture_logs() as logged:

        async def said(times: int) -> bool:
            return [line["event"] for line in logged].count("log_full") >= times

        async with at_work(settings, wire, pacing=OFTEN) as layout:
            await publish(wire, [*fleet.built(6, 6), *fleet.life(1_700, 6, 6)])
            await until(partial(said, 1))
            held = (await fill_of(wire, layout.log)).bytes
            await publish(wire, list(fleet.life(300, 6, 6)))
            await asyncio.sleep(0.2)
            assert not await decided(wire, layout)
        # A worker that is held stops, and the next one is held too: it writes nothing but its checkpoints.
        async with at_work(settings, wire, pacing=OFTEN):
            await until(partial(said, 2))
            assert held >= MB
            assert (await fill_of(wire, layout.log)).bytes < held + MB / 2
            await limit(wire, replace(settings, log_max_bytes=90 * MB))
            await until_decided(wire, layout)
    events = [line["event"] for line in logged]
    assert events.index("log_full") < events.index("log_has_room")
    assert "stream_almost_full" in events
    assert await assert_log_is_the_fold(wire, layout, BUILT_IN_KINDS) > 1_000


@pytest.mark.slow
async def test_a_full_state_is_copied_once_there_is_room(wire: Wire, settings: Settings) -> None:
    settings = replace(settings, partitions=1)
    layout = await provision(wire, replace(settings, state_max_bytes=MB))
    fleet = RandomEvents(settings.prefix)
    async with at_work(settings, wire, pacing=OFTEN):
        await publish(wire, list(fleet.built(80, 20)))
        await until_decided(wire, layout)  # by the log
        assert (await fill_of(wire, layout.state)).is_full
    stop = asyncio.Event()
    worker = Worker(wire, settings, BUILT_IN_KINDS, pacing=OFTEN)
    taking = asyncio.create_task(worker.run(stop))
    await publish(wire, list(fleet.life(20, 80, 20)))
    await limit(wire, replace(settings, state_max_bytes=90 * MB))
    await until_decided(wire, layout)
    stop.set()
    await taking
    await assert_log_is_the_fold(wire, layout, BUILT_IN_KINDS)


async def test_the_command_warns_of_a_stream_that_is_almost_full(wire: Wire, settings: Settings) -> None:
    settings = replace(settings, partitions=1)
    layout = await provision(wire, replace(settings, events_max_bytes=MB), BUILT_IN_KINDS.copies.values())
    async with Client.open(settings) as client:
        await client.publish_many(updates(205), check=False)
    shell = shell_of(settings)
    said = await shell("admin", "streams")
    assert said.code == 0
    assert f"{layout.events} is almost full" in said.err
    [row] = [line for line in (await shell("admin", "streams", "--json")).lines if line["stream"] == layout.events]
    assert 80 <= row["percent"] < 98
    found = {one.check: one for one in await examined(settings, BUILT_IN_KINDS)}[f"stream {layout.events}"]
    assert (found.verdict, "raise its limit" in found.advice) == ("warning", True)
