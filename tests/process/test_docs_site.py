"""The site of the pages, as `python3 dev.py docs` has built it, in Chromium: found by search, wide and narrow, alone.

Belongs here: what a reader meets. Does not: broken links, which fail the build; which pages there are (`test_site`).
The pages are opened as files: so nothing may need a server, and a request to anywhere else is seen.
"""

import re
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from tests.support import browser

SITE = Path(__file__).parents[2] / "dist" / "site"
pytestmark = pytest.mark.skipif(not (SITE / "index.html").exists(), reason="the site is not built: python3 dev.py docs")
LINKS = "[...document.querySelectorAll('article a[href], .sidebar-tree a[href]')].map(one => one.href)"
WIDTH = "document.documentElement.scrollWidth"


@pytest.fixture
async def chromium() -> AsyncIterator[Any]:
    async with browser.browser() as started:
        yield started


@pytest.mark.parametrize("width", [1440, 390])
async def test_no_page_is_wider_than_its_window_or_asks_anybody(chromium: Any, width: int) -> None:
    async with browser.tab(chromium, width=width, height=900) as tab:
        for name in ("index.html", "docs/operating.html", "docs/gitops.html", "docs/compatibility.html"):
            await tab.page.goto((SITE / name).as_uri())
            assert await tab.page.evaluate(WIDTH) <= width, name
        assert [address for address in tab.asked if not address.startswith(("file:", "data:"))] == []
        assert tab.errors == []


async def test_a_word_is_found_without_a_server(chromium: Any) -> None:
    async with browser.tab(chromium) as tab:
        await tab.page.goto((SITE / "search.html").as_uri() + "?q=durability")
        await tab.page.locator(".search li a").first.wait_for()
        found = await tab.page.evaluate("[...document.querySelectorAll('.search li a')].map(one => one.href)")
        assert any(address.partition("?")[0].endswith("docs/operating.html") for address in found), found
        assert [address for address in tab.asked if not address.startswith("file:")] == []


async def test_diagrams_are_drawn(chromium: Any) -> None:
    async with browser.tab(chromium) as tab:
        await tab.page.goto((SITE / "docs" / "machines.html").as_uri())
        await tab.page.locator(".highlight-mermaid").first.scroll_into_view_if_needed()
        await tab.page.locator(".diagram svg").first.wait_for()
        assert [address for address in tab.asked if not address.startswith(("file:", "data:"))] == []
        assert tab.errors == []


async def test_links_lead_to_files_that_are_there(chromium: Any) -> None:
    """To pages, and to files of the repository that are no pages, such as modules, examples and folders."""
    async with browser.tab(chromium) as tab:
        for name in ("index.html", "docs/developing/changes.html", "files/deploy/monitoring/dashboards.html"):
            await tab.page.goto((SITE / name).as_uri())
            addresses = {re.sub(r"[#?].*", "", one) for one in await tab.page.evaluate(LINKS)}
            local = [Path(one.removeprefix("file://")) for one in addresses if one.startswith("file:")]
            assert len(local) > 30
            assert [path for path in local if not path.is_file()] == []
