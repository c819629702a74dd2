"""A soak: hours at half of full load, with timers, silence and notices; memory, file handles and lateness are judged.

`python -m benchmarks.endurance --hours 8`. Belongs here: running it, its report. Does not: the events (`soak_load`),
what is judged by which samples (`soak_verdict`), the commands that read a long log (`endurance`).
SIGTERM or Ctrl-C end it early, with the report of the time so far. Samples are written as they come.
The server, a worker, a notifier and `phaseline serve` are processes of their own. The log is archived all the while,
each hour into a new folder, so that the streams and the disk stay as small after eight hours as after one.
"""

import asyncio
import json
import os
import shutil
import signal
import statistics
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from itertools import islice
from pathlib import Path

from benchmarks.soak_load import SILENCE, Event, FleetLoad
from benchmarks.soak_verdict import ProfiledServer, Sample, sample, trend, warm_at
from phaseline.engine.log import checkpoint, log_records
from phaseline.engine.log.installation import Installation
from phaseline.engine.nats.direct_get import last_message_from_leader
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
LEFT = 30.0
"""Seconds after the last event in which all are decided. A worker that falls behind makes all else late and large."""
LATE = 0.5
"""Seconds that 99 of 100 timers may be late."""
NOTICE = 20_000
"""Bytes that the notifier may hold for a message: it forgets a notice 30 days after its end (docs/limits.md)."""
HEAP = "server's heap"
"""What is judged of the server: its process also has the garbage that Go collects only when the heap has doubled."""
UNJUDGED = ("server", "soak itself")
RULES = """
receivers: {hook: {webhook: {url: "http://127.0.0.1:%d/", allow-private: true}}}
rules:
- {name: silent, when: {kinds: [cluster], silent: true}, to: [hook]}
- {name: stalled, when: {kinds: [node_pool], trees: [q0], stalled: true}, to: [hook]}
"""


class Soak:
    """One soak at work."""

    def __init__(self, wire: Wire, installation: Installation, server: ProfiledServer, log: Path | None) -> None:
        """log: where the samples go."""
        self.wire, self.installation, self.server, self.log = wire, installation, server, log
        self.folder = server.data.parent
        self.ended = asyncio.Event()
        """Whether no more events are sent."""
        self.load = FleetLoad(installation.prefix)
        self.steady = self.load.steady()
        self.sent, self.behind, self.notices, self.archived = 0, 0.0, 0, 0
        self.late: list[tuple[float, float]] = []
        """Of each timer, seconds since the start at which it fired, and by how many it was late."""
        self.told: list[tuple[float, int]] = []
        """How many messages there were at some times."""
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
        while (at := time.monotonic() - begun) < seconds and not self.ended.is_set():
            due = [event for past in range(second, int(at) + 1) for event in self.load.in_second(past)]
            second = int(at) + 1
            count = int(at * rate) - sent
            sent += count
            await self.send([*islice(self.steady, count), *due])
            self.behind = max(self.behind, time.monotonic() - begun - at)
            await asyncio.sleep(max(0.0, at + TICK - (time.monotonic() - begun)))
        self.ended.set()

    async def watch_timers(self) -> None:
        """Note how late each timer fires, by the times of the server."""
        layout = self.installation.layout
        async with Reader(self.wire, layout.events, [f"{self.installation.prefix}.due.>"], "now") as reader:
            while True:
                for stored in await reader.take(1_000):
                    due = codec.decode(stored.data)["data"]["due"]
                    self.late.append((self.at, (stored.time_ns - due) / SECOND))

    async def keep_archiving(self, url: str) -> None:
        """Archive all the while; a folder that is full goes when the next one is begun."""
        folder, begun = self.folder / "archive-0", self.at
        while not await self._is_ended_in(ARCHIVED):
            if self.at - begun > FOLDER:
                shutil.rmtree(folder)
                begun = self.at
                folder = self.folder / f"archive-{int(begun)}"
            words = ("log", "archive", "--keep", f"{ARCHIVED:.0f}s", "--to", str(folder), "--nats", url)
            quiet = asyncio.subprocess.DEVNULL
            process = await asyncio.create_subprocess_exec(*COMMAND, *words, stdout=quiet, start_new_session=True)
            if await process.wait():
                raise SystemExit(f"{' '.join(words)} ended with {process.returncode}")
            self.archived += 1

    async def _is_ended_in(self, seconds: float) -> bool:
        """Whether the end comes within so many seconds. Returns when it comes."""
        with suppress(TimeoutError):
            await asyncio.wait_for(self.ended.wait(), seconds)
        return self.ended.is_set()

    async def keep_sampling(self, processes: dict[str, int], seconds: float, rate: float) -> None:
        """Sample each process, and tell people now and then."""
        told = 0.0
        while True:
            for name, pid in processes.items():
                self.take(name, sample(pid, self.at))
            if self.at >= told:
                told += TOLD
                self.told.append((self.at, self.notices))
                self.take(HEAP, Sample(self.at, await asyncio.to_thread(self.server.heap)))
                print(self.progress(seconds, rate), file=sys.stderr, flush=True)
            if await self._is_ended_in(SAMPLE):
                return

    def take(self, name: str, found: Sample) -> None:
        """Keep a sample, and write it down."""
        self.samples.setdefault(name, []).append(found)
        if self.log is not None:
            with self.log.open("a", encoding="utf-8") as file:
                file.write(f"{json.dumps([name, *found])}\n")

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
        process = await asyncio.create_subprocess_exec(
            *COMMAND, *words, env=environment, stderr=file, stdout=file, start_new_session=True
        )
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
        server = await stack.enter_async_context(ProfiledServer(folder / "nats"))
        settings = Settings(nats=(server.url,), dedupe_window=WINDOW)
        wire = await stack.enter_async_context(Wire.open(settings, name="soak"))
        kinds = installed()
        layout = await provision(wire, settings, kinds.copies.values())
        soak = Soak(wire, Installation(wire, layout, kinds), server, log)
        for number in (signal.SIGTERM, signal.SIGINT):
            asyncio.get_running_loop().add_signal_handler(number, soak.ended.set)
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
    return report(soak, full, rate or full / 2, problems)


