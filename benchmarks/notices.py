"""Notices: following a log against `watch --json`, and storms: their memory, and how soon somebody is told.

Belongs here: these measurements. Does not: what rules make (`tests/laws/test_notice_laws`).
"""

import asyncio
import json
import os
import resource
import statistics
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from benchmarks import reading
from phaseline.engine.nats.embedded.server import EmbeddedServer
from phaseline.engine.nats.streams import provision
from phaseline.engine.nats.wire import Wire
from phaseline.engine.products.notices.events import event, of_notices
from phaseline.engine.products.notices.fold import read_rules
from phaseline.engine.products.notices.fold.fold import Fold
from phaseline.engine.products.notices.fold.groups import NoticeEvent
from phaseline.engine.products.notices.fold.rules import Rules
from phaseline.engine.products.notices.notifier import Notifier, digest
from phaseline.engine.settings import Settings
from phaseline.engine.surfaces.client.client import Client
from phaseline.engine.worker.worker import Worker
from phaseline.machines.built_in import installed
from phaseline.schemas import wire_codec
from phaseline.schemas.envelope import Event
from phaseline.schemas.records import SECOND, Transition, nanoseconds
from phaseline.schemas.templates.reading import read as reading_of
from phaseline.testing import given

RECORDS, ROUNDS, NODES = 50_000, 3, 50_000
RULES = """
receivers: {ops: {nats: {subject: told}}}
rules:
- {name: clusters, when: {kinds: [cluster]}, to: [ops]}
- {name: nodes, when: {kinds: [node]}, for: 5m, to: [ops]}
- {name: pools, when: {kinds: [node_pool]}, group: parent, for: 5m, to: [ops]}
"""
STORM = """
receivers: {ops: {nats: {subject: told}}}
rules: [{name: nodes, when: {kinds: [node]}, for: 5m, to: [ops]}]
"""
POOLS, WAIT = 50_000, 120.0
"""How many pools one cluster has that is stopped, and for how many seconds that has to last."""
TOLD = """
receivers: {hook: {webhook: {url: "http://127.0.0.1:%d/", allow-private: true}}}
rules: [{name: pools, when: {kinds: [node_pool]}, for: %ds, to: [hook]}]
"""
COMMAND = [sys.executable, "-m", "phaseline.engine.surfaces.cli"]
FOLLOW = [sys.executable, "-c", f"{reading.SCRIPT}\nfrom benchmarks.notices import follow; follow(*sys.argv[1:])"]


async def run(records: int = RECORDS, rounds: int = ROUNDS, nodes: int = NODES) -> dict[str, Any]:
    """CPU seconds of following so many records, and of showing them; the storm."""
    async with EmbeddedServer() as server, AsyncExitStack() as stack:
        settings = Settings(feed="msgpack", nats=(server.url,), partitions=1)
        wire = await stack.enter_async_context(Wire.open(settings, name="bench"))
        layout = await provision(wire, settings, installed().copies.values())
        await reading.fill(wire, layout, "pl", reading.adopted(records))
        for one in (settings, of_notices(settings)):
            await _worker(stack, one)
        await _checkpoints(settings, rounds)
        environment = {**os.environ, "PHASELINE_NATS": server.url}
        ways = {
            "followed": [*FOLLOW, server.url],
            "watch": [*reading.COMMAND, *["watch", "--from", "start", "--no-follow", "--json"]],
        }  # fmt: skip
        costs: dict[str, list[reading.Cost]] = {way: [] for way in ways}
        for number in range(rounds):
            for way, command in ways.items():
                words = [*command, f"n{number}"] if way == "followed" else command
                costs[way].append(await asyncio.to_thread(reading.measured, words, environment, terminal=False))
    ratios = [b.cpu / a.cpu for a, b in zip(costs["followed"], costs["watch"], strict=True)]
    cpu = {way: statistics.median(one.cpu for one in some) for way, some in costs.items()}
    memory = {way: statistics.median(one.memory for one in some) for way, some in costs.items()}
    return {
        "records": records, "rounds": rounds, "cpu": cpu, "memory": memory, "ratios": ratios,
        "storm": storm(nodes), "told": await told(),
    }  # fmt: skip


