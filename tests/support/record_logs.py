"""Writes logs of any version of Phaseline into files, by its own commands: `python -m tests.support.record_logs`.

Belongs here: what is recorded, and the processes that do it. Does not: reading the files
(`tests/nats/test_old_logs.py`).
It imports nothing of Phaseline, because the version whose logs it writes is another one.
docs/developing/tests.md says when.
"""

import argparse
import asyncio
import base64
import json
import os
import random
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, closing
from pathlib import Path
from typing import Any

import nats
import zstandard

HERE = Path(__file__).parent
EXAMPLES = ("morning.jsonl", "invoice.jsonl", "emco/deployment.jsonl", "fleet/infra.jsonl", "gitops/shop.jsonl")
LIMIT = 300
SECONDS = ("deadline", "progress_deadline", "silence_after", "auto_sync_in")
"""Attributes that are seconds: short ones, so that timers fire while the log is recorded."""
STREAMS = ("EVENTS", "LOG", "STATE", "LIVE")
OBJECTS = (
    {"apiVersion": "v1", "kind": "ConfigMap", "data": {"a": "1"}},
    {"apiVersion": "v1", "kind": "ConfigMap", "data": {"a": "2"}},
    {"apiVersion": "apps/v1", "kind": "Deployment", "spec": {"replicas": 2},
     "status": {"replicas": 2, "updatedReplicas": 2, "availableReplicas": 1, "observedGeneration": 1}},
    {"apiVersion": "batch/v1", "kind": "Job", "status": {"conditions": [
        {"type": "Failed", "status": "True", "reason": "BackoffLimitExceeded", "message": "it failed too often"}]}},
    {"apiVersion": "cert-manager.io/v1", "kind": "Certificate", "status": {"conditions": [
        {"type": "Ready", "status": "False", "reason": "Pending", "message": "it waits"}]}},
    {"apiVersion": "v1", "kind": "Secret", "data": {"password": "aHVudGVyMg=="}},
)  # fmt: skip
"""What observed events tell of; the last one is refused and erased."""


class Version:
    """One version: its program, and the environment in which its commands run."""

    def __init__(self, program: Path, work: Path, port: int, site: Path | None = None) -> None:
        self.program, self.work, self.port = program, work, port
        self.url = f"nats://127.0.0.1:{port}"
        kept = {name: value for name, value in os.environ.items() if not name.startswith("PHASELINE_")}
        self.environment = {**kept, "XDG_STATE_HOME": str(work / "state"), "NO_COLOR": "1"}
        self.environment |= {"PYTHONPATH": str(site)} if site else {}

    def call(self, *words: str, connected: bool = True, may_fail: bool = False) -> str:
        """What a command prints on its standard output."""
        command = [str(self.program), *words, *(["--nats", self.url] if connected else [])]
        done = subprocess.run(command, env=self.environment, cwd=self.work, capture_output=True, text=True, check=False)
        if done.returncode and not may_fail:
            raise SystemExit(f"{' '.join(command)}: {done.returncode}\n{done.stderr}")
        return done.stdout

    @asynccontextmanager
    async def system(self, *options: str) -> AsyncIterator[None]:
        """`phaseline up` while the block runs."""
        command = [
            str(self.program),
            "up",
            "--open",
            "--data",
            str(self.work / "data"),
            "--port",
            str(self.port),
            *options,
        ]
        process = await asyncio.create_subprocess_exec(*command, env=self.environment, cwd=self.work)
        try:
            async with asyncio.timeout(LIMIT):
                while '"undecided":' not in self.audit():
                    if process.returncode is not None:
                        raise SystemExit(f"{' '.join(command)} ended with {process.returncode}")
                    await asyncio.sleep(0.5)
            yield
        finally:
            if process.returncode is None:
                process.send_signal(signal.SIGINT)
            await process.wait()

    def audit(self) -> str:
        """The audit of the log as JSON; empty if it cannot be read yet."""
        return self.call("replay", "--audit", "--json", may_fail=True)

    async def decided(self) -> None:
        """Wait until all events are decided."""
        async with asyncio.timeout(LIMIT):
            while not (found := self.audit()) or json.loads(found)["undecided"]:
                await asyncio.sleep(0.5)

    async def publish(self, events: Sequence[dict[str, Any]]) -> None:
        """Send events, also those that would be rejected, and wait until they are decided."""
        path = self.work / "events.jsonl"
        path.write_text("".join(f"{json.dumps(one)}\n" for one in events))
        self.call("publish", "--file", str(path), "--force", "--window", "64")
        await self.decided()


