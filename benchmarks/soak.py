"""A soak: hours at half of full load, with timers, silence and notices; memory, file handles and lateness are judged.

`python -m benchmarks.endurance --hours 8`. Belongs here: running it, its samples, the judgement at the end. Does not:
the events (`soak_load`), the commands that read a long log (`endurance`).
The server, a worker, a notifier and `phaseline serve` are processes of their own. The log is archived all the while,
each hour into a new folder, so that the streams and the disk stay as small after eight hours as after one.
"""

import asyncio
import json
import os
import shutil
import statistics
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from benchmarks.server import cpu
from benchmarks.soak_load import SILENCE, Event, FleetLoad
from phaseline.engine.log import checkpoint, log_records
from phaseline.engine.log.installation import Installation
from phaseline.engine.nats.direct_get import last_message_from_leader
from phaseline.engine.nats.embedded.server import EmbeddedServer
from phaseline.engine.nats.reader import Reader
from phaseline.engine.nats.streams import provision
from phaseline.engine.nats.wire import Wire
from phaseline.engine.settings import Settings
from phaseline.machines.built_in import installed
from phaseline.schemas import codec
from phaseline.schemas.records import SECOND

COMMAND = (sys.executable, "-m", "phaseline.engine.surfaces.cli")
FULL, PIECE, TICK = 20_000, 500, 0.1
"""Events by which full load is found; events that are sent at once; seconds between two sendings."""
SAMPLE, TOLD = 5.0, 60.0
"""Seconds between two samples, and between two lines of progress."""
WINDOW, ARCHIVED, FOLDER = 120.0, 120.0, 3600.0
"""The dedupe window; seconds between two archivings, which keep as much; for how long one folder is filled."""
WARM, COMPARED = 0.25, 0.25
"""The shares of the time that count as warm-up, and of the rest that are compared: its first and its last such part."""
LONGEST_WARM = 3600.0
LEFT = 30.0
"""Seconds after the last event in which all are decided. A worker that falls behind makes all else late and large."""
MEMORY, LATE = 0.02, 0.5
"""How much a process may grow; seconds that 99 of 100 timers may be late."""
RULES = """
receivers: {hook: {webhook: {url: "http://127.0.0.1:%d/", allow-private: true}}}
rules:
- {name: silent, when: {kinds: [cluster], silent: true}, to: [hook]}
- {name: stalled, when: {kinds: [node_pool], trees: [q0], stalled: true}, to: [hook]}
"""


class Sample(NamedTuple):
    """What a process has at a time: seconds since the start, resident bytes, open files, CPU seconds so far."""

    at: float
    memory: int
    files: int
    cpu: float


class Verdict(NamedTuple):
    """Of one process: its memory and its open files in the two parts that are compared, as medians."""

    memory: tuple[float, float]
    files: tuple[float, float]
    share: float
    """Of a core, in all of the time."""

    @property
    def growth(self) -> float:
        """By which share its memory grew."""
        return self.memory[1] / self.memory[0] - 1

    @property
    def holds(self) -> bool:
        """Whether the process stayed as it was."""
        return abs(self.growth) <= MEMORY and self.files[1] <= self.files[0] * (1 + MEMORY)


def sample(pid: int, at: float) -> Sample:
    """What a process has now."""
    pages = int(Path(f"/proc/{pid}/statm").read_text(encoding="ascii").split()[1])
    return Sample(at, pages * os.sysconf("SC_PAGE_SIZE"), len(list(Path(f"/proc/{pid}/fd").iterdir())), cpu(pid))


def verdict(samples: Sequence[Sample]) -> Verdict:
    """Compare the first part after the warm-up with the last one."""
    end = samples[-1].at
    warm = min(WARM * end, LONGEST_WARM)
    part = COMPARED * (end - warm)
    first = [one for one in samples if warm <= one.at <= warm + part]
    last = [one for one in samples if one.at >= end - part]
    share = (samples[-1].cpu - samples[0].cpu) / (end - samples[0].at)
    memory, files = ([statistics.median(one[field] for one in some) for some in (first, last)] for field in (1, 2))
    return Verdict((memory[0], memory[1]), (files[0], files[1]), share)


