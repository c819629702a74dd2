"""The page in Chromium, on a real server with a real history.

Belongs here: what people see and do. Does not: the files (`tests/pure/test_page_files`), the modules that need no
browser (`test_page_modules`). `python3 dev.py browser` installs what these tests need; without it they are skipped.
"""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from dataclasses import replace
from typing import Any
from urllib.parse import quote, urlsplit

import pytest
import pytest_asyncio

from tests.support import browser
from tests.support.browser import Tab
from tests.support.http_server import Api, http_server
from tests.support.installation import Settings, Wire, installation_with_history
from tests.support.own_installation import Client
from tests.support.tcp_proxy import proxy_to

SCREENS = ("now", "now?view=table", "tree", "tree/c1?sel=cluster/c1", "time?from=1", "time?from=1&view=lanes&tree=c1",
           "time?from=1&view=levels", "entity/cluster/c1", "refused", "workers")  # fmt: skip
COUNT = "window.phaseline.store.counts().total"


@pytest_asyncio.fixture
async def api(chromium: Any, settings: Settings, wire: Wire) -> AsyncIterator[Api]:
    """A server of an installation with a history. It starts only where there is a browser."""
    async with installation_with_history(settings, wire, events=150, clusters=3), http_server(settings) as served:
        await served.place()
        yield served


@pytest_asyncio.fixture
async def client(api: Api, settings: Settings) -> AsyncIterator[Client]:
    """Somebody who publishes events."""
    async with Client.open(settings) as opened:
        yield opened


@pytest.mark.parametrize(("scheme", "width"), [("light", 1280), ("dark", 390)])
async def test_each_screen_can_be_used_by_everybody(chromium: Any, api: Api, scheme: str, width: int) -> None:
    total = (await api.get("/v1/counts"))["total"]
    found = {}
    async with browser.tab(chromium, width, scheme=scheme) as tab:
        for screen in SCREENS:
            await tab.goto(f"{api.url}/{screen}")
            assert await tab.page.evaluate(COUNT) == total
            await tab.page.wait_for_load_state("load")
            await tab.until("document.querySelector('h1') && !document.querySelector('main .empty[role=status]')")
            found[screen] = await tab.violations()
        assert tab.errors == []
        assert {urlsplit(address).netloc for address in tab.asked} == {urlsplit(api.url).netloc}
    assert {screen: wrong for screen, wrong in found.items() if wrong} == {}


async def test_the_first_screen_begins_with_what_is_bad(chromium: Any, api: Api, client: Client) -> None:
    longest = (await client.overview()).troubles[0].head.entity.id
    for width in (390, 820):
        async with browser.tab(chromium, width=width) as tab:
            await tab.goto(f"{api.url}/now")
            await tab.page.locator(".bad-now .row", has_text=longest).first.wait_for()
            top, left = "getBoundingClientRect().top", "document.querySelector('.left').getBoundingClientRect().top"
            assert await tab.page.evaluate(f"document.querySelector('.bad-now').{top} <= {left} + 20")
            heights = "[...document.querySelectorAll('.bad-now .row')].map((one) => one.offsetHeight)"
            assert max(await tab.page.evaluate(heights)) < 45  # each cause is one line, and below it its reason
            assert tab.errors == []


async def test_the_first_screen_says_that_nobody_decides(chromium: Any, settings: Settings, wire: Wire) -> None:
    said = "No worker runs: what happens now is not decided"
    async with AsyncExitStack() as worker:
        await worker.enter_async_context(installation_with_history(settings, wire, events=9, clusters=1))
        async with http_server(settings) as served, browser.tab(chromium) as tab:
            await tab.goto(f"{served.url}/now")
            await tab.sees("c0")
            assert not await tab.page.get_by_text(said).is_visible()
            await worker.aclose()
            await tab.goto(f"{served.url}/now")
            await tab.sees(said)
            await tab.goto(f"{served.url}/workers")
            await tab.sees("No worker runs. Start one")
            assert tab.errors == []


async def test_the_time_bar_says_which_time_the_pointer_is_at(chromium: Any, api: Api) -> None:
    async with browser.tab(chromium) as tab:
        await tab.goto(f"{api.url}/now")
        await tab.until("document.querySelector('.track .ends span')")
        first = await tab.page.evaluate("document.querySelector('.track .ends span').innerText")
        await tab.page.locator(".track canvas").hover(position={"x": 1, "y": 9})
        assert await tab.page.evaluate("document.querySelector('.track canvas').title") == first
        assert tab.errors == []


