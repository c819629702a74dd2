"""Archives of logs with everything that a log can hold, and installations that live on after it."""

import asyncio
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from msgspec import structs

from phaseline import Moment
from phaseline.machines.built_in import PRODUCTS
from phaseline.machines.compiler.kinds import Kinds
from phaseline.schemas.errors import BadArchive
from phaseline.schemas.records import Transition
from phaseline.tables import ABSENT, Facet, Label, Row, Table, Timeout
from tests.support.archives import (
    Folder,
    audit_of_both,
    check,
    messages,
    note,
    run_archive,
    states,
    whole_log,
    with_archive,
)
from tests.support.built_in_kinds import BUILT_IN_KINDS as KINDS
from tests.support.installation import (
    EmbeddedServer,
    Installation,
    Layout,
    Settings,
    Wire,
    at_work,
    inspect,
    until_decided,
    working,
)
from tests.support.json_copies import add_json_copies
from tests.support.log_check import audited, stored
from tests.support.own_installation import Client, OwnInstallation
from tests.support.owners import purge
from tests.support.random_events import RandomEvents, publish
from tests.support.reading import Latest

LAMP = Table(
    kind="lamp",
    id=("lamp",),
    intents=("switch_on", "switch_off"),
    derived=("burn_out",),
    facets=(
        Facet(
            name="phase",
            labels=tuple(Label(phase, "Ok", phase) for phase in ("On", "Off", "Dark")),
            rows=(
                Row((ABSENT, "Off"), "switch_on", "On"),
                Row(("On", "Dark"), "switch_off", "Off"),
                Row(("On",), "burn_out", "Dark"),
            ),
            timeouts=(Timeout("On", "burn_out", 0.1),),
        ),
    ),
)


async def last_event(wire: Wire, layout: Layout) -> int:
    return int((await wire.api(f"STREAM.INFO.{layout.events}"))["state"]["last_seq"])


async def built(wire: Wire, layout: Layout, fleet: RandomEvents, events: int = 80) -> None:
    await publish(wire, [*fleet.built(3, 3), *fleet.life(events, 3, 3)])
    await until_decided(wire, layout)


async def test_a_take_over_and_a_new_state_stream(wire: Wire, settings: Settings, tmp_path: Path) -> None:
    """After it, workers load the same states, also from a STATE that the server fills anew from LOG."""
    settings, fleet = replace(settings, partitions=2, lease=1.0), RandomEvents(settings.prefix)
    async with at_work(settings, wire) as layout:
        await built(wire, layout, fleet)
    live = Installation(wire, layout, KINDS)
    before = await Latest(live).states(deleted=True)
    await run_archive(live, tmp_path)
    await wire.api(f"STREAM.DELETE.{layout.state}")
    async with at_work(settings, wire):
        async with asyncio.timeout(120):
            while len(await Latest(live).states(deleted=True)) < len(before):
                await asyncio.sleep(0.05)
        assert await Latest(live).states(deleted=True) == before
        await publish(wire, list(fleet.life(60, 3, 3)))
        await until_decided(wire, layout)
    report = await audited(wire, layout)
    assert (report.holds, report.losses, report.events) == (True, [], 60)
    assert (await audit_of_both(live, tmp_path)).holds
    for entity in before[:5]:
        found = await Latest(await with_archive(live, tmp_path)).history(entity.entity.kind, entity.entity.id)
        assert [one.entity.version for one in found] == list(range(1, len(found) + 1))


async def test_the_server_copies_nothing_again(
    own_server: EmbeddedServer, own_settings: Settings, tmp_path: Path
) -> None:
    """The last copy from each source stays in EVENTS: without it a restarted server would copy all timers again."""
    kinds = Kinds((LAMP,), products=PRODUCTS)
    async with Wire.open(own_settings, name="test", patient=True) as wire:
        async with working(own_settings, wire, kinds, partitions=2) as layout:
            fleet = RandomEvents(layout.prefix)
            await publish(wire, [fleet.event("lamp", "switch_on", f"l{number}") for number in range(6)])
            async with asyncio.timeout(120):
                while len(await stored(wire, layout.events, [f"{layout.prefix}.due.>"])) < 6:
                    await asyncio.sleep(0.02)
            await until_decided(wire, layout)
        live, last = Installation(wire, layout, kinds), await last_event(wire, layout)
        await run_archive(live, tmp_path)
        assert await messages(wire, layout.events) == 1
        await own_server.kill()
        await own_server.start()
        await wire.until_connected(20)
        async with working(own_settings, wire, kinds, partitions=2) as layout:
            await publish(wire, [fleet.event("lamp", "switch_off", "l1")])
            await until_decided(wire, layout)
            assert await last_event(wire, layout) == last + 1
            assert (await run_archive(live, tmp_path)).manifest.position == last + 1
        assert (await audit_of_both(live, tmp_path)).holds


