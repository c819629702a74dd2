"""A worker that fails on events: it goes on, or ends and says so; and what was rejected is decided after the mend."""

import asyncio
from dataclasses import replace

import pytest

from phaseline.schemas import wire_codec
from phaseline.schemas.records import Rejection
from tests.support.command import shell_of
from tests.support.installation import LIMIT, Layout, Settings, Wire, provision, until_decided
from tests.support.killable_worker import WorkerProcess, workers
from tests.support.log_check import committed
from tests.support.random_events import RandomEvents, Sent, publish

BROKEN = "tests.support.broken_worker"

ENOUGH = 20
"""Faults in a row after which a worker ends, if no event was decided meanwhile."""


async def rejected(wire: Wire, layout: Layout) -> list[Rejection]:
    found = [wire_codec.read(message.body) for message in await committed(wire, layout, 0)]
    return [record for record in found if isinstance(record, Rejection)]


async def broken_for(pattern: str, settings: Settings, wire: Wire, layout: Layout, events: list[Sent]) -> None:
    """Let a worker decide events that fails on those whose subject has the pattern."""
    worker = await WorkerProcess.start(settings, pattern, program=BROKEN)
    await publish(wire, events)
    await until_decided(wire, layout)
    worker.assert_runs()
    await worker.stop()


async def test_a_worker_that_fails_on_all_that_it_decides_ends_and_says_so(settings: Settings, wire: Wire) -> None:
    """Nothing is rejected, so the next worker decides it all."""
    settings = replace(settings, partitions=1)
    layout, fleet = await provision(wire, settings), RandomEvents(settings.prefix)
    events = list(fleet.built(3, 4))
    assert len(events) > ENOUGH
    await publish(wire, events)
    worker = await WorkerProcess.start(settings, ".", program=BROKEN)
    _, said = await asyncio.wait_for(worker.process.communicate(), LIMIT)
    assert worker.process.returncode == 1
    assert "worker_faults" in said.decode()
    assert "kinds in 3 trees, all made this worker fail: Unread: LookupError" in said.decode()
    assert await rejected(wire, layout) == []
    async with workers(settings, 1):
        await until_decided(wire, layout)
    assert await rejected(wire, layout) == []


@pytest.mark.parametrize(("pattern", "failed"), [(r"\.c1\.", "c1"), (r"\.node\.", "node")])
async def test_one_tree_and_one_kind_never_end_it(settings: Settings, wire: Wire, pattern: str, failed: str) -> None:
    settings = replace(settings, partitions=1)
    layout, fleet = await provision(wire, settings), RandomEvents(settings.prefix)
    events = [*fleet.cluster("c1", 30), *fleet.cluster("c0", 1)] if failed == "c1" else list(fleet.built(3, 30))
    await broken_for(pattern, settings, wire, layout, events)
    found = await rejected(wire, layout)
    assert len(found) > ENOUGH
    assert {one.reason for one in found} == {"fault"}
    assert {one.id.partition("/")[0] if failed == "c1" else one.kind for one in found} == {failed}


async def test_what_was_rejected_is_decided_once_after_the_mend(settings: Settings, wire: Wire) -> None:
    settings = replace(settings, partitions=1)
    layout, fleet, shell = await provision(wire, settings), RandomEvents(settings.prefix), shell_of(settings)
    await broken_for(r"\.c1\.", settings, wire, layout, [*fleet.cluster("c1", 3), *fleet.cluster("c0", 1)])
    faults = await rejected(wire, layout)
    asked = ("rejections", "retry", "--reason", "fault")
    async with workers(settings, 1):
        before = await shell(*asked, "--dry-run", "--json")
        shown = [(one["id"], one["sent"], one["hindrance"]) for one in before.lines]
        assert shown == [(one.id, None, "") for one in faults]
        assert "12 would be sent, 0 left out" in (await shell(*asked, "--dry-run")).err
        assert (await shell("get", "cluster", "c1")).code != 0
        done = await shell(*asked)
        assert (done.code, f"{len(faults)} sent, 0 left out" in done.err) == (0, True), done
        await until_decided(wire, layout)
        assert (await shell("get", "node", "c1/p/n2", "--json")).code == 0
        assert await rejected(wire, layout) == faults
        again = await shell(*asked, "--json")
        assert {one["hindrance"].rpartition(" ")[0] for one in again.lines} == {"it was sent again as event"}
        assert ({one["sent"] for one in again.lines}, again.code) == ({None}, 0)


async def test_what_was_rejected_again_is_sent_once_more(settings: Settings, wire: Wire) -> None:
    settings = replace(settings, partitions=1)
    layout, fleet, shell = await provision(wire, settings), RandomEvents(settings.prefix), shell_of(settings)
    await broken_for(r"\.c1\.", settings, wire, layout, list(fleet.cluster("c1", 1)))
    count = len(await rejected(wire, layout))
    sent = await shell("rejections", "retry", "--reason", "fault", "--json")
    assert [one["sent"] is None for one in sent.lines] == [False] * count
    await broken_for(r"\.c1\.", settings, wire, layout, [])
    assert len(await rejected(wire, layout)) == 2 * count
    sent = await shell("rejections", "retry", "--reason", "fault", "--json")
    assert [one["sent"] is None for one in sent.lines] == [True] * count + [False] * count
    async with workers(settings, 1):
        await until_decided(wire, layout)
    assert len(await rejected(wire, layout)) == 2 * count


async def test_what_a_later_event_has_overtaken_is_left_out(settings: Settings, wire: Wire) -> None:
    settings = replace(settings, partitions=1)
    layout, fleet, shell = await provision(wire, settings), RandomEvents(settings.prefix), shell_of(settings)
    async with workers(settings, 1):
        await publish(wire, list(fleet.cluster("c1", 3)))
        await until_decided(wire, layout)
    late = [fleet.event("node", "not_ready", f"c1/p/n{n}") for n in range(3)]
    await broken_for(r"\.not_ready\.", settings, wire, layout, late)
    async with workers(settings, 1):
        await publish(wire, [fleet.event("node", "drain", "c1/p/n0"), fleet.event("node", "cordon", "c1/p/n1")])
        await publish(wire, [fleet.event("node", "adopt", "c1/p/n2")])  # rejected, so it overtakes nothing
        await until_decided(wire, layout)
        reasons = [(one.trigger, one.reason) for one in await rejected(wire, layout)]
        assert reasons[:3] == [("not_ready", "fault")] * 3
        assert [trigger for trigger, _ in reasons[3:]] == ["adopt"], reasons
        done = await shell("rejections", "retry", "node", "--tree", "c1", "--reason", "fault", "--json")
        assert done.code == 1
        overtaken = [one["hindrance"].endswith("what this one says may be out of date") for one in done.lines]
        assert overtaken == [True, True, False]
        assert [one["sent"] is None for one in done.lines] == [True, True, False]
        assert "1 sent" not in (await shell("rejections", "retry", "--reason", "guard")).err
        assert "--reason" in (await shell("rejections", "retry")).err
