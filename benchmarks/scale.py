"""A million entities: creating them, what workers hold, take-overs, list and watch, the start of a console.

Beside them stand 1,000 entities on a server of their own, to which the same number of events goes.
`SCALE_ENTITIES=50000 python3 dev.py bench scale` makes a small run. With a million it takes some 15 minutes on two
cores, 6 GB of memory and 4 GB of disk.
"""

import asyncio
import gzip
import os
import re
import statistics
import sys
import time
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from http.client import HTTPConnection
from typing import Any, NamedTuple

from benchmarks import reading, workers
from benchmarks.server import cpu
from benchmarks.throughput import ROOT
from benchmarks.workload import send
from phaseline.engine.log.installation import Installation
from phaseline.engine.nats.embedded.server import EmbeddedServer
from phaseline.engine.nats.streams import Layout, provision
from phaseline.engine.nats.wire import Wire
from phaseline.engine.publish.backlog import backlog
from phaseline.engine.settings import Settings
from phaseline.machines.built_in import installed
from phaseline.schemas import codec
from phaseline.schemas.subjects import Subjects

ENTITIES = int(os.environ.get("SCALE_ENTITIES", "1000000"))
THROUGHPUT = min(60_000, ENTITIES)
PLAN: dict[int, tuple[int, ...]] = {1: (1,), 8: (1, 2, 4), 64: (1, 2, 4)}
"""By number of partitions, how many workers take them over in turn."""
READ_AT = 8
"""With so many partitions the commands and the server of HTTP are measured too."""
NODES = 998
"""Nodes of a cluster; with its pool and itself it has 1,000 entities."""
SLICE = 20_000
LEASE = 30
"""Seconds of the leases of the workers that create: on a busy machine, none of them must lose what it has loaded."""
LIMIT = 900
"""Seconds until the benchmark gives up."""
FEW = 1_000
"""The entities of the small installation."""
ROUNDS = 3
"""In which the small installation and the large one take turns."""
COMMANDS = {
    "list":       "list",
    "list_json":  "list --json",
    "list_fast":  "list --sort-by none",
    "list_state": "list node --state Failed",
    "watch":      "watch --from start --no-follow",
    "get":        "get node c0/pool/node-7",
}  # fmt: skip
"""By name, the words after `phaseline`."""


async def run(
    entities: int = ENTITIES, plan: Mapping[int, Sequence[int]] = PLAN, events: int = THROUGHPUT
) -> dict[str, Any]:
    """The figures by number of partitions; those of readers, at one number."""
    found: dict[str, Any] = {"entities": entities, "events": events, "partitions": {}}
    for partitions, numbers in plan.items():
        say(f"{partitions} partitions")
        rates = {number: await _throughput(partitions, number, events) for number in numbers}
        async with asyncio.timeout(LIMIT), EmbeddedServer() as server:
            settings = Settings(feed="msgpack", nats=(server.url,), partitions=partitions)
            async with Wire.open(settings, name="bench", patient=True) as wire:
                layout = await provision(wire, settings, installed().copies.values())
                created = await create(server, wire, layout, entities)
                taken = {number: await _taken(wire, layout, number) for number in numbers}
                found["partitions"][partitions] = {
                    "rates": rates, "created": created, "taken": taken, "stored": await _stored(wire, layout),
                    "server": memory(server.pid),
                }  # fmt: skip
                if partitions == READ_AT or len(plan) == 1:
                    found["commands"] = await _commands(server.url)
                    found["console"] = await _console(server.url)
                    found["spread"] = await _beside_few(Spread(server, wire, layout, entities), events)
    return found


def say(what: str) -> None:
    print(f"  {what}", file=sys.stderr, flush=True)


async def _throughput(partitions: int, number: int, events: int) -> float:
    """Events a second of so many workers on an empty installation; each must have a partition."""
    if number > partitions:
        return 0.0
    found = await workers.run(events, 1, (number,), partitions)
    return float(found["workers"][number][0]["events/s"])


# ---- creating


