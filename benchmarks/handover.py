"""How long the events of a partition wait when it is handed over: in a rolling restart, and when a worker is killed.

Belongs here: worker processes that come and go under a steady load, and what each wait consists of. Does not: how long
loading takes (`take_over`).
"""

import asyncio
import json
import signal
import statistics
import sys
import tempfile
from asyncio.subprocess import Process
from collections import defaultdict
from collections.abc import Iterator
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.throughput import ROOT
from phaseline.engine.nats.embedded.server import EmbeddedServer
from phaseline.engine.nats.stream_reader import read_all
from phaseline.engine.nats.streams import Layout, provision
from phaseline.engine.nats.wire import Wire
from phaseline.engine.settings import Settings
from phaseline.machines.built_in import installed
from phaseline.schemas import codec, wire_codec
from phaseline.schemas.records import SECOND
from phaseline.schemas.subjects import Subjects, partition_of

ENTITIES = 40_000
RATE = 200
"""Events a second, over all partitions."""
RESTARTS = 3
CLUSTERS = 64
LOOK = 0.05
SETTLE = 1.0
"""Seconds of load before and after each change."""
LIMIT = 300.0


class Moved(NamedTuple):
    """A partition that went from one worker to another, times in seconds.

    wait: how long its slowest event waited for its record. finish: until the owner had given it. ask: until the next
    owner had its lease. take: until that one had loaded the rest. decide: the rest, until the slowest event's record.
    """

    wait: float
    finish: float
    ask: float
    take: float
    decide: float
    is_given: bool


class Member:
    """A worker process and its log."""

    def __init__(self, process: Process, log: Path) -> None:
        self.process, self.log = process, log

    def lines(self, event: str) -> list[dict[str, Any]]:
        """Its log lines of that name."""
        found = [json.loads(line) for line in self.log.read_text().splitlines() if line.startswith("{")]
        return [line for line in found if line["event"] == event]

    async def until_taken(self, share: int) -> None:
        """Wait until it has taken so many partitions."""
        async with asyncio.timeout(LIMIT):
            while len(self.lines("partition_taken")) < share:
                await asyncio.sleep(LOOK)


class Load:
    """Events at a steady rate, each of which makes one record."""

    def __init__(self, wire: Wire, prefix: str, nodes: int) -> None:
        self._wire, self._subjects, self._nodes, self._sent = wire, Subjects(prefix), nodes, 0

    def frame(self, trigger: str, cluster: int, node: int, **data: Any) -> bytes:
        """The frame of an event of a node."""
        self._sent += 1
        body = {
            "specversion": "1.0",
            "id": f"e{self._sent}",
            "source": "/bench",
            "type": f"node.{trigger}",
            "data": data,
        }
        subject = self._subjects.event("node", trigger, f"c{cluster}/pool/n{node}")
        return self._wire.frame(subject, codec.encode(body))

    async def fill(self) -> None:
        """Make the nodes known."""
        for node in range(self._nodes):
            self._wire.send(b"".join(self.frame("adopt", one, node, phase="Running") for one in range(CLUSTERS)))
            await self._wire.flush(60.0)

    async def run(self, rate: int) -> None:
        """Let nodes fail and recover, until cancelled."""
        while True:
            for trigger in ("not_ready", "ready"):
                for node in range(self._nodes):
                    for cluster in range(CLUSTERS):
                        self._wire.send(self.frame(trigger, cluster, node))
                        await asyncio.sleep(1 / rate)


