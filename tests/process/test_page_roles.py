"""What the page shows to whom, in Chromium: readers of some trees, and those who may not send.

Belongs here: tokens with roles. Does not: the roles themselves (`tests/nats/test_http_tokens`), the screens of those
who may do everything (`test_page`, `test_page_entity`).
"""

import re
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import pytest_asyncio

from tests.support import browser
from tests.support.browser import Tab
from tests.support.http_server import COOKIE, AccessSettings, Api, http_server, tokens
from tests.support.installation import Settings, Wire, installation_with_history

SCREENS = ("now", "now?view=table", "tree", "tree/c1?sel=cluster/c1", "time?from=1", "time?from=1&view=lanes&tree=c2",
           "time?from=1&view=levels",           "entity/cluster/c1", "refused", "workers", "now?at=40")  # fmt: skip
OTHER = "c3"


class Site(NamedTuple):
    """A server with tokens, by the names of those who have them."""

    api: Api
    tokens: dict[str, str]
    path: Path


@pytest_asyncio.fixture
async def site(chromium: Any, settings: Settings, wire: Wire, tmp_path: Path) -> AsyncIterator[Site]:
    """A server of an installation with three trees."""
    path = tmp_path / "tokens"
    made = {
        name: tokens.add(path, name, roles)
        for name, roles in {
            "reader": ["read:c1", "read:c2"], "publisher": ["read", "publish:c1"], "boss": ["read", "publish", "operate"],
        }.items()
    }  # fmt: skip
    async with (
        installation_with_history(settings, wire, events=60, clusters=3),
        http_server(settings, access=AccessSettings(path, look=0.0)) as served,
    ):
        await served.place()
        yield Site(served, made, path)


async def logged_in(tab: Tab, site: Site, name: str) -> None:
    """Open the page as somebody who has logged in before."""
    await tab.page.context.add_cookies([{"name": COOKIE, "value": site.tokens[name], "url": site.api.url}])
    await tab.goto(f"{site.api.url}/now")
    await tab.until(f"phaseline.session.name === '{name}'")


async def test_a_link_with_a_token_logs_in(chromium: Any, site: Site) -> None:
    async with browser.tab(chromium) as tab:
        await tab.page.goto(f"{site.api.url}/tree?lang=zh#token={site.tokens['reader']}")
        await tab.sees("所有树")
        assert tab.page.url == f"{site.api.url}/tree?lang=zh"
        assert tab.errors == []


async def test_a_wrong_token_is_answered_in_words_for_people(chromium: Any, site: Site) -> None:
    async with browser.tab(chromium) as tab:
        await tab.page.goto(f"{site.api.url}/now")
        await tab.page.fill("#token", "no such token")
        await tab.page.get_by_role("button", name="Log in").click()
        await tab.page.get_by_text("This token is not known here").wait_for()
        await tab.page.route("**/v1/session", lambda route: route.abort())
        await tab.page.get_by_role("button", name="Log in").click()
        await tab.page.get_by_text("The server does not answer").wait_for()


async def test_who_i_am_says_what_i_may_do_however_long_my_name(chromium: Any, site: Site) -> None:
    name = "somebody-with-a-very-long-name.of-a-department@example.org"
    site.tokens[name] = tokens.add(site.path, name, ["read:c1"])
    for width in (390, 820, 1440):
        async with browser.tab(chromium, width) as tab:
            await logged_in(tab, site, name)
            assert await tab.page.evaluate("document.documentElement.scrollWidth") == width
            await tab.page.get_by_role("button", name=name).click()
            facts = await tab.page.locator("dialog dl.facts").inner_text()
            assert facts.split("\n")[:6] == ["Roles", "read", "May see", "c1", "May send to", "none"]
            assert await tab.page.evaluate("document.documentElement.scrollWidth") == width


async def test_a_reader_of_two_trees_meets_no_refusal(chromium: Any, site: Site) -> None:
    async with browser.tab(chromium) as tab:
        await logged_in(tab, site, "reader")
        answers: list[tuple[int, str]] = []
        tab.page.on("response", lambda answer: answers.append((answer.status, answer.url)))
        for screen in SCREENS:
            await tab.goto(f"{site.api.url}/{screen}")
            await tab.until("!document.querySelector('main .empty[role=status]')")
            text = await tab.page.locator("body").inner_text()
            assert not re.search(rf"\b{OTHER}\b", text), screen
            assert await tab.page.locator("[role=alert]").count() == 0, screen
            assert "may not do this" not in text, screen
        assert [one for one in answers if one[0] >= 400] == []
        await tab.goto(f"{site.api.url}/workers")
        await tab.sees("This user may not see it.")
        await tab.page.locator(".card.tables").wait_for()
        await tab.goto(f"{site.api.url}/now")
        assert "Workers" not in await tab.page.locator("nav").inner_text()
        roots = await tab.page.evaluate("[...new Set(phaseline.store.ids.map((id) => id.split('/')[0]))].sort()")
        assert roots == ["c1", "c2"]
        assert tab.errors == []


