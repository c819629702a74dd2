"""Replay: how fast recorded events become states again, against bare decoding and the aggregates of another library.

Belongs here: the contenders, all in one run over the same events. Does not: the memory that long logs need
(`endurance`).
"""

import asyncio
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks import aggregates
from benchmarks.workload import Workload, installation
from phaseline.engine.collecting import collecting_rarely
from phaseline.engine.core.process import Processor
from phaseline.engine.core.tree import Tree, evolve
from phaseline.engine.log.installation import Installation
from phaseline.engine.nats.embedded.server import EmbeddedServer
from phaseline.engine.nats.wire import Wire
from phaseline.engine.replay.audit import Audit
from phaseline.engine.replay.export_log import export
from phaseline.engine.replay.file_log import FileLog
from phaseline.engine.replay.log_format import EventItem, Header, RecordItem
from phaseline.engine.replay.log_writer import LogWriter
from phaseline.engine.replay.recorded_log import Processors, RecordedLog, Span, StoredEvent, rebuild
from phaseline.engine.replay.server_log import ServerLog
from phaseline.engine.scripts.runner import shared_runner
from phaseline.engine.settings import Settings
from phaseline.machines.built_in import installed
from phaseline.schemas import codec
from phaseline.schemas.subjects import Subjects, partition_of

EVENTS = 60_000
ROUNDS = 5
LONGER = 5
"""How many times as many events the log has that several processes replay."""
JOBS = (1, 2)
COMMAND = (sys.executable, "-m", "phaseline.engine.surfaces.cli", "replay")
PIECE = 1 << 18
PREFIX = "bench"
START = 1_700_000_000_000_000_000
Work = Callable[[], Awaitable[None]]


def write(path: Path, count: int) -> None:
    """A log as `phaseline log export --records` writes it, made without a server."""
    subjects, skip = Subjects(PREFIX), len(f"{PREFIX}.events.")
    processors = [Processor(Tree(installed(), shared_runner()), subjects, partition) for partition in range(8)]
    with LogWriter(path, Header(prefix=PREFIX, partitions=8, first=1, last=count, records=True)) as log:
        for number, (subject, body, _) in enumerate(Workload(PREFIX, count).events(), 1):
            address = subject[skip:]
            processor = processors[partition_of(address.partition(".")[0], 8)]
            event = StoredEvent(
                f"{PREFIX}.inbox.{processor.partition}.{address}", body, number, START + number * 1_000_000
            )
            log.write(EventItem(number, event.time_ns, address, body))
            records = processor.answer(event).records
            for message in processor.messages(records):
                log.write(RecordItem(message.subject.split(".", 3)[3], message.body))
            for record in records:
                evolve(processor.tree, record)


def events_only(path: Path, to: Path) -> None:
    """The same log without its records."""
    source = FileLog(path)
    with LogWriter(to, Header(prefix=PREFIX, partitions=8, first=1, last=source.ends)) as log:
        for item in source.file.items():
            if isinstance(item, EventItem):
                log.write(item)


async def decode(path: Path) -> None:
    """Decode every item and the event in it, and do nothing else."""
    values = codec.Values()
    with path.open("rb") as file:
        while piece := file.read(PIECE):
            for value in values.feed(piece):
                if isinstance(value, list) and value[0] == "event":
                    codec.decode(value[4])


async def rebuild_states(source: RecordedLog) -> None:
    """Decide the events and build the trees."""
    await rebuild(source, Processors(installed(), source), None, lambda _: None)


async def audit(path: Path) -> None:
    """Decide the events, encode each record again, and compare."""
    report = await Audit(FileLog(path), installed(), None, None).run()
    assert report.holds


def together(directory: Path, count: int) -> dict[int, float]:
    """By the number of processes, the seconds that `phaseline log replay` takes for a file, with its start."""
    path, seconds = directory / "long.plog", {jobs: list[float]() for jobs in JOBS}
    write(path, count)
    for _ in range(ROUNDS):
        for jobs, taken in seconds.items():
            begun = time.perf_counter()
            subprocess.run([*COMMAND, "--file", path, "--jobs", str(jobs)], check=True, stdout=subprocess.DEVNULL)
            taken.append(time.perf_counter() - begun)
    return {jobs: median(taken) for jobs, taken in seconds.items()}


async def run(count: int = EVENTS) -> dict[str, Any]:
    """The CPU seconds of each contender: medians of rounds in which they take turns."""
    with tempfile.TemporaryDirectory() as directory:
        whole, events = Path(directory) / "whole.plog", Path(directory) / "events.plog"
        write(whole, count)
        events_only(whole, events)
        async with (
            EmbeddedServer() as server,
            Wire.open(Settings(feed="msgpack", nats=(server.url,)), name="bench") as wire,
        ):
            settings = Settings(feed="msgpack", nats=(server.url,), prefix=PREFIX)
            layout = await installation(wire, settings, count)

            async def from_server() -> None:
                async with ServerLog.open(Installation(wire, layout, installed()), Span(), records=False) as source:
                    await rebuild_states(source)

            async def to_file() -> None:
                async with ServerLog.open(Installation(wire, layout, installed()), Span(), records=False) as source:
                    await export(source, Path(directory) / "exported.plog", records=False, expect=False)

            rebuilt = aggregates.stored(count)
            with collecting_rarely():  # as the command does
                found = await timed(
                    {
                        "bare decoding of the file": lambda: decode(events),
                        "replay from the file": lambda: rebuild_states(FileLog(events)),
                        "replay from the server": from_server,
                        "audit of a file with records": lambda: audit(whole),
                        "export from the server": to_file,
                        "`eventsourcing`: rebuild every aggregate": rebuilt,
                    }
                )
        jobs = await asyncio.to_thread(together, Path(directory), LONGER * count)
    return {"events": count, "seconds": found, "jobs": jobs}


async def timed(contenders: dict[str, Work]) -> dict[str, float]:
    """The CPU seconds of each contender."""
    taken: dict[str, list[float]] = {name: [] for name in contenders}
    for _ in range(ROUNDS):
        for name, work in contenders.items():
            begun = time.process_time()
            await work()
            taken[name].append(time.process_time() - begun)
            await asyncio.sleep(0)
    return {name: median(seconds) for name, seconds in taken.items()}


def page(found: dict[str, Any]) -> str:
    """A Markdown table: events a second on one core, and the ratio to bare decoding."""
    bare = found["seconds"]["bare decoding of the file"]
    lines = [
        f"| {name} | {found['events'] / seconds:,.0f} | {seconds / bare:.1f} |"
        for name, seconds in found["seconds"].items()
    ]
    head = "| what | events/s of one core | time / bare decoding |\n|---|---|---|"
    return (
        f"{found['events']:,} events; medians of {ROUNDS} rounds in which the contenders take turns.\n\n{head}\n"
        + "\n".join(lines)
        + f"\n\n`phaseline log replay --file` of {LONGER * found['events']:,} events, from its start to its end: "
        + ", ".join(f"{seconds:.1f} s with `--jobs {jobs}`" for jobs, seconds in found["jobs"].items())
        + "."
    )