async def test_a_closed_tree_shows_on_a_phone_how_much_is_bad_in_it(chromium: Any, api: Api, client: Client) -> None:
    bad = next(one for one in (await client.overview()).troubles if "/" in one.head.entity.id).head.entity.id
    async with browser.tab(chromium, 390) as tab:
        await tab.goto(f"{api.url}/tree")
        await tab.page.locator(".row", has_text=bad.partition("/")[0]).locator(".narrow").first.wait_for()
        rows = await tab.page.locator("#tree .row .name").all_inner_texts()
        assert not [one for one in rows if "null" in one]


async def test_what_happens_is_shown_at_once(chromium: Any, api: Api, client: Client) -> None:
    async with browser.tab(chromium) as tab:
        await tab.goto(f"{api.url}/tree")
        before = await tab.page.evaluate(COUNT)
        await client.publish_and_wait("cluster", "create", "fresh")
        await tab.until(f"{COUNT} === {before + 1}")
        await tab.page.locator(".row", has_text="fresh").wait_for()
        await tab.goto(f"{api.url}/now")
        await client.publish_and_wait("cluster", "created", "fresh")
        await tab.page.locator("section", has_text="Changed lately").locator("button", has_text="fresh").wait_for()
        assert tab.errors == []


async def test_the_page_goes_on_after_the_server_was_away(
    chromium: Any, api: Api, client: Client, settings: Settings
) -> None:
    async with browser.tab(chromium) as tab:
        async with http_server(settings) as served:
            await tab.goto(f"{served.url}/now")
            await tab.sees("live")
            before = await tab.page.evaluate(COUNT)
        await tab.sees("The server does not answer")
        heard = await tab.page.evaluate("phaseline.stream.heard")
        await tab.page.get_by_role("link", name="Workers").click()  # a screen that was not open before
        await tab.until("phaseline.screen === 'workers' && phaseline.shown")
        await client.publish_and_wait("cluster", "create", "meanwhile")
        await tab.page.evaluate("void phaseline.stream.load()")
        await tab.page.wait_for_timeout(1500)
        assert await tab.page.evaluate("phaseline.stream.heard") == heard  # so the age that is shown only rises
        assert await tab.page.evaluate("document.body.classList.contains('away')")
        async with http_server(settings, listen=urlsplit(served.url).netloc):
            await tab.until(f"{COUNT} === {before + 1} && phaseline.stream.status === 'live'")
            await tab.page.locator(".card.partitions td").first.wait_for()
            await tab.until("document.getElementById('away').hidden")
            await client.publish_and_wait("cluster", "create", "afterwards")
            await tab.until(f"{COUNT} === {before + 2}")


async def test_the_page_says_that_nats_was_frozen_and_how_old_it_is(
    chromium: Any, api: Api, settings: Settings
) -> None:
    """Its connection stands meanwhile. A tab that is opened later shows the same age, not its own."""
    async with proxy_to(urlsplit(settings.nats[0]).port or 0) as proxy, browser.tab(chromium) as tab:
        behind = replace(settings, nats=(f"nats://127.0.0.1:{proxy.port}",))
        async with http_server(behind) as served:
            await served.place()
            await tab.goto(f"{served.url}/now")
            await tab.sees("live")
            proxy.answers.clear()
            await tab.page.get_by_text("NATS is away").wait_for()
            assert await tab.page.evaluate("document.body.classList.contains('away')")
            heard = await tab.page.evaluate("phaseline.stream.heard")
            await tab.goto(f"{served.url}/now")
            await tab.page.get_by_text("NATS is away").wait_for()
            assert abs(await tab.page.evaluate("phaseline.stream.heard") - heard) < 1_000
            proxy.answers.set()
            await tab.until("document.getElementById('away').hidden")


async def test_a_stream_is_shared_between_tabs(chromium: Any, api: Api, client: Client) -> None:
    async with browser.tab(chromium) as tab:
        await tab.goto(f"{api.url}/now")
        await tab.sees("live")
        others = []
        for _ in range(8):  # a browser opens six connections to a server
            others.append(Tab(await tab.page.context.new_page()))
            await others[-1].goto(f"{api.url}/now")
        before = await tab.page.evaluate(COUNT)
        await client.publish_and_wait("cluster", "create", "shared")
        for one in (tab, *others):
            await one.until(f"{COUNT} === {before + 1}")