class Soak:
    """One soak at work."""

    def __init__(self, wire: Wire, installation: Installation, folder: Path) -> None:
        """folder: where the archives go."""
        self.wire, self.installation, self.folder = wire, installation, folder
        self.load = FleetLoad(installation.prefix)
        self.steady = self.load.steady()
        self.sent, self.behind, self.notices, self.archived = 0, 0.0, 0, 0
        self.late: list[tuple[float, float]] = []
        """Of each timer, seconds since the start at which it fired, and by how many it was late."""
        self.samples: dict[str, list[Sample]] = {}
        self.begun = time.monotonic()

    @property
    def at(self) -> float:
        """Seconds since the start."""
        return time.monotonic() - self.begun

    async def send(self, events: Sequence[Event]) -> None:
        """Store events, piece by piece."""
        for start in range(0, len(events), PIECE):
            *first, (subject, body, name) = events[start : start + PIECE]
            ahead = b"".join([self.wire.frame(to, sent, {"Nats-Msg-Id": id_}) for to, sent, id_ in first])
            await self.wire.request(subject, body, {"Nats-Msg-Id": name}, timeout=60, ahead=ahead)
            self.sent += 1 + len(first)

    async def decided(self) -> None:
        """Wait until all events so far are decided."""
        for partition in range(self.installation.layout.partitions):
            while not await self._is_decided(partition):
                await asyncio.sleep(TICK)

    async def _is_decided(self, partition: int) -> bool:
        """Whether the log has what the last event of a partition made."""
        layout, subjects = self.installation.layout, self.installation.subjects
        event = await last_message_from_leader(self.wire, layout.events, f"{layout.prefix}.*.{partition}.>")
        if event is None:
            return True
        last = await checkpoint.last(self.wire, layout.log, subjects.checkpoint(partition))
        if last is not None and last.position >= event.sequence:
            return True
        # Lone records do not write the checkpoint.
        return await log_records.last_cause(self.installation, partition) >= event.sequence

    async def full(self) -> float:
        """How many events a second are decided when more wait."""
        rates = []
        for _ in range(2):
            events, begun = list(islice(self.steady, FULL)), time.monotonic()
            await self.send(events)
            await self.decided()
            rates.append(len(events) / (time.monotonic() - begun))
        return rates[-1]

    async def keep_sending(self, rate: float, seconds: float) -> None:
        """Send so many events a second, and what falls into each second. `behind`: the most seconds it was late."""
        begun, sent, second = time.monotonic(), 0, 0
        while (at := time.monotonic() - begun) < seconds:
            due = [event for past in range(second, int(at) + 1) for event in self.load.in_second(past)]
            second = int(at) + 1
            count = int(at * rate) - sent
            sent += count
            await self.send([*islice(self.steady, count), *due])
            self.behind = max(self.behind, time.monotonic() - begun - at)
            await asyncio.sleep(max(0.0, at + TICK - (time.monotonic() - begun)))

    async def watch_timers(self) -> None:
        """Note how late each timer fires, by the times of the server."""
        layout = self.installation.layout
        async with Reader(self.wire, layout.events, [f"{self.installation.prefix}.due.>"], "now") as reader:
            while True:
                for stored in await reader.take(1_000):
                    due = codec.decode(stored.data)["data"]["due"]
                    self.late.append((self.at, (stored.time_ns - due) / SECOND))

    async def keep_archiving(self, url: str, seconds: float) -> None:
        """Archive all the while; a folder that is full goes when the next one is begun."""
        folder, begun = self.folder / "archive-0", self.at
        while self.at + ARCHIVED < seconds:
            await asyncio.sleep(ARCHIVED)
            if self.at - begun > FOLDER:
                shutil.rmtree(folder)
                begun = self.at
                folder = self.folder / f"archive-{int(begun)}"
            words = ("log", "archive", "--keep", f"{ARCHIVED:.0f}s", "--to", str(folder), "--nats", url)
            process = await asyncio.create_subprocess_exec(*COMMAND, *words, stdout=asyncio.subprocess.DEVNULL)
            if await process.wait():
                raise SystemExit(f"{' '.join(words)} ended with {process.returncode}")
            self.archived += 1

    async def keep_sampling(self, processes: dict[str, int], seconds: float, rate: float) -> None:
        """Sample each process, and tell people now and then."""
        told = 0.0
        while True:
            for name, pid in processes.items():
                self.samples.setdefault(name, []).append(sample(pid, self.at))
            if self.at >= told:
                told += TOLD
                print(self.progress(seconds, rate), file=sys.stderr, flush=True)
            await asyncio.sleep(SAMPLE)

    def progress(self, seconds: float, rate: float) -> str:
        """One line for people."""
        sizes = ", ".join(f"{name} {some[-1].memory / 1e6:.1f} MB {some[-1].files} files" for name, some in
                          self.samples.items())  # fmt: skip
        return (
            f"{self.at / 60:6.1f} of {seconds / 60:.0f} min, {rate:,.0f} events/s, {self.sent:,} sent, "
            f"{len(self.late):,} timers, {self.notices} messages, {self.archived} archivings: {sizes}"
        )

    async def take_message(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer the notifier's request."""
        head = (await reader.readuntil(b"\r\n\r\n")).decode().lower()
        await reader.readexactly(int(head.partition("content-length: ")[2].split()[0]))
        self.notices += 1
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
        await writer.drain()
        writer.close()


@asynccontextmanager
async def command(words: Sequence[str], url: str, said: Path) -> AsyncIterator[int]:
    """A command at work; its process id. What it says goes to a file."""
    with said.open("wb") as file:
        environment = {**os.environ, "PHASELINE_NATS": url}
        process = await asyncio.create_subprocess_exec(*COMMAND, *words, env=environment, stderr=file, stdout=file)
    try:
        yield process.pid
    finally:
        if process.returncode is not None:
            print(f"{words[0]} has ended: {said.read_text()[-2000:]}", file=sys.stderr)  # noqa: ASYNC240  # at the end
        else:
            process.terminate()
            await process.wait()


async def run(hours: float, rate: float | None, log: Path | None) -> bool:
    """One soak; whether all stayed as it was. rate: events/s, if not half of full load. log: where samples go."""
    async with AsyncExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="soak-")))
        server = await stack.enter_async_context(EmbeddedServer(folder / "nats"))
        settings = Settings(nats=(server.url,), dedupe_window=WINDOW)
        wire = await stack.enter_async_context(Wire.open(settings, name="soak"))
        kinds = installed()
        layout = await provision(wire, settings, kinds.copies.values())
        soak = Soak(wire, Installation(wire, layout, kinds), folder)
        hook = await stack.enter_async_context(await asyncio.start_server(soak.take_message, "127.0.0.1", 0))
        rules = folder / "rules.yaml"
        rules.write_text(RULES % hook.sockets[0].getsockname()[1])
        processes = {"server": server.pid}
        for name, words in {
            "worker": ["--silence-after", f"{SILENCE}s"], "notify": ["--rules", str(rules)],
            "serve": ["--listen", "127.0.0.1:0", "--history", "100000"],
        }.items():  # fmt: skip
            processes[name] = await stack.enter_async_context(command([name, *words], server.url, folder / name))
        await soak.send(list(soak.load.built()))
        await soak.decided()
        full = 0.0 if rate else await soak.full()
        await steadily(soak, processes, server.url, 3600 * hours, rate or full / 2)
        problems = list(complaints(folder, processes))
        try:
            async with asyncio.timeout(LEFT):
                await soak.decided()
        except TimeoutError:
            problems.append(f"events are undecided {LEFT:.0f} s after the last one: too many for this machine")
    return report(soak, full, rate or full / 2, problems, log)


