"""The pictures of the page in docs/. `python3 dev.py screens` takes them in Chromium, of a fleet with a history.

Belongs here: which screens, and the fleet that they show. Does not: starting the browser (`tests.support.browser`).
"""

import asyncio
import tempfile
from pathlib import Path

from phaseline.engine.settings import Settings
from phaseline.engine.surfaces import demo
from phaseline.engine.surfaces.client.client import Client
from phaseline.engine.worker import system
from phaseline.machines.built_in import installed
from tests.support import browser
from tests.support.command import ROOT
from tests.support.http_server import http_server

SCREENS = {
    "now": ("now", "light"),
    "tree": ("tree/shop-eu?sel=node/shop-eu/web/web-4", "light"),
    "entity": ("entity/node/shop-eu%2Fweb%2Fweb-4", "light"),
    "time": ("time?from=1&view=lanes&tree=shop-eu", "dark"),
    "refused": ("refused", "light"),
    "workers": ("workers", "light"),
}
"""By name: the address, and the scheme."""
POOLS, NODES = 4, 30
PAUSE = 0.05
"""Seconds between two events, so that the time bar has a shape."""
LARGEST = 150_000
DRAWN = "document.getElementById('strip').hidden || document.querySelector('.track .ends span')"
"""The time bar is there, where a screen has one."""


async def grown(client: Client) -> None:
    """Add clusters with many nodes, some of which are not well, then play the morning."""
    for cluster in range(1, 10):
        root = f"edge-{cluster:02}"
        await client.publish("cluster", "adopt", root, {"phase": "Running"})
        for pool in range(1, POOLS + 1):
            await client.publish("node_pool", "adopt", f"{root}/p{pool}", {"phase": "Running"})
            for node in range(1, NODES + 1):
                name = f"{root}/p{pool}/n{node}"
                await client.publish("node", "adopt", name, {"phase": "Running"})
                if (cluster * 31 + pool * 17 + node * 7) % 41 == 0:
                    await client.publish("node", "not_ready", name)
                elif (cluster * 13 + pool * 5 + node * 3) % 29 == 0:
                    await client.publish("node", "cordon", name)
                elif (cluster * 7 + pool * 3 + node) % 23 == 0:
                    await client.publish("node", "update", name)
    async for _ in demo.play(client, demo.scenario(), PAUSE):
        pass


async def main() -> None:
    """Take all pictures."""
    with tempfile.TemporaryDirectory() as folder:
        async with (
            system.system(Settings(), installed(), Path(folder), 0) as (_, settings, _task),
            Client.open(settings) as client,
        ):
            await grown(client)
            async with http_server(settings) as served, browser.browser() as started:
                await served.place()
                for name, (address, scheme) in SCREENS.items():
                    async with browser.tab(started, scheme=scheme) as tab:
                        await tab.goto(f"{served.url}/{address}")
                        await tab.until(DRAWN)
                        await tab.page.wait_for_timeout(1500)
                        target = ROOT / "docs" / f"page-{name}.png"
                        await tab.page.screenshot(path=target)
                        if target.stat().st_size > LARGEST:
                            raise SystemExit(f"{target} is larger than {LARGEST:,} bytes")


if __name__ == "__main__":
    asyncio.run(main())
