"""How long a take-over of a partition of 50,000 entities lasts: fence, load, ready to decide."""

import statistics
import time
from typing import Any

from phaseline.engine.collecting import collecting_rarely
from phaseline.engine.core.process import Processor
from phaseline.engine.core.tree import Tree
from phaseline.engine.log.installation import Installation
from phaseline.engine.nats.embedded.server import EmbeddedServer
from phaseline.engine.nats.reader import Stored
from phaseline.engine.nats.stream_reader import read_all
from phaseline.engine.nats.streams import Layout, provision
from phaseline.engine.nats.wire import Wire
from phaseline.engine.scripts.runner import shared_runner
from phaseline.engine.settings import Settings
from phaseline.engine.worker.ownership.load_states import PartitionStates
from phaseline.engine.worker.ownership.takeover import take_over
from phaseline.machines.built_in import installed
from phaseline.schemas import codec
from phaseline.schemas.subjects import Subjects

ENTITIES = 50_000
ROUNDS = 3
START = 1_700_000_000_000_000_000


async def run(entities: int = ENTITIES, rounds: int = ROUNDS) -> dict[str, Any]:
    """The seconds of a take-over, against the seconds of only reading the same messages."""
    async with EmbeddedServer() as server:
        settings = Settings(feed="msgpack", nats=(server.url,), partitions=1)
        async with Wire.open(settings, name="bench") as wire:
            layout = await provision(wire, settings, installed().copies.values())
            await _fill(wire, layout, entities)
            taken, prepared, read = [], [], []
            for _ in range(rounds):
                claim = None  # a worker that takes over has no older tree to drop
                begun = time.perf_counter()
                with collecting_rarely():  # as a worker does
                    claim = await take_over(Installation(wire, layout, installed()), 0, "bench")
                taken.append(time.perf_counter() - begun)
                begun = time.perf_counter()
                count = sum([len(m) async for m in read_all(wire, layout.state, ["pl.state.0.>"])])
                read.append(time.perf_counter() - begun)
                states = PartitionStates(Installation(wire, layout, installed()), 0)
                await states.load(lambda: False)
                begun = time.perf_counter()
                claim = await take_over(Installation(wire, layout, installed()), 0, "bench", states=states)
                prepared.append(time.perf_counter() - begun)
                if len(claim.tree) < entities or count < entities:
                    raise AssertionError(f"{len(claim.tree)} entities loaded, {count} read, not {entities}")
    return {
        "entities": entities, "take_over": statistics.median(taken), "prepared": statistics.median(prepared),
        "read": statistics.median(read),
    }  # fmt: skip


async def _fill(wire: Wire, layout: Layout, entities: int) -> None:
    """Commit the records of `entities` adopted nodes, as a worker would."""
    subjects = Subjects("pl")
    processor = Processor(Tree(installed(), shared_runner()), subjects, 0)
    claim = await take_over(Installation(wire, layout, installed()), 0, "bench")
    held: list[Stored] = []
    for number in range(entities):
        cluster, node = divmod(number, 1_000)
        subject = subjects.event("node", "adopt", f"c{cluster}/pool/node-{node}").replace("events", "inbox.0")
        body = {"specversion": "1.0", "id": "1", "source": "/x", "type": "node.adopt", "data": {"phase": "Running"}}
        held.append(Stored(subject, codec.encode(body), number + 1, START + number, 0, None))
    while held:
        commit = processor.process(held[:900], 0)
        del held[: commit.events]
        await claim.append(commit.messages, 0)


def page(found: dict[str, Any]) -> str:
    """The results as Markdown."""
    return (
        f"| | seconds, {found['entities']:,} entities |\n|---|---|\n"
        f"| take-over: new checkpoint, states loaded, ready to decide | {found['take_over']:.2f} |\n"
        f"| the same, handed over: the states were loaded before | {found['prepared']:.2f} |\n"
        f"| only reading the same messages | {found['read']:.2f} |\n"
        f"| take-over / reading | {found['take_over'] / found['read']:.1f} |\n"
        f"| handed over / reading | {found['prepared'] / found['read']:.2f} |"
    )
