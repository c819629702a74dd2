"""The server of the model, the one of the simulation and a real nats-server answer alike and hold the same messages.

Random sequences of commits under right and wrong fences, lone records, repeats of earlier requests, foreign messages,
abandoned and incomplete batches, purges, and of events that come twice, are removed and are read.
"""

import asyncio
import itertools
from collections.abc import Iterator, Sequence
from dataclasses import replace

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from phaseline.engine.core.message import Message
from phaseline.engine.nats.api_reply import EXPECTED, read_ack
from phaseline.engine.nats.direct_get import direct, message_from_leader
from phaseline.engine.nats.embedded.server import EmbeddedServer
from phaseline.engine.nats.erase import delete
from phaseline.engine.nats.streams import Layout, provision
from phaseline.engine.nats.wire import Wire
from phaseline.engine.settings import Settings
from phaseline.engine.worker.ownership.atomic_batches import batch_frames
from phaseline.schemas.errors import ApiFailed, Fenced
from phaseline.schemas.subjects import Subjects
from tests.support.commit_model.server import (
    FOREIGN,
    GARBAGE,
    Checkpoint,
    Copy,
    Record,
    Request,
    Server,
    Stored,
    copy_one,
    entries,
    inject_fence,
    inject_record,
    store,
)
from tests.support.effort import examples
from tests.support.log_check import stored
from tests.support.prove_scale import scaled
from tests.support.simulation.plant import Plant, running
from tests.support.simulation.world import World

LIMIT = 60
FENCES = st.sampled_from(("right", "right", "stale", "none"))
ENTITIES = st.integers(0, 2)
OPERATIONS = st.lists(
    st.one_of(
        st.tuples(st.just("commit"), st.lists(ENTITIES, max_size=4), FENCES, st.booleans()),
        st.tuples(st.just("lone"), ENTITIES, FENCES),
        st.tuples(st.just("repeat"), st.integers(0, 20)),
        st.tuples(st.just("foreign checkpoint")),
        st.tuples(st.just("foreign record"), ENTITIES),
        st.tuples(st.just("abandoned batch"), ENTITIES),
        st.tuples(st.just("incomplete batch"), ENTITIES),
        st.tuples(st.just("purge"), st.booleans()),
        st.tuples(st.just("event"), st.integers(0, 5)),
        st.tuples(st.just("removed event"), st.integers(1, 5)),
        st.tuples(st.just("asked"), st.integers(1, 5)),
    ),
    min_size=4,
    max_size=25,
)
Operation = tuple[object, ...]
_serial = itertools.count(1)


def body(rank: int) -> bytes:
    return b"foreign" if rank == FOREIGN else b"record %d" % rank


