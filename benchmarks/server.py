"""The server's CPU per event: the streams as they are, with one thing left out, and with something in its place.

The load is the bare loop of `bare_loops`, which reads all events and commits as many bytes as a worker does. Each run
has a fresh server, and all variants take turns.
"""

import asyncio
import os
import statistics
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.throughput import contend
from benchmarks.workload import Workload, store
from phaseline.engine.nats import streams
from phaseline.engine.nats.embedded.server import EmbeddedServer
from phaseline.engine.nats.wire import Wire
from phaseline.engine.settings import DEFAULT_PARTITIONS, Settings
from phaseline.machines.built_in import installed

EVENTS = 20_000
ROUNDS = 3
RECORD = 676
"""The bytes of a record of this workload (`throughput.record_size`)."""
QUIET = 0.3
"""Seconds in which the server ends what it still has to do."""
PREFIX = "pl"
Configs = dict[str, dict[str, Any]]
"""By the role of each stream, its configuration."""


class Variant(NamedTuple):
    """Streams that differ from those of an installation, and the contender that writes to them."""

    title: str
    change: Callable[[Configs], object]
    contender: str = "pull"


def _without(*roles: str, republish: bool = True) -> Callable[[Configs], None]:
    def change(configs: Configs) -> None:
        for role in roles:
            del configs[role]
        if not republish:
            del configs["log"]["republish"]

    return change


def _one_kind(configs: Configs) -> None:
    source, to = f"{PREFIX}.log.*.*.cluster.>", f"{PREFIX}.{{{{wildcard(2)}}}}.cluster.>"
    configs["log"]["republish"] = {"src": source, "dest": to}


def _mirror(configs: Configs) -> None:
    (source,) = configs["state"].pop("sources")
    configs["state"]["mirror"] = source


def _written(configs: Configs) -> None:
    """STATE takes what a worker writes to it."""
    del configs["state"]["sources"]
    configs["state"]["subjects"] = [f"{PREFIX}.state.>"]


VARIANTS = {
    "provisioned": Variant("as `phaseline` makes them", lambda _: None),
    "no_state": Variant("without STATE", _without("state")),
    "no_republish": Variant("without republishing", _without(republish=False)),
    "no_copies": Variant("without both", _without("state", republish=False)),
    "no_live": Variant("without LIVE", _without("live")),
    "no_fired": Variant("EVENTS without the source of due timers", lambda configs: configs["events"].pop("sources")),
    "no_schedules": Variant("LOG without schedules", lambda configs: configs["log"].pop("allow_msg_schedules")),
    "one_kind": Variant("only clusters are republished", _one_kind),
    "mirror": Variant("STATE as a mirror of LOG with a filter", _mirror),
    "snapshots": Variant("STATE written by the loop: what changed in a second", _written, "snapshots"),
    "copies": Variant("STATE written by the loop: each record", _written, "copies"),
    "memory": Variant("STATE in memory", lambda configs: configs["state"].update(storage="memory")),
    "compressed": Variant("LOG compressed", lambda configs: configs["log"].update(compression="s2")),
    "small_batches": Variant("batches of 100 instead of 900", lambda _: None, "pull_100"),
}


async def run(events: int = EVENTS, rounds: int = ROUNDS, names: tuple[str, ...] = tuple(VARIANTS)) -> dict[str, Any]:
    """Microseconds of the server's CPU per event, by variant and round: storing the events, and the loop."""
    stored: list[float] = []
    found: dict[str, list[float]] = {name: [] for name in names}
    for _ in range(rounds):
        for name in names:
            storing, working = await _measure(VARIANTS[name], events)
            stored.append(storing)
            found[name].append(working)
    return {"events": events, "rounds": rounds, "stored": statistics.median(stored), "server": found}


async def _measure(variant: Variant, events: int) -> tuple[float, float]:
    settings = Settings(feed="msgpack", prefix=PREFIX)
    layout = streams.layout_of(settings, DEFAULT_PARTITIONS)
    configs = _configs(settings, layout)
    variant.change(configs)
    async with EmbeddedServer() as server:
        settings = Settings(feed="msgpack", nats=(server.url,), prefix=PREFIX)
        async with Wire.open(settings, name="bench") as wire:
            for role, config in configs.items():
                name = getattr(layout, role)
                await wire.api(f"STREAM.CREATE.{name}", {"name": name, **config})
            marks = [cpu(server.pid)]
            await store(wire, layout, list(Workload(PREFIX, events).events()))
            await asyncio.sleep(QUIET)
            marks.append(cpu(server.pid))
            await contend(variant.contender, server.url, PREFIX, events, RECORD)
            await _until_copied(wire, layout.state, configs)
            marks.append(cpu(server.pid))
    return (marks[1] - marks[0]) / events * 1e6, (marks[2] - marks[1]) / events * 1e6


def _configs(settings: Settings, layout: streams.Layout) -> Configs:
    """LOG comes first, because the others copy it."""
    return {
        "log": streams.log_config(settings),
        "events": streams.events_config(settings, layout),
        "state": streams.state_config(settings, layout),
        "live": streams.live_config(settings, layout, installed().copies.values()),
    }


async def _until_copied(wire: Wire, stream: str, configs: Mapping[str, Any]) -> None:
    """Wait until STATE has copied the log, so that the cost of all copies counts."""
    if configs.get("state", {}).keys() & {"sources", "mirror"}:
        lag = 1
        while lag:
            info = await wire.api(f"STREAM.INFO.{stream}")
            lag = (info.get("mirror") or info["sources"][0])["lag"]
    await asyncio.sleep(QUIET)


def cpu(pid: int) -> float:
    """The CPU seconds of a process so far; 0 where /proc does not say."""
    try:
        words = Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK")


def page(found: dict[str, Any]) -> str:
    """The results as Markdown."""
    base = found["server"]["provisioned"]
    rows = []
    for name, rounds in found["server"].items():
        ratio = statistics.median(one / other for one, other in zip(rounds, base, strict=True))
        rows.append(f"| {VARIANTS[name].title} | {statistics.median(rounds):.1f} | {ratio:.2f} |")
    return "\n".join(
        [
            f"{found['events']:,} events, medians of {found['rounds']} rounds in which the variants take turns.\n"
            "Each run has a fresh server. Loop (c) of Throughput does the work, and nobody listens to the feed.\n"
            f"Storing the events before took {found['stored']:.1f} us each. Differences below 0.05 are noise.\n",
            "| streams | server, CPU us an event | ratio |",
            "|---|---|---|",
            *rows,
        ]
    )
