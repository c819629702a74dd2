"""A fleet of 5,000 entities that is in trouble, for who looks at overviews: `python -m tests.support.troubled_fleet`.

A cluster in arrears, with all that it stops; a node that flaps; a site of which nothing is heard; a chart that fails; a
node that failed by itself; an operation that nobody answers.
Belongs here: the events, and showing the overview and the page's first screen. Does not: tests.
"""

import asyncio
import fcntl
import os
import pty
import struct
import subprocess
import sys
import tempfile
import termios
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

from phaseline.engine.settings import Settings
from phaseline.engine.surfaces.client.client import Client
from phaseline.engine.worker import system
from phaseline.machines.built_in import installed
from tests.support import browser, large_deployment
from tests.support.http_server import http_server

Said = tuple[str, str, str, dict[str, Any]]
"""A kind, a trigger, an id and data."""
CLUSTERS, POOLS, NODES = 25, 4, 48
RESOURCES = 40
SILENT_AFTER = 3.0
"""Seconds after which the silent site is noticed."""
FLAPS = 6
WIDTHS = (1440, 820, 390)


def built() -> Iterator[Said]:
    """The fleet, well."""
    for cluster in range(1, CLUSTERS + 1):
        root = f"edge-{cluster:02}"
        yield "cluster", "adopt", root, {"phase": "Running"}
        for pool in range(1, POOLS + 1):
            yield "node_pool", "adopt", f"{root}/p{pool}", {"phase": "Running"}
            for node in range(1, NODES + 1):
                yield "node", "adopt", f"{root}/p{pool}/n{node}", {"phase": "Running"}
    for name in ("eu", "us"):
        for number in range(1, RESOURCES + 1):
            yield _resource(name, number)


def _resource(region: str, number: int, available: int = 3) -> Said:
    """A Deployment of a chart. available: of its 3 replicas."""
    name = f"web-{number}"
    live, desired = large_deployment.live(name, available), large_deployment.desired(name)
    if not available:
        conditions = live["status"]["conditions"]
        live["status"]["conditions"] = [
            {"type": "Progressing", "status": "False", "reason": "ProgressDeadlineExceeded", "message": "no progress"}
        ] + [one for one in conditions if one["type"] != "Progressing"]
    where = f"charts/shop-{region}/apps:Deployment/shop/{name}"
    return "resource", "observed", where, {"live": live, "desired": desired}


def troubles() -> Iterator[Said]:
    """What goes wrong, one after the other."""
    yield "node", "not_ready", "edge-07/p2/n11", {"message": "the kubelet stopped posting its status"}
    yield "cluster", "overdue", "edge-03", {"message": "the invoice of October is not paid"}
    for _ in range(FLAPS):
        yield "node", "not_ready", "edge-09/p1/n5", {}
        yield "node", "ready", "edge-09/p1/n5", {}
    yield "node", "not_ready", "edge-09/p1/n5", {}
    for number in (3, 4, 9):
        yield _resource("eu", number, available=0)
    yield "node", "update", "edge-11/p3/n20", {}
    yield "cluster", "configure", "edge-12", {"silence_after": SILENT_AFTER}
    yield "cluster", "heartbeat", "edge-12", {}


async def make(client: Client) -> None:
    """Publish it all, and wait until the site is silent."""
    for said in (built(), troubles()):
        for kind, trigger, entity_id, data in said:
            await client.publish(kind, trigger, entity_id, data)
    async with asyncio.timeout(300):
        while not (await client.overview()).silent:
            await asyncio.sleep(0.5)


@asynccontextmanager
async def running() -> AsyncIterator[tuple[Settings, Client]]:
    """An installation with this fleet."""
    with tempfile.TemporaryDirectory() as folder:
        async with (
            system.system(Settings(), installed(), Path(folder), 0) as (_, settings, _task),
            Client.open(settings) as client,
        ):
            await make(client)
            yield settings, client


async def main(folder: Path) -> None:
    """Print what the command shows at 80 columns, and take pictures of the first screen into a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    async with running() as (settings, _):
        await asyncio.to_thread(show, settings)
        async with http_server(settings, installed()) as served, browser.browser() as started:
            await served.place()
            for width in WIDTHS:
                async with browser.tab(started, width, 900) as tab:
                    await tab.goto(f"{served.url}/now")
                    await tab.page.wait_for_timeout(1500)
                    await tab.page.screenshot(path=folder / f"now-{width}.png")
                    await tab.goto(f"{served.url}/entity/node/edge-09%2Fp1%2Fn5")
                    await tab.page.wait_for_timeout(1500)
                    await tab.page.screenshot(path=folder / f"entity-{width}.png")
                    print(width, tab.errors)  # noqa: T201  # for whoever starts it


def show(settings: Settings) -> None:
    """Print the overview, a tree and an entity as a terminal of 80 columns shows them."""
    for words in ("overview", "get node edge-09/p1/n5", "tree edge-03 --depth 1", "watch --class bad --no-follow"):
        connection = ["--nats", ",".join(settings.nats), *(["--nkey", str(settings.nkey)] if settings.nkey else [])]
        print(f"$ phaseline {words}", flush=True)  # noqa: T201
        here, there = pty.openpty()
        fcntl.ioctl(there, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
        command = [sys.executable, "-m", "phaseline.engine.surfaces.cli", *words.split(), *connection]
        with subprocess.Popen(command, stdin=there, stdout=there, stderr=there):
            os.close(there)
            with suppress(OSError):  # how Linux says that the other side is closed
                while piece := os.read(here, 65_536):
                    sys.stdout.buffer.write(piece)
                    sys.stdout.flush()


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1] if len(sys.argv) > 1 else "pictures")))