class Events:
    """Random events about all kinds of a version, by what its tables say of triggers and fields."""

    def __init__(self, kinds: Sequence[dict[str, Any]], seed: int) -> None:
        self.kinds, self.random, self.number, self.seed = kinds, random.Random(seed), 0, seed
        self.deep = {one["kind"]: one for one in kinds}

    def event(self, kind: str, trigger: str, entity_id: str, data: dict[str, Any], **rest: Any) -> dict[str, Any]:
        """One event."""
        self.number += 1
        return {"specversion": "1.0", "id": f"{self.seed}-{self.number}", "source": f"/recorder/{self.number % 3}",
                "type": f"{kind}.{trigger}", "subject": f"{kind}/{entity_id}", "data": data, **rest}  # fmt: skip

    def all(self, count: int) -> Iterator[dict[str, Any]]:
        """First each kind is adopted or begun, parents first; then anything happens."""
        for kind in sorted(self.kinds, key=lambda one: len(one["id"])):
            for trigger in kind["triggers"]:
                if trigger["trigger"] in ("create", "configure", "register", "adopt", "add", "approve"):
                    for one in ("1", "2"):
                        yield self.event(kind["kind"], trigger["trigger"], self.id_of(kind, one), self.data(trigger))
        for _ in range(count):
            kind = self.random.choice(self.kinds)
            trigger = self.random.choice(
                [one for one in kind["triggers"] if one["role"] != "derived"] or kind["triggers"]
            )
            more = {"sequence": str(self.random.randrange(1, 900))} if self.random.random() < 0.1 else {}
            yield self.event(
                kind["kind"], trigger["trigger"], self.id_of(kind, self.random.choice("12")), self.data(trigger), **more
            )

    def id_of(self, kind: dict[str, Any], name: str) -> str:
        """An id: all entities stand in two trees of each family, so that they have parents."""
        mostly = "12" + 18 * name
        parts = [f"{kind['id'][0]}{name}", *(f"{part}{self.random.choice(mostly)}" for part in kind["id"][1:])]
        return "/".join(parts)

    def data(self, trigger: dict[str, Any]) -> dict[str, Any]:
        """Data that is mostly right."""
        chosen = (one for one in trigger["fields"] if one["required"] or self.random.random() < 0.4)
        return {one["name"]: self.value(one) for one in chosen}

    def value(self, field: dict[str, Any]) -> Any:
        """A value of a field."""
        if self.random.random() < 0.03:
            return {"not": "expected"}
        one = self.one(field)
        return [one] if field["many"] else one

    def one(self, field: dict[str, Any]) -> Any:
        if field["name"] in ("live", "desired"):
            made = json.loads(json.dumps(self.random.choice(OBJECTS if self.random.random() < 0.2 else OBJECTS[:-1])))
            return {**made, "metadata": {"name": "name1", "namespace": "namespace1", "generation": 1}}
        if field["name"] in SECONDS:
            return self.random.choice((1, 2))
        if field["options"]:
            return self.random.choice(field["options"])
        made = {"bool": self.random.random() < 0.5, "int": self.random.randrange(4), "float": 1.5, "dict": {"id": "x1"}}
        return made.get(field["type"], self.random.choice(("a", "b", "ü/ø")))


