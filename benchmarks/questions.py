"""Questions that workers answer, against reading STATE: lists by class and state, the overview, of a million entities.

`QUESTIONS_ENTITIES=50000 python3 dev.py bench questions` makes a small run. With a million it takes some five minutes.
The commands are the same both times; in the end no worker runs, so they read STATE.
"""

import asyncio
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Iterable
from typing import Any

from benchmarks import reading, scale
from benchmarks.server import cpu
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

ENTITIES = int(os.environ.get("QUESTIONS_ENTITIES", "1000000"))
PARTITIONS = 32
BAD = 1_000
"""One node of so many is bad."""
STARTS = 15
"""How often the start of a command is compared with that of Python."""
LIMIT = 3_000
"""Seconds until the benchmark gives up."""
COMMANDS = {
    "get":      "get node c0/pool/node-7",
    "cold":     "overview",
    "overview": "overview",
    "bad":      "list --class bad",
    "json":     "list --class bad --for 1s --sort-by bad-since --json",
    "failed":   "list node --state Failed",
    "nothing":  "list node --condition Balance",
    "label":    "list node -l silence_after=60",
    "all":      "list --sort-by none",
}  # fmt: skip
"""By name, the words after `phaseline`. The second is the first question that the worker gets."""
ALONE = ("overview", "bad")
"""Those that are measured without a worker too. They all read the same."""


async def run(entities: int = ENTITIES) -> dict[str, Any]:
    """The figures of each command, with a worker and without one; what the worker needs."""
    async with asyncio.timeout(LIMIT), EmbeddedServer() as server:
        settings = Settings(feed="msgpack", nats=(server.url,), partitions=PARTITIONS)
        async with Wire.open(settings, name="bench", patient=True) as wire:
            layout = await provision(wire, settings, installed().copies.values())
            scale.say(f"creating {entities:,} entities")
            await scale.create(server, wire, layout, entities)
            async with scale.sharing(wire, layout, 1, scale.LEASE) as [worker]:
                await _spoil(wire, layout, entities)
                before, spent = scale.memory(worker.pid), cpu(worker.pid)
                start = await asyncio.to_thread(_started, server.url)
                asked = await _measured(server.url, COMMANDS)
                after, answering = scale.memory(worker.pid), cpu(worker.pid) - spent
            alone = await _measured(server.url, ALONE)
    return {
        "entities": entities, "asked": asked, "alone": alone, "memory": (before, after), "cpu": answering,
        "start": start,
    }  # fmt: skip


async def _spoil(wire: Wire, layout: Layout, entities: int) -> None:
    """Let some nodes become bad, and wait until that is decided."""
    subjects, found = Subjects(layout.prefix), []
    for number in range(0, max(1, entities // 1_000) * scale.NODES, BAD):
        cluster, node = divmod(number, scale.NODES)
        body = {"specversion": "1.0", "id": f"b-{number}", "source": "/agent", "type": "node.not_ready"}
        entity_id = f"c{cluster}/pool/node-{node}"
        found.append((subjects.event("node", "not_ready", entity_id), codec.encode(body), f"b-{number}"))
    await send(wire, found)
    while (await backlog(Installation(wire, layout, installed()))).events:
        await asyncio.sleep(0.2)


def _started(url: str) -> float:
    """The wall time of the first command, by that of `python -c pass`: the median of pairs."""
    environment = {**os.environ, "PHASELINE_NATS": url, "PHASELINE_PREFIX": "pl"}
    ways = [*reading.COMMAND, *COMMANDS["get"].split()], [sys.executable, "-c", "pass"]
    found = []
    for _ in range(STARTS):
        times = [time.perf_counter()]
        for command in ways:
            subprocess.run(command, env=environment, cwd=reading.ROOT, check=True, capture_output=True)  # ourselves
            times.append(time.perf_counter())
        found.append((times[1] - times[0]) / (times[2] - times[1]))
    return statistics.median(found)


async def _measured(url: str, names: Iterable[str]) -> dict[str, dict[str, float]]:
    """What each command takes, printing to a pipe."""
    found, environment = {}, {**os.environ, "PHASELINE_NATS": url, "PHASELINE_PREFIX": "pl"}
    for name in names:
        words = COMMANDS[name]
        scale.say(f"phaseline {words}")
        began = time.perf_counter()
        command = [*reading.COMMAND, *words.split()]
        cost = await asyncio.to_thread(reading.measured, command, environment, terminal=False)
        found[name] = {**cost._asdict(), "seconds": time.perf_counter() - began}
        print(f"    {found[name]}", file=sys.stderr, flush=True)
    return found


def page(found: dict[str, Any]) -> str:
    """The results as Markdown."""
    asked, alone = found["asked"], found["alone"]
    titles = "command | with a worker: s | CPU, s | first line, s | memory, MB | from STATE: s | CPU, s | memory, MB"
    lines = [
        f"{found['entities']:,} entities in {PARTITIONS} partitions, one node of {BAD:,} is bad. One worker owns all, "
        "on the same machine.\nThen no worker runs, and the same commands read STATE. One round: read the ratios. The "
        "first command is about one\nentity: what a command needs at all.",
        "",
        f"| {titles} | ratio of CPU |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for name, words in COMMANDS.items():
        one, other = asked[name], alone.get(name)
        first = " (the first question)" if name == "cold" else ""
        costs = f"{one['seconds']:.2f} | {one['cpu']:.2f} | {one['first']:.2f} | {one['memory']:,.0f}"
        others = "| | | "
        if other is not None:
            others = f"{other['seconds']:.2f} | {other['cpu']:.2f} | {other['memory']:,.0f} "
            others += f"| {other['cpu'] / one['cpu']:.1f}"
        lines.append(f"| `{words}`{first} | {costs} | {others} |")
    before, after = found["memory"]
    lines += [
        "",
        f"The worker has {before:,.0f} MB before the first question and {after:,.0f} MB after the last one. They took "
        f"{found['cpu']:.1f} s of its CPU,\nwhat it notes of the entities included.",
        "",
        f"`{COMMANDS['get']}` takes {found['start']:.1f} times as long as `python -c pass` (median of {STARTS} pairs).",
    ]
    return "\n".join(lines)
