"""An edge that is away while its hub is changed: its events arrive afterwards, each once and in order."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from phaseline.schemas.records import Transition
from tests.support.archives import audit_of_both, messages, run_archive, whole_log, with_archive
from tests.support.built_in_kinds import BUILT_IN_KINDS
from tests.support.edge_site import Site, nodes, publish, site
from tests.support.installation import Installation, Wire, at_work, until_decided
from tests.support.log_check import assert_each_decided_once
from tests.support.own_installation import Client
from tests.support.patience import wait_for
from tests.support.streams import change as stream_change
from tests.support.streams import reports


@asynccontextmanager
async def working_site(folder: Path) -> AsyncIterator[Site]:
    """A hub with a worker and the edge c1, whose first events have arrived."""
    async with (
        site(folder, "c1", accounts=False) as found,
        at_work(found.hub.settings("engine", lease=1.0), found.wire),
    ):
        await publish(found.edges["c1"], nodes("c1", 0, 20))
        await found.until_stored(20)
        yield found


async def test_changed_streams(tmp_path: Path) -> None:
    async with working_site(tmp_path) as found:
        edge, wire, layout = found.edges["c1"], found.wire, found.layout
        await edge.cut_off()
        await publish(edge, nodes("c1", 20, 60))
        settings = found.hub.settings("operator", events_max_bytes=10**9, dedupe_window=900.0)
        async with Wire.open(settings) as operator:
            for report in await reports(operator, settings, layout, BUILT_IN_KINDS.copies.values()):
                if report.differences:
                    await stream_change.change(operator, report, lambda _: None)
        await publish(edge, nodes("c1", 60, 80))
        await edge.join()
        await publish(edge, nodes("c1", 80, 100))
        await found.until_stored(100)
        await until_decided(wire, layout)
        assert await found.brought() == {"c1": [*range(100)]}
        await assert_each_decided_once(wire, layout)


async def test_an_archive_that_trims(tmp_path: Path) -> None:
    async with working_site(tmp_path) as found:
        edge, wire, layout = found.edges["c1"], found.wire, found.layout
        live = Installation(wire, layout, BUILT_IN_KINDS)
        await until_decided(wire, layout)
        await edge.cut_off()
        await publish(edge, nodes("c1", 20, 60))
        done = await run_archive(live, tmp_path / "archive")
        assert done.manifest.position == 20
        assert await messages(wire, layout.events) == 1  # the last copy from the inlet
        await edge.join()
        await found.until_stored(41)
        await until_decided(wire, layout)
        await run_archive(live, tmp_path / "archive")
        assert await numbers(live, tmp_path) == [*range(60)]
        await found.hub.kill()  # it learns from the streams from where on to copy
        await found.hub.start()
        await publish(edge, nodes("c1", 60, 80))
        await found.until_stored(21)
        await until_decided(wire, layout)
        assert await numbers(live, tmp_path) == [*range(80)]
        assert (await audit_of_both(live, tmp_path / "archive")).holds


async def test_an_edge_is_added_where_the_first_events_are_gone(tmp_path: Path) -> None:
    """Events that reach the inlet before EVENTS asks for them are older than the last one of the hub."""
    async with site(tmp_path, "c1", accounts=False) as found:
        wire, events = found.wire, found.layout.events
        config = (await wire.api(f"STREAM.INFO.{events}"))["config"]
        others = [one for one in config["sources"] if one["name"] == found.layout.log]
        await wire.api(f"STREAM.UPDATE.{events}", {**config, "sources": others})
        await publish(found.edges["c1"], nodes("c1", 0, 5))

        async def came() -> bool:
            return await messages(wire, "pl-INLET-c1") == 5

        async def last() -> int:
            return await messages(wire, "pl-INLET-c1")

        await wait_for(came, last)
        async with Client.open(found.hub.settings("engine"), source="/agent") as client:
            await client.publish_many(nodes("c2", 0, 3))
        await wire.api(f"STREAM.PURGE.{events}", {"seq": 3})
        await found.add("c1")
        await found.until_brought({"c1": [*range(5)], "c2": [2]})


async def numbers(live: Installation, folder: Path) -> list[int]:
    """The numbers of the nodes of which archive and log have records, in order."""
    found = [one for _, one in await whole_log(await with_archive(live, folder / "archive"))]
    return [int(one.entity.id.rpartition("/n")[2]) for one in found
            if isinstance(one, Transition) and one.entity.kind == "node"]  # fmt: skip