def example_events() -> list[dict[str, Any]]:
    """The events of the examples beside this project."""
    folder = HERE.parents[1] / "examples"
    return [json.loads(line) for name in EXAMPLES for line in (folder / name).read_text().splitlines() if line]


def kinds_of(version: Version) -> list[dict[str, Any]]:
    """What a version's tables say."""
    return [json.loads(line) for line in version.call("machines", "--json", connected=False).splitlines()]


def histories(events: Events) -> list[dict[str, Any]]:
    """Snapshots: what is there below an entity, and that something is gone; and a deadline that passes."""
    group = "t+app+v1+group"
    nodes = [{"id": "pool-a/n1", "phase": "Running"}, {"id": "pool-a/n2", "phase": "Stopped"}]
    return [
        events.event("cluster", "adopt", "s1", {"phase": "Running"}),
        events.event(
            "cluster", "snapshot", "s1", {"kind": "node_pool", "items": [{"id": "pool-a", "phase": "Running"}]}
        ),
        events.event("cluster", "snapshot", "s1", {"kind": "node", "items": nodes}),
        events.event("cluster", "snapshot", "s1", {"kind": "node", "items": nodes[:1]}),
        events.event("emco_resource", "create", group, {}),
        events.event("emco_resource", "approve", group, {}),
        events.event("app_context", "create", f"{group}/c1", {"deadline": 1}),
        events.event("rsync_resource", "add", f"{group}/c1/web/pv+edge1/dep+Deployment", {}),
        events.event("app_context", "instantiate", f"{group}/c1", {}),
    ]


def free_port() -> int:
    with closing(socket.socket()) as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


@asynccontextmanager
async def version_of(program: Path, site: Path | None = None) -> AsyncIterator[Version]:
    """A version with a folder of its own, which goes at the end."""
    with tempfile.TemporaryDirectory(prefix="old-log-") as work:
        yield Version(program, Path(work), free_port(), site)


async def record(program: Path, to: Path, feed: str, count: int, *more: str) -> None:
    """All kinds and many triggers."""
    async with version_of(program) as version:
        events = Events(kinds_of(version), seed=len(to.name))
        async with version.system("--feed", feed, *more):
            if count >= 1_000:
                await version.publish(example_events())
            await version.publish([*events.all(count), *histories(events)])
            await asyncio.sleep(5)  # timers fire
            await version.decided()
            version.call("export", str(to), "--records")
            if feed == "both":
                await keep_streams(version, to.with_name("both.streams.json.zst"))


async def record_archived(program: Path, to: Path) -> None:
    """Half of a log in an archive, the rest in the streams, which are kept as the server backs them up."""
    async with version_of(program) as version:
        events = Events(kinds_of(version), seed=7)
        async with version.system("--partitions", "2", "--dedupe-window", "0.2"):
            await version.publish([*events.all(120), *histories(events)])
            await asyncio.sleep(1)
            version.call("archive", "--before", "now", "--to", str(version.work / "archive"))
            await version.publish(list(events.all(60)))
            await keep_streams(version, to / "streams.json.zst")
        shutil.copytree(version.work / "archive", to / "archive", ignore=shutil.ignore_patterns(".lock"))


async def keep_streams(version: Version, to: Path) -> None:
    """Keep the streams as the server backs them up."""
    backups = [await backed_up(version.url, f"pl-{name}") for name in STREAMS]
    to.write_bytes(zstandard.ZstdCompressor(level=19).compress(json.dumps([one for one in backups if one]).encode()))


async def backed_up(url: str, stream: str) -> dict[str, Any] | None:
    """A stream as the server backs it up: what it told, and the chunks in base64. None if there is no such stream."""
    client, chunks, over = await nats.connect(url), list[str](), asyncio.Event()

    async def take(message: Any) -> None:
        if not message.data:
            over.set()
            return
        chunks.append(base64.b64encode(message.data).decode())
        await message.respond(b"")

    inbox = client.new_inbox()
    await client.subscribe(inbox, cb=take)
    asked = json.dumps({"deliver_subject": inbox, "no_consumers": True}).encode()
    told = json.loads((await client.request(f"$JS.API.STREAM.SNAPSHOT.{stream}", asked, timeout=LIMIT)).data)
    if "error" not in told:
        await asyncio.wait_for(over.wait(), LIMIT)
    await client.close()
    return (
        None
        if "error" in told
        else {"stream": stream, "config": told["config"], "state": told["state"], "chunks": chunks}
    )


