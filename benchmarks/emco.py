"""An app context that starts: the cost of counts that are always up to date, with few resources or many.

Belongs here: events of one context, timing them against as many of the node workload. Does not: that workload
(`workload`).
"""

import statistics
import time
from collections.abc import Iterator
from typing import Any

from benchmarks.throughput import contend
from benchmarks.workload import Workload, store
from phaseline.engine.core.process import Processor
from phaseline.engine.core.tree import Tree
from phaseline.engine.nats.embedded.server import EmbeddedServer
from phaseline.engine.nats.reader import Stored
from phaseline.engine.nats.stream_reader import read_all
from phaseline.engine.nats.streams import Layout, provision
from phaseline.engine.nats.wire import Wire
from phaseline.engine.products.emco import design_shape, load
from phaseline.engine.products.emco.query import read
from phaseline.engine.settings import Settings
from phaseline.machines.built_in import installed
from phaseline.machines.language.scripts import NoScripts
from phaseline.schemas import codec
from phaseline.schemas.subjects import Subjects

SIZES = (500, 5_000, 50_000)
SIZE = 5_000
CLUSTERS, APPS = 50, 5
ROUNDS = 5
ANSWERS = 200
BETWEEN = 300_000
"""Two records of the log that are more nanoseconds apart are in different batches."""
RESOURCE = "project+vfw+v1+group"
START = 1_700_000_000_000_000_000
Event = tuple[str, bytes, str]


class Context:
    """The events of one context with many resources on 50 clusters: its creation, and `applied` for each resource."""

    def __init__(self, prefix: str, size: int) -> None:
        self.subjects, self.size, self.number = Subjects(prefix), size, 0
        each = size // CLUSTERS
        self.ids = [
            f"{RESOURCE}/c1/app{number % APPS}/provider+edge{cluster}/config{number}+ConfigMap"
            for number in range(each)
            for cluster in range(CLUSTERS)
        ]

    def begun(self) -> Iterator[Event]:
        """The events up to the instantiation."""
        yield self._event("emco_resource", "create", RESOURCE)
        yield self._event("emco_resource", "approve", RESOURCE)
        yield self._event("app_context", "create", f"{RESOURCE}/c1")
        for found in self.ids:
            yield self._event("rsync_resource", "add", found, version="v1")
        yield self._event("emco_resource", "instantiate", RESOURCE, context="c1")

    def applied(self) -> Iterator[Event]:
        """The event `applied` of every resource."""
        for found in self.ids:
            yield self._event("rsync_resource", "applied", found, reason="Applied", message="rsync says so")

    def _event(self, kind: str, trigger: str, entity_id: str, **data: Any) -> Event:
        self.number += 1
        body = {
            "specversion": "1.0", "id": f"e-{self.number}", "source": "/emco/rsync", "type": f"{kind}.{trigger}",
            "time": "2026-03-02T08:00:00Z", "data": data,
        }  # fmt: skip
        return self.subjects.event(kind, trigger, entity_id), codec.encode(body), f"e-{self.number}"


async def run(sizes: tuple[int, ...] = SIZES, size: int = SIZE, rounds: int = ROUNDS) -> dict[str, Any]:
    """Events/s of `applied` events and of the node workload through a worker, and the core's share by size."""
    async with EmbeddedServer() as server:
        throughput: dict[str, list[float]] = {"emco": [], "nodes": []}
        for number in range(rounds):
            for name, rates in throughput.items():
                rates.append(await _measured(server.url, f"{name}{number}", name, size))
    pairs = zip(throughput["emco"], throughput["nodes"], strict=True)
    return {
        "size": size,
        "events_per_second": throughput,
        "ratio": statistics.median(ours / nodes for ours, nodes in pairs),
        "core": {count: _core(count) for count in sizes},
        "summary": {count: _summary(count) for count in sizes},
    }


async def _measured(url: str, prefix: str, name: str, size: int) -> float:
    """Events/s of the last `size` events of a backlog, from their first to their last record in the log.

    One tree is in one partition, so the node workload has one partition too.
    """
    settings = Settings(feed="msgpack", nats=(url,), prefix=prefix, partitions=1)
    async with Wire.open(settings, name="bench") as wire:
        layout = await provision(wire, settings, installed().copies.values())
        events = list(_events(name, prefix, size))
        await store(wire, layout, events)
        await contend("phaseline", url, prefix, len(events), 0)
        try:
            return await rate(wire, layout, len(events) - size)
        finally:
            for stream in layout.streams:
                await wire.api(f"STREAM.DELETE.{stream}")


