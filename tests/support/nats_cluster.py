"""A cluster of three real servers on loopback, whose members a test can stop.

Belongs here: starting and stopping members, waiting until the cluster is whole. Does not: the tests.
"""

import asyncio
import subprocess
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

from phaseline.engine.nats.embedded.server import find_binary
from phaseline.engine.nats.streams import Layout, provision
from phaseline.engine.nats.wire import Wire
from phaseline.engine.settings import Settings
from phaseline.schemas.errors import PhaselineError
from tests.support import free_ports
from tests.support.built_in_kinds import BUILT_IN_KINDS

LIMIT = 60


class Member:
    """One server of the cluster."""

    def __init__(self, number: int, data: Path, port: int, routes: list[int], more: str = "") -> None:
        data.mkdir()
        self.url = f"nats://127.0.0.1:{port}"
        self.config = data / "nats.conf"
        known = ", ".join(f'"nats://127.0.0.1:{route}"' for route in routes)
        self.config.write_text(
            f"server_name: n{number}\nserver_tags: [n{number}]\nlisten: 127.0.0.1:{port}\n"
            f"jetstream {{ store_dir: {data} }}\nlog_file: {data}/log\n"
            f"cluster {{ name: three, listen: 127.0.0.1:{routes[number]}, routes: [{known}] }}\n{more}"
        )
        self.process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        self.process = subprocess.Popen([find_binary(), "--config", str(self.config)], start_new_session=True)

    def kill(self) -> None:
        if self.process is not None:
            self.process.kill()
            self.process.wait()


@asynccontextmanager
async def cluster(data: Path, leaf_ports: Sequence[int] = ()) -> AsyncIterator[list[Member]]:
    """Three members. leaf_ports: where they listen for leaf nodes."""
    ports = free_ports.some(6)
    more = [f"leafnodes {{ listen: 127.0.0.1:{port} }}\n" for port in leaf_ports] or [""] * 3
    members = [Member(number, data / f"n{number}", ports[number], ports[3:], more[number]) for number in range(3)]
    for member in members:
        member.start()
    try:
        yield members
    finally:
        for member in members:
            member.kill()


async def provisioned(wire: Wire, settings: Settings) -> Layout:
    """Wait until the servers have found each other."""
    async with asyncio.timeout(LIMIT):
        while True:
            try:
                return await provision(wire, settings, BUILT_IN_KINDS.copies.values())
            except PhaselineError:
                await asyncio.sleep(0.5)


async def until_whole(wire: Wire, layout: Layout) -> None:
    """Wait until each stream has a leader and two followers that have caught up."""
    async with asyncio.timeout(LIMIT):
        for stream in layout.streams:
            while not await is_whole(wire, stream):
                await asyncio.sleep(0.2)


async def is_whole(wire: Wire, stream: str) -> bool:
    try:
        found = (await wire.api(f"STREAM.INFO.{stream}"))["cluster"]
    except PhaselineError:
        return False
    replicas = found.get("replicas", [])
    return bool(found.get("leader")) and len(replicas) == 2 and all(r["current"] for r in replicas)
