"""What heartbeats cost a worker: 10,000 clusters, one every 30 s each, against a real server and in the core alone.

`python -m benchmarks.heartbeats URL SECONDS` is the worker: it prints its CPU seconds for each line on stdin.
"""

import asyncio
import json
import sys
import time
from pathlib import Path
from typing import Any

from phaseline.engine.collecting import collecting_rarely
from phaseline.engine.core.process import Processor
from phaseline.engine.core.tree import Tree
from phaseline.engine.nats.embedded.server import EmbeddedServer
from phaseline.engine.nats.reader import Stored
from phaseline.engine.nats.streams import provision
from phaseline.engine.nats.wire import Wire
from phaseline.engine.settings import Settings
from phaseline.engine.worker.worker import Worker
from phaseline.machines.built_in import installed
from phaseline.machines.language.scripts import NoScripts
from phaseline.schemas import codec
from phaseline.schemas.records import SECOND
from phaseline.schemas.subjects import Subjects

ROOT = Path(__file__).parent.parent
CLUSTERS, EVERY = 10_000, 30.0
"""How many clusters, and the seconds between two heartbeats of each."""
SILENCES = (120.0, 300.0)
"""Values of silence_after: with the first one each heartbeat is recorded, with the second one each third."""
NODE_EVENTS = 100_000


async def run(clusters: int = CLUSTERS, every: float = EVERY) -> dict[str, Any]:
    """The CPU of a worker process over one round of heartbeats, after a first round, in real time."""
    rounds = {f"{after:g}": await _worker_share(clusters, every, after) for after in SILENCES}
    core = {f"{after:g}": _core(clusters, every, after) for after in (0.0, *SILENCES)}
    return {"clusters": clusters, "every": every, "rounds": rounds, "core": core, "others": _others()}


def _beat(prefix: str, number: int, name: str) -> tuple[str, bytes]:
    """The subject and the body of a heartbeat."""
    body = {"specversion": "1.0", "id": f"{number}", "source": f"/agent/{name}", "type": "cluster.heartbeat"}
    return Subjects(prefix).event("cluster", "heartbeat", name), codec.encode(body)


async def _worker_share(clusters: int, every: float, after: float) -> dict[str, float]:
    async with EmbeddedServer() as server:
        settings = Settings(feed="msgpack", nats=(server.url,))
        async with Wire.open(settings, name="bench") as wire:
            layout = await provision(wire, settings, installed().copies.values())
            process = await asyncio.create_subprocess_exec(
                sys.executable, "-m", "benchmarks.heartbeats", server.url, f"{after}",
                stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE, cwd=ROOT,
            )  # fmt: skip
            await _cpu(process)
            await _round(wire, clusters, every, 0)
            begun, cpu, logged = time.perf_counter(), await _cpu(process), await _logged(wire, layout.log)
            await _round(wire, clusters, every, clusters)
            await asyncio.sleep(0.5)
            cpu, seconds = await _cpu(process) - cpu, time.perf_counter() - begun
            marks = await _logged(wire, layout.log) - logged
            process.terminate()
            await process.wait()
    return {"cpu": cpu, "seconds": seconds, "share": cpu / seconds, "per_event": cpu / clusters * 1e6, "stored": marks}


async def _round(wire: Wire, clusters: int, every: float, first: int) -> None:
    """One heartbeat of each cluster, evenly over the interval, without waiting for acknowledgements."""
    begun, sent = time.perf_counter(), 0
    while sent < clusters:
        due = min(clusters, int((time.perf_counter() - begun) / every * clusters) + 1)
        for number in range(sent, due):
            wire.publish(*_beat("pl", first + number, f"cluster-{number}"), {})
        sent = due
        await asyncio.sleep(0.01)


async def _cpu(process: asyncio.subprocess.Process) -> float:
    """The CPU seconds that the worker process has used."""
    if process.stdin is None or process.stdout is None:
        raise AssertionError("the worker has no pipes")
    process.stdin.write(b"cpu\n")
    return float(json.loads(await process.stdout.readline()))


async def _logged(wire: Wire, stream: str) -> int:
    return int((await wire.api(f"STREAM.INFO.{stream}"))["state"]["last_seq"])


