"""What is bad on the page in Chromium: the list by cause and flat, on a phone too.

Belongs here: what people see and do there. Does not: the other screens (`test_page`), what explains what
(`tests/pure/test_overview`).
"""

from collections.abc import AsyncIterator
from typing import Any

import pytest_asyncio

from tests.support import browser
from tests.support.http_server import Api, http_server
from tests.support.installation import Settings
from tests.support.own_installation import Client

WHY = "invoice 4711 is 30 days late"
RUNNING = {"phase": "Running"}


@pytest_asyncio.fixture
async def api(chromium: Any, working: Settings) -> AsyncIterator[Api]:
    """A cluster in arrears with three pools, and a node that failed by itself. It starts only with a browser."""
    async with Client.open(working) as client, http_server(working) as served:
        for tree in ("c1", "c2"):
            await client.publish_and_wait("cluster", "adopt", tree, RUNNING)
            for pool in ("a", "b", "c"):
                await client.publish_and_wait("node_pool", "adopt", f"{tree}/{pool}", RUNNING)
                for node in ("n1", "n2"):
                    await client.publish_and_wait("node", "adopt", f"{tree}/{pool}/{node}", RUNNING)
        await client.publish_and_wait("node", "not_ready", "c2/a/n1", {"message": "no lease"})
        await client.publish_and_wait("cluster", "overdue", "c1", {"message": WHY})
        await served.place()
        yield served


async def test_causes_come_with_their_reasons_and_unfold_their_symptoms(chromium: Any, api: Api) -> None:
    async with browser.tab(chromium) as tab:
        await tab.goto(f"{api.url}/now?view=table")
        rows = tab.page.locator(".troubles .row:visible")
        await rows.filter(has_text="c1").first.wait_for()
        assert (await rows.first.inner_text()).startswith("c2/a/n1")
        assert await rows.count() == 2
        assert WHY in await rows.nth(1).inner_text()
        await rows.nth(1).locator(".twist").click()
        await rows.filter(has_text="c1/b").wait_for()
        assert await rows.count() == 5
        await rows.filter(has_text="c1/b").click()
        await tab.page.locator(".side .root", has_text=WHY).wait_for()
        await tab.page.get_by_label("Filter").last.fill("c1/b")
        await tab.until("document.querySelectorAll('.troubles .row:not([hidden])').length === 2")
        assert await tab.violations() == []
        assert tab.errors == []


async def test_the_list_shows_what_the_filters_choose(chromium: Any, api: Api) -> None:
    counts = (await api.get("/v1/counts"))["classes"]
    abnormal = (await api.get("/v1/entities", state="Abnormal"))["total"]  # the label: the page and the API agree
    assert abnormal > 1
    visible = "document.querySelectorAll('.troubles .row:not([hidden])').length"
    async with browser.tab(chromium) as tab:
        for query, number in (
            ("by=flat", sum(counts.values())), ("class=bad&by=flat", counts["bad"]), ("class=excused", counts["excused"]),
            ("class=good&kind=node", 11), ("by=flat&state=Abnormal", abnormal), ("by=flat&state=NotReady", 1),
            ("by=flat&q=stopped%20(over", 1),
        ):  # fmt: skip
            await tab.goto(f"{api.url}/now?view=table&{query}")
            await tab.until(f"{visible} === {number}")
        assert tab.errors == []


async def test_a_tap_on_a_phone_shows_what_it_chose(chromium: Any, api: Api) -> None:
    async with browser.tab(chromium, 390, 844, has_touch=True) as tab:
        for screen, row, height in (
            ("now", ".bad-now .row", 70),  # one line
            ("tree", "#tree .row", 70),
            ("time?from=1&view=lanes&tree=c1", ".lanes .row", 200),  # all of it, on several
        ):
            await tab.goto(f"{api.url}/{screen}")
            await tab.page.locator(row).first.wait_for()
            assert await tab.page.evaluate("document.querySelector('.top').offsetHeight") < height, screen
            await tab.page.locator(row).first.tap()
            sheet = tab.page.locator(".side.open")
            await sheet.get_by_role("heading", name="Why").wait_for()
            box = await sheet.bounding_box()
            assert box is not None
            assert box["y"] + box["height"] >= 840
            assert box["width"] == 390
            await sheet.get_by_role("button", name="Close").tap()
            await tab.until("!document.querySelector('.side.open')")
        assert tab.errors == []


async def test_an_address_that_does_not_exist_gets_a_page(chromium: Any, api: Api) -> None:
    async with browser.tab(chromium) as tab:
        answer = await tab.page.goto(f"{api.url}/nowhere/else")
        assert answer.status == 404
        await tab.sees("The page has no such address:")
        await tab.page.locator("main").get_by_role("link", name="Tree").click()
        await tab.until("phaseline.screen === 'tree' && document.querySelector('#tree .row')")
    assert (await api.http.get("/nowhere/else")).headers["content-type"].startswith("application/problem+json")
