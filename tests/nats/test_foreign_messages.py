"""What no worker wrote is set aside: a partition goes on, commits nothing twice, and the audit stays clean.

See docs/design.md, What no worker wrote.
"""

import asyncio
import json
from dataclasses import replace
from pathlib import Path

import pytest

from phaseline.schemas import codec
from tests.support.archives import audit_of_both, run_archive
from tests.support.built_in_kinds import BUILT_IN_KINDS
from tests.support.http_server import http_server
from tests.support.injections import AT, INJECTIONS, NOTES, Injection, copy, inject
from tests.support.installation import (
    Installation,
    Layout,
    Settings,
    Wire,
    Worker,
    at_work,
    provision,
    until_decided,
)
from tests.support.installation import (
    working as installation_at_work,
)
from tests.support.log_check import assert_log_is_the_fold, audited, stored
from tests.support.own_installation import Client, examined
from tests.support.owners import purge
from tests.support.random_events import RandomEvents, publish
from tests.support.reading import backlog
from tests.support.recorded_logs import audit_of, exported
from tests.support.state_stream import copied

LIMIT = 120
"""Seconds in which a partition must go on."""


class Running:
    """A worker that runs until `stop`."""

    def __init__(self, wire: Wire, settings: Settings) -> None:
        self.worker, self._stop = Worker(wire, settings, BUILT_IN_KINDS), asyncio.Event()
        self.task = asyncio.create_task(self.worker.run(self._stop))

    async def stop(self) -> None:
        assert not self.task.done(), self.task
        self._stop.set()
        await self.task


async def goes_on(wire: Wire, layout: Layout, fleet: RandomEvents) -> None:
    """Publish further events, and wait until they are decided."""
    await publish(wire, [fleet.event("node", trigger, "c0/p/n0") for trigger in ("not_ready", "ready")])
    async with asyncio.timeout(LIMIT):
        await until_decided(wire, layout)


async def test_a_copy_of_an_event_is_rejected(settings: Settings, wire: Wire, tmp_path: Path) -> None:
    async with installation_at_work(settings, wire, BUILT_IN_KINDS, partitions=1) as layout:
        sent = RandomEvents(settings.prefix).event("cluster", "create", "c0")
        await wire.publish_acked(sent.subject, sent.body)  # with a Nats-Msg-Id, the server drops the copy
        await inject(wire, copy(layout, "events", "inbox.0.c0.cluster.create", "events.c2.cluster.create"), times=1)
        await until_decided(wire, layout)
        (told,) = await stored(wire, layout.log, [f"{layout.prefix}.log.0.rejection.cluster.invalid.c2"])
        assert "Nats-Stream" in codec.decode(told.data)["data"]["message"]
        installation = Installation(wire, layout, BUILT_IN_KINDS)
        await exported(installation, tmp_path / "a.plog")
        report = await audit_of(tmp_path / "a.plog", BUILT_IN_KINDS)
        assert (report.divergences, report.events) == ({}, 2)
        assert (await audited(wire, layout)).divergences == {}


async def test_a_worker_answers_inboxes_only(settings: Settings, wire: Wire) -> None:
    async with installation_at_work(settings, wire, BUILT_IN_KINDS, partitions=1) as layout:
        await publish(wire, list(RandomEvents(settings.prefix).built(1, 1)))
        await until_decided(wire, layout)
        before = await stored(wire, layout.log, [])
        query = f"{layout.prefix}.status.emco_resource.p+app+v1+group"
        for subject in (query, f"{layout.prefix}.owner.0.p+app+v1+group", "$SRV.PING", "$SRV.INFO", "$SRV.STATS"):
            await inject(wire, Injection(subject, b"", f"{layout.prefix}.log.0.transition.node.phase.Running.c0.p.n0"))
        reply = await wire.request(query)
        assert json.loads(reply.data)["code"] == 404
        assert await stored(wire, layout.log, []) == before
        assert wire.replies.refused == 10


@pytest.mark.parametrize("injection", INJECTIONS)
async def test_a_partition_goes_on_after_an_injection(wire: Wire, settings: Settings, injection: str) -> None:
    settings = replace(settings, partitions=1, lease=1.0)
    fleet = RandomEvents(settings.prefix)
    layout = await provision(wire, settings)
    running = Running(wire, settings)
    await publish(wire, list(fleet.built(1, 2)))
    await until_decided(wire, layout)
    await inject(wire, INJECTIONS[injection](layout))
    await goes_on(wire, layout, fleet)
    await running.stop()
    await inject(wire, INJECTIONS[injection](layout))
    second = Running(wire, settings)
    await goes_on(wire, layout, fleet)
    report = await audited(wire, layout)
    await second.stop()
    assert report.divergences == {}
    await assert_log_is_the_fold(wire, layout, BUILT_IN_KINDS)


async def read_everything(client: Client) -> list[object]:
    """What a client reads of an installation, in every way."""
    view = await client.at("now")
    return [
        *[await one.tree("c0") for one in (client, view)],
        *[await one.get("node", f"c0/p/{name}") for one in (client, view) for name in ("n0", "n1")],
        [entity async for entity in client.list("node")],
        [entity async for entity in client.list("node", state="Running")],
        sorted([one.entity.id async for one in (await client.at()).unsorted("node", state="Running")]),
        [record async for record in client.history("node", "c0/p/n0")],
        [record async for record in client.rejections()],
        [record async for record in client.watch(start="start", follow=False)],
        await client.changes("start"),
        (await client.timeline("c0/p/n0")).lanes[0].intervals[0].record,
        (await client.why("node", "c0/p/n0")).facets,
        (await client.dry_run("node", "ready", "c0/p/n0")).records,
    ]


