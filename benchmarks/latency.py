"""Latency from publishing to the live feed at 50 events/s, against bare loops that make one and two durable writes."""

import asyncio
import json
import statistics
import sys
import time
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from itertools import islice
from typing import Any

from benchmarks.workers import line_of, start
from benchmarks.workload import CLUSTERS, NODES, Workload, installation
from phaseline.engine.nats import consumer
from phaseline.engine.nats.api_reply import EXPECTED
from phaseline.engine.nats.embedded.server import EmbeddedServer
from phaseline.engine.nats.wire import Wire
from phaseline.engine.settings import Settings

EVENTS = 600
RATE = 50.0
BUILD = 2 * (CLUSTERS * (2 + NODES))
"""The events that create the clusters and nodes. They are stored and decided before the measurement."""
WAYS = {
    "phaseline": "Phaseline: publish to `pl.transition`",
    "two_hops": "two hops: publish, stream, consume, fenced publish, stream, republish",
    "bare": "one hop: publish, stream, republish",
}


async def run(events: int = EVENTS, rate: float = RATE) -> dict[str, Any]:
    """Milliseconds of all ways. They take turns, event by event, in one run.

    The worker and the loop of two hops have a process each, as a worker always has: what listens to the feed never
    waits for it.
    """
    async with EmbeddedServer() as server, AsyncExitStack() as ending:
        settings = Settings(feed="msgpack", nats=(server.url,))
        wire = await ending.enter_async_context(Wire.open(settings, name="bench"))
        layout = await installation(wire, settings, BUILD)
        await wire.api("STREAM.CREATE.bare", _stream("bare", "bare.in.>", republish="bare.out"))
        for contender in ("share", "hop"):
            await line_of(await start(contender, server.url, layout.prefix, layout.partitions, ending))
        last = f"{layout.prefix}.log.*.transition.node.phase.Running.*.pool.node-{NODES - 1}"
        while len(await _subjects(wire, layout.log, last)) < CLUSTERS:
            await asyncio.sleep(0.05)
        found = await _measure(wire, events, rate)
    return {name: _percentiles(values) for name, values in found.items()}


async def _subjects(wire: Wire, stream: str, filter_: str) -> dict[str, int]:
    """The subjects of a stream that a filter selects."""
    info = await wire.api(f"STREAM.INFO.{stream}", {"subjects_filter": filter_})
    return info["state"].get("subjects") or {}


def _stream(name: str, *subjects: str, republish: str = "") -> dict[str, Any]:
    config: dict[str, Any] = {"name": name, "subjects": list(subjects)}
    return {**config, "republish": {"src": subjects[0], "dest": f"{republish}.>"}} if republish else config


async def prepare_hop(url: str, _: str, __: int, ___: int) -> Callable[[], Awaitable[None]]:
    """The loop of two hops, until a line on the standard input."""
    opened = Wire.open(Settings(feed="msgpack", nats=(url,)), name="hop")
    await _hop_twice(await opened.__aenter__())

    async def work() -> None:
        await asyncio.to_thread(sys.stdin.readline)
        await opened.__aexit__(None, None, None)

    return work


async def _hop_twice(wire: Wire) -> None:
    """Answer each message of a stream with a fenced one in another stream, in the callback that receives it."""
    await wire.api("STREAM.CREATE.first", _stream("first", "two.in.>"))
    await wire.api("STREAM.CREATE.second", _stream("second", "two.log.>", "two.fence", republish="two.out"))
    fence = (await wire.publish_acked("two.fence", b"")).seq
    headers = {EXPECTED: str(fence), f"{EXPECTED}-Subject": "two.fence"}
    inbox = wire.inbox()

    def answer(subject: str, data: bytes, *_: object) -> None:
        if subject != inbox:
            wire.publish(f"two.log{subject.removeprefix('two.in')}", data, headers)

    await wire.subscribe(inbox, answer)
    await wire.api("CONSUMER.CREATE.first.hop", consumer.create_request("first", "hop", ["two.in.>"], "start", 0))
    request = json.dumps({"batch": 1_000_000, "expires": 3_600_000_000_000}).encode()
    wire.send(wire.frame(wire.api_subject("CONSUMER.MSG.NEXT.first.hop"), request, reply=inbox))


async def _measure(wire: Wire, events: int, rate: float) -> dict[str, list[float]]:
    arrived = asyncio.Event()
    for feed in ("pl.transition.>", "two.out.>", "bare.out.>"):
        await wire.subscribe(feed, lambda *_: arrived.set())
    found: dict[str, list[float]] = {way: [] for way in WAYS}
    for subject, body, name in islice(Workload("pl", BUILD + events).events(), BUILD, None):
        for way, to in (("phaseline", subject), ("two_hops", f"two.in.{subject}"), ("bare", f"bare.in.{subject}")):
            arrived.clear()
            begun = time.perf_counter()
            wire.publish(to, body, {"Nats-Msg-Id": name})
            await asyncio.wait_for(arrived.wait(), 10)
            found[way].append((time.perf_counter() - begun) * 1000)
            # Further records of this event must not be taken for the answer to the next one.
            await asyncio.sleep(1 / rate / len(WAYS))
    return found


def _percentiles(values: list[float]) -> dict[str, float]:
    cuts = statistics.quantiles(values, n=100)
    return {"p50": statistics.median(values), "p99": cuts[98]}


def page(found: dict[str, Any]) -> str:
    """The results as Markdown."""
    rows = ["| | p50, ms | p99, ms |", "|---|---|---|"]
    rows += [f"| {title} | {found[way]['p50']:.2f} | {found[way]['p99']:.2f} |" for way, title in WAYS.items()]
    for way, title in (("two_hops", "two hops"), ("bare", "one hop")):
        ratio = {cut: found["phaseline"][cut] / found[way][cut] for cut in ("p50", "p99")}
        rows.append(f"| Phaseline / {title} | {ratio['p50']:.1f} | {ratio['p99']:.1f} |")
    return "\n".join(rows)
