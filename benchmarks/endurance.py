"""Exports, audits and replays a long log, and measures the memory: `python -m benchmarks.endurance [EVENTS]`.

Belongs here: making the log, running the commands, their time and largest memory; the command line of a soak too. Does
not: comparing the speed (`replay`), the soak (`soak`).
The default is 5,000,000 events. That takes about 6 GB of disk in a temporary directory, and a quarter of an hour.
"""

import argparse
import asyncio
import os
import sys
import tempfile
import time
from itertools import islice
from pathlib import Path

from benchmarks import soak
from benchmarks.workload import PIECE, Workload
from phaseline.engine.log import checkpoint
from phaseline.engine.nats.direct_get import last_message_from_leader
from phaseline.engine.nats.embedded.server import EmbeddedServer
from phaseline.engine.nats.streams import Layout, provision
from phaseline.engine.nats.wire import Wire
from phaseline.engine.settings import Settings
from phaseline.machines.built_in import installed
from phaseline.schemas.subjects import Subjects

EVENTS = 5_000_000
LIMIT = 300
"""The most megabytes that a command may use."""
COMMAND = (sys.executable, "-m", "phaseline.engine.surfaces.cli")


async def fill(wire: Wire, layout: Layout, count: int) -> None:
    """Store `count` events, in pieces that the server acknowledges at once."""
    events = Workload(layout.prefix, count).events()
    while piece := list(islice(events, PIECE)):
        *first, (subject, body, _) = piece
        ahead = b"".join([wire.frame(subject, body) for subject, body, _ in first])
        await wire.request(subject, body, ahead=ahead, timeout=30)


async def decided(wire: Wire, layout: Layout, count: int) -> None:
    """Wait until the checkpoint of one partition is at the last event and all others stand still."""
    subjects, last = Subjects(layout.prefix), 0
    while True:
        marks = [
            await last_message_from_leader(wire, layout.log, subjects.checkpoint(p)) for p in range(layout.partitions)
        ]
        found = max(checkpoint.decode(mark.data).position for mark in marks if mark) if any(marks) else 0
        info = await wire.api(f"STREAM.INFO.{layout.log}")
        if found >= count and info["state"]["last_seq"] == last:
            return
        last = info["state"]["last_seq"]
        await asyncio.sleep(2)


def measured(*words: str) -> tuple[float, float]:
    """The seconds that a command takes, and its largest memory in megabytes; shows its output."""
    begun = time.perf_counter()
    process = os.posix_spawn(COMMAND[0], [*COMMAND, *words], {**os.environ, "PYTHONPATH": ""})
    _, status, usage = os.wait4(process, 0)
    if status:
        raise SystemExit(f"{' '.join(words)} ended with {os.waitstatus_to_exitcode(status)}")
    return time.perf_counter() - begun, usage.ru_maxrss / 1024


async def run(count: int) -> bool:
    """Run the commands on a log; whether all stayed within `LIMIT`."""
    with tempfile.TemporaryDirectory() as processor:
        async with EmbeddedServer(Path(processor) / "nats") as server:
            settings = Settings(feed="msgpack", nats=(server.url,), prefix="pl")
            async with Wire.open(settings, name="endurance") as wire:
                layout = await provision(wire, settings, installed().copies.values())
                print(f"storing {count:,} events ...", file=sys.stderr)
                await fill(wire, layout, count)
                print("deciding them ...", file=sys.stderr)
                worker = await asyncio.create_subprocess_exec(*COMMAND, "worker", "--nats", server.url)
                await decided(wire, layout, count)
                worker.terminate()
                await worker.wait()
            return report(count, server.url, str(Path(processor) / "log.plog.zst"))


def report(count: int, url: str, file: str) -> bool:
    """Run the commands and print their time and memory."""
    print(f"| command | events/s | memory, MB (at most {LIMIT}) |\n|---|---|---|")
    largest = 0.0
    for words in (
        ("log", "export", file, "--records", "--nats", url),
        ("log", "replay", "--audit", "--nats", url),
        ("log", "replay", "--file", file, "--audit"),
        ("log", "replay", "--file", file),
    ):
        seconds, memory = measured(*words)
        largest = max(largest, memory)
        shown = " ".join(word for word in words if word not in ("--nats", url)).replace(file, "log.plog.zst")
        print(f"| `phaseline {shown}` | {count / seconds:,.0f} | {memory:,.0f} |", flush=True)
    return largest <= LIMIT


def main() -> bool:
    """What the command line asks for; whether all is as it must be."""
    parser = argparse.ArgumentParser(
        prog="python3 dev.py endure", description="Measure the commands that read a log; or run a soak for some hours."
    )
    parser.add_argument("events", nargs="?", type=int, default=EVENTS, help=f"events in the log; default {EVENTS:,}")
    parser.add_argument("--hours", type=float, help="run a soak for so long: memory, file handles, timers")
    parser.add_argument("--rate", type=float, help="events a second of the soak; default: half of full load")
    parser.add_argument("--samples", type=Path, metavar="FILE", help="where the samples of the soak go, as JSON lines")
    given = parser.parse_args()
    if given.hours is None:
        return asyncio.run(run(given.events))
    return asyncio.run(soak.run(given.hours, given.rate, given.samples))


if __name__ == "__main__":
    raise SystemExit(0 if main() else 1)