@pytest.mark.parametrize("copies", [False, True], ids=["alone", "with copies in JSON"])
async def test_a_feed_in_msgpack(wire: Wire, settings: Settings, tmp_path: Path, *, copies: bool) -> None:
    settings, fleet = replace(settings, partitions=2, feed="msgpack"), RandomEvents(settings.prefix)
    async with at_work(settings, wire) as layout:
        await built(wire, layout, fleet)
        if copies:
            assert await add_json_copies(wire, layout)
            await built(wire, layout, fleet, 30)
        live = Installation(wire, layout, KINDS)
        records = await whole_log(live)
        await run_archive(live, tmp_path)
        assert await whole_log(await with_archive(live, tmp_path)) == records
        assert await stored(wire, layout.log, [f"{layout.prefix}.log.*.json.>"]) == []
        assert (await audited(wire, layout)).holds
    assert (await audit_of_both(live, tmp_path)).holds


async def test_events_that_are_gone(wire: Wire, settings: Settings, tmp_path: Path) -> None:
    """EVENTS has dropped events before their records are archived: all of them, some of them, one in the middle."""
    async with working(settings, wire, KINDS, 2) as layout:
        fleet, live = RandomEvents(layout.prefix), Installation(wire, layout, KINDS)
        for gone in (0, 30):
            await built(wire, layout, fleet, 60)
            last = await last_event(wire, layout)
            await wire.api(f"STREAM.PURGE.{layout.events}", {"seq": last + 1 - gone})
            records, moment = await whole_log(live), Moment(records_end(await whole_log(live)), 0)
            then = await states(live, moment)
            done = await run_archive(live, tmp_path / f"{gone}")
            assert done.manifest.missing == [(done.manifest.parts[0].first, last - gone)]
            both = await with_archive(live, tmp_path / f"{gone}")
            archived = [one for one in await whole_log(both) if one in records]
            assert archived == (records if not gone else [one for one in records if one[0] > done.manifest.begins])
            assert await states(both, moment) == then
            assert (await audit_of_both(live, tmp_path / f"{gone}")).holds
            assert (await audited(wire, layout)).losses == []
        check.check(Folder(tmp_path / "30"))


def records_end(records: list[tuple[int, object]]) -> int:
    return records[-1][0]


async def test_purged_events_and_secrets(client: Client, working: Settings, wire: Wire, tmp_path: Path) -> None:
    live = Installation(wire, await inspect(wire, working), KINDS)
    words = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "words", "namespace": "shop"}}
    for kind, name in (("ConfigMap", "words"), ("Secret", "mail"), ("ConfigMap", "words"), ("ConfigMap", "other")):
        entity_id = f"shop/shop/core:{kind}/shop/{name}"
        found: dict[str, Any] = {**words, "kind": kind, "metadata": {"name": name, "namespace": "shop"}}
        found |= {"data": {"a": "aHVudGVyMg=="}} if kind == "Secret" else {}
        await client.publish("resource", "observed", entity_id, {"live": found, "desired": found}, check=False)
    await client.publish_and_wait("cluster", "create", "c1")
    await until_decided(wire, live.layout)
    target = await purge.find(live, "resource", "shop/shop/core:ConfigMap/shop/words")
    await purge.run(live, target, "/me")
    assert len(target.positions) == 2
    done = await run_archive(live, tmp_path)
    assert (done.manifest.position, done.manifest.missing) == (5, [])
    report = await audit_of_both(live, tmp_path)
    assert (report.holds, report.purged, report.erased, report.events) == (True, 2, 1, 2), report
    assert len(await stored(wire, live.layout.log, [f"{live.prefix}.log.*.rejection.*.secret.>"])) == 1
    await client.publish_and_wait("cluster", "create", "c2")
    report = await audited(wire, live.layout)
    assert (report.holds, report.purged, report.erased, report.events) == (True, 0, 0, 1), report


