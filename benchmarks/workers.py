"""One, two and four worker processes on the same installation: events/s, and the CPU of workers and server."""

import asyncio
import json
import statistics
import sys
import time
from asyncio.subprocess import PIPE, Process
from contextlib import AsyncExitStack
from typing import Any

from benchmarks.server import cpu
from benchmarks.throughput import EVENTS, ROOT, record_size
from benchmarks.workload import Workload, installation, store
from phaseline.engine.nats.embedded.server import EmbeddedServer
from phaseline.engine.nats.streams import Layout, provision
from phaseline.engine.nats.wire import Wire
from phaseline.engine.settings import DEFAULT_PARTITIONS, Settings
from phaseline.machines.built_in import installed

WORKERS = (1, 2, 4)
ROUNDS = 3
LOOK = 0.05
"""Seconds between two looks whether all records are in the log."""
Figures = dict[str, float]


async def run(
    events: int = EVENTS, rounds: int = ROUNDS, numbers: tuple[int, ...] = WORKERS,
    partitions: int = DEFAULT_PARTITIONS,
) -> dict[str, Any]:  # fmt: skip
    """The figures of each number of workers, by round. The numbers take turns, each on a fresh server."""
    found: dict[int, list[Figures]] = {number: [] for number in numbers}
    async with EmbeddedServer() as server:
        settings = Settings(feed="msgpack", nats=(server.url,))
        async with Wire.open(settings, name="bench") as wire:
            _, records = await record_size(wire, await installation(wire, settings, events))
    for _ in range(rounds):
        for number in numbers:
            async with EmbeddedServer() as server:
                settings = Settings(feed="msgpack", nats=(server.url,), partitions=partitions)
                async with Wire.open(settings, name="bench") as wire:
                    layout = await provision(wire, settings, installed().copies.values())
                    found[number].append(await _measure(server, wire, layout, number, events, records))
    return {"events": events, "rounds": rounds, "workers": found}


async def _measure(
    server: EmbeddedServer, wire: Wire, layout: Layout, number: int, events: int, records: int
) -> Figures:
    """Store the events while the workers, which share the partitions evenly, decide them."""
    async with AsyncExitStack() as ending:
        workers = [
            await start("share", server.url, layout.prefix, layout.partitions // number, ending) for _ in range(number)
        ]
        for worker in workers:
            await line_of(worker)
        before, began = cpu(server.pid), time.perf_counter()
        for worker in workers:
            _tell(worker, "go")
        await store(wire, layout, list(Workload(layout.prefix, events).events()))
        while not await _all_decided(wire, layout, records):
            await asyncio.sleep(LOOK)
        seconds = time.perf_counter() - began
        for worker in workers:
            _tell(worker, "end")
        spent = [float(json.loads(await line_of(worker))["cpu"]) for worker in workers]
        return {
            "events/s": events / seconds,
            "workers": sum(spent) / events * 1e6,
            "server": (cpu(server.pid) - before) / events * 1e6,
        }


async def start(name: str, url: str, prefix: str, share: int, ending: AsyncExitStack) -> Process:
    """Start a contender in a process of its own. It ends with the stack. share: the partitions that it takes over."""
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "benchmarks.contender", name, url, prefix, str(share), "0",
        stdin=PIPE, stdout=PIPE, cwd=ROOT,
    )  # fmt: skip

    async def end() -> None:
        if process.returncode is None:
            process.kill()
        await process.wait()

    ending.push_async_callback(end)
    return process


async def line_of(process: Process) -> bytes:
    """The next line that a contender prints: first `ready`, in the end its seconds."""
    if process.stdout is None:
        raise AssertionError("the worker has no pipes")
    return await process.stdout.readline()


def _tell(process: Process, word: str) -> None:
    if process.stdin is None:
        raise AssertionError("the worker has no pipes")
    process.stdin.write(f"{word}\n".encode())


async def _all_decided(wire: Wire, layout: Layout, records: int) -> bool:
    """Whether the log holds all records."""
    name = f"STREAM.INFO.{layout.log}"
    if (await wire.api(name))["state"]["messages"] < records:
        return False
    info = await wire.api(name, {"subjects_filter": f"{layout.prefix}.log.*.transition.>"})
    found: dict[str, int] = info["state"]["subjects"]
    return sum(found.values()) >= records


def page(found: dict[str, Any]) -> str:
    """The results as Markdown."""
    rows = []
    for number, rounds in found["workers"].items():
        median = {name: statistics.median(one[name] for one in rounds) for name in rounds[0]}
        first = next(iter(found["workers"].values()))
        more = statistics.median(one["workers"] / alone["workers"] for one, alone in zip(rounds, first, strict=True))
        rows.append(
            f"| {number} | {median['events/s']:,.0f} | {median['workers']:.1f} | {more:.2f} | {median['server']:.1f} |"
        )
    return "\n".join(
        [
            f"{found['events']:,} events, medians of {found['rounds']} rounds in which the numbers take turns.\n"
            "The workers have taken over an even share of the partitions before the events are stored.\n"
            "The server's CPU includes the storing of the events.",
            "",
            "| workers | events/s | workers' CPU, us an event | ratio | server's CPU, us an event |",
            "|---|---|---|---|---|",
            *rows,
        ]
    )
