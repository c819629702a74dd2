"""Throughput from published event to committed record, against bare loops and a hand-written worker."""

import asyncio
import json
import statistics
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.workload import installation
from phaseline.engine.core.process import Processor
from phaseline.engine.core.tree import Tree
from phaseline.engine.nats.embedded.server import EmbeddedServer
from phaseline.engine.nats.stream_reader import read_all
from phaseline.engine.nats.streams import Layout
from phaseline.engine.nats.wire import Wire
from phaseline.engine.scripts.runner import shared_runner
from phaseline.engine.settings import Settings
from phaseline.machines.built_in import installed
from phaseline.schemas.subjects import Subjects

ROOT = Path(__file__).parent.parent
EVENTS = 60_000
MANY = 300_000
"""Events of a second measurement, in which a worker's start and its first events count less."""
BY_HAND = 4_000
ROUNDS = 3
NAMES = ("phaseline", "fetch", "pull", "by_hand")


async def run(
    events: int = EVENTS, by_hand: int = BY_HAND, rounds: int = ROUNDS, many: int = MANY
) -> dict[str, dict[str, Any]]:
    """What `measure` finds with few events and with many."""
    return {
        "few": await measure(events, by_hand, rounds, NAMES),
        "many": await measure(many, by_hand, rounds, ("phaseline", "pull")),
    }


async def measure(events: int, by_hand: int, rounds: int, names: Sequence[str]) -> dict[str, Any]:
    """Events/s of each contender in each round. Each run is a fresh process on fresh streams of one server."""
    found: dict[str, list[float]] = {name: [] for name in names}
    cpu: dict[str, list[float]] = {name: [] for name in names}
    async with EmbeddedServer() as server:
        size = records = 0
        for number in range(rounds):
            for name in names:
                count = by_hand if name == "by_hand" else events
                settings = Settings(feed="msgpack", nats=(server.url,), prefix=f"{name}{number}")
                async with Wire.open(settings, name="bench") as wire:
                    layout = await installation(wire, settings, count)
                    if not size:
                        size, records = await record_size(wire, layout)
                    taken = await contend(name, server.url, settings.prefix, count, size)
                    found[name].append(count / taken["seconds"])
                    cpu[name].append(taken["cpu"] / count * 1e6)
                    for stream in layout.streams:
                        await wire.api(f"STREAM.DELETE.{stream}")
    ratios = {
        name: statistics.median(a / b for a, b in zip(found["phaseline"], found[name], strict=True))
        for name in names[1:]
    }
    return {
        "events": events,
        "records": records,
        "bytes_per_event": size,
        "events_per_second": found,
        "cpu": {name: statistics.median(values) for name, values in cpu.items()},
        "ratios": ratios,
    }


async def record_size(wire: Wire, layout: Layout) -> tuple[int, int]:
    """The bytes of what Phaseline commits per event of this workload, and how many records that has.

    How many schedules of timers stand beside them depends on which events are committed together.
    """
    total, records, events, start = 0, 0, 0, f"{layout.prefix}.log."
    for partition in range(layout.partitions):
        processor = Processor(Tree(installed(), shared_runner()), Subjects(layout.prefix), partition)
        async for stored in read_all(wire, layout.events, [processor.subjects.inbox(partition)]):
            while stored:
                commit = processor.process(stored, 0)
                del stored[: commit.events]
                events += commit.events
                records += sum(message.subject.startswith(start) for message in commit.messages)
                total += sum(len(message.body) for message in commit.messages)
    return total // events, records


async def contend(name: str, url: str, prefix: str, count: int, size: int) -> dict[str, float]:
    """The seconds that one contender takes, and its CPU seconds."""
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "benchmarks.contender", name, url, prefix, str(count), str(size),
        stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE, cwd=ROOT,
    )  # fmt: skip
    if process.stdin is None or process.stdout is None:
        raise AssertionError("the contender has no pipes")
    await process.stdout.readline()
    process.stdin.write(b"go\n")
    found: dict[str, float] = json.loads(await process.stdout.readline())
    if process.returncode is None:
        process.kill()
    await process.wait()
    return found


def page(found: dict[str, dict[str, Any]]) -> str:
    """The results as Markdown."""
    few, many = found["few"], found["many"]
    head = (
        f"{few['events']:,} events over 1,000 nodes in 50 clusters make {few['records']:,} records, "
        f"{few['bytes_per_event']} bytes an event. All events are stored before the\nclock starts. "
        "It stops when the last record is in the log. The worker's time includes its start, leases and take-over.\n"
    )
    more = (
        f"\nThe same with {many['events']:,} events. The start of the worker and the creation of the entities count "
        "less here:\n"
    )
    return "\n".join([head, *_table(few), more, *_table(many)])


TITLES = {
    "phaseline": "Phaseline, one worker process",
    "fetch": "(a) bare loop: nats-py fetch, atomic batch, no logic",
    "pull": "(c) bare loop: raw pull, joined batch, no logic",
    "by_hand": "(b) by hand: a `transitions` machine per entity, KV put, publish, ack",
}


def _table(found: dict[str, Any]) -> list[str]:
    rates, cpu = found["events_per_second"], found["cpu"]
    return [
        "| | events/s, round by round | own CPU, us an event | Phaseline / this (median) |",
        "|---|---|---|---|",
        *[
            f"| {title} | {', '.join(f'{value:,.0f}' for value in rates[name])} | {cpu[name]:.0f} "
            f"| {_ratio(found, name)} |"
            for name, title in TITLES.items()
            if name in rates
        ],
    ]


def _ratio(found: dict[str, Any], name: str) -> str:
    return f"{found['ratios'][name]:.2f}" if name in found["ratios"] else ""
