"""What the reading commands cost at 50,000 entities: CPU, memory, the first line; against reading the same messages."""

import asyncio
import fcntl
import os
import pty
import statistics
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import IO, Any, NamedTuple, cast

from phaseline.engine.core.process import Processor
from phaseline.engine.core.tree import Tree
from phaseline.engine.log.installation import Installation
from phaseline.engine.nats.embedded.server import EmbeddedServer
from phaseline.engine.nats.reader import Stored
from phaseline.engine.nats.stream_reader import read_all
from phaseline.engine.nats.streams import Layout, provision
from phaseline.engine.nats.wire import Wire
from phaseline.engine.scripts.runner import shared_runner
from phaseline.engine.settings import Settings
from phaseline.engine.worker.ownership.takeover import take_over
from phaseline.machines.built_in import installed
from phaseline.schemas import codec
from phaseline.schemas.subjects import Subjects

ROOT = Path(__file__).parent.parent
ENTITIES = 50_000
ROUNDS = 5
START = 1_700_000_000_000_000_000
PEAK = "VmHWM:"
"""In /proc/self/status, the most memory that this program has used. What `wait4` says includes the benchmark itself."""
SCRIPT = f"""
import atexit, sys
atexit.register(lambda: sys.stderr.write(next(line for line in open("/proc/self/status") if line.startswith("{PEAK}"))))
"""
COMMAND = [sys.executable, "-c", f"{SCRIPT}\nfrom phaseline.engine.surfaces.console import main; main()"]
BARE = [sys.executable, "-c", f"{SCRIPT}\nfrom benchmarks.reading import receive; receive(*sys.argv[1:])"]
WIDTH = 120
"""Characters in a line of the terminal that the human output goes to."""
STATES, RECORDS, REJECTED = ("STATE", "{}.state.>"), ("LOG", "{}.log.*.transition.>"), ("LOG", "{}.log.*.rejection.>")
COMMANDS: dict[str, tuple[str, str, tuple[str, str]]] = {
    #             prefix, words after `phaseline`,                       what is read
    "list":       ("pl", "list",                                         STATES),
    "tree":       ("pl", "tree c0",                                      ("STATE", "{}.state.*.*.c0.>")),
    "watch":      ("pl", "watch --from start --no-follow",               RECORDS),
    "changes":    ("pl", "changes --from start",                         RECORDS),
    "timeline":   ("pl", "timeline c0",                                  ("LOG", "{}.log.*.transition.*.*.*.c0.>")),
    "history":    ("ph", "history node c0/pool/node-0",                  RECORDS),
    "rejections": ("pr", "rejections",                                   REJECTED),
    "get":        ("pl", "get node c0/pool/node-7",                      ("STATE", "{}.state.*.node.c0.pool.node-7")),
    "why":        ("pl", "why c0/pool/node-7",                           ("LOG", "{}.log.*.*.*.*.*.c0.pool.node-7")),
}  # fmt: skip
"""Each has about as many messages to read as there are entities, except those of one tree or of one entity."""


class Cost(NamedTuple):
    """What one run of a process took: CPU seconds, most memory in MB, seconds to the first byte, bytes of output."""

    cpu: float
    memory: float
    first: float
    size: int


async def run(entities: int = ENTITIES, rounds: int = ROUNDS, commands: Iterable[str] = ()) -> dict[str, Any]:
    """The costs of commands (all without names), on a terminal, as JSON to a pipe, and of the bare reader."""
    async with EmbeddedServer() as server:
        for prefix, events in (("pl", adopted), ("ph", _moved), ("pr", _rejected)):
            settings = Settings(feed="msgpack", nats=(server.url,), partitions=1, prefix=prefix)
            async with Wire.open(settings, name="bench") as wire:
                await fill(wire, await provision(wire, settings, installed().copies.values()), prefix, events(entities))
        found = {}
        for name in commands or COMMANDS:
            prefix, words, (stream, filter_) = COMMANDS[name]
            environment = {**os.environ, "PHASELINE_NATS": server.url, "PHASELINE_PREFIX": prefix, "TERM": "xterm"}
            bare = [*BARE, server.url, prefix, stream, filter_.format(prefix)]
            command = [*COMMAND, *words.split()]
            ways = {"bare": (bare, False), "json": ([*command, "--json"], False), "human": (command, True)}
            found[name] = await _in_turn(ways, environment, rounds)
    return {"entities": entities, "rounds": rounds, "commands": found}


def adopted(entities: int) -> Iterator[tuple[str, str, dict[str, Any] | None]]:
    """Nodes, a thousand in each cluster: `(trigger, id, data)`."""
    for number in range(entities):
        cluster, node = divmod(number, 1_000)
        yield "adopt", f"c{cluster}/pool/node-{node}", {"phase": "Running"}


def _moved(entities: int) -> Iterator[tuple[str, str, dict[str, Any] | None]]:
    """One node, which fails and recovers."""
    yield "adopt", "c0/pool/node-0", {"phase": "Running"}
    for number in range(1, entities):
        why = {"reason": "KubeletStopped", "message": "no heartbeat for 40 s"}
        yield ("not_ready", "c0/pool/node-0", why) if number % 2 else ("ready", "c0/pool/node-0", None)


