"""The client is silent: nothing on stdout or stderr, whatever happens, unless the program configures `logging`."""

import asyncio
import re
import subprocess
import sys
from functools import partial

from tests.support.command import ROOT
from tests.support.installation import Settings

PROGRAM = """
import asyncio, logging, sys
import phaseline
from phaseline.errors import NoAnswer, NotProvisioned, PhaselineError
from tests.support import closed_port
from tests.support.tcp_proxy import proxy_to

port, prefix, words = sys.argv[1:]
if words == "logging":
    logging.basicConfig(level=logging.INFO)


async def nowhere(url):
    async with phaseline.connect(url, prefix="nobody", request_timeout=0.2) as client:
        for call in (client.get("cluster", "c1"), client.publish("cluster", "create", "c1"), client.tree("c1")):
            try:
                await call
            except (NoAnswer, NotProvisioned):
                continue
            sys.exit("answered by an installation that does not exist")


async def cut_off(url, proxy):
    client = await phaseline.connect(url, prefix=prefix)
    async with client.watch(tree=words) as watch:
        proxy.close()
        while True:
            try:
                await client.publish("cluster", "create", words, event_id="e1")
                break
            except NoAnswer:
                await asyncio.sleep(0.02)
        await anext(watch)
    outcome = await client.publish_and_wait("node", "delete", f"{words}/p/n1")
    assert outcome.rejection is not None
    await client.close()


async def forgotten(url):
    client = await phaseline.connect(url, prefix=prefix)  # nobody closes it, nor its watch
    async for _ in client.watch(start="start"):
        break


def without_asyncio(url):
    with phaseline.sync.connect(url, prefix=prefix) as client:
        assert client.get("cluster", words).id == words
    try:
        phaseline.sync.connect(closed_port.NATS)
    except PhaselineError:
        return
    sys.exit("connected to nothing")


async def main():
    async with proxy_to(int(port)) as proxy:
        url = f"nats://127.0.0.1:{proxy.port}"
        await nowhere(url)
        await cut_off(url, proxy)
        await asyncio.to_thread(without_asyncio, url)
        if words == "logging":
            await forgotten(url)


asyncio.run(main())
"""


async def run(settings: Settings, words: str) -> "subprocess.CompletedProcess[str]":
    """Run the program; it passes its name of a cluster as the word that says whether it configures `logging`."""
    port = settings.nats[0].rpartition(":")[2]
    strict = ["-W", "error"] if words == "silence" else []
    command = [sys.executable, *strict, "-c", PROGRAM, port, settings.prefix, words]
    return await asyncio.to_thread(
        partial(subprocess.run, command, capture_output=True, text=True, check=False, cwd=ROOT)
    )


async def test_the_client_says_what_happens_to_logging_and_nothing_by_itself(working: Settings) -> None:
    silent, logging = await asyncio.gather(run(working, "silence"), run(working, "logging"))
    assert (silent.returncode, silent.stdout, silent.stderr) == (0, "", "")
    assert (logging.returncode, logging.stdout) == (0, "")
    lines = logging.stderr.splitlines()
    assert "WARNING:phaseline.engine.nats.wire:nats_disconnected error=" in logging.stderr
    assert "INFO:phaseline.engine.nats.wire:nats_reconnected url=" in logging.stderr
    assert all(re.match(r"(INFO|WARNING):phaseline\.[\w.]+:[a-z_]+( |$)", line) for line in lines), lines