@pytest.mark.parametrize(
    ("name", "root", "needed"),
    [("reader", "c1", "publish:c1"), ("publisher", "c1", ""), ("publisher", "c2", "publish:c2"), ("boss", "c2", "")],
)
async def test_sending_says_which_role_it_needs(chromium: Any, site: Site, name: str, root: str, needed: str) -> None:
    async with browser.tab(chromium) as tab:
        await logged_in(tab, site, name)
        await tab.goto(f"{site.api.url}/entity/cluster/{root}")
        send = tab.page.get_by_role("button", name="Send", exact=True)
        await send.wait_for()
        assert await send.is_disabled() == bool(needed)
        if needed:
            await tab.sees(f"This needs the role {needed}.")
        await tab.page.get_by_role("button", name="What would change?").click()
        await tab.until("document.querySelector('.tryEvent [aria-live]').textContent")
        assert "may not" not in await tab.page.locator(".tryEvent").inner_text()


async def test_sending_again_says_which_role_it_needs(chromium: Any, site: Site) -> None:
    await site.api.service.client.publish_and_wait("cluster", "create", "c1")
    for name, may in (("publisher", False), ("boss", True)):
        async with browser.tab(chromium) as tab:
            await logged_in(tab, site, name)
            await tab.goto(f"{site.api.url}/refused")
            await tab.page.locator(".row").first.click()
            again = tab.page.get_by_role("button", name="Send again")
            await again.wait_for()
            assert await again.is_enabled() == may
            assert await tab.page.get_by_text("This needs the role operate.").count() == (not may)


async def test_who_lost_his_token_is_asked_for_another_one(chromium: Any, site: Site) -> None:
    async with browser.tab(chromium) as tab:
        await logged_in(tab, site, "reader")
        site.path.write_text("\n".join(line for line in site.path.read_text().splitlines() if " reader " not in line))
        await tab.page.evaluate("void phaseline.stream.load()")
        await tab.page.get_by_label("Token").wait_for()


async def test_the_page_says_who_did_it(chromium: Any, site: Site) -> None:
    """What a person sends with the page has their name, in the history and the explanation; so has what was refused."""
    async with browser.tab(chromium) as tab:
        await logged_in(tab, site, "boss")
        await tab.goto(f"{site.api.url}/entity/cluster/c1")
        await tab.page.locator(".tryEvent select").first.select_option("reported")
        await tab.page.locator(".tryEvent [name=phase]").select_option("Stopped")
        await tab.page.get_by_role("button", name="Send", exact=True).click()
        asked = tab.page.get_by_role("dialog", name="Send")
        await asked.get_by_text("Entities:").wait_for()
        assert await asked.get_by_role("button", name="Send").is_disabled()
        await asked.get_by_label("To send it, type the name:").fill("c1")
        await asked.get_by_role("button", name="Send").click()
        await tab.sees("It changed:")
        await tab.goto(f"{site.api.url}/entity/cluster/c1")
        await tab.sees("boss as /phaseline/page")
        assert await tab.page.get_by_text("boss as /phaseline/page").count() >= 2
        await site.api.service.client.publish_and_wait("cluster", "create", "c1", extensions={"actor": "boss"})
        await tab.page.locator(".tryEvent select").first.select_option("create")
        await tab.page.get_by_role("button", name="Send", exact=True).click()
        await tab.until("document.querySelector('.tryEvent .bad')")
        await tab.goto(f"{site.api.url}/refused")
        await tab.sees("boss as /phaseline/page")
        await tab.page.locator(".row").first.click()
        await tab.sees("Actor")
        assert all("422" in one for one in tab.errors)  # how the browser notes the refused event


async def test_the_page_says_who_i_am_takes_a_theme_and_logs_out(chromium: Any, site: Site) -> None:
    back = "getComputedStyle(document.body).backgroundColor"
    async with browser.tab(chromium, 390, 844) as tab:
        await logged_in(tab, site, "reader")
        light = await tab.page.evaluate(back)
        await tab.page.get_by_role("button", name="Who am I reader").click()
        asked = tab.page.get_by_role("dialog", name="Who am I")
        await asked.get_by_text("read", exact=True).wait_for()
        await asked.get_by_label("Theme").select_option("dark")
        assert await tab.page.evaluate(back) != light
        assert await tab.violations() == []
        await asked.get_by_role("button", name="Log out").click()
        await tab.page.get_by_label("Token").wait_for()
        assert await tab.page.evaluate(back) != light  # the form has the page's style and the theme
        assert await tab.violations() == []
        assert tab.errors == []
