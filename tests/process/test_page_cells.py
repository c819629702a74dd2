"""The page of a server of several cells in Chromium: all of them, one with its past, one that cannot be read.

Belongs here: what people see of cells. Does not: the screens themselves (`test_page`), the requests
(`tests/nats/test_http_cells`).
"""

from collections.abc import AsyncIterator
from typing import Any

import pytest_asyncio

from tests.support import browser, closed_port
from tests.support.built_in_kinds import BUILT_IN_KINDS
from tests.support.cells import two_cells
from tests.support.http_cells import CellsApi, cells_api
from tests.support.installation import EmbeddedServer, Settings, Wire, working
from tests.support.own_installation import Client

IDS = "[...phaseline.store.order()].filter((n) => phaseline.store.isThere(n)).map((n) => phaseline.store.ids[n])"
FAILED = {"phase": "Failed", "condition": "StockOut"}


@pytest_asyncio.fixture
async def api(chromium: Any, settings: Settings) -> AsyncIterator[CellsApi]:
    """Two cells with two clusters each, both with c1, and one that is away. It starts only where there is a browser."""
    async with (
        two_cells(settings) as found,
        cells_api({**found, "north": Settings(nats=(closed_port.NATS,))}, 2) as served,
    ):
        yield served


async def publish(api: CellsApi, cell: str, name: str) -> None:
    """Let a cluster be known in a cell."""
    await api.service.cells[cell].client.publish_and_wait("cluster", "adopt", name, {"phase": "Running"})


async def test_all_cells_are_shown_with_their_names(chromium: Any, api: CellsApi) -> None:
    async with browser.tab(chromium) as tab:
        await tab.goto(f"{api.url}/tree")
        assert await tab.page.evaluate(IDS) == ["east: c1", "east: c10", "west: c1", "west: c2"]
        await tab.page.locator("#strip a", has_text="north").get_by_text("has not answered yet").wait_for()
        await tab.sees("Each cell has a log of its own")
        await publish(api, "west", "c9")
        await tab.page.locator(".row", has_text="west: c9").click()
        await tab.page.locator(".panel .why b", has_text="adopt").wait_for()
        await tab.page.locator(".panel h2 a").click()
        await tab.until(
            "window.phaseline?.screen === 'entity' && document.querySelector('h1 bdi')?.textContent === 'c9'"
        )
        assert "/entity/cluster/c9?cell=west" in tab.page.url
        await tab.page.locator(".why b", has_text="adopt").first.wait_for()
        for screen in ("now", "now?view=table", "tree", "time", "refused", "workers"):
            await tab.goto(f"{api.url}/{screen}")
            assert await tab.violations() == [], screen
        await tab.press("[")
        await tab.until("document.getElementById('announce').textContent.startsWith('Each cell')")
        assert tab.errors == []


async def test_one_cell_has_its_past(chromium: Any, api: CellsApi) -> None:
    async with browser.tab(chromium) as tab:
        await tab.goto(f"{api.url}/now?cell=east")
        assert await tab.page.evaluate(IDS) == ["c1", "c10"]
        await tab.press("[")
        await tab.until("phaseline.past && phaseline.store.counts().total === 1")
        tab.asked.clear()
        await tab.page.get_by_label("Cell").select_option("west")
        await tab.page.wait_for_url("**/now?cell=west")
        await tab.until("window.phaseline?.loaded")
        assert await tab.page.evaluate(IDS) == ["c1", "c2"]
        for screen in (
            "time?cell=west&from=1",
            "refused?cell=west",
            "workers?cell=west",
            "entity/cluster/c2?cell=west",
        ):
            await tab.goto(f"{api.url}/{screen}")
            await tab.until("!document.querySelector('main .empty[role=status]')")
            assert await tab.page.locator("[role=alert]").count() == 0, screen
        await publish(api, "west", "c7")
        await tab.goto(f"{api.url}/now?cell=west")
        await tab.until("phaseline.store.counts().total === 3")
        assert {
            one for one in tab.asked if "/v1/" in one and "/cells/west/" not in one and "transitions?" not in one
        } == set()
        await tab.page.goto(f"{api.url}/now?cell=south")
        await tab.sees("south does not exist")
        assert tab.errors == []


async def test_tabs_of_several_cells_share_a_stream(chromium: Any, api: CellsApi) -> None:
    async with browser.tab(chromium) as tab:
        tabs = {"east": tab}
        await tab.goto(f"{api.url}/now?cell=east")
        for query in ("west", "east", "", "west", "", "east", "west"):  # a browser opens six connections to a server
            one = browser.Tab(await tab.page.context.new_page())
            await one.goto(f"{api.url}/now?cell={query}")
            tabs[query] = one
        await publish(api, "west", "c8")
        await publish(api, "east", "c8")
        for name, count in (("east", 3), ("west", 3), ("", 6)):
            await tabs[name].until(f"phaseline.store.counts().total === {count}")


async def test_a_cell_that_goes_is_said_and_comes_back(
    chromium: Any, settings: Settings, own_server: EmbeddedServer
) -> None:
    own = Settings(nats=(own_server.url,))
    async with (
        Wire.open(settings, name="test") as wire, Wire.open(own, name="test") as away,
        working(settings, wire, BUILT_IN_KINDS, 1), working(own, away, BUILT_IN_KINDS, 1),
        cells_api({"east": settings, "west": own}, 2) as api, browser.tab(chromium) as tab,
    ):  # fmt: skip
        await publish(api, "west", "c1")
        await tab.goto(f"{api.url}/now")
        await own_server.kill()
        await tab.page.locator("#strip a", has_text="west").get_by_text("NATS is away").wait_for()
        assert await tab.page.evaluate(IDS) == ["west: c1"]
        await own_server.start()
        await tab.page.locator("#strip a", has_text="west").get_by_text("NATS is away").wait_for(state="detached")
        async with Client.open(own, source="/test") as client:
            await client.publish_and_wait("cluster", "adopt", "c2", {"phase": "Running"}, timeout=60)
        await tab.until("phaseline.store.counts().total === 2")