async def told(pools: int = POOLS, wait: float = WAIT) -> dict[str, Any]:
    """One event makes so many pools of a cluster bad: how long after the rule's time its message arrives by HTTP."""
    arrived: asyncio.Queue[tuple[float, dict[str, Any]]] = asyncio.Queue()

    async def take(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode().lower()
        length = int(head.partition("content-length: ")[2].split()[0])
        message = json.loads(await reader.readexactly(length))
        arrived.put_nowait((time.time(), message))
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
        writer.close()

    async with EmbeddedServer() as server, AsyncExitStack() as stack:
        hook = await stack.enter_async_context(await asyncio.start_server(take, "127.0.0.1", 0))
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        rules = folder / "rules.yaml"
        rules.write_text(TOLD % (hook.sockets[0].getsockname()[1], wait))
        settings = Settings(nats=(server.url,), partitions=1)
        environment = {**os.environ, "PHASELINE_NATS": server.url}
        wire = await stack.enter_async_context(Wire.open(settings, name="bench"))
        await provision(wire, settings, installed().copies.values())
        for words in (["worker"], ["notify", "--rules", str(rules)]):
            await stack.enter_async_context(_command(words, environment, folder / words[0]))
        client = await stack.enter_async_context(Client.open(settings))
        await client.publish_and_wait("cluster", "adopt", "c1", {"phase": "Running"}, timeout=600)
        await _until_said(folder / "notify", "at work")
        adopted = (new_event(client.default_source, "node_pool", f"c1/p{number}") for number in range(pools))
        await client.publish_many(adopted)
        await client.publish_and_wait("node_pool", "adopt", "c1/last", {"phase": "Running"}, timeout=600)
        stopped = time.time()
        await client.publish_and_wait("cluster", "overdue", "c1", timeout=600)
        decided = time.time() - stopped
        at, message = await arrived.get()
    return {
        "pools": message["number"], "for": wait, "decided": decided, "title": message["title"],
        "after": at - nanoseconds(message["due"]) / SECOND,
    }  # fmt: skip


def new_event(source: str, kind: str, entity_id: str) -> Event:
    """The event that makes an entity known as running."""
    return Event(
        id=f"adopt-{entity_id}", source=source, type=f"{kind}.adopt", specversion="1.0", subject=f"{kind}/{entity_id}",
        data={"phase": "Running"},
    )  # fmt: skip


@asynccontextmanager
async def _command(words: list[str], environment: dict[str, str], said: Path) -> AsyncIterator[None]:
    """A command at work, stopped at the end. What it says goes to a file."""
    with said.open("wb") as file:
        process = await asyncio.create_subprocess_exec(*COMMAND, *words, env=environment, stderr=file, stdout=file)
    try:
        yield
    finally:
        process.terminate()
        await process.wait()


async def _until_said(file: Path, text: str) -> None:
    while text not in await asyncio.to_thread(file.read_text):
        await asyncio.sleep(0.1)


async def _worker(stack: AsyncExitStack, settings: Settings) -> None:
    """A worker of an installation, at work until the stack is closed."""
    wire = await stack.enter_async_context(Wire.open(settings, name="bench"))
    worker, stop = Worker(wire, settings, installed(settings.prefix)), asyncio.Event()
    running = asyncio.create_task(worker.run(stop))

    async def end() -> None:
        stop.set()
        await running

    stack.push_async_callback(end)
    await worker.ready.wait()


async def _checkpoints(settings: Settings, rounds: int) -> None:
    """Let the log count as followed up to its beginning, by a notifier of each round."""
    async with Client.open(settings) as main, Client.open(of_notices(settings)) as notices:
        identity = 0
        while not identity:
            identity = await main.log_identity()
            await asyncio.sleep(0.05)
        data = {
            "place": 0, "first": 0, "at": "1970-01-01T00:00:00Z", "log_identity": identity,
            "rules": digest(_rules(), main.kinds),
        }  # fmt: skip
        names = [f"n{number}" for number in range(rounds)]
        await notices.publish_many(
            event("notifier", "followed", name, data, identity, 0, str(data["at"])) for name in names
        )


def _rules() -> Rules:
    return read_rules.read(RULES, installed())


def follow(url: str, name: str) -> None:
    """Follow the log up to its end as the notifier of that name, and say how many records there were."""
    print(asyncio.run(_follow(url, name)))


async def _follow(url: str, name: str) -> int:
    settings, stop = Settings(nats=(url,)), asyncio.Event()
    async with Client.open(settings) as main, Client.open(of_notices(settings)) as notices:
        notifier = Notifier(main, notices, name, _rules(), lambda _: False)
        running = asyncio.create_task(notifier.run(stop))
        await notifier.is_following.wait()
        stop.set()
        await running
        return notifier.records


def storm(nodes: int) -> dict[str, Any]:
    """So many nodes fail by one cause and recover: what is told, CPU, and the memory that they take meanwhile."""
    kinds = installed()
    bad, well = _records()
    rules = read_rules.read(STORM, kinds)
    fold, told = Fold(kinds, rules), list[NoticeEvent]()
    for _ in _many(bad, nodes, 0):  # caches of reading
        pass
    before, begun = _megabytes(), time.process_time()
    for place, record in enumerate(_many(bad, nodes, 0), 1):
        told += fold.take(place, record)
    told += fold.advance(bad.time_ns + 301 * SECOND)
    more = _megabytes() - before
    for place, record in enumerate(_many(well, nodes, 600 * SECOND), nodes + 1):
        told += fold.take(place, record)
    told += fold.advance(bad.time_ns + 10_000 * SECOND)
    seconds = time.process_time() - begun
    messages = [one.word for one in told if one.word]
    return {"nodes": nodes, "messages": messages, "microseconds": seconds / nodes / 2 * 1e6, "memory": more}


def _megabytes() -> float:
    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize() / 1e6


def _records() -> tuple[Transition, Transition]:
    node = given().event("node", "adopt", "c1/p/n1", {"phase": "Running"})
    failed = node.when("node", "not_ready", "c1/p/n1", {"reason": "KubeletStopped"})
    ready = node.event("node", "not_ready", "c1/p/n1").when("node", "ready", "c1/p/n1")
    return failed.transitions[0], ready.transitions[0]


def _many(record: Transition, nodes: int, later: int) -> Iterator[Transition]:
    """The record of so many nodes, each read from the bytes of a log, as it is where a log is followed."""
    for number in range(nodes):
        one = replace(record, entity=replace(record.entity, id=f"c1/p/n{number}"), time_ns=record.time_ns + later)
        yield reading_of(wire_codec.write(one, 0, 1, "pl"))  # type: ignore[misc]  # it is a transition


def page(found: dict[str, Any]) -> str:
    """The results as Markdown."""
    cpu, memory, storm_, told_ = found["cpu"], found["memory"], found["storm"], found["told"]
    words, rounds = ", ".join(storm_["messages"]), ", ".join(f"{one:.2f}" for one in found["ratios"])
    return "\n".join([
        f"A log of {found['records']:,} records and three rules: CPU seconds of the whole process, medians of",
        f"{found['rounds']} rounds that take turns.",
        "",
        "| what | CPU, s | memory, MB |",
        "|---|---|---|",
        f"| the notifier follows it | {cpu['followed']:.2f} | {memory['followed']:.0f} |",
        f"| `watch --json` shows it | {cpu['watch']:.2f} | {memory['watch']:.0f} |",
        "",
        f"The notifier follows {cpu['watch'] / cpu['followed']:.2f} times as many records in a second of CPU as",
        f"`watch --json` shows. Round by round: {rounds}.",
        "",
        f"{storm_['nodes']:,} nodes fail by one cause and recover: {len(storm_['messages'])} messages ({words}),",
        f"{storm_['microseconds']:.0f} us a record, bytes made and read, {storm_['memory']:.1f} MB more memory.",
        "",
        f"One event makes {told_['pools']:,} pools bad, on a real server, with `phaseline notify` and a receiver on",
        f"loopback: decided after {told_['decided']:.1f} s; the rule waits for {told_['for']:.0f} s, and the message",
        f"arrives {told_['after']:.2f} s after the rule's time: \"{told_['title']}\".",
    ])  # fmt: skip