def _events(prefix: str, entities: int) -> Iterator[tuple[str, bytes, str]]:
    """An event for each node; its cluster and its pool are adopted with the first one."""
    subjects = Subjects(prefix)
    for number in range(max(1, entities // 1_000) * NODES):
        cluster, node = divmod(number, NODES)
        body = {"specversion": "1.0", "id": f"e-{number}", "source": f"/agent/c{cluster}", "type": "node.adopt",
                "data": {"phase": "Running"}}  # fmt: skip
        yield subjects.event("node", "adopt", f"c{cluster}/pool/node-{node}"), codec.encode(body), f"e-{number}"


async def create(server: EmbeddedServer, wire: Wire, layout: Layout, entities: int) -> dict[str, float]:
    """Publish the events while two workers decide them; the seconds until all states can be read."""
    wanted = max(1, entities // 1_000) * 1_000
    async with sharing(wire, layout, min(2, layout.partitions), LEASE) as processes:
        before, began = cpu(server.pid), time.perf_counter()
        piece: list[tuple[str, bytes, str]] = []
        for event in _events(layout.prefix, entities):
            piece.append(event)
            if len(piece) == SLICE:
                await send(wire, piece)
                piece = []
        if piece:
            await send(wire, piece)
        published = time.perf_counter() - began
        while (await _messages(wire, layout.state)) < wanted:
            await asyncio.sleep(0.2)
        seconds = time.perf_counter() - began
        spent = sum(cpu(process.pid) for process in processes)
        most = max(memory(process.pid) for process in processes)
        return {"published": published, "seconds": seconds, "workers": spent, "server": cpu(server.pid) - before,
                "memory": most}  # fmt: skip


async def _messages(wire: Wire, stream: str) -> int:
    return int((await wire.api(f"STREAM.INFO.{stream}"))["state"]["messages"])


async def _stored(wire: Wire, layout: Layout) -> dict[str, int]:
    """The bytes of each stream."""
    roles = {"EVENTS": layout.events, "LOG": layout.log, "STATE": layout.state}
    return {role: int((await wire.api(f"STREAM.INFO.{name}"))["state"]["bytes"]) for role, name in roles.items()}


# ---- workers


@asynccontextmanager
async def sharing(wire: Wire, layout: Layout, number: int, lease: int = 0) -> AsyncIterator[list[Process]]:
    """So many workers, once each owns its share of the partitions; killed at the end, and their leases taken away."""
    url = wire.settings.nats[0]
    processes = [await _worker(url, layout, layout.partitions // number, lease) for _ in range(number)]
    try:
        await asyncio.gather(*(_line(process) for process in processes))
        yield processes
    finally:
        for process in processes:
            process.kill()
            await process.wait()
        await wire.api(f"STREAM.PURGE.{layout.lease}")


async def _worker(url: str, layout: Layout, share: int, lease: int) -> Process:
    return await asyncio.create_subprocess_exec(
        sys.executable, "-m", "benchmarks.contender", "share", url, layout.prefix, str(share), str(lease),
        stdin=PIPE, stdout=PIPE, stderr=DEVNULL, cwd=ROOT,
    )  # fmt: skip


async def _line(process: Process) -> bytes:
    if process.stdout is None:
        raise AssertionError("the worker has no pipes")
    found = await process.stdout.readline()
    if not found:
        raise AssertionError("a worker ended")
    return found


async def _taken(wire: Wire, layout: Layout, number: int) -> dict[str, float]:
    """The seconds from starting the processes until all partitions are owned; CPU and memory of the processes."""
    say(f"{number} workers take {layout.partitions} partitions over")
    if number > layout.partitions:
        return {}
    began = time.perf_counter()
    async with sharing(wire, layout, number) as processes:
        return {
            "seconds": time.perf_counter() - began,
            "cpu": sum(cpu(process.pid) for process in processes),
            "memory": sum(memory(process.pid) for process in processes),
        }


def memory(pid: int, field: str = "VmRSS") -> float:
    """The resident memory of a process in MB; with VmHWM the most that it had. 0 where /proc does not say."""
    try:
        with open(f"/proc/{pid}/status", encoding="ascii", errors="replace") as file:  # noqa: PTH123  # a pseudo file
            found = re.search(rf"^{field}:\s+(\d+)", file.read(), re.MULTILINE)
    except OSError:
        return 0.0
    return 0.0 if found is None else int(found[1]) / 1024


# ---- events to few entities, and to many


class Spread(NamedTuple):
    """An installation with so many entities."""

    server: EmbeddedServer
    wire: Wire
    layout: Layout
    entities: int


async def _beside_few(many: Spread, events: int) -> list[dict[str, dict[str, float]]]:
    """What events cost in an installation, and in one with few entities, which has a server of its own: by round."""
    settings = Settings(feed="msgpack", nats=(many.server.url,), partitions=many.layout.partitions)
    async with EmbeddedServer() as server:
        settings = replace(settings, nats=(server.url,))
        async with Wire.open(settings, name="bench", patient=True) as wire:
            layout = await provision(wire, settings, installed().copies.values())
            few = Spread(server, wire, layout, FEW)
            await create(server, wire, layout, FEW)
            first, beside = sharing(wire, layout, 1, LEASE), sharing(many.wire, many.layout, 1, LEASE)
            async with first as [one], beside as [other]:
                both = {"few": (few, one), "many": (many, other)}
                return [
                    {name: await _decided(*which, events, number) for name, which in both.items()}
                    for number in range(ROUNDS)
                ]


async def _decided(spread: Spread, worker: Process, events: int, number: int) -> dict[str, float]:
    """Store events while a worker decides them. Half of them make nodes fail, the others mend them."""
    say(f"events to {spread.entities:,} entities, round {number}")
    given, installed_ = list(_moves(spread, events, number)), Installation(spread.wire, spread.layout, installed())
    before, server, began = cpu(worker.pid), cpu(spread.server.pid), time.perf_counter()
    for start in range(0, events, SLICE):
        await send(spread.wire, given[start : start + SLICE])
    while (await backlog(installed_)).events:
        await asyncio.sleep(0.05)
    return {
        "events/s": events / (time.perf_counter() - began),
        "worker": (cpu(worker.pid) - before) / events * 1e6,
        "server": (cpu(spread.server.pid) - server) / events * 1e6,
    }


def _moves(spread: Spread, events: int, number: int) -> Iterator[tuple[str, bytes, str]]:
    """Events to nodes all over the installation: each node fails, and is ready when its next turn comes.

    Of a million nodes, each gets two events; of a thousand, all that there are.
    """
    nodes, subjects = max(1, spread.entities // 1_000) * NODES, Subjects(spread.layout.prefix)
    turn = min(nodes, events // 2)
    step = nodes // turn
    for at in range(events):
        cluster, node = divmod((at % turn * step + number) % nodes, NODES)
        trigger, name = ("ready" if at // turn % 2 else "not_ready"), f"m-{number}-{at}"
        body = {"specversion": "1.0", "id": name, "source": f"/agent/c{cluster}", "type": f"node.{trigger}"}
        yield subjects.event("node", trigger, f"c{cluster}/pool/node-{node}"), codec.encode(body), name


# ---- readers


async def _commands(url: str) -> dict[str, dict[str, float]]:
    """What each command takes, printing to a pipe."""
    found = {}
    environment = {**os.environ, "PHASELINE_NATS": url, "PHASELINE_PREFIX": "pl"}
    for name, words in COMMANDS.items():
        say(f"phaseline {words}")
        command = [*reading.COMMAND, *words.split()]
        began = time.perf_counter()
        cost = await asyncio.to_thread(reading.measured, command, environment, terminal=False)
        found[name] = {**cost._asdict(), "seconds": time.perf_counter() - began}
    return found


async def _console(url: str) -> dict[str, float]:
    """The start of `phaseline serve`: until the states are loaded, then the first requests of a console."""
    say("phaseline serve")
    began = time.perf_counter()
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "phaseline.engine.surfaces.cli", "serve", "--nats", url, "--listen", "127.0.0.1:0",
        stdin=DEVNULL, stdout=DEVNULL, stderr=PIPE, cwd=ROOT,
    )  # fmt: skip
    try:
        if process.stderr is None:
            raise AssertionError("the server has no pipes")
        said = ""
        while not (at := re.search(r"http://(127\.0\.0\.1:\d+)", said)):
            said = (await process.stderr.readline()).decode()
        while (await asyncio.to_thread(_asked, at[1], "/readyz"))[0] != 200:
            await asyncio.sleep(0.1)
        found = {"ready": time.perf_counter() - began, "memory_ready": memory(process.pid)}
        for name, path in (("columns", "/v1/columns"), ("again", "/v1/columns"), ("page", "/v1/entities?limit=500"),
                           ("counts", "/v1/counts")):  # fmt: skip
            started = time.perf_counter()
            _, body, size = await asyncio.to_thread(_asked, at[1], path)
            found |= {name: time.perf_counter() - started, f"{name}_bytes": len(body), f"{name}_sent": size}
        return {**found, "memory": memory(process.pid, "VmHWM")}
    finally:
        process.kill()
        await process.wait()


def _asked(address: str, path: str) -> tuple[int, bytes, int]:
    """The status and the body of an answer, and how many bytes were sent for it."""
    connection = HTTPConnection(address, timeout=LIMIT)
    connection.request("GET", path, headers={"Accept-Encoding": "gzip"})
    answer = connection.getresponse()
    sent = answer.read()
    connection.close()
    return answer.status, gzip.decompress(sent) if answer.headers["Content-Encoding"] == "gzip" else sent, len(sent)


# ---- the page


def page(found: dict[str, Any]) -> str:
    """The results as Markdown."""
    entities = found["entities"]
    lines = [
        f"{entities:,} entities: clusters of 998 nodes and a pool. One round: read the sizes, not the last digit. "
        "Wall time of\nall processes together on this machine, the server included.",
        "",
        "| partitions | workers | events/s | take-over of all, s | CPU of it, s | memory of the workers, MB |",
        "|---|---|---|---|---|---|",
    ]
    for partitions, one in found["partitions"].items():
        for number, taken in one["taken"].items():
            if taken:
                lines.append(
                    f"| {partitions} | {number} | {one['rates'][number]:,.0f} | {taken['seconds']:.1f} "
                    f"| {taken['cpu']:.1f} | {taken['memory']:,.0f} |"
                )
    lines += [
        "",
        f"events/s: {found['events']:,} events of the workload above. The take-over is measured from the start of the "
        "processes.",
        "",
        *_created(found),
        "",
    ]
    if "commands" in found:
        lines += [*_readers(found["commands"]), "", *_started(found["console"]), "", *_spread(found)]
    return "\n".join(lines).rstrip()


def _created(found: dict[str, Any]) -> Iterator[str]:
    titles = "partitions | creating all, s | entities/s | CPU, s: workers, server | bytes each: EVENTS, LOG, STATE"
    yield f"| {titles} | server, MB |"
    yield "|---|---|---|---|---|---|"
    for partitions, one in found["partitions"].items():
        made, count = one["created"], max(1, found["entities"] // 1_000) * 1_000
        sizes = ", ".join(f"{size / count:,.0f}" for size in one["stored"].values())
        yield (
            f"| {partitions} | {made['seconds']:.0f} | {count / made['seconds']:,.0f} "
            f"| {made['workers']:.0f}, {made['server']:.0f} | {sizes} | {one['server']:,.0f} |"
        )


def _readers(commands: Mapping[str, Mapping[str, float]]) -> Iterator[str]:
    yield "| command | s | CPU, s | first line, s | memory, MB | output, MB |"
    yield "|---|---|---|---|---|---|"
    for name, one in commands.items():
        yield (
            f"| `{COMMANDS[name]}` | {one['seconds']:.1f} | {one['cpu']:.1f} | {one['first']:.1f} "
            f"| {one['memory']:,.0f} | {one['size'] / 1e6:,.1f} |"
        )


def _started(console: Mapping[str, float]) -> Iterator[str]:
    yield "| `phaseline serve` | |"
    yield "|---|---|"
    yield f"| ready to answer | {console['ready']:.1f} s, {console['memory_ready']:,.0f} MB |"
    for name, title in (("columns", "the first `/v1/columns`"), ("again", "the same again"),
                        ("page", "a page of 500 entities"), ("counts", "`/v1/counts`")):  # fmt: skip
        sizes = f"{console[f'{name}_bytes'] / 1e6:,.1f} MB, {console[f'{name}_sent'] / 1e6:,.1f} MB sent"
        yield f"| {title} | {console[name]:.2f} s, {sizes} |"
    yield f"| most memory | {console['memory']:,.0f} MB |"


def _spread(found: Mapping[str, Any]) -> Iterator[str]:
    """What events cost among few entities and among many."""
    rounds, entities = found["spread"], found["entities"]
    yield f"{found['events']:,} events, spread evenly over nodes, by one worker; {len(rounds)} rounds in turn:"
    yield ""
    yield f"| | {FEW:,} entities | {entities:,} entities | ratio (median) |"
    yield "|---|---|---|---|"
    for name, title in (("events/s", "events/s"), ("worker", "CPU of the worker, us an event"),
                        ("server", "CPU of the server, us an event")):  # fmt: skip
        few, many = ([one[which][name] for one in rounds] for which in ("few", "many"))
        ratio = statistics.median(b / a for a, b in zip(few, many, strict=True))
        digits = ",.0f" if name == "events/s" else ".1f"
        yield f"| {title} | {_each(few, digits)} | {_each(many, digits)} | {ratio:.2f} |"


def _each(values: Sequence[float], digits: str) -> str:
    return ", ".join(f"{one:{digits}}" for one in values)
