"""The page in a real browser: Debian's Chromium, driven by Playwright.

Belongs here: finding and starting it, what a test does in a tab. Does not: the tests.
"""

import asyncio
import importlib
import os
import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
AXE = ROOT / ".browser" / "node_modules" / "axe-core" / "axe.min.js"
FLAGS = (
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync",
)  # fmt: skip
"""Without a user of its own, without a screen, and without calls to anybody but the page's server."""
PATIENCE = 20_000
"""Milliseconds that a tab may wait for something."""


def chromium() -> str:
    """The program; skips the test where there is none."""
    found = os.environ.get("CHROMIUM") or shutil.which("chromium")
    if found is None:
        pytest.skip("Chromium is not installed")
    return found


def playwright() -> Any:
    """The library; skips the test where it is not installed."""
    try:
        return importlib.import_module("playwright.async_api")
    except ImportError:
        pytest.skip("Playwright is not installed: python3 dev.py browser")


@asynccontextmanager
async def browser() -> AsyncIterator[Any]:
    """A browser that was just started."""
    library, program = playwright(), chromium()
    async with library.async_playwright() as driver:
        started = await driver.chromium.launch(executable_path=program, args=list(FLAGS))
        try:
            yield started
        finally:
            await started.close()


class Tab:
    """A tab of the browser. errors: what the page complained about. asked: the addresses that it asked for."""

    def __init__(self, page: Any) -> None:
        """Listen to the page."""
        self.page = page
        self.errors: list[str] = []
        self.asked: list[str] = []
        page.on("pageerror", lambda error: self.errors.append(str(error)))
        page.on("console", self._complained)
        page.on("request", lambda request: self.asked.append(request.url))

    def _complained(self, said: Any) -> None:
        if said.type == "error":
            self.errors.append(f"{said.text} {said.location['url']}")

    async def goto(self, address: str) -> None:
        """Open an address and wait until the page shows data."""
        await self.page.goto(address)
        await self.until("window.phaseline?.loaded && window.phaseline.shown")

    async def until(self, condition: str) -> None:
        """Wait until an expression is true in the page."""
        async with asyncio.timeout(PATIENCE / 1000):
            while not await self.page.evaluate(
                f"Boolean({condition})"
            ):  # the page lets no text become code, nor may we
                await asyncio.sleep(0.02)

    async def press(self, *keys: str) -> None:
        """Press one key after the other."""
        for key in keys:
            await self.page.keyboard.press(key)

    async def sees(self, text: str) -> None:
        """Wait until a text can be read."""
        await self.page.get_by_text(text).first.wait_for()

    async def violations(self) -> list[str]:
        """What axe-core finds: the rule, and where."""
        if not AXE.exists():
            pytest.skip("axe-core is not installed: python3 dev.py browser")
        if not await self.page.evaluate("Boolean(window.axe)"):
            await self.page.evaluate(AXE.read_text())
        found = await self.page.evaluate(
            "axe.run({runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice']})"
        )
        return [f"{one['id']}: {[node['html'][:90] for node in one['nodes'][:2]]}" for one in found["violations"]]


@asynccontextmanager
async def tab(
    started: Any, width: int = 1280, height: int = 800, scheme: str = "light", **options: Any
) -> AsyncIterator[Tab]:
    """A tab with a profile of its own."""
    context = await started.new_context(
        viewport={"width": width, "height": height}, color_scheme=scheme, locale="en-GB", **options
    )
    context.set_default_timeout(PATIENCE)
    try:
        yield Tab(await context.new_page())
    finally:
        await context.close()