def _events(name: str, prefix: str, size: int) -> Iterator[Event]:
    context = Context(prefix, size)
    before = list(context.begun())
    if name == "emco":
        yield from before
        yield from context.applied()
    else:
        # As many events come before the measured ones. By then all nodes run, and fail and recover.
        yield from Workload(prefix, len(before) + size).events()


async def rate(wire: Wire, layout: Layout, after: int) -> float:
    """Records a second of the events after position `after`, by the log's times, from the end of their first batch."""
    times: list[int] = []
    async for stored in read_all(wire, layout.log, [f"{layout.prefix}.log.*.transition.>"]):
        times += [one.time_ns for one in stored if codec.decode(one.data)["data"]["cause"]["sequence"] > after]
        stored.clear()
    begin = next((at for at in range(1, len(times)) if times[at] - times[at - 1] > BETWEEN), None)
    if begin is None:
        raise ValueError(f"{len(times)} records in a single batch give no rate: measure more events")
    return (len(times) - begin) / (times[-1] - times[begin - 1]) * 1e9


def _stored(events: Iterator[Event], after: int) -> list[Stored]:
    return [
        Stored(subject.replace("pl.events.", "pl.inbox.0."), body, number, START + number * 1_000_000, 0, None)
        for number, (subject, body, _) in enumerate(events, after + 1)
    ]


def _core(size: int) -> dict[str, float]:
    """CPU microseconds of the core for one `applied` among `count`, and for one event of the node workload."""
    context = Context("pl", size)
    processor, begun = Processor(Tree(installed(), NoScripts()), Subjects("pl"), 0), _stored(context.begun(), 0)
    _fold(processor, begun)
    ours = _fold(processor, _stored(context.applied(), len(begun)))
    nodes = Processor(Tree(installed(), NoScripts()), Subjects("pl"), 0)
    events = _stored(Workload("pl", 2_200 + size).events(), 0)
    _fold(nodes, events[:2_200])
    return {"applied": ours, "nodes": _fold(nodes, events[2_200:])}


def _fold(processor: Processor, events: list[Stored]) -> float:
    at, begun = 0, time.process_time()
    while at < len(events):
        at += processor.process(events[at : at + 1_000], 0).events
    return (time.process_time() - begun) / len(events) * 1e6


def _summary(size: int) -> float:
    """Microseconds in which a worker answers `summary` from memory."""
    context = Context("pl", size)
    processor = Processor(Tree(installed(), NoScripts()), Subjects("pl"), 0)
    _fold(processor, _stored(context.begun(), 0))
    query, begun = read({"output": "summary"}), time.perf_counter()
    for _ in range(ANSWERS):
        design_shape.answer(load.select_status(processor.tree, RESOURCE, query), query, {})
    return (time.perf_counter() - begun) / ANSWERS * 1e6


def page(found: dict[str, Any]) -> str:
    """The results as Markdown."""
    emco, nodes = (found["events_per_second"][name] for name in ("emco", "nodes"))
    rows = [
        f"The event `applied` for {found['size']:,} resources of one context on {CLUSTERS} clusters, against as many "
        "events of the node workload. Each\nhas one partition and the same worker. Each round has a fresh process "
        "and fresh streams. Times are those of the log.",
        "",
        "| round | context, events/s | nodes, events/s | ratio |",
        "|---|---|---|---|",
    ]
    rows += [
        f"| {i} | {a:,.0f} | {b:,.0f} | {a / b:.2f} |" for i, (a, b) in enumerate(zip(emco, nodes, strict=True), 1)
    ]
    rows += [
        "",
        f"Median of the ratios: **{found['ratio']:.2f}** (target: 0.75).",
        "",
        "The core's time for one event (bytes in, log messages out), and a worker's time for one `summary` "
        "from memory:",
        "",
        "| resources | `applied`, CPU us | nodes, CPU us | `summary`, us |",
        "|---|---|---|---|",
    ]
    rows += [
        f"| {size:,} | {core['applied']:.1f} | {core['nodes']:.1f} | {found['summary'][size]:.0f} |"
        for size, core in found["core"].items()
    ]
    return "\n".join(rows)
