"""A second site mirrors EVENTS, takes backups of the rest, and goes on when the first is killed under load."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from phaseline import Client
from phaseline.machines.built_in import PRODUCTS
from phaseline.machines.compiler.kinds import Kinds
from phaseline.schemas.errors import PhaselineError, SetupError
from tests.support.built_in_kinds import BUILT_IN_KINDS
from tests.support.installation import (
    Installation,
    Layout,
    Settings,
    Wire,
    at_work,
    inspect,
    layout_of,
    provision,
    until_decided,
)
from tests.support.log_check import audited, stored
from tests.support.random_events import RandomEvents, Sent, publish
from tests.support.timed_kinds import KINDS as TIMED
from tests.support.two_sites import (
    FIRST_API,
    StreamEntry,
    TwoSites,
    back_up,
    backing_up,
    log_identity,
    manifest,
    mirror,
    restoring,
    state_of,
    two_sites,
)

LIMIT = 120


def quiet(*_: object) -> None:
    """Nobody looks at the progress."""


@pytest.fixture
async def sites(tmp_path: Path) -> AsyncIterator[TwoSites]:
    async with two_sites(tmp_path) as both:
        yield both


async def backed_up(sites: TwoSites, folder: Path) -> None:
    """Back the first site up from the second one, over the leaf node."""
    over = replace(sites.settings[1], api_prefix=FIRST_API)
    async with Wire.open(over) as wire:
        backing_up.new_folder(folder)
        installation = Installation(wire, await inspect(wire, over), BUILT_IN_KINDS)
        await back_up(installation, folder, "/second", quiet, quiet)


async def promoted(wire: Wire, settings: Settings, folder: Path) -> None:
    """What `phaseline admin restore` does at the second site."""
    found = manifest.read(folder)
    manifest.check(folder, found, quiet)
    await restoring.restore(wire, layout_of(settings, 1), folder, found, {}, quiet, quiet)


async def ids(wire: Wire, layout: Layout) -> dict[int, str]:
    """The message id of each event, by its position."""
    found = await stored(wire, layout.events, [f"{layout.prefix}.inbox.>"])
    return {one.sequence: one.headers["Nats-Msg-Id"] for one in found}


async def acknowledged(wire: Wire, events: Sequence[Sent], enough: asyncio.Event) -> list[str]:
    """Publish one event after the other until the server is gone; the ids of those that it acknowledged."""
    done = list[str]()
    for event in events:
        try:
            await wire.publish_acked(event.subject, event.body, {"Nats-Msg-Id": event.message_id})
        except PhaselineError:
            break
        done.append(event.message_id)
        if len(done) > 100:
            enough.set()
    return done


async def test_the_first_is_killed_under_load_and_the_second_goes_on(sites: TwoSites, tmp_path: Path) -> None:
    here, there = sites.settings
    fleet, folder, enough = RandomEvents("pl"), tmp_path / "backup", asyncio.Event()
    built, life = list(fleet.built(4, 3)), list(fleet.life(700, 4, 3))
    async with Wire.open(there) as near:
        async with Wire.open(here) as far, at_work(here, far) as layout:
            await sites.mirror(near)
            await publish(far, built)
            await until_decided(far, layout)
            number = await log_identity(Installation(far, layout, BUILT_IN_KINDS))
            await backed_up(sites, folder)
            with pytest.raises(SetupError, match="the first site answers"):
                await promoted(near, there, folder)
            for ask in (provision, inspect):
                with pytest.raises(SetupError, match="nobody decides here"):
                    await ask(near, there)
            load = asyncio.create_task(acknowledged(far, life, enough))
            await enough.wait()
            await sites.until_mirrored(near, len(built) + 50)
            await sites.first.kill()
            stored_there = [*(one.message_id for one in built), *await load]
        await promoted(near, there, folder)
        lost = stored_there[(await state_of(near, layout.events))["last_seq"] :]
        kept = [one for one in life if one.message_id not in lost and one.message_id in stored_there]
        async with at_work(there, near), Client.open(there, kinds=BUILT_IN_KINDS) as client:
            await publish(near, [*kept[-20:], *life[len(kept) :]])  # of some nobody had heard that they were stored
            await until_decided(near, layout)
            assert await client.log_identity() > number
            assert (await audited(near, layout)).holds
            assert [*(await ids(near, layout)).values()] == [one.message_id for one in built + life]


async def test_timers_that_fired_after_the_backup_go_on(sites: TwoSites, tmp_path: Path) -> None:
    """The mirror has rings that LOG fired after it was backed up. LOG does not fire again at the places of these."""
    (here, there), folder = sites.settings, tmp_path / "backup"
    kinds = Kinds(TIMED, products=PRODUCTS)
    async with Wire.open(there) as near:
        async with Wire.open(here) as far:
            async with at_work(here, far, kinds) as layout, Client.open(here, kinds=kinds) as client:
                await sites.mirror(near)
                await client.publish_and_wait("probe", "start", "p", {"first": 1.0, "again": 1.0}, timeout=LIMIT)
                await backed_up(sites, folder)
                await rung(client, 3)
            await sites.until_mirrored(near, (await state_of(far, layout.events))["last_seq"])
            await sites.first.kill()
        await promoted(near, there, folder)
        copied = await mirror.copied_from_log(near, layout.prefix, layout.events)
        assert manifest.read(folder).reached < copied <= (await state_of(near, layout.log))["last_seq"]
        async with at_work(there, near, kinds), Client.open(there, kinds=kinds) as client:
            await until_decided(near, layout)
            await rung(client, int((await client.get("probe", "p")).attributes["rings"]) + 2)


async def rung(client: Client, times: int) -> None:
    """Wait until the probe rang so often."""
    async with asyncio.timeout(LIMIT):
        while int((await client.get("probe", "p")).attributes["rings"]) < times:
            await asyncio.sleep(0.1)


async def test_a_mirror_that_does_not_fit_the_backup_is_refused(wire: Wire, settings: Settings) -> None:
    origin, name = settings.stream("origin"), settings.stream("EVENTS")
    base = {"storage": "file", "num_replicas": 1}
    await wire.api(f"STREAM.CREATE.{origin}", {**base, "name": origin, "subjects": [f"{settings.prefix}.x"]})
    await wire.publish_acked(f"{settings.prefix}.x", b"")
    told = await wire.api(f"STREAM.INFO.{origin}")
    await wire.api(f"STREAM.CREATE.{name}", {**base, "name": name, "mirror": {"name": origin}})
    async with asyncio.timeout(LIMIT):
        while (await state_of(wire, name))["last_seq"] < 1:
            await asyncio.sleep(0.05)
    found = await wire.api(f"STREAM.INFO.{name}")

    def entry(**state: object) -> StreamEntry:
        config, held = {**told["config"], "name": name}, {**told["state"], **state}
        return StreamEntry(stream=name, file="x", config=config, state=held, bytes=0, sha256="")

    with pytest.raises(SetupError, match="the first site answers"):
        await mirror.check(wire, found, entry())
    await wire.api(f"STREAM.DELETE.{origin}")
    await mirror.check(wire, found, entry())
    with pytest.raises(SetupError, match="it ends at 1, the backup at 2"):
        await mirror.check(wire, found, entry(last_seq=2))
    with pytest.raises(SetupError, match="its message 1 is not that of the backup"):
        await mirror.check(wire, found, entry(last_ts="2026-03-02T08:00:00Z"))
    assert not mirror.remembers(found, entry())
    await mirror.promote(wire, entry())
    assert (await wire.publish_acked(f"{settings.prefix}.x", b"")).seq == 2
