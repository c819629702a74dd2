"""Edges, exactly once: under steady load, over cuts longer than the dedupe window, after a crash of the hub."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from phaseline.engine.client.client import Client
from phaseline.engine.edge import edge_streams
from tests.support.built_in_kinds import BUILT_IN_KINDS
from tests.support.edge_site import EdgeSite, Site, nodes, site
from tests.support.installation import at_work, until_decided
from tests.support.patience import wait_for

WINDOW = 2.0
"""Seconds in which message ids are known."""


class Load:
    """Events that an agent publishes one after the other, without a pause that is long enough to be idle."""

    def __init__(self) -> None:
        self.count, self.ends = 0, False

    async def run(self, edge: EdgeSite) -> None:
        async with Client.open(edge.settings(), source="/agent") as client:
            while not self.ends:
                await client.publish_many(nodes(edge.names.name, self.count, self.count + 1))
                self.count += 1
                await asyncio.sleep(0.02)

    async def reached(self, count: int) -> None:
        """Wait until so many events were published."""

        async def there() -> bool:
            return self.count >= count

        async def now() -> int:
            return self.count

        await wait_for(there, now)


@asynccontextmanager
async def under_load(edge: EdgeSite) -> AsyncIterator[Load]:
    """An agent publishes while the block runs."""
    load = Load()
    running = asyncio.create_task(load.run(edge))
    try:
        yield load
    finally:
        load.ends = True
        await running


async def all_came_once(found: Site, count: int) -> None:
    """Wait until EVENTS has so many events, and until each worker has decided its own; none may be there twice."""
    await found.until_stored(count)
    await until_decided(found.wire, found.layout)
    assert await found.brought() == {"c1": [*range(count)]}


async def test_a_cut_and_a_crash_of_the_hub_double_nothing(tmp_path: Path) -> None:
    async with site(tmp_path, "c1", dedupe_window=WINDOW) as found:
        edge = found.edges["c1"]
        async with at_work(found.wire.settings, found.wire, BUILT_IN_KINDS), under_load(edge) as load:
            await load.reached(100)
            await edge.cut_off()
            await asyncio.sleep(2 * WINDOW)
            await found.hub.kill()
            await found.hub.start()
            await edge.join()
            await load.reached(load.count + 50)
        async with at_work(found.wire.settings, found.wire, BUILT_IN_KINDS):
            await all_came_once(found, load.count)


async def test_the_store_holds_no_more_than_it_must(tmp_path: Path) -> None:
    async with site(tmp_path, "c1", dedupe_window=WINDOW) as found:
        edge = found.edges["c1"]
        async with under_load(edge) as load:
            await load.reached(edge_streams.UNTOLD + 50)
            assert await edge.held() <= edge_streams.UNTOLD
            await load.reached(2 * edge_streams.UNTOLD)
            assert await edge.held() <= edge_streams.UNTOLD