class Both:
    """The model and the real server, side by side."""

    def __init__(self, wire: Wire, layout: Layout) -> None:
        self.wire, self.layout, self.subjects = wire, layout, Subjects(layout.prefix)
        self.model, self.copy = Server(dense=True), Copy()
        self.sent: list[Request] = []
        self.ranks = itertools.count(1)
        self.answers: list[object] = []
        """What the server said of events, which the model does not know."""

    def subject(self, entity: int) -> str:
        return self.subjects.transition(0, "node", "phase", "Running", f"c{entity}")

    def expected(self, choice: str) -> int:
        return {"right": self.model.expected, "stale": max(0, self.model.expected - 1), "none": 0}[choice]

    async def do(self, operation: Operation) -> None:
        match operation:
            case ("commit", list() as entities, str() as fence, bool() as plan):
                records = tuple(Record(entity, next(self.ranks)) for entity in entities)
                rank = next(self.ranks)
                checkpoint = Checkpoint(1, rank, None, (rank,))
                await self.send(Request(1, "batch", self.expected(fence), 0, records, checkpoint, rank if plan else 0))
            case ("lone", int() as entity, str() as fence):
                await self.send(Request(1, "lone", self.expected(fence), 0, (Record(entity, next(self.ranks)),)))
            case ("repeat", int() as which) if self.sent:
                await self.send(self.sent[which % len(self.sent)])
            case ("foreign checkpoint",):
                self.model = inject_fence(self.model, GARBAGE)
                await self.wire.publish_acked(self.subjects.checkpoint(0), GARBAGE.encode())
                self.copy = copy_one(self.copy, Stored(self.model.last, GARBAGE))
            case ("foreign record", int() as entity):
                self.model = inject_record(self.model, entity)
                await self.wire.publish_acked(self.subject(entity), body(FOREIGN))
                self.copy = copy_one(self.copy, Record(entity, FOREIGN))
            case ("abandoned batch", int() as entity):
                self.wire.send(
                    batch_frames(f"lost{next(self.ranks)}", [Message(self.subject(entity), b"lost")], 10_000)
                )
            case ("incomplete batch", int() as entity):
                headers = {
                    "Nats-Batch-Id": f"gap{next(self.ranks)}",
                    "Nats-Batch-Sequence": "2",
                    "Nats-Batch-Commit": "1",
                }
                with pytest.raises(ApiFailed, match="incomplete"):
                    await self.wire.publish_acked(self.subject(entity), b"lost", headers)
            case ("event" | "removed event" | "asked", int() as number):
                await self.events(str(operation[0]), number)
            case ("purge", bool() as bounded):
                await self.send(Request(1, "purge", 0, 0, bound=self.model.expected if bounded else 0))

    async def events(self, what: str, number: int) -> None:
        """Do something with EVENTS, and note what the server says."""
        stream, subject = self.layout.events, f"{self.layout.prefix}.events.c{number % 2}.node.ready.p.n{number}"
        if what == "event":
            ack = await self.wire.publish_acked(subject, b"%d" % number, {"Nats-Msg-Id": str(number)})
            self.answers.append((ack.seq, ack.duplicate))
        elif what == "removed event":
            self.answers.append(await delete(self.wire, stream, number))
        else:
            kept = self.subjects.stored(0)
            for body in ({"seq": number}, {"last_by_subj": kept}, {"seq": number, "next_by_subj": kept}):
                found = await message_from_leader(self.wire, stream, body)
                self.answers.append(found and (found.subject, found.sequence, found.data, found.block))
            reply = await direct(self.wire, stream, {"last_by_subj": kept})
            self.answers.append(reply and (reply.data, [*reply.headers][:-1]))
            state = (await self.wire.api(f"STREAM.INFO.{stream}"))["state"]
            self.answers.append([state[name] for name in ("messages", "first_seq", "last_seq")])

    async def send(self, request: Request) -> None:
        """The same request to both: the answers agree, and so does the last sequence."""
        self.sent.append(request)
        self.model, seq = store(self.model, request)
        try:
            found: int | None = await self.really(request)
        except Fenced:
            found = None
        assert found == seq, request
        if seq is not None and request.form != "purge":
            for entry in entries(request, seq):
                self.copy = copy_one(self.copy, entry)

    async def really(self, request: Request) -> int:
        """Send the request as `engine.worker` does."""
        if request.form == "purge":
            wanted = {"filter": self.subjects.plan(0, "*")} | ({"seq": request.bound} if request.bound else {})
            await self.wire.api(f"STREAM.PURGE.{self.layout.log}", wanted)
            return 0
        fence, bodies = (
            self.subjects.checkpoint(0),
            [Message(self.subject(one.entity), body(one.rank)) for one in request.records],
        )
        headers = {EXPECTED: str(request.expected)}
        if request.checkpoint is None:
            headers[f"{EXPECTED}-Subject"] = fence
            return (await self.wire.publish_acked(bodies[0].subject, bodies[0].body, headers)).seq
        headers["Nats-Rollup"] = "sub"
        if request.plan:
            bodies.append(Message(self.subjects.plan(0, 0), b"plan %d" % request.plan))
        text = str(request.checkpoint.name).encode()
        if not bodies:
            return (await self.wire.publish_acked(fence, text, headers)).seq
        batch = f"b{next(self.ranks)}"
        size = str(len(bodies) + 1)
        headers |= {"Nats-Batch-Id": batch, "Nats-Batch-Sequence": size, "Nats-Batch-Commit": "1"}
        reply = await self.wire.request(fence, text, headers, ahead=batch_frames(batch, bodies, 10_000))
        return read_ack(fence, reply.data).seq

    async def compare(self) -> None:
        """Both hold the same: the fence, the records in order, the plan, and STATE once it is copied."""
        info = await self.wire.api(f"STREAM.INFO.{self.layout.log}")
        assert info["state"]["last_seq"] == self.model.last
        fence = await stored(self.wire, self.layout.log, [self.subjects.checkpoint(0)])
        assert [(m.sequence, m.data) for m in fence] == [(m.seq, _text(m.payload)) for m in self.model.fence]
        records = await stored(self.wire, self.layout.log, [f"{self.layout.prefix}.log.>"])
        assert [(m.subject, m.data) for m in records] == [
            (self.subject(one.entity), body(one.rank)) for one in self.model.records
        ]
        plan = await stored(self.wire, self.layout.log, [f"{self.layout.prefix}.plan.>"])
        assert [m.data for m in plan][-1:] == ([b"plan %d" % self.model.plan] if self.model.plan else [])
        wanted = {self.subjects.state(0, "node", f"c{entity}"): body(rank) for entity, rank in self.copy.entities}
        if self.copy.slot is not None:
            wanted[self.subjects.state_checkpoint(0)] = _text(self.copy.slot)
        async with asyncio.timeout(LIMIT):
            while {m.subject: m.data for m in await stored(self.wire, self.layout.state, [])} != wanted:
                await asyncio.sleep(0.02)