async def test_the_past_is_what_it_was(chromium: Any, api: Api) -> None:
    end = await api.place()
    async with browser.tab(chromium) as tab:
        for place in (end // 3, end // 2):
            await tab.goto(f"{api.url}/now?at={place}")
            await shown(tab, api, place)
        stood = await tab.page.evaluate("phaseline.store.place")
        await tab.press("[")
        await tab.until(f"phaseline.store.place < {stood}")
        await shown(tab, api, await tab.page.evaluate("phaseline.store.place"))
        for _ in range(5):
            before = await tab.page.evaluate("phaseline.store.place")
            await tab.press("]")
            await tab.until(f"phaseline.store.place > {before} && location.search.includes(phaseline.store.place)")
            await shown(tab, api, await tab.page.evaluate("phaseline.store.place"))
        await tab.press("Space")
        await tab.until("!phaseline.past")
        assert await tab.page.evaluate(COUNT) == (await api.get("/v1/counts"))["total"]
        assert tab.errors == []


async def shown(tab: Tab, api: Api, place: int) -> None:
    """Check that the page counts what the server counts at a place."""
    counts = await api.get("/v1/counts", at=place)
    await tab.until(f"phaseline.store.place === {counts['place']}")
    assert await tab.page.evaluate(COUNT) == counts["total"]
    classes = await tab.page.evaluate("phaseline.store.counts().classes")
    names = ("good", "busy", "bad", "excused", "gone", "unknown")
    assert {name: count for name, count in zip(names, classes, strict=True) if count} == counts["classes"]


async def test_two_languages(chromium: Any, api: Api) -> None:
    async with browser.tab(chromium) as tab:
        await tab.goto(f"{api.url}/tree/c1")
        assert await tab.page.locator("html").get_attribute("lang") == "en"
        await tab.page.get_by_label("Language").select_option("zh")
        await tab.sees("所有树")
        assert await tab.page.locator("html").get_attribute("lang") == "zh"
        assert "lang=zh" in tab.page.url
        await tab.page.get_by_role("link", name="现在").click()
        await tab.sees("种类与状态")
        assert "lang=zh" in tab.page.url


async def test_the_keyboard_is_enough(chromium: Any, api: Api) -> None:
    async with browser.tab(chromium) as tab:
        await tab.goto(f"{api.url}/now")
        await tab.press("g", "t")
        await tab.until("phaseline.screen === 'tree' && document.querySelector('#tree .row')")
        await tab.page.locator("#tree").focus()
        await tab.press("j", "l")
        await tab.page.locator("#tree .row[aria-expanded=true]").wait_for()
        await tab.press("j")
        await tab.until("phaseline.query.sel.includes('/')")
        chosen = await tab.page.evaluate("phaseline.query.sel")
        await tab.page.locator(".row[aria-selected=true]").wait_for()
        await tab.press("Enter")
        await tab.until("phaseline.screen === 'entity'")
        kind, _, entity_id = chosen.partition("/")
        assert urlsplit(tab.page.url).path == f"/entity/{kind}/{quote(entity_id, safe='')}"
        await tab.press("/")
        await tab.page.keyboard.type("c2")
        await tab.press("Enter")
        await tab.until("phaseline.screen === 'tree' && phaseline.query.sel === 'cluster/c2'")
        await tab.press("?")
        await tab.page.get_by_role("dialog", name="Keys").wait_for()
        await tab.press("Escape")
        await tab.until("!document.querySelector('dialog')")
        await tab.press("L")
        await tab.sees("所有树")


async def test_keys_that_come_before_the_page_is_drawn_count(chromium: Any, api: Api) -> None:
    async with browser.tab(chromium) as tab:
        await tab.goto(f"{api.url}/tree")
        await tab.until("document.querySelector('#tree .row')")
        keys = (
            "['j', 'l', 'j'].forEach((key) => rows.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true })))"
        )
        await tab.page.evaluate(f"() => {{ const rows = document.querySelector('#tree'); {keys}; }}")
        await tab.page.locator("#tree .row[aria-expanded=true]").wait_for()
        await tab.until("phaseline.query.sel.includes('/')")


async def test_what_has_the_focus_stays_while_the_page_is_drawn(chromium: Any, api: Api, client: Client) -> None:
    """Buttons, links and fields are not made anew: a click that takes a moment still reaches its button."""
    kept = "document.activeElement === window.kept && window.kept.isConnected"
    async with browser.tab(chromium) as tab:
        await tab.goto(f"{api.url}/now")
        for name in ("nav a[href^='/tree']", ".top .chip", ".panel .list button", "#strip button", "#header select"):
            await tab.page.locator(name).first.wait_for()
            await tab.page.evaluate(
                "(name) => { window.kept = document.querySelector(name); window.kept.focus(); }", name
            )
            await client.publish_and_wait("cluster", "adopt", f"f{len(name)}", {"phase": "Running"})
            await tab.until(f"phaseline.store.ids.includes('f{len(name)}') && !phaseline.waiting")
            assert await tab.page.evaluate(kept), name
        await tab.goto(f"{api.url}/tree")
        await tab.page.get_by_label("Filter").last.press_sequentially("f2")
        await tab.until("document.activeElement.value === 'f2' && phaseline.query.q === 'f2'")
        assert tab.errors == []


async def test_filters_stand_in_the_address(chromium: Any, api: Api) -> None:
    counts = await api.get("/v1/counts", kind="node")
    state, count = max(counts["kinds"]["node"]["phase"].items(), key=lambda one: one[1])
    async with browser.tab(chromium) as tab:
        await tab.goto(f"{api.url}/tree?kind=node&state={state}")
        await tab.until("document.querySelectorAll('#tree .row').length")
        found = await tab.page.evaluate(
            "[...phaseline.store.order()].filter((n) => phaseline.store.isThere(n) && phaseline.store.kinds[phaseline.store.kind[n]]"
            f" === 'node' && phaseline.store.states[phaseline.store.state[n]].state === '{state}').length"
        )
        assert found == count
        await tab.page.get_by_label("Filter").last.fill("nothing has this name")
        await tab.sees("Nothing fits these filters.")
        await tab.page.get_by_role("button", name="Clear filters").last.click()
        await tab.until("!location.search.includes('q=')")


@pytest.mark.parametrize(("width", "height"), [(390, 844), (1280, 800), (1920, 1080)])
async def test_nothing_is_wider_than_the_window(chromium: Any, api: Api, width: int, height: int) -> None:
    async with browser.tab(chromium, width, height, has_touch=width < 500, forced_colors="active") as tab:
        for screen in SCREENS:
            await tab.goto(f"{api.url}/{screen}")
            assert await tab.page.evaluate("document.documentElement.scrollWidth") <= width, screen


async def test_long_names_are_broken_or_cut(chromium: Any, api: Api, client: Client) -> None:
    name = f"{'x' * 200}<b>\u202e"
    await client.publish_and_wait("cluster", "adopt", name, {"phase": "Running"})
    await client.publish_and_wait("node_pool", "adopt", f"{name}/{name}", {"phase": "Running"})
    pool = quote(f"{name}/{name}", safe="")
    wide = "[...document.querySelectorAll('.panel, .top, h1, .row > *')].filter((one) => one.scrollWidth > one.clientWidth + 1 && getComputedStyle(one).overflowX === 'visible').length"
    async with browser.tab(chromium, 1280, 800) as tab:
        for screen in (
            f"tree/{quote(name, safe='')}?sel=node_pool/{pool}",
            f"entity/node_pool/{pool}",
            "now",
            "time?from=1",
        ):
            await tab.goto(f"{api.url}/{screen}")
            await tab.until("!document.querySelector('main .empty[role=status]')")
            assert await tab.page.evaluate("document.documentElement.scrollWidth") <= 1280, screen
            assert await tab.page.evaluate(wide) == 0, screen
        await tab.goto(f"{api.url}/tree/{quote(name, safe='')}?sel=node_pool/{pool}")
        await tab.until("document.querySelector('.panel h2')")
        assert await tab.page.evaluate("(one => one.scrollWidth <= one.clientWidth)(document.querySelector('.panel'))")
        assert tab.errors == []


@pytest.mark.parametrize(
    ("at", "says"), [("99999999", "before place 99999999"), ("tomorrow", "'tomorrow' is none of"), ("-1", "'-1'")]
)
async def test_a_place_that_is_not_there_is_said_and_left(
    chromium: Any, api: Api, client: Client, at: str, says: str
) -> None:
    async with browser.tab(chromium) as tab:
        await tab.page.goto(f"{api.url}/now?kind=node&at={at}")
        await tab.page.get_by_role("dialog").get_by_text(says).wait_for()
        await tab.press("Escape")
        await tab.until("window.phaseline && !phaseline.past && phaseline.loaded")
        assert urlsplit(tab.page.url).query == "kind=node"
        assert await tab.page.evaluate("phaseline.store === phaseline.live")
        await tab.sees("live")
        before = await tab.page.evaluate(COUNT)
        assert before == (await api.get("/v1/counts"))["total"]
        await client.publish_and_wait("cluster", "create", "fresh")
        await tab.until(f"{COUNT} === {before + 1}")


async def test_without_entities_the_page_says_what_to_do(chromium: Any, working: Settings) -> None:
    async with http_server(working) as served, browser.tab(chromium) as tab:
        for screen in ("now", "tree"):
            await tab.goto(f"{served.url}/{screen}")
            await tab.sees("phaseline publish cluster create c1")
        assert tab.errors == []
