"""An archive of 5,000,000 records: what `phaseline get --at` takes for a moment that only the archive has.

`python -m benchmarks.archive RECORDS ENTITIES` does it with others. Belongs here: making such an archive without a
server, in the form in which `phaseline log archive` writes it, and the command with and without the indexes. Does not:
long exports (`endurance`).
"""

import asyncio
import json
import os
import statistics
import struct
import sys
import tempfile
import time
from pathlib import Path
from typing import Any, NamedTuple

from msgspec.structs import replace

from phaseline.engine.log.installation import Installation
from phaseline.engine.nats.api_reply import EXPECTED
from phaseline.engine.nats.embedded.server import EmbeddedServer
from phaseline.engine.nats.streams import provision
from phaseline.engine.nats.wire import Wire
from phaseline.engine.replay.archive.folder import Folder
from phaseline.engine.replay.archive.last_states import LastStates
from phaseline.engine.replay.archive.manifest import Manifest, PartEntry
from phaseline.engine.replay.archive.write_parts import EVENTS, PartDraft
from phaseline.engine.replay.log_format import EventItem, Header, RecordItem
from phaseline.engine.replay.log_writer import LogWriter
from phaseline.engine.settings import Settings
from phaseline.machines.built_in import installed
from phaseline.schemas import codec, wire_codec
from phaseline.schemas.cloudevents import content_types
from phaseline.schemas.records import timestamp
from phaseline.testing import given

RECORDS, ENTITIES, ROUNDS = 5_000_000, (20_000, 500_000), 5
START, STEP = 1_700_000_000_000_000_000, 1_000_000
"""When the first event was stored, and the nanoseconds between two."""
NODE, VERSION = "c0000/pool/n0000000", 0x5A5A5A5A
"""What a template holds in place of an entity and its version: bytes of one length."""
PREFIX = "pl"
COMMAND = (sys.executable, "-m", "phaseline.engine.surfaces.cli", "get", "node")


class Template(NamedTuple):
    """The bodies of an event and of its record, cut where they differ from node to node."""

    event: list[bytes]
    record: list[bytes]

    @classmethod
    def made(cls) -> "Template":
        """Of a node that fails."""
        then = given().event("node", "adopt", NODE, {"phase": "Running"})
        failed = then.when("node", "not_ready", NODE, {"reason": "KubeletStopped"}).transitions[0]
        record = wire_codec.write(replace(failed, entity=replace(failed.entity, version=VERSION)), 0, 1, PREFIX)
        event = codec.encode({
            "specversion": "1.0", "id": NODE, "source": "/agent/c0000", "type": "node.not_ready",
            "time": "2026-03-02T08:00:00Z", "data": {"reason": "KubeletStatus", "message": "the kubelet says so"},
        })  # fmt: skip
        return cls(event.split(NODE.encode()), record.split(NODE.encode()))

    def bodies(self, node: str, version: int) -> tuple[bytes, bytes]:
        """Those of one node."""
        name = node.encode()
        record = name.join(self.record).replace(struct.pack(">I", VERSION), struct.pack(">I", version))
        return name.join(self.event), record


def node_of(number: int) -> str:
    """The id of a node: 100 in a cluster."""
    return f"c{number // 100 % 10_000:04}/pool/n{number:07}"


