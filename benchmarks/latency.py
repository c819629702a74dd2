"""Latency from publishing to the live feed at 50 events/s, against a bare publish, stream and subscriber."""

import asyncio
import statistics
import time
from itertools import islice
from typing import Any

from benchmarks.workload import CLUSTERS, NODES, Workload, installation
from phaseline.engine.embedded.server import EmbeddedServer
from phaseline.engine.jetstream.wire import Wire
from phaseline.engine.settings import Settings
from phaseline.engine.worker.worker import Worker
from phaseline.machines.built_in import installed

EVENTS = 600
RATE = 50.0
BUILD = 2 * (CLUSTERS * (2 + NODES))
"""The events that create the clusters and nodes. They are stored and decided before the measurement."""


async def run(events: int = EVENTS, rate: float = RATE) -> dict[str, Any]:
    """Milliseconds of both ways. They take turns, event by event, in one run."""
    async with EmbeddedServer() as server:
        settings = Settings(nats=(server.url,))
        async with Wire.open(settings, name="worker") as working, Wire.open(settings, name="bench") as wire:
            await installation(wire, settings, BUILD)
            await wire.api("STREAM.CREATE.bare", _bare())
            stop = asyncio.Event()
            worker = Worker(working, settings, installed())
            running = asyncio.create_task(worker.run(stop))
            while worker.counts().events < BUILD:
                await asyncio.sleep(0.05)
            found = await _measure(wire, events, rate)
            stop.set()
            await running
    return {name: _percentiles(values) for name, values in found.items()}


def _bare() -> dict[str, Any]:
    return {"name": "bare", "subjects": ["bare.in.>"], "republish": {"src": "bare.in.>", "dest": "bare.out.>"}}


async def _measure(wire: Wire, events: int, rate: float) -> dict[str, list[float]]:
    arrived = asyncio.Event()
    await wire.subscribe("pl.transition.>", lambda *_: arrived.set())
    await wire.subscribe("bare.out.>", lambda *_: arrived.set())
    found: dict[str, list[float]] = {"phaseline": [], "bare": []}
    for subject, body, name in islice(Workload("pl", BUILD + events).events(), BUILD, None):
        for way, to in (("phaseline", subject), ("bare", f"bare.in.{subject}")):
            arrived.clear()
            begun = time.perf_counter()
            wire.publish(to, body, {"Nats-Msg-Id": name})
            await asyncio.wait_for(arrived.wait(), 10)
            found[way].append((time.perf_counter() - begun) * 1000)
            # Further records of this event must not be taken for the answer to the next one.
            await asyncio.sleep(0.5 / rate)
    return found


def _percentiles(values: list[float]) -> dict[str, float]:
    cuts = statistics.quantiles(values, n=100)
    return {"p50": statistics.median(values), "p99": cuts[98]}


def page(found: dict[str, Any]) -> str:
    """The results as Markdown."""
    rows = ["| | p50, ms | p99, ms |", "|---|---|---|"]
    for name, title in (
        ("phaseline", "Phaseline: publish to `pl.transition`"),
        ("bare", "bare: publish, stream, republish"),
    ):
        rows.append(f"| {title} | {found[name]['p50']:.2f} | {found[name]['p99']:.2f} |")
    ratio = {cut: found["phaseline"][cut] / found["bare"][cut] for cut in ("p50", "p99")}
    rows.append(f"| Phaseline / bare | {ratio['p50']:.1f} | {ratio['p99']:.1f} |")
    return "\n".join(rows)