def _rejected(entities: int) -> Iterator[tuple[str, str, dict[str, Any] | None]]:
    """Nodes that must not be stopped."""
    for number in range(entities):
        yield "stop", f"c{number // 1_000}/pool/node-{number % 1_000}", None


async def fill(
    wire: Wire, layout: Layout, prefix: str, events: Iterator[tuple[str, str, dict[str, Any] | None]]
) -> None:
    """Commit what a worker would make of events of nodes."""
    subjects = Subjects(prefix)
    processor = Processor(Tree(installed(), shared_runner()), subjects, 0)
    claim = await take_over(Installation(wire, layout, installed()), 0, "bench")
    held: list[Stored] = []
    for number, (trigger, entity_id, data) in enumerate(events, 1):
        subject = subjects.event("node", trigger, entity_id).replace("events", "inbox.0", 1)
        body = {"specversion": "1.0", "id": f"e-{number}", "source": "/agent", "type": f"node.{trigger}", "data": data}
        held.append(Stored(subject, codec.encode(body), number, START + number * 1_000_000_000, 0, None))
    while held:
        commit = processor.process(held[:450], 0)
        del held[: commit.events]
        await claim.append(commit.messages, 0)
    state = (await wire.api(f"STREAM.INFO.{layout.state}"))["sources"][0]
    while state["lag"] or state["active"] < 0:
        await asyncio.sleep(0.1)
        state = (await wire.api(f"STREAM.INFO.{layout.state}"))["sources"][0]


async def _in_turn(
    ways: Mapping[str, tuple[list[str], bool]], environment: dict[str, str], rounds: int
) -> dict[str, Any]:
    """The median costs of commands that take turns, and the medians of their ratios. ways: also whether a terminal."""
    costs: dict[str, list[Cost]] = {way: [] for way in ways}
    for _ in range(rounds):
        for way, (command, terminal) in ways.items():
            costs[way].append(await asyncio.to_thread(measured, command, environment, terminal=terminal))
    ratios = {
        f"{one} / {other}": statistics.median(a.cpu / b.cpu for a, b in zip(costs[one], costs[other], strict=True))
        for one, other in (("human", "json"), ("human", "bare"))
    }
    return {way: sorted(found)[rounds // 2]._asdict() for way, found in costs.items()} | {"ratios": ratios}


def measured(command: list[str], environment: dict[str, str], *, terminal: bool) -> Cost:
    """Run a process to its end, and read what it prints."""
    source, sink = pty.openpty() if terminal else os.pipe()
    if terminal:
        fcntl.ioctl(sink, termios.TIOCSWINSZ, struct.pack("HHHH", 40, WIDTH, 0, 0))
    begun, first, size = time.perf_counter(), 0.0, 0
    process = subprocess.Popen(  # what this module names
        command, stdout=sink, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, env=environment, cwd=ROOT
    )
    os.close(sink)
    while piece := _read(source):
        first = first or time.perf_counter() - begun
        size += len(piece)
    os.close(source)
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise AssertionError(f"{' '.join(command)} ended with {process.returncode}")
    with cast("IO[bytes]", process.stderr) as stderr:
        said = stderr.read()
    memory = int(said.rpartition(PEAK.encode())[2].split()[0]) / 1024
    return Cost(used.ru_utime + used.ru_stime, memory, first, size)


def _read(source: int) -> bytes:
    try:
        return os.read(source, 1 << 16)
    except OSError:  # the other side of a terminal is closed
        return b""


def page(found: dict[str, Any]) -> str:
    """The results as Markdown."""
    lines = [
        f"{found['entities']:,} entities, transitions of one entity, or rejections; `tree` and `timeline` of 1,002. "
        "CPU seconds of the whole\nprocess. Human: on a terminal with 120 columns. Bare: a process that receives the "
        "same messages and drops them.\n"
        f"Medians of {found['rounds']} rounds in which the three take turns; the ratios are medians of theirs.\n",
        "| command | bare | `--json` | human | human / `--json` | human / bare | memory, MB: bare, `--json`, human "
        "| first line, s: `--json`, human |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for name, one in found["commands"].items():
        bare, json, human, ratios = one["bare"], one["json"], one["human"], one["ratios"]
        lines.append(
            f"| `{COMMANDS[name][1]}` | {bare['cpu']:.2f} | {json['cpu']:.2f} | {human['cpu']:.2f} "
            f"| {ratios['human / json']:.2f} | {ratios['human / bare']:.1f} "
            f"| {bare['memory']:.0f}, {json['memory']:.0f}, {human['memory']:.0f} "
            f"| {json['first']:.2f}, {human['first']:.2f} |"
        )
    return "\n".join(lines)


def receive(url: str, prefix: str, stream: str, filter_: str) -> None:
    """Receive all messages on a filter subject, and drop them."""

    async def work() -> None:
        settings = Settings(feed="msgpack", nats=(url,), prefix=prefix)
        async with Wire.open(settings, name="bare") as wire:
            async for _ in read_all(wire, f"{prefix}-{stream}", [filter_]):
                pass

    asyncio.run(work())