def write(folder: Path, records: int, entities: int) -> Manifest:
    """An archive with so many events and as many records; each node fails again and again, in turn."""
    folder.mkdir(parents=True, exist_ok=True)
    template, states, first = Template.made(), LastStates[bytes](), 1
    store, stride, parts = Folder(folder), 7_919, list[PartEntry]()
    while first <= records:
        last = min(records, first + max(EVENTS, len(states)) - 1)
        header = Header(
            prefix=PREFIX, partitions=8, first=first, last=last, since=START + first * STEP, until=START + last * STEP,
            records=True,
        )  # fmt: skip
        with LogWriter(folder / f"part-{len(parts) + 1:06}.plog.zst", header) as log:
            part = PartDraft(log.path.name, header, log)
            for about, body in states.items():
                part.put_state(about, body)
            part.cut()
            for position in range(first, last + 1):
                node = node_of(position * stride % entities)
                event, record = template.bodies(node, position // entities + 1)
                tokens, at = node.replace("/", "."), START + position * STEP
                subject = f"transition.node.phase.Failed.{tokens}"
                part.put([
                    EventItem(position, at, f"{tokens}.node.not_ready", event),
                    RecordItem(subject, record, position, at + STEP // 2),
                ])  # fmt: skip
                states.take(subject, record)
            part.cut()
        parts.append(part.keep(store))
        first = last + 1
    manifest = Manifest.new(PREFIX, 8).extended(
        parts, position=records, place=records, time_ns=START + records * STEP + STEP // 2
    )
    store.write(manifest)
    return manifest


class Cost(NamedTuple):
    """What a command took: seconds, CPU seconds, megabytes at most."""

    wall: float
    cpu: float
    memory: float


def measured(words: list[str], version: int) -> Cost:
    """The cost of `phaseline get`, whose answer has to be of that version."""
    reading, writing = os.pipe()
    begun = time.perf_counter()
    process = os.posix_spawn(
        COMMAND[0], [*COMMAND, *words, "--json"], os.environ,
        file_actions=[(os.POSIX_SPAWN_DUP2, writing, 1), (os.POSIX_SPAWN_CLOSE, reading)],
    )  # fmt: skip
    os.close(writing)
    with os.fdopen(reading, "rb") as file:
        said = file.read()
    _, status, usage = os.wait4(process, 0)
    taken = time.perf_counter() - begun
    if status or (found := json.loads(said)["version"]) != version:
        raise AssertionError(f"{words} ended with {status}, version {found}, not {version}")
    return Cost(taken, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024)


async def run(
    records: int = RECORDS, entities: tuple[int, ...] = ENTITIES, rounds: int = ROUNDS, kept: Path | None = None
) -> dict[str, Any]:
    """By the number of entities: the archive, and the costs with and without its indexes. kept: where archives stay."""
    found = {}
    with tempfile.TemporaryDirectory(prefix="archive-") as temporary:
        for number in entities:
            folder = (kept or Path(temporary)) / f"{records}-of-{number}"
            manifest = await asyncio.to_thread(_made, folder, records, number)
            found[number] = {
                "parts": len(manifest.parts), "bytes": sum(part.bytes for part in manifest.parts),
                "index": sum(part.index_bytes for part in manifest.parts),
                "costs": await _costs(folder, manifest, number, rounds),
            }  # fmt: skip
    return {"records": records, "rounds": rounds, "archives": found}


def _made(folder: Path, records: int, entities: int) -> Manifest:
    return Folder(folder).manifest() or write(folder, records, entities)


def _cost(folder: Path, words: list[str], version: int, without_indexes: bool) -> Cost:
    """The cost of one command, with the indexes or while they are moved away."""
    if not without_indexes:
        return measured(words, version)
    hidden = folder / "indexes"
    hidden.mkdir()
    for index in folder.glob("*.index"):
        index.rename(hidden / index.name)
    try:
        return measured(words, version)
    finally:
        for index in hidden.glob("*.index"):
            index.rename(folder / index.name)
        hidden.rmdir()


async def _costs(folder: Path, manifest: Manifest, entities: int, rounds: int) -> dict[str, list[Cost]]:
    """The costs of `get --at` at some moments: as the archive is, and with its indexes moved away."""
    costs: dict[str, list[Cost]] = {"by index": [], "whole": []}
    async with EmbeddedServer() as server:
        settings = Settings(nats=(server.url,), prefix=PREFIX, partitions=8)
        async with Wire.open(settings, name="bench") as wire:
            layout = await provision(wire, settings, installed().copies.values())
            subjects = Installation(wire, layout, installed()).subjects
            headers = {**content_types.AS_MSGPACK, EXPECTED: "0"}
            await wire.publish_acked(subjects.archived(), manifest.note("/bench").encode(), headers)
            for turn in range(rounds):
                position = manifest.position * (2 * turn + 1) // (2 * rounds) + 1
                number = (position - entities // 3) * 7_919 % entities  # it failed some time before
                last = position - entities // 3
                words = [
                    node_of(number), "--at", timestamp(START + position * STEP + STEP // 2), "--archive", str(folder),
                    "--nats", server.url,
                ]  # fmt: skip
                for way, some in costs.items():
                    some.append(await asyncio.to_thread(_cost, folder, words, last // entities + 1, way == "whole"))
    return costs


def page(found: dict[str, Any]) -> str:
    """The results as Markdown."""
    lines = [
        f"An archive of {found['records']:,} events and as many records. `phaseline get node ID --at MOMENT`, medians",
        f"of {found['rounds']} moments, with its start; with the indexes, and with them moved away, in turn.",
        "",
        "| entities | parts | MB | indexes, MB | s by index | s whole | CPU by index | CPU whole | memory | whole |",
        "|---|---|---|---|---|---|---|---|---|---|",
    ]
    for number, one in found["archives"].items():
        by, whole = one["costs"]["by index"], one["costs"]["whole"]
        cells = [f"{statistics.median(getattr(cost, name) for cost in some):{form}}" for name, form in
                 (("wall", ".2f"), ("cpu", ".2f"), ("memory", ".0f")) for some in (by, whole)]  # fmt: skip
        lines.append(f"| {number:,} | {one['parts']} | {one['bytes'] / 1e6:,.0f} | {one['index'] / 1e6:,.1f} | "
                     f"{' | '.join(cells)} |")  # fmt: skip
    return "\n".join(lines)


if __name__ == "__main__":
    records, *entities = map(int, sys.argv[1:3])
    print(page(asyncio.run(run(records, tuple(entities) or ENTITIES, kept=Path(tempfile.gettempdir()) / "archives"))))