async def steadily(soak: Soak, processes: dict[str, int], url: str, seconds: float, rate: float) -> None:
    """Keep all at work for so long. Raises what ends one of the tasks before."""
    soak.begun = time.monotonic()
    async with asyncio.TaskGroup() as group:
        group.create_task(soak.keep_archiving(url, seconds))
        beside = [
            group.create_task(soak.watch_timers()),
            group.create_task(soak.keep_sampling({**processes, "soak itself": os.getpid()}, seconds, rate)),
        ]
        await soak.keep_sending(rate, seconds)
        for task in beside:
            task.cancel()


def complaints(folder: Path, processes: dict[str, int]) -> Iterator[str]:
    """The lines of the processes that are errors."""
    for name in processes:
        said = folder / name
        for line in said.read_text().splitlines() if said.is_file() else ():
            if any(word in line for word in ("ERROR", "error   ", "Traceback", "CRITICAL")):
                yield f"{name}: {line}"


def report(soak: Soak, full: float, rate: float, problems: list[str], log: Path | None) -> bool:
    """Print what was found; whether it is as it must be. log: where the samples go."""
    if log is not None:
        log.write_text("".join(f"{json.dumps([name, *one])}\n" for name, some in soak.samples.items() for one in some))
    end = soak.samples["server"][-1].at
    late = sorted(seconds for at, seconds in soak.late if at >= min(WARM * end, LONGEST_WARM))
    p99 = late[int(0.99 * len(late))] if late else float("inf")
    load = f"half of {full:,.0f}" if full else "as asked for"
    print(f"{end / 60:.0f} min at {rate:,.0f} events/s ({load}): {soak.sent:,} events, {len(soak.late):,} timers, ")
    print(f"{soak.notices:,} messages, {soak.archived} archivings; at most {soak.behind:.1f} s behind the plan.\n")
    print("| process | MB after warm-up | MB at the end | change | file handles | share of a core |")
    print("|---|---|---|---|---|---|")
    holds = not problems and p99 <= LATE
    for name, samples in soak.samples.items():
        found = verdict(samples)
        first, last = (one / 1e6 for one in found.memory)
        files = " then ".join(f"{one:g}" for one in found.files)
        print(f"| {name} | {first:.1f} | {last:.1f} | {found.growth:+.1%} | {files} | {found.share:.2f} |")
        holds = holds and (found.holds or name == "soak itself")
    middle = statistics.median(late) if late else float("inf")
    print(f"\nTimers fire {middle:.2f} s late (median), {p99:.2f} s (p99), {max(late, default=0):.2f} s (at most).")
    for problem in problems:
        print(f"problem: {problem}")
    print("All stayed as it was." if holds else "Not all stayed as it was.")
    return holds