def _text(payload: Checkpoint | str) -> bytes:
    return payload.encode() if isinstance(payload, str) else str(payload.name).encode()


Held = list[tuple[str, int, bytes, list[str]]]
"""The messages of a stream: subject, sequence, body, and the lines of the headers that do not name a moment."""


async def held(wire: Wire, stream: str) -> Held:
    """What a stream holds."""
    found = await stored(wire, stream, [])
    return [(one.subject, one.sequence, one.data, [*_lines(one.block)]) for one in found]


def _lines(block: bytes | None) -> Iterator[str]:
    """The lines of headers, without the identity of the stream that a copy comes from."""
    for line in (block or b"").decode().splitlines():
        yield line.rpartition(" ")[0] if line.startswith("Nats-Stream-Source") else line


async def agree(chosen: Settings, operations: Sequence[Operation]) -> tuple[list[object], list[Held]]:
    """Compare the model with a server; returns what that said and holds, which the model does not know."""
    async with Wire.open(chosen, name="model") as wire:
        layout = await provision(wire, chosen)
        both = Both(wire, layout)
        try:
            for operation in operations:
                await both.do(operation)
            await both.compare()
            events, log, state = [await held(wire, one) for one in (layout.events, layout.log, layout.state)]
            # Which of several equal messages of LOG STATE has copied now is a matter of speed.
            names = [[line.partition(":")[0] for line in lines] for *_, lines in state]
            copies = [(subject, 0, data, name) for (subject, _, data, _), name in zip(state, names, strict=True)]
            return both.answers, [events, log, sorted(copies)]
        finally:
            for name in (layout.state, layout.events, layout.log, layout.lease):
                await wire.api(f"STREAM.DELETE.{name}")


def all_agree(url: str, operations: Sequence[Operation]) -> None:
    """The model agrees with a real server and with the virtual one, and these two with each other."""
    chosen = Settings(nats=(url,), prefix=f"model{next(_serial)}", partitions=1, storage="memory")
    real = asyncio.run(agree(chosen, operations))
    plant = Plant(World(1), (), 0)
    with running(plant):
        process = plant.world.process("model")
        virtual = plant.world.complete(process, agree(replace(chosen, nats=("nats://hub",)), operations))
    assert virtual[0] == real[0]
    for ours, theirs in zip(virtual[1], real[1], strict=True):
        differ = [(one, other) for one, other in itertools.zip_longest(ours, theirs) if one != other]
        assert not differ, "\n".join(f"\nvirtual {one}\nreal    {other}" for one, other in differ)


PLAN: list[Operation] = [("commit", [0], "right", True)]


EVENTS: list[Operation] = [("event", number) for number in range(4)]


@given(OPERATIONS)
@example([*PLAN, ("purge", True)])
@example([*PLAN, ("purge", True), *PLAN, ("repeat", 1)])
@example([*EVENTS, ("removed event", 2), ("event", 2), *EVENTS, ("asked", 1), ("asked", 3)])
@examples(20)
def test_the_model_agrees_with_the_server(server: EmbeddedServer, operations: Sequence[Operation]) -> None:
    all_agree(server.url, operations)


@pytest.mark.slow
@given(OPERATIONS)
@settings(max_examples=scaled(3_000, 50), derandomize=False)
def test_the_model_agrees_with_the_server_for_long(server: EmbeddedServer, operations: Sequence[Operation]) -> None:
    all_agree(server.url, operations)