async def record_moved(program: Path, to: Path) -> None:
    """A package whose tables change in the middle, so that entities move to other states."""
    with tempfile.TemporaryDirectory(prefix="old-log-site-") as folder:
        site = Path(folder)
        shutil.copy(HERE / "moved_jobs.py", site / "moved_jobs.py")
        about = site / "moved_jobs-1.dist-info"
        about.mkdir()
        (about / "METADATA").write_text("Metadata-Version: 2.1\nName: moved-jobs\nVersion: 1\n")

        def offer(tables: str) -> None:
            (about / "entry_points.txt").write_text(f"[phaseline.kinds]\nmoved = moved_jobs:{tables}\n")

        async with version_of(program, site) as version:
            offer("BEFORE")
            events = Events([], seed=9)
            told = [("queue", "open", "q1"), ("queue", "open", "q2")]
            told += [("task", "create", f"q{one}/t{two}") for one in (1, 2) for two in range(5)]
            told += [("task", trigger, f"q{one}/t{two}") for one in (1, 2) for two, trigger in enumerate(
                ("started", "pause", "started", "started"))]  # fmt: skip
            told += [
                ("task", "lost", "q1/t0"),
                ("task", "finished", "q2/t2"),
                ("task", "lost", "q2/t3"),
                ("task", "pause", "q1/t0"),
            ]
            async with version.system("--partitions", "4"):
                await version.publish([events.event(*one, {}) for one in told])
            offer("AFTER")
            digest = version.call("machines", connected=False).rpartition("digest of all tables: ")[2].split()[0]
            told = [("task", "started", "q1/t1"), ("task", "pause", "q2/t4"), ("task", "create", "q2/t9"),
                    ("task", "finished", "q1/t1"), ("queue", "close", "q2"), ("task", "gone", "q1/t2")]  # fmt: skip
            async with version.system("--accept-tables", digest):
                await asyncio.sleep(3)  # what waits is too late
                await version.publish([events.event(*one, {}) for one in told])
                await asyncio.sleep(2)
                await version.decided()
                version.call("export", str(to), "--records")


async def main() -> None:
    """Record what is asked for."""
    parser = argparse.ArgumentParser(prog="python -m tests.support.record_logs", description=__doc__)
    parser.add_argument("program", type=Path, help="the command `phaseline` of the version")
    parser.add_argument("folder", type=Path, help="where the files go; tests/logs/VERSION")
    parser.add_argument("--only", default="", help="record only this: all, json, both, archived, moved")
    chosen = parser.parse_args()
    program, folder = chosen.program.absolute(), chosen.folder.absolute()
    folder.mkdir(parents=True, exist_ok=True)
    work: dict[str, Callable[[], Awaitable[None]]] = {
        "all": lambda: record(program, folder / "all.plog.zst", "msgpack", 1_500),
        "json": lambda: record(program, folder / "json.plog.zst", "json", 250, "--partitions", "3"),
        "both": lambda: record(program, folder / "both.plog.zst", "both", 250, "--partitions", "3"),
        "archived": lambda: record_archived(program, folder / "archived"),
        "moved": lambda: record_moved(program, folder / "moved.plog.zst"),
    }  # fmt: skip
    if "both" not in Version(program, folder, 0).call("up", "--help", connected=False):
        del work["both"]
    for name, one in work.items():
        if chosen.only in ("", name):
            await one()
            sys.stderr.write(f"recorded: {name}\n")


if __name__ == "__main__":
    asyncio.run(main())
