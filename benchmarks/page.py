"""The page in headless Chromium and `phaseline serve`, with 100,000 entities and 1,000 transitions/s.

`python -m benchmarks.page URL READERS SECONDS` is a process of readers: it prints when each of them had which place.
"""

import asyncio
import json
import os
import re
import sys
import time
from bisect import bisect_left
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from statistics import median, quantiles
from typing import Any
from urllib.parse import urlsplit

from phaseline.engine.core.process import Processor
from phaseline.engine.core.tree import Tree
from phaseline.engine.log.installation import Installation
from phaseline.engine.nats.embedded.server import EmbeddedServer
from phaseline.engine.nats.reader import Stored
from phaseline.engine.nats.streams import Layout, provision
from phaseline.engine.nats.wire import Wire
from phaseline.engine.scripts.runner import shared_runner
from phaseline.engine.settings import Settings
from phaseline.engine.worker.ownership.claim import Claim
from phaseline.engine.worker.ownership.takeover import take_over
from phaseline.machines.built_in import installed
from phaseline.schemas import codec
from phaseline.schemas.subjects import Subjects
from tests.support import browser

ROOT = Path(__file__).parent.parent
POOLS, NODES = 20, 100
"""In each cluster, and in each pool."""
ENTITIES, RATE, READERS, ROUNDS, SECONDS = 100_000, 1_000, 200, 5, 6.0
BATCH, TICK = 450, 0.05
"""Events of a commit, and seconds between two commits of the load."""
SERVE = [
    sys.executable,
    "-c",
    "from phaseline.engine.surfaces.console import main; main()",
    "serve",
    "--listen",
    "127.0.0.1:0",
]
HZ = os.sysconf("SC_CLK_TCK")
LOADED = 120.0
"""Seconds in which the history is loaded."""

PAINTED = """
(function look() {
  const app = window.phaseline, canvas = document.querySelector(".map canvas");
  if (!app?.loaded || app.store.size < %d || !canvas) return requestAnimationFrame(look);
  requestAnimationFrame(() => setTimeout(() => { window.painted = performance.now(); }));
})();
"""
"""Runs before the page does: notes when the map of all entities was on the screen, in ms since the navigation."""
FRAMES = """async () => {
  const frames = []; let last = 0;
  for (let at = 0; at < 150; at++) {
    STEP
    const now = await new Promise(requestAnimationFrame);
    if (last) frames.push(now - last);
    last = now;
  }
  return frames;
}"""
SCROLL, REST = FRAMES.replace("STEP", 'document.getElementById("tree").scrollTop += 240;'), FRAMES.replace("STEP", "")
REDRAW = """async () => {
  const times = [];
  for (let at = 0; at < 60; at++) {
    await new Promise(requestAnimationFrame);
    const began = performance.now();
    phaseline.header.draw(); phaseline.strip.draw(); phaseline.shown.draw();
    times.push(performance.now() - began);
  }
  return times;
}"""
STEPS = """async () => {
  const times = [];
  for (let at = 0; at < 25; at++) {
    const began = performance.now();
    await phaseline.step(at < 13 ? -1 : 1);
    await new Promise(requestAnimationFrame);
    await new Promise((done) => setTimeout(done));
    times.push(performance.now() - began);
  }
  return times.slice(1);
}"""
JUMP = """async (place) => {
  const began = performance.now();
  phaseline.goTo(place);
  while (Math.abs(phaseline.store.place - place) > 50 || !phaseline.past) await new Promise(requestAnimationFrame);
  await new Promise(requestAnimationFrame);
  await new Promise((done) => setTimeout(done));
  return performance.now() - began;
}"""


FIGURES = (
    ("first paint of Now with all cells, s", "paint", "1"),
    ("script of one redraw of Now, ms", "redraw", "16.7"),
    ("between two frames of Now, ms", "now", "16.7"),
    ("between two frames while Tree scrolls, ms", "scroll", "16.7"),
    ("one event back or forth, ms", "steps", "100"),
    ("to another place of the log, ms", "jumps", "-"),
)
"""The title, the name and the goal of each figure of a tab."""


