"""The screens Entity, Refused and Workers in Chromium, on a real server.

Belongs here: what people see and do there. Does not: the other screens (`test_page`), what is legal
(`test_page_modules`).
"""

from collections.abc import AsyncIterator
from typing import Any

import pytest_asyncio

from tests.support import browser
from tests.support.gitops_history import SET, resource_id
from tests.support.http_server import Api, http_server
from tests.support.installation import Settings, Wire, installation_with_history
from tests.support.manifests import kubernetes_object
from tests.support.own_installation import Client

HOSTILE = "c<img src=x onerror=window.hacked=1>"
BOX = ".diagram .now text"


@pytest_asyncio.fixture
async def api(chromium: Any, settings: Settings, wire: Wire) -> AsyncIterator[Api]:
    """A server of an installation with a history. It starts only where there is a browser."""
    async with installation_with_history(settings, wire, events=50, clusters=2), http_server(settings) as served:
        await served.place()
        yield served


@pytest_asyncio.fixture
async def client(api: Api, settings: Settings) -> AsyncIterator[Client]:
    """Somebody who publishes events."""
    async with Client.open(settings) as opened:
        yield opened


async def test_an_entity_is_shown_with_its_machine_and_its_past(chromium: Any, api: Api, client: Client) -> None:
    first = (await client.publish_and_wait("cluster", "create", "fresh")).records[0].sequence
    async with browser.tab(chromium) as tab:
        await tab.goto(f"{api.url}/entity/cluster/fresh")
        assert await tab.page.locator(BOX).text_content() == "Creating"
        await tab.page.locator(".why b", has_text="create").wait_for()
        await tab.page.locator(".lastEvent pre", has_text='"cluster.create"').wait_for()
        assert "created" in await tab.page.locator(".machine .chip").all_text_contents()
        await client.publish_and_wait("cluster", "created", "fresh")
        await tab.until(f"document.querySelector('{BOX}').textContent === 'Running'")
        assert await tab.page.locator(".diagram .taken").count() >= 1
        assert await tab.page.locator(".history tr").count() == 3
        assert await tab.page.locator(".bars canvas").count() == 2
        await tab.page.locator(".history tr a").last.click()
        await tab.until(f"phaseline.past && document.querySelector('{BOX}').textContent === 'Creating'")
        assert f"at={first}" in tab.page.url
        assert await tab.page.locator(".tryEvent form").count() == 0
        assert tab.errors == []


async def test_why_names_the_reason_of_what_is_below(chromium: Any, api: Api, client: Client) -> None:
    pod = kubernetes_object("v1", "Pod", status={"phase": "Failed", "message": "it was evicted"})
    await client.publish_and_wait("resource", "observed", resource_id(pod), {"live": pod})
    async with browser.tab(chromium) as tab:
        await tab.goto(f"{api.url}/entity/application_set/{SET}")
        await tab.page.locator(".why").get_by_text("Because: it was evicted").wait_for()


async def test_the_kind_stands_beside_the_name_or_below_it(chromium: Any, api: Api, client: Client) -> None:
    await client.publish_and_wait("cluster", "create", name := "x" * 50)
    over = "[...document.querySelectorAll('h1 + .grow')].filter((one) => one.scrollWidth > one.clientWidth).length"
    async with browser.tab(chromium) as tab:
        await tab.goto(f"{api.url}/entity/cluster/{name}")
        await tab.page.locator("h1 + .grow").wait_for()
        for width in range(390, 800, 10):
            await tab.page.set_viewport_size({"width": width, "height": 800})
            assert await tab.page.evaluate(over) == 0, width


async def test_an_event_is_tried_before_it_is_sent(chromium: Any, api: Api, client: Client) -> None:
    await client.publish_and_wait("cluster", "create", "fresh")
    async with browser.tab(chromium) as tab:
        await tab.goto(f"{api.url}/entity/cluster/fresh")
        await tab.page.locator(".machine .chip", has_text="create_failed").click()
        await tab.page.locator("select[name='condition']").select_option("StockOut")
        await tab.page.get_by_role("button", name="What would change?").click()
        await tab.page.locator(".tryEvent .state.bad").wait_for()
        assert await state(api) == {"state": "Creating", "conditions": ["Progressing"]}
        await tab.page.get_by_role("button", name="Send").click()
        await tab.until(f"document.querySelector('{BOX}').textContent === 'Failed'")
        assert await state(api) == {"state": "Failed", "conditions": ["StockOut"]}
        await tab.page.get_by_label("Trigger").select_option("update")
        await tab.page.get_by_role("button", name="Send").click()
        await tab.page.locator(".tryEvent p.bad", has_text="not legal").wait_for()


async def state(api: Api) -> dict[str, Any]:
    """The base of the entity that these tests make, as the server has it."""
    found = await api.get("/v1/entities/cluster/fresh")
    base: dict[str, Any] = found["entity"]["facets"]["phase"]["base"]
    return base


async def test_a_refused_event_is_found_and_sent_again(chromium: Any, api: Api, client: Client) -> None:
    await client.publish_and_wait("cluster", "create", HOSTILE)
    await client.publish_and_wait("cluster", "update", HOSTILE, data={"message": "\u202eup"})
    async with browser.tab(chromium) as tab:
        await tab.goto(f"{api.url}/refused")
        total = await tab.page.locator(".row").count()
        await tab.page.locator(".row", has_text=HOSTILE).first.click()
        await tab.page.locator(".panel dt", has_text="Way out then").wait_for()
        await tab.page.locator(".panel pre", has_text="\ufffdup").wait_for()
        await tab.page.get_by_role("button", name="Send again").click()
        await tab.sees("is stored")
        await tab.page.locator(".chip").first.click()
        await tab.until("location.search.includes('reason=') && document.querySelector('.chip[aria-pressed=true]')")
        await tab.page.locator(".panel h2 a").click()
        await tab.until("location.pathname.startsWith('/entity/cluster/') && phaseline.past")
        await tab.page.locator("h1", has_text=HOSTILE).wait_for()
        assert await tab.page.evaluate("window.hacked === undefined")
        assert total >= 1
        assert tab.errors == []


async def test_workers_partitions_streams_and_tables_are_shown(chromium: Any, api: Api) -> None:
    found = await api.get("/v1/summary")
    async with browser.tab(chromium) as tab:
        await tab.goto(f"{api.url}/workers?lang=zh")
        await tab.page.locator(".card.partitions").wait_for()
        assert await tab.page.locator(".card.partitions tr").count() == 1 + len(found["partitions"])
        for one in found["streams"]:
            await tab.page.locator(".card.streams td", has_text=one["stream"]).wait_for()
        await tab.sees(found["tables"]["digest"])
        await tab.sees("分区")
        assert tab.errors == []
