"""What all peers share: the events, the table of states, a store in SQLite, and the clock.

A peer is run as `python -m benchmarks.peers.NAME EVENTS DIRECTORY NATS_URL` by an interpreter that has its packages. It
prints `ready`, waits for a line, decides all events, and prints what it took and what it left behind.
Belongs here: what is the same for each of them; only the standard library. Does not: any library that is compared.
"""

import asyncio
import json
import sqlite3
import sys
import time
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import NamedTuple

STATES = ("Absent", "Creating", "Running", "Updating", "Failed", "Unschedulable")
AFTER = {
    "create": "Creating", "created": "Running", "not_ready": "Failed", "ready": "Running", "cordon": "Unschedulable",
    "uncordon": "Running", "update": "Updating", "updated": "Running", "overdue": "Failed", "renewed": "Running",
}  # fmt: skip
"""The state to which each trigger leads. A life begins with `create`; all other triggers need one that has begun."""


class Event(NamedTuple):
    """One event of the workload. `entity`: `<kind>/<id>`."""

    entity: str
    trigger: str
    reason: str
    message: str


COLUMNS = (*Event._fields, "state")
"""The columns of a transition."""


class Found(NamedTuple):
    """What a peer left in its store: the state of each entity, and how many transitions it stored."""

    states: Mapping[str, str]
    transitions: int


class Peer(NamedTuple):
    """A peer that is ready. `work` decides all events; `read` reads from the store what it left behind."""

    work: Callable[[], Awaitable[None]]
    read: Callable[[], Awaitable[Found]]


Prepare = Callable[[list[Event], Path, str], Awaitable[Peer]]


class Store:
    """States and transitions in SQLite. A killed process loses nothing of what is committed, a power cut may."""

    def __init__(self, directory: Path) -> None:
        """Create the tables in a new file of `directory`."""
        self.database = sqlite3.connect(directory / "states.db", isolation_level=None)
        self.database.execute("PRAGMA journal_mode=WAL")
        self.database.execute("PRAGMA synchronous=NORMAL")
        self.database.execute("CREATE TABLE states (entity TEXT PRIMARY KEY, state TEXT)")
        self.database.execute(f"CREATE TABLE transitions ({', '.join(COLUMNS)})")

    def write(self, event: Event, state: str) -> None:
        """Write a transition and the state after it. It is part of a transaction if one is open."""
        self.database.execute("INSERT INTO transitions VALUES (?, ?, ?, ?, ?)", (*event, state))
        self.database.execute("INSERT OR REPLACE INTO states VALUES (?, ?)", (event.entity, state))

    def begin(self) -> None:
        """Begin a transaction."""
        self.database.execute("BEGIN IMMEDIATE")

    def commit(self) -> None:
        """Commit the transaction."""
        self.database.execute("COMMIT")

    async def read(self) -> Found:
        """What is in the store."""
        (count,) = self.database.execute("SELECT COUNT(*) FROM transitions").fetchone()
        return Found(dict(self.database.execute("SELECT entity, state FROM states")), count)


async def _run(prepare: Prepare) -> None:
    file, directory, url = sys.argv[1:]
    text = Path(file).read_text()  # noqa: ASYNC240  # nothing else runs yet
    events = [Event(*fields) for fields in json.loads(text)]
    peer = await prepare(events, Path(directory), url)
    print("ready", flush=True)
    await asyncio.to_thread(sys.stdin.readline)
    begun, worked = time.perf_counter(), time.process_time()
    await peer.work()
    took = {"seconds": time.perf_counter() - begun, "cpu": time.process_time() - worked}
    print(json.dumps({**took, **(await peer.read())._asdict()}), flush=True)


def main(prepare: Prepare) -> None:
    """Run one peer."""
    asyncio.run(_run(prepare))