async def test_readers_skip_what_no_worker_wrote(settings: Settings, wire: Wire) -> None:
    async with installation_at_work(settings, wire, BUILT_IN_KINDS, partitions=1) as layout:
        await publish(wire, list(RandomEvents(settings.prefix).built(1, 2)))
        await until_decided(wire, layout)
        await copied(wire, layout)
        async with Client.open(settings, source="/test", kinds=BUILT_IN_KINDS) as client:
            before = await read_everything(client)
            await publish_raw(wire, layout)
            await copied(wire, layout)
            after = await read_everything(client)
            for was, found in zip(before, after, strict=True):
                assert found == was
            outcome = await client.publish_and_wait("node", "not_ready", "c0/p/n0")
            assert outcome.effect == "transitions"


async def publish_raw(wire: Wire, layout: Layout) -> None:
    """Put an acknowledgement on every subject of LOG, without the event that it would answer."""
    for subject in (*AT.values(), AT["transition"]):  # the last one is copied to STATE
        if not subject.startswith(("lease", "fired")):
            await wire.publish_acked(f"{layout.prefix}.{subject}", b'{"stream":"pl-EVENTS","seq":3}')


async def test_words_in_place_of_the_number_of_a_partition(settings: Settings, wire: Wire) -> None:
    """Whoever can have something stored in LOG and LEASE chooses the whole subject. Nobody stumbles over it."""
    settings, fleet = replace(settings, partitions=2, lease=1.0), RandomEvents(settings.prefix)
    async with at_work(settings, wire) as layout:
        await publish(wire, list(fleet.built(3, 2)))
        await until_decided(wire, layout)
        for subject in (
            "lease.worker.x", "mark.x.transition.checkpoint.-.-.-", "mark.x.transition.mark.-.-.node.c0.p.n0",
            "log.x.transition.node.phase.Running.c0.p.n0",
        ):  # fmt: skip
            await wire.publish_acked(f"{layout.prefix}.{subject}", b'{"stream":"pl-EVENTS","seq":3}')
        await copied(wire, layout)
    async with asyncio.timeout(60):  # a lease that no worker wrote never ends, and counts for none
        while (await backlog(Installation(wire, layout, BUILT_IN_KINDS))).workers != 0:
            await asyncio.sleep(0.05)
    async with at_work(replace(settings, accept_loss=True), wire):
        await publish(wire, list(fleet.life(20, 3, 2)))
        await until_decided(wire, layout)
        found = await examined(settings, BUILT_IN_KINDS)
        assert [(one.verdict, one.found[:10]) for one in found if one.check == "workers"] == [("ok", "1 running ")]
        async with http_server(settings) as api:
            assert (await api.get("/v1/summary"))["entities"] == 3 * 5


async def test_notes_that_nobody_wrote(settings: Settings, wire: Wire, tmp_path: Path) -> None:
    """Of archives, purges, losses, and of another number of partitions; before and after an archive run and a purge."""
    settings, fleet = replace(settings, partitions=1, lease=1.0), RandomEvents(settings.prefix)
    async with at_work(settings, wire) as layout:
        await publish(wire, list(fleet.built(3, 2)))
        await until_decided(wire, layout)
        for _ in range(2):
            for made in NOTES:
                await inject(wire, made(layout), times=1)
            await publish(wire, list(fleet.life(20, 3, 2)))
            await until_decided(wire, layout)
            installation = Installation(wire, layout, BUILT_IN_KINDS)
            found = await purge.find(installation, "node", "c0/p/n0")
            await purge.run(installation, found, "/test")
            report = await audited(wire, layout)
            assert (report.divergences, report.losses) == ({}, [])
            assert (await run_archive(installation, tmp_path)).parts
            async with http_server(settings) as api:
                assert (await api.get("/v1/summary"))["entities"] == 3 * 5
        report = await audit_of_both(installation, tmp_path)
        assert (report.divergences, report.losses) == ({}, [])


async def test_purges_and_their_notes(settings: Settings, wire: Wire) -> None:
    """A forged note would hide from an audit that events are gone; any other message there must not end it."""
    async with installation_at_work(settings, wire, BUILT_IN_KINDS, partitions=1) as layout:
        installation, fleet = Installation(wire, layout, BUILT_IN_KINDS), RandomEvents(settings.prefix)
        await publish(wire, list(fleet.built(1, 2)))
        note = codec.encode({"kind": "node", "id": "c0/p/n0", "positions": [2], "by": "/evil"})
        await wire.publish_acked(f"{layout.prefix}.events.c1.x.y", note)
        await until_decided(wire, layout)
        await inject(wire, copy(layout, "events", "inbox.0.c1.x.y", "tables.0.purged"))
        for subject in ("tables.0.purged", "log.0.rejection.node.illegal.c0.p.n0"):
            await wire.publish_acked(f"{layout.prefix}.{subject}", b'{"stream":"pl-EVENTS","seq":3}')
        assert await purge.notes(installation, 0).all_of() == []
        report = await audited(wire, layout)
        assert (report.divergences, report.purged) == ({}, 0)
        found = await purge.find(installation, "node", "c0/p/n0")
        assert (len(found.positions), found.rejections) == (2, [])
        await purge.run(installation, found, "/test")
        assert [one.positions for one in await purge.notes(installation, 0).all_of()] == [tuple(found.positions)]
        assert (await audited(wire, layout)).purged == 2