async def run(entities: int = ENTITIES, rate: int = RATE, restarts: int = RESTARTS) -> dict[str, Any]:
    """What became of the partitions that moved, in rolling restarts and after kills."""
    async with EmbeddedServer() as server, AsyncExitStack() as ending:
        settings = Settings(feed="msgpack", nats=(server.url,))
        wire = await ending.enter_async_context(Wire.open(settings, name="bench"))
        layout = await provision(wire, settings, installed().copies.values())
        folder = Path(ending.enter_context(tempfile.TemporaryDirectory()))
        load = Load(wire, settings.prefix, max(1, entities // CLUSTERS))
        await load.fill()
        members = [await ending.enter_async_context(_member(server.url, folder / f"{number}")) for number in (1, 2)]
        for member in members:
            await member.until_taken(layout.partitions // 2)
        await _until_decided(wire, layout)
        first = (await wire.api(f"STREAM.INFO.{layout.events}"))["state"]["last_seq"] + 1
        loading = asyncio.create_task(load.run(rate))
        for number in range(restarts):
            members.append(await ending.enter_async_context(_member(server.url, folder / f"{3 + number}")))
            await asyncio.sleep(SETTLE)
            await members[-1].until_taken(1)
            members[number].process.terminate()
            await members[number].process.wait()
            await asyncio.sleep(SETTLE)
        killed_at = datetime.now().astimezone()
        members[restarts].process.kill()
        await members[restarts].process.wait()
        await members[-1].until_taken(layout.partitions)
        await asyncio.sleep(SETTLE)
        loading.cancel()
        await _until_decided(wire, layout)
        delays = await _delays(wire, layout, first)
        moved = list(_moved(members, delays, killed_at))
        usual = [wait for waits in delays.values() for _, wait in waits]
    return {
        "entities": entities, "rate": rate, "restarts": restarts, "partitions": layout.partitions, "moved": moved,
        "usual": statistics.median(usual),
    }  # fmt: skip


@asynccontextmanager
async def _member(url: str, log: Path) -> Any:
    with log.open("wb") as file:
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-m", "phaseline.engine.surfaces.cli", "worker", "--nats", url, stderr=file, cwd=ROOT
        )
    try:
        yield Member(process, log)
    finally:
        if process.returncode is None:
            process.send_signal(signal.SIGKILL)
        await process.wait()


async def _until_decided(wire: Wire, layout: Layout) -> None:
    """Wait until the log has not grown for a second."""
    last = -1
    async with asyncio.timeout(LIMIT):
        while last != (last := (await wire.api(f"STREAM.INFO.{layout.log}"))["state"]["last_seq"]):
            await asyncio.sleep(1.0)


Delays = dict[int, list[tuple[float, float]]]
"""By partition, for each event: the second at which its record was stored, and how long that took."""


async def _delays(wire: Wire, layout: Layout, first: int) -> Delays:
    stored, found = dict[int, tuple[int, int]](), defaultdict[int, list[tuple[float, float]]](list)
    async for messages in read_all(wire, layout.events, [f"{layout.prefix}.inbox.>"]):
        for one in messages:
            root = one.subject.split(".")[3]
            stored[one.sequence] = partition_of(root, layout.partitions), one.time_ns
    async for messages in read_all(wire, layout.log, [f"{layout.prefix}.log.*.transition.>"]):
        for one in messages:
            cause = wire_codec.numbered(one.data).cause
            if cause >= first:
                partition, time_ns = stored[cause]
                found[partition].append((one.time_ns / SECOND, (one.time_ns - time_ns) / SECOND))
    return found


def _moved(members: list[Member], delays: Delays, killed_at: datetime) -> Iterator[Moved]:
    """Each move of a partition, by the lines of both workers and the events around it."""
    given = [line for member in members for line in member.lines("partition_handed_over")]
    taken = [line for member in members for line in member.lines("partition_taken") if line["epoch"] > 1]
    for line in taken:
        end, partition = _seconds(line), line["partition"]
        around = [(at, wait) for at, wait in delays[partition] if end - SETTLE < at < end + SETTLE]
        if not around:
            continue
        at, wait = max(around, key=lambda one: one[1])
        begin = end - line["seconds"]
        before = [one for one in given if one["partition"] == partition and _seconds(one) <= begin + LOOK]
        last = max(before, key=_seconds, default=None)
        decide = max(0.0, at - end)
        if last is None or _seconds(last) < killed_at.timestamp() < end:
            yield Moved(wait, 0.0, 0.0, line["seconds"], decide, is_given=False)
        else:
            yield Moved(wait, last["seconds"], max(0.0, begin - _seconds(last)), line["seconds"], decide, is_given=True)


def _seconds(line: dict[str, Any]) -> float:
    return datetime.fromisoformat(line["timestamp"]).timestamp()


def page(found: dict[str, Any]) -> str:
    """The results as Markdown."""
    rows = [
        f"{found['entities']:,} entities in {found['partitions']} partitions, {found['rate']} events a second, "
        f"{found['restarts']} rolling restarts of two workers, then\none is killed. What the slowest event of each "
        f"partition waited for its record, in milliseconds (median, worst). Half of all events wait for less than "
        f"{found['usual'] * 1e3:.0f}:\n",
        "| | partitions | wait | the owner finishes | asking, lease | take-over | deciding, commit |",
        "|---|---|---|---|---|---|---|",
    ]
    for title, is_given in (("handed over", True), ("after a kill", False)):
        moved = [one for one in found["moved"] if one.is_given == is_given]
        if moved:
            cells = (
                f"{statistics.median(part) * 1e3:.0f}, {max(part) * 1e3:.0f}"
                for part in zip(*(one[:5] for one in moved), strict=True)
            )
            rows.append(f"| {title} | {len(moved)} | {' | '.join(cells)} |")
    return "\n".join(rows)