@pytest.mark.usefixtures("small_batches")
async def test_a_cascade_of_several_batches(installation: OwnInstallation, tmp_path: Path) -> None:
    async with installation.having(partitions=1).worker() as layout:
        fleet, live = RandomEvents(layout.prefix), Installation(installation.wire, layout, KINDS)
        story = [
            fleet.event("cluster", "adopt", "c1", phase="Running"),
            fleet.event("node_pool", "adopt", "c1/p", phase="Running"),
        ]
        story += [fleet.event("node", "adopt", f"c1/p/n{number}", phase="Running") for number in range(110)]
        await installation.publish([*story, fleet.event("cluster", "delete", "c1")])
        await installation.until_decided()
        records = await whole_log(live)
        assert len(records) > 200
        cut = records[-30][0]
        done = await run_archive(live, tmp_path, cut)
        assert done.manifest.position < await last_event(installation.wire, layout)
        await run_archive(live, tmp_path)
        both = await with_archive(live, tmp_path)
        assert await whole_log(both) == records
        last = {one.entity.id: one.entity for _, one in records[:-29] if isinstance(one, Transition)}
        found = await states(both, Moment(cut, 0))
        assert {entity_id: one.entity for (_, entity_id), one in found.items()} == last
        assert (await audit_of_both(live, tmp_path)).holds


async def test_two_archives_of_one_log(installation: OwnInstallation, tmp_path: Path) -> None:
    """The second one begins with the states; the first one cannot go on behind it."""
    async with installation.having(partitions=2).worker() as layout:
        fleet, live = RandomEvents(layout.prefix), Installation(installation.wire, layout, KINDS)
        await built(installation.wire, layout, fleet)
        first = (await run_archive(live, tmp_path / "1")).manifest
        await installation.publish(list(fleet.life(40, 3, 3)))
        await installation.until_decided()
        second = (await run_archive(live, tmp_path / "2")).manifest
        assert second.parts[0].first == first.position + 1
        with pytest.raises(BadArchive, match=second.archive):
            await run_archive(live, tmp_path / "1")
        with pytest.raises(BadArchive, match=f"trimmed up to {second.place}"):
            await with_archive(live, tmp_path / "1")
        both = await with_archive(live, tmp_path / "2")
        with pytest.raises(BadArchive, match="an earlier archive has it"):
            await states(both, Moment(first.place - 5, 0))
        assert (await audit_of_both(live, tmp_path / "2")).holds
        found = await note.last(live)
        assert found is not None
        assert (found.archive, found.position) == (second.archive, second.position)
        other = structs.replace(live, layout=structs.replace(layout, prefix="other"))
        with pytest.raises(BadArchive, match="prefix"):
            await with_archive(other, tmp_path / "2")
        with Folder(tmp_path / "2").locked(), pytest.raises(BadArchive, match="at work"):
            await run_archive(live, tmp_path / "2")


async def test_nothing_to_archive(installation: OwnInstallation, tmp_path: Path) -> None:
    live = await installation.parts()
    done = await run_archive(live, tmp_path)
    assert (done.parts, await note.last(live)) == ([], None)
    assert list(tmp_path.glob("manifest*")) == []


OF_OTHERS = "of another installation|which was put back from a backup"
"""Why an archive is refused: by what the streams hold, or by the identity of the log, whichever is seen first."""


async def test_the_archive_of_other_streams(wire: Wire, settings: Settings, tmp_path: Path) -> None:
    """Streams that were deleted and made anew have the same prefix. Nothing of them is in that archive, or trimmed."""
    async with working(settings, wire, KINDS, 2) as layout:
        live, fleet = Installation(wire, layout, KINDS), RandomEvents(layout.prefix)
        await built(wire, layout, fleet)
        await run_archive(live, tmp_path)
    for name in layout.streams:
        await wire.api(f"STREAM.DELETE.{name}")
    async with working(settings, wire, KINDS, 2) as layout:
        await built(wire, layout, RandomEvents(layout.prefix), 30)
        live = Installation(wire, layout, KINDS)
        held, records = await messages(wire, layout.events), await whole_log(live)
        with pytest.raises(BadArchive, match=OF_OTHERS):
            await run_archive(live, tmp_path)
        with pytest.raises(BadArchive, match=OF_OTHERS):
            await with_archive(live, tmp_path)
        assert (await messages(wire, layout.events), await whole_log(live)) == (held, records)
        assert await note.last(live) is None
        await run_archive(live, tmp_path / "own")
        for use in (run_archive, with_archive):
            with pytest.raises(BadArchive, match=OF_OTHERS):
                await use(live, tmp_path)
        assert await whole_log(await with_archive(live, tmp_path / "own")) == records