async def steadily(soak: Soak, processes: dict[str, int], url: str, seconds: float, rate: float) -> None:
    """Keep all at work for so long. Raises what ends one of the tasks before."""
    soak.begun = time.monotonic()
    async with asyncio.TaskGroup() as group:
        group.create_task(soak.keep_archiving(url))
        group.create_task(soak.keep_sampling({**processes, "soak itself": os.getpid()}, seconds, rate))
        timers = group.create_task(soak.watch_timers())
        await soak.keep_sending(rate, seconds)
        timers.cancel()


def complaints(folder: Path, processes: dict[str, int]) -> Iterator[str]:
    """The lines of the processes that are errors."""
    for name in processes:
        said = folder / name
        for line in said.read_text().splitlines() if said.is_file() else ():
            if any(word in line for word in ("ERROR", "error   ", "Traceback", "CRITICAL")):
                yield f"{name}: {line}"


def report(soak: Soak, full: float, rate: float, problems: Sequence[str]) -> bool:
    """Print what was found; whether nothing grows, no timer is late, and there was no problem."""
    end = soak.samples["server"][-1].at
    late = sorted(seconds for at, seconds in soak.late if at >= warm_at(end))
    p99 = late[int(0.99 * len(late))] if late else float("inf")
    load = f"half of {full:,.0f}" if full else "as asked for"
    print(f"{end / 60:.0f} min at {rate:,.0f} events/s ({load}): {soak.sent:,} events, {len(soak.late):,} timers, ")
    print(f"{soak.notices:,} messages, {soak.archived} archivings; at most {soak.behind:.1f} s behind the plan.\n")
    print("| what | MB after warm-up, at most | growth from then on | memory | file handles | share of a core |")
    print("|---|---|---|---|---|---|")
    verdicts = [row(soak, name) for name in soak.samples]
    middle = statistics.median(late) if late else float("inf")
    print(f"\nTimers fire {middle:.2f} s late (median), {p99:.2f} s (p99), {max(late, default=0):.2f} s (at most).")
    for problem in problems:
        print(f"problem: {problem}")
    holds = not problems and p99 <= LATE and "grows" not in verdicts
    short = "too short to tell" in verdicts
    print(
        "Not all stayed as it was." if not holds else "Nothing is known to grow." if short else "All stayed as it was."
    )
    return holds


def row(soak: Soak, name: str) -> str:
    """Print what became of a process, or of the server's heap; returns the verdict, the worse one of the two."""
    samples = soak.samples[name]
    memory, files = (trend([(one.at, one[field]) for one in samples]) for field in (1, 2))
    most = max(one.memory for one in samples if one.at >= warm_at(samples[-1].at))
    verdicts = [memory.verdict(allowed(soak, name) / memory.middle), files.verdict() if files.middle else "flat"]
    share = (samples[-1].cpu - samples[0].cpu) / max(1.0, samples[-1].at - samples[0].at)
    sizes = f"{memory.middle / 1e6:.1f}, {most / 1e6:.1f}"
    growth = f"{memory.growth:+.1%} ({memory.least:+.1%} to {memory.most:+.1%})"
    told = "not judged" if name in UNJUDGED else verdicts[0]
    cells = (sizes, growth, told, f"{files.middle:g}, {verdicts[1]}", f"{share:.2f}")
    print(f"| {name} | {' | '.join(cells)} |")
    judged = verdicts[1:] if name in UNJUDGED else verdicts
    return next((one for one in ("grows", "too short to tell") if one in judged), "flat")


def allowed(soak: Soak, name: str) -> float:
    """The bytes by which a process is known to grow: the notifier, for each message since the warm-up."""
    since = [notices for at, notices in soak.told if at >= warm_at(soak.told[-1][0])]
    return NOTICE * (since[-1] - since[0]) if name == "notify" and since else 0.0