class Fleet:
    """Commits what a worker would make of events. commits: when each one was done, and the last place then."""

    def __init__(self, wire: Wire, layout: Layout, claim: Claim, entities: int) -> None:
        """entities: about how many."""
        self._wire, self._layout, self._claim = wire, layout, claim
        self._processor = Processor(Tree(installed(), shared_runner()), Subjects("pl"), 0)
        self._clusters = max(1, entities // (1 + POOLS * (1 + NODES)))
        self._number = 0
        self.entities = self._clusters * (1 + POOLS * (1 + NODES))
        self.commits: list[tuple[float, int]] = []

    async def build(self) -> None:
        """Adopt all entities."""
        await self._commit([(kind, "adopt", entity_id) for kind, entity_id in self._names()])

    def _names(self) -> Iterator[tuple[str, str]]:
        for cluster in range(self._clusters):
            yield "cluster", f"c{cluster}"
            for pool in range(POOLS):
                yield "node_pool", f"c{cluster}/p{pool}"
                for node in range(NODES):
                    yield "node", f"c{cluster}/p{pool}/n{node}"

    @asynccontextmanager
    async def live(self, rate: float) -> AsyncIterator[None]:
        """Let nodes fail and recover, all over the fleet, while the block runs."""
        over = asyncio.Event()
        load = asyncio.create_task(self._change_all(rate, over))
        await asyncio.sleep(1)
        try:
            yield
        finally:
            over.set()  # a commit that is cancelled may be stored or not
            await load

    async def _change_all(self, rate: float, over: asyncio.Event) -> None:
        began, sent = time.perf_counter(), 0
        while not over.is_set():
            due = int((time.perf_counter() - began) * rate)
            await self._commit([self._change(number) for number in range(sent, due)])
            sent = due
            await asyncio.sleep(TICK)

    def _change(self, number: int) -> tuple[str, str, str]:
        """Of two changes one lets a node fail, the next lets it recover."""
        at = number // 2 * 7_919 % (self._clusters * POOLS * NODES)
        pool, node = divmod(at, NODES)
        cluster, pool = divmod(pool, POOLS)
        return "node", "ready" if number % 2 else "not_ready", f"c{cluster}/p{pool}/n{node}"

    async def _commit(self, events: Sequence[tuple[str, str, str]]) -> None:
        held: list[Stored] = []
        for kind, trigger, entity_id in events:
            self._number += 1
            subject = Subjects("pl").event(kind, trigger, entity_id).replace("events", "inbox.0", 1)
            body = {
                "specversion": "1.0", "id": f"e-{self._number}", "source": "/agent", "type": f"{kind}.{trigger}",
                "data": {"phase": "Running"} if trigger == "adopt" else None,
            }  # fmt: skip
            held.append(Stored(subject, codec.encode(body), self._number, time.time_ns(), 0, None))
        while held:
            commit = self._processor.process(held[:BATCH], 0)
            del held[: commit.events]
            await self._claim.append(commit.messages, 0)
            await asyncio.sleep(0)
        if events:
            self.commits.append((time.time(), await self.place()))

    async def place(self) -> int:
        """The last place of the log."""
        return int((await self._wire.api(f"STREAM.INFO.{self._layout.log}"))["state"]["last_seq"])

    async def settled(self) -> None:
        """Wait until STATE has copied everything."""
        while True:
            state = (await self._wire.api(f"STREAM.INFO.{self._layout.state}"))["sources"][0]
            if not state["lag"] and state["active"] >= 0:
                return
            await asyncio.sleep(0.1)


async def run(
    entities: int = ENTITIES, rate: float = RATE, readers: int = READERS, rounds: int = ROUNDS, seconds: float = SECONDS
) -> dict[str, Any]:
    """The figures of the page at rest and while things happen, and of the server with many readers."""
    async with EmbeddedServer() as server:
        settings = Settings(feed="msgpack", nats=(server.url,), partitions=1)
        async with Wire.open(settings, name="bench") as wire:
            layout = await provision(wire, settings, installed().copies.values())
            fleet = Fleet(wire, layout, await take_over(Installation(wire, layout, installed()), 0, "bench"), entities)
            await fleet.build()
            await fleet.settled()
            async with _serving(server.url) as (url, process, ready):
                found: dict[str, Any] = {"entities": fleet.entities, "rate": rate, "readers": readers, "ready": ready}
                async with browser.browser() as started:
                    found["rest"] = await _page(started, url, fleet, rounds)
                    async with fleet.live(rate):
                        found["live"] = await _page(started, url, fleet, rounds)
                async with fleet.live(rate):
                    found["server"] = [await _readers(url, process.pid, fleet, one, seconds) for one in (0, 1, readers)]
    return found


@asynccontextmanager
async def _serving(nats: str) -> AsyncIterator[tuple[str, asyncio.subprocess.Process, float]]:
    """A process of `phaseline serve`: where it is, and the seconds from its start until it had the whole fleet."""
    environment = {**os.environ, "PHASELINE_NATS": nats}
    began = time.perf_counter()
    process = await asyncio.create_subprocess_exec(*SERVE, stderr=asyncio.subprocess.PIPE, env=environment, cwd=ROOT)
    assert process.stderr is not None
    try:
        while not (said := re.search(rb"at (http://\S+)\. Stop", line := await process.stderr.readline())):
            if not line:
                raise AssertionError("`phaseline serve` ended")
        url = said[1].decode()
        while b" 200 " not in await _status(url, "/readyz"):
            await asyncio.sleep(0.05)
        ready = time.perf_counter() - began
        await asyncio.wait_for(_until_loaded(url), LOADED)
        yield url, process, ready
    finally:
        process.terminate()
        await process.wait()


async def _until_loaded(url: str) -> None:
    """Wait until `phaseline serve` has read what happened before: until then it is not at rest."""
    while b'"problem":null' not in await _body(url, "/v1/strip?buckets=1"):
        await asyncio.sleep(0.5)


async def _body(url: str, path: str) -> bytes:
    """The head and the body of an answer."""
    reader, writer = await _asked(url, path, "Connection: close\r\n")
    try:
        return await reader.read()
    finally:
        writer.close()


async def _status(url: str, path: str) -> bytes:
    """The first line of an answer."""
    reader, writer = await _asked(url, path)
    try:
        return await reader.readline()
    finally:
        writer.close()


async def _asked(url: str, path: str, headers: str = "") -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    host, port = urlsplit(url).hostname, urlsplit(url).port
    reader, writer = await asyncio.open_connection(host, port, limit=1 << 22)
    writer.write(f"GET {path} HTTP/1.1\r\nHost: {host}\r\nAccept: text/event-stream\r\n{headers}\r\n".encode())
    await writer.drain()
    return reader, writer


async def _page(started: Any, url: str, fleet: Fleet, rounds: int) -> dict[str, Any]:
    """One state of the world: paints in new tabs without a cache, then the frames of one tab."""
    found: dict[str, Any] = {"paint": [await _painted(started, url, fleet.entities) for _ in range(rounds + 1)][1:]}
    async with browser.tab(started) as tab:
        await tab.goto(f"{url}/now")
        await tab.until(f"phaseline.store.size >= {fleet.entities}")
        found["redraw"] = await tab.page.evaluate(REDRAW)
        found["now"] = await tab.page.evaluate(REST)
        session = await tab.page.context.new_cdp_session(tab.page)
        await session.send("HeapProfiler.collectGarbage")
        heap = await session.send("Runtime.getHeapUsage")
        found["heap"] = (heap["usedSize"] + heap["embedderHeapUsedSize"] + heap["backingStorageSize"]) / 1e6
        found["memory"] = await _memory(started)
        await tab.goto(f"{url}/tree?q=n")
        await tab.until("document.querySelectorAll('#tree .row').length > 10")
        found["scroll"] = await tab.page.evaluate(SCROLL)
        await tab.goto(f"{url}/now")
        end = await fleet.place()
        found["steps"] = await tab.page.evaluate(STEPS)
        found["jumps"] = [await tab.page.evaluate(JUMP, end * part // 7) for part in (6, 4, 5)]
        busy = [one for one in tab.errors if " 503 " in one]  # the page waits, and asks again
        if len(busy) < len(tab.errors):
            raise AssertionError(tab.errors)
        found["busy"] = len(busy)
    return found


async def _painted(started: Any, url: str, entities: int) -> float:
    """Seconds until a new tab shows all entities."""
    async with browser.tab(started) as tab:
        await tab.page.add_init_script(PAINTED % entities)
        await tab.page.goto(f"{url}/now")
        await tab.until("window.painted")
        return float(await tab.page.evaluate("window.painted")) / 1000


async def _memory(started: Any) -> float:
    """The private memory of the largest process of tabs, MB."""
    session = await started.new_browser_cdp_session()
    listed = await session.send("SystemInfo.getProcessInfo")
    sizes = [0.0]
    for one in listed["processInfo"]:
        with suppress(OSError):
            if one["type"] == "renderer":
                sizes.append(_private(one["id"]))
    return max(sizes)


def _private(pid: int) -> float:
    text = Path(f"/proc/{pid}/smaps_rollup").read_text()
    return sum(int(size) for size in re.findall(r"^Private_\w+: +(\d+) kB", text, re.MULTILINE)) / 1e3


async def _readers(url: str, pid: int, fleet: Fleet, readers: int, seconds: float) -> dict[str, Any]:
    """What the server needs for so many readers, and how late they are."""
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "benchmarks.page", url, str(readers), str(seconds + 2), stdout=asyncio.subprocess.PIPE,
        cwd=ROOT,
    )  # fmt: skip
    await asyncio.sleep(2)
    began, cpu, first = time.time(), _cpu(pid), fleet.commits[-1][1]
    await asyncio.sleep(seconds)
    ended, used, last = time.time(), _cpu(pid) - cpu, fleet.commits[-1][1]
    said, _ = await process.communicate()
    delays: list[float] = []
    for heard in json.loads(said):
        places = [place for _, place in heard]
        for at, place in fleet.commits:
            if began <= at <= ended - 1 and (index := bisect_left(places, place)) < len(places):
                delays.append(max(0.0, heard[index][0] - at))
    lost = readers - len(json.loads(said))
    return {
        "readers": readers, "cpu": used / (ended - began), "delays": quantiles(delays, n=100) if delays else [],
        "places": (last - first) / (ended - began), "lost": lost,
    }  # fmt: skip


def _cpu(pid: int) -> float:
    """The CPU seconds of a process."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2].split()
    return (int(fields[11]) + int(fields[12])) / HZ


async def read(url: str, readers: int, seconds: float) -> list[list[tuple[float, int]]]:
    """For each reader of the stream: when it had which place."""
    found = await asyncio.gather(*(_read(url, seconds) for _ in range(readers)))
    return [one for one in found if one]


async def _read(url: str, seconds: float) -> list[tuple[float, int]]:
    heard: list[tuple[float, int]] = []
    reader, writer = await _asked(url, "/v1/transitions?form=columns")
    with suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            while line := await reader.readline():
                if line.startswith(b"id: "):
                    heard.append((time.time(), int(line[4:])))
                elif line.startswith(b"event: resync"):
                    return []
    writer.close()
    return heard


def page(found: dict[str, Any]) -> str:
    """The results as Markdown."""
    rest, live = found["rest"], found["live"]
    rows = []
    for title, name, goal in FIGURES:
        digits = 2 if name == "paint" else 1
        values = [f"{median(one[name]):.{digits}f}, {_most(one[name]):.{digits}f}" for one in (rest, live)]
        rows.append([title, *values, goal])
    rows += [
        [title, f"{rest[name]:.0f}", f"{live[name]:.0f}", "200"]
        for title, name in (("heap and arrays of the tab, MB", "heap"), ("private memory of its process, MB", "memory"))
    ]
    rows.append(
        ["answers that the server is busy, which the page waits out", f"{rest['busy']}", f"{live['busy']}", "0"]
    )
    lines = [
        f"{found['entities']:,} entities; `serve` had them {found['ready']:.1f} s after its start. Headless Chromium "
        "without a GPU, 1280 x 800, no cache.\nMedian, and what 95 % do not exceed (of paints and jumps: the largest); "
        f"n = {len(rest['paint'])} paints, {len(rest['scroll'])} frames, {len(rest['steps'])} steps, 3 jumps.\n",
        f"| | at rest | {found['rate']:,} transitions/s | goal |", "|---|---|---|---|",
        *(f"| {' | '.join(row)} |" for row in rows), "",
        "| readers of `/v1/transitions` | CPU of `serve`, cores | records/s | until a reader has a record, ms: median, "
        "p99 | lost |", "|---|---|---|---|---|",
    ]  # fmt: skip
    for one in found["server"]:
        late = f"{one['delays'][49] * 1000:.0f}, {one['delays'][98] * 1000:.0f}" if one["delays"] else "-"
        lines.append(f"| {one['readers']} | {one['cpu']:.2f} | {one['places']:,.0f} | {late} | {one['lost']} |")
    return "\n".join(lines)


def _most(values: Sequence[float]) -> float:
    """The largest value without the largest twentieth."""
    return sorted(values)[max(0, -(-len(values) * 19 // 20) - 1)]


if __name__ == "__main__":
    print(json.dumps(asyncio.run(read(sys.argv[1], int(sys.argv[2]), float(sys.argv[3])))))
