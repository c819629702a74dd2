"""What each format of the feed costs: the worker, the server and its disk."""

from typing import Any

from benchmarks.server import cpu
from benchmarks.throughput import EVENTS, contend
from benchmarks.workload import installation
from phaseline.engine.nats.embedded.server import EmbeddedServer
from phaseline.engine.nats.wire import Wire
from phaseline.engine.settings import FEEDS, Settings

ROUNDS = 3


async def run(events: int = EVENTS, rounds: int = ROUNDS) -> dict[str, Any]:
    """The median round of each feed, each of them a fresh worker process on fresh streams of one server."""
    found: dict[str, list[dict[str, float]]] = {feed: [] for feed in FEEDS}
    async with EmbeddedServer() as server:
        for number in range(rounds):
            for feed in FEEDS:
                settings = Settings(nats=(server.url,), prefix=f"{feed}{number}", feed=feed)
                async with Wire.open(settings, name="bench") as wire:
                    layout = await installation(wire, settings, events)
                    before = cpu(server.pid)
                    taken = await contend("phaseline", server.url, settings.prefix, events, 0)
                    spent = cpu(server.pid) - before
                    log, state = [
                        (await wire.api(f"STREAM.INFO.{name}"))["state"] for name in (layout.log, layout.state)
                    ]
                    found[feed].append(
                        {
                            "events/s": events / taken["seconds"],
                            "worker": taken["cpu"] / events * 1e6,
                            "server": spent / events * 1e6,
                            "log": log["bytes"] / events,
                            "state": state["bytes"] / max(1, state["messages"]),
                        }
                    )
                    for stream in layout.streams:
                        await wire.api(f"STREAM.DELETE.{stream}")
    return {"events": events, "feeds": {feed: _median(taken) for feed, taken in found.items()}}


def _median(rounds: list[dict[str, float]]) -> dict[str, float]:
    return {name: sorted(one[name] for one in rounds)[len(rounds) // 2] for name in rounds[0]}


def page(found: dict[str, Any]) -> str:
    """The results as Markdown."""
    rows = [
        f"| {feed} | {one['events/s']:,.0f} | {one['worker']:.0f} | {one['server']:.0f} | {one['log']:,.0f} "
        f"| {one['state']:,.0f} |"
        for feed, one in found["feeds"].items()
    ]
    return "\n".join(
        [
            f"{found['events']:,} events, as in Throughput. The server's CPU includes its delivery of the events.",
            "",
            "| `--feed` | events/s | worker, us an event | server, us an event | LOG, bytes an event "
            "| STATE, bytes an entity |",
            "|---|---|---|---|---|---|",
            *rows,
        ]
    )