def _core(clusters: int, every: float, after: float) -> dict[str, float]:
    """CPU microseconds per heartbeat in the processor, and log messages per heartbeat, over ten rounds."""
    processor = Processor(Tree(installed(), NoScripts()), Subjects("pl"), 0)
    processor.tree.silence_after = after
    rounds, position, messages, used = 11, 0, 0, 0.0
    for number in range(rounds):
        events = []
        for cluster in range(clusters):
            position += 1
            subject, body = _beat("pl", position, f"cluster-{cluster}")
            at = int((number + cluster / clusters) * every * SECOND)
            events.append(Stored(subject.replace("pl.events.", "pl.inbox.0."), body, position, at, 0, None))
        begun = time.process_time()
        while events:
            batch = processor.process(events[:400], 0)
            messages += len(batch.messages) if number else 0
            del events[: batch.events]
        used += time.process_time() - begun if number else 0
    return {"us": used / (rounds - 1) / clusters * 1e6, "messages": messages / (rounds - 1) / clusters}


def _others() -> dict[str, float]:
    """CPU ns that a node's event costs in the processor: nobody waits for its cluster, or somebody does."""
    found = {}
    for name, after in (("off", 0.0), ("on", 300.0)):
        best = min(_nodes(after) for _ in range(5))
        found[name] = best
    return found


def _nodes(after: float) -> float:
    processor = Processor(Tree(installed(), NoScripts()), Subjects("pl"), 0)
    processor.tree.silence_after = after
    adopted = {"specversion": "1.0", "id": "1", "source": "/x", "type": "node.adopt", "data": {"phase": "Running"}}
    subject = "pl.inbox.0.c1.node.{}.pool.n1"
    processor.process([Stored(subject.format("adopt"), codec.encode(adopted), 1, 1, 0, None)], 0)
    bodies = [
        (trigger, codec.encode({"specversion": "1.0", "id": "1", "source": "/x", "type": f"node.{trigger}"}))
        for trigger in ("not_ready", "ready")
    ]
    events = [
        Stored(subject.format(bodies[number % 2][0]), bodies[number % 2][1], number + 2, 2 + number, 0, None)
        for number in range(NODE_EVENTS)
    ]
    begun = time.process_time()
    for event in events:
        processor.answer(event)
    return (time.process_time() - begun) / len(events) * 1e9


def page(found: dict[str, Any]) -> str:
    """The results as Markdown."""
    head = (
        f"{found['clusters']:,} clusters send a heartbeat every {found['every']:g} s, evenly. "
        "The CPU is that of the whole worker process, over\none round in real time.\n"
    )
    titles = "| silence_after | share of a core | CPU, us a heartbeat | messages in the log |"
    lines = [head, titles, "|---|---|---|---|"]
    for after, one in found["rounds"].items():
        lines.append(f"| {after} s | {one['share']:.1%} | {one['per_event']:.0f} | {one['stored']:,} |")
    titles = "| in the core alone, silence_after | CPU, us a heartbeat | log messages a heartbeat |"
    lines += ["", titles, "|---|---|---|"]
    for after, one in found["core"].items():
        lines.append(f"| {after} s | {one['us']:.1f} | {one['messages']:.2f} |")
    off, on = found["others"]["off"], found["others"]["on"]
    lines.append(
        f"\nAn event of a node is decided in {off / 1000:.2f} us while nobody waits for its cluster, and in "
        f"{on / 1000:.2f} us while somebody does."
    )
    return "\n".join(lines)


async def _work(url: str, after: float) -> None:
    """One worker, until the process is ended."""
    settings = Settings(feed="msgpack", nats=(url,), silence_after=after)
    async with Wire.open(settings, name="worker") as wire:
        worker = Worker(wire, settings, installed())
        collecting = collecting_rarely()  # as the command does
        collecting.__enter__()
        running = asyncio.create_task(worker.run(asyncio.Event()))
        await worker.ready.wait()
        while not running.done():
            await asyncio.to_thread(sys.stdin.readline)
            print(time.process_time(), flush=True)


if __name__ == "__main__":
    import logging

    logging.basicConfig(level=logging.WARNING)
    asyncio.run(_work(sys.argv[1], float(sys.argv[2])))
