"""Installs the peers, lets each decide the same events, and judges what each left behind.

Belongs here: the list of peers with what each promises, the checker, the page. Does not: the peers themselves
(`benchmarks.peers`).
"""

import asyncio
import json
import subprocess
import sys
import tempfile
from itertools import islice
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

from benchmarks.peers.peer import AFTER, Event
from benchmarks.throughput import contend
from benchmarks.workload import Workload, store
from phaseline.engine.nats.embedded.server import EmbeddedServer
from phaseline.engine.nats.streams import provision
from phaseline.engine.nats.wire import Wire
from phaseline.engine.settings import Settings
from phaseline.machines.built_in import installed
from phaseline.schemas import codec
from phaseline.schemas.subjects import Subjects

ROOT = Path(__file__).parent.parent
EVENTS, ROUNDS = 60_000, 3


class Entry(NamedTuple):
    """One peer. `needs`: its packages on PyPI, beside nats-py.

    `share`: how much of the events it gets. `promise`: what is durable.
    """

    title: str
    module: str
    needs: tuple[str, ...]
    share: float
    promise: str


PEERS = (
    #     title                                  module                        packages                   share
    Entry("FastStream on JetStream",             "with_faststream",           ("faststream[nats]",),      0.1,
          "at least once; the server's disk cache; transition and state are two writes"),
    Entry("python-statemachine and SQLite",      "with_python_statemachine",  ("python-statemachine",),   0.3,
          "at least once; a transaction an event; the disk cache; the feed may lose some"),
    Entry("transitions and SQLite",              "with_transitions",          ("transitions",),           1.0,
          "at least once; a transaction an event; the disk cache; the feed may lose some"),
    Entry("transitions and SQLite, 500 at once", "with_transitions_together", ("transitions",),           1.0,
          "at least once; a transaction a fetch; the disk cache; the feed may lose some"),
    Entry("eventsourcing on SQLite",             "with_eventsourcing",        ("eventsourcing",),         0.1,
          "at least once; a transaction an event; the disk cache; the feed may lose some"),
    Entry("UmaDB",                               "with_umadb",                ("umadb",),                 0.05,
          "at least once; an append an event, on disk; the feed may lose some"),
)  # fmt: skip


def events(count: int) -> list[Event]:
    """The first events of the workload, as the peers read them."""
    found = []
    subjects = Subjects("pl")
    for subject, body, _ in islice(Workload("pl", count).events(), count):
        address = subjects.address(subject.replace("pl.events.", "pl.inbox.0.", 1))
        data = codec.decode(body)["data"]
        found.append(Event(f"{address.kind}/{address.id}", address.trigger, data["reason"], data["message"]))
    return found


def expected(sent: list[Event]) -> dict[str, str]:
    """The state of each entity after the events."""
    return {event.entity: AFTER[event.trigger] for event in sent}


async def run(count: int = EVENTS, rounds: int = ROUNDS, peers: tuple[Entry, ...] = PEERS) -> dict[str, Any]:
    """Events/s of Phaseline and of each peer, in turns. Raises `AssertionError` if one leaves a wrong state."""
    found: dict[str, list[float]] = {"Phaseline": [], **{peer.title: [] for peer in peers}}
    with tempfile.TemporaryDirectory() as directory:
        pythons = {peer.title: _environment(Path(directory) / peer.module, peer) for peer in peers}
        for number in range(rounds):
            found["Phaseline"].append(count / await _phaseline(count))
            for peer in peers:
                own = Path(directory) / f"{peer.module}-{number}"
                own.mkdir()
                found[peer.title].append(await rate(pythons[peer.title], peer, events(round(count * peer.share)), own))
    return {"events": count, "rounds": rounds, "events_per_second": found}


def _environment(home: Path, peer: Entry) -> Path:
    """A virtual environment with the packages of a peer; its interpreter."""
    subprocess.run([sys.executable, "-m", "venv", home], check=True)  # ourselves
    python = home / "bin" / "python"
    install = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "nats-py", *peer.needs]
    subprocess.run(install, check=True)  # the interpreter just made
    return python


async def _phaseline(count: int) -> float:
    """The seconds of one worker for the same events."""
    async with EmbeddedServer() as server:
        settings = Settings(feed="msgpack", nats=(server.url,))
        async with Wire.open(settings, name="bench") as wire:
            layout = await provision(wire, settings, installed().copies.values())
            await store(wire, layout, list(Workload(settings.prefix, count).events()))
            return (await contend("phaseline", server.url, settings.prefix, count, 0))["seconds"]


async def rate(python: Path, peer: Entry, sent: list[Event], own: Path) -> float:
    """Events/s of one peer; raises `AssertionError` if a state or a transition is not as it must be."""
    file = own / "events.json"
    file.write_text(json.dumps(sent))  # nothing else runs
    left = await _peer(python, peer, file, own)
    if left["states"] != expected(sent) or left["transitions"] != len(sent):
        raise AssertionError(f"{peer.title} left {left['transitions']} transitions of {len(sent)}, or wrong states")
    return len(sent) / float(left["seconds"])


async def _peer(python: Path, peer: Entry, file: Path, own: Path) -> dict[str, Any]:
    """What one peer took and left behind."""
    async with EmbeddedServer() as server:
        process = await asyncio.create_subprocess_exec(
            python, "-m", f"benchmarks.peers.{peer.module}", file, own, server.url,
            stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE, cwd=ROOT, limit=1 << 24,
        )  # fmt: skip
        if process.stdin is None or process.stdout is None:
            raise AssertionError("the peer has no pipes")
        try:
            await process.stdout.readline()
            process.stdin.write(b"go\n")
            line = await process.stdout.readline()
            if not line:
                raise AssertionError(f"{peer.title} ended with exit code {await process.wait()}")
            left: dict[str, Any] = json.loads(line)
            return left
        finally:
            if process.returncode is None:
                process.kill()
            await process.wait()


def page(found: dict[str, Any]) -> str:
    """The results as Markdown."""
    ours = found["events_per_second"]["Phaseline"]
    promises = {peer.title: peer.promise for peer in PEERS}
    promises["Phaseline"] = "exactly once, fenced; the server's disk cache; state and feed in one commit"
    rows = ["| | events/s, round by round | Phaseline / this (median) | what is durable |", "|---|---|---|---|"]
    for title, rates in found["events_per_second"].items():
        ratio = median(a / b for a, b in zip(ours, rates, strict=True))
        shown = "" if title == "Phaseline" else f"{ratio:.1f}"
        rows.append(f"| {title} | {', '.join(f'{rate:,.0f}' for rate in rates)} | {shown} | {promises[title]} |")
    head = (
        f"Up to {found['events']:,} events of the workload above (slow peers get a part of them), in {found['rounds']} "
        "rounds in which all\ntake turns, each in a fresh process. All read the events from JetStream, "
        "store each transition and\nstate, and publish the transition. A checker compares the state of every entity, "
        "and the number of transitions.\n"
    )
    return "\n".join([head, *rows])
