"""All interleavings of workers, network, crashes and injections within bounds, and what must hold in each state.

Belongs here: the state of the whole, its steps, the invariants, the search, the printed trace. Does not: the steps of a
worker (`worker`) or of the server (`server`).
"""

from collections import deque
from collections.abc import Iterator
from typing import NamedTuple

from tests.support.commit_model import worker as steps
from tests.support.commit_model.server import (
    FOREIGN,
    GARBAGE,
    NOT_COPIED,
    Checkpoint,
    Copy,
    Entry,
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
from tests.support.commit_model.worker import Protocol, Stalled, Story, Worker


class Bounds(NamedTuple):
    """How often each trouble may happen in one run. `workers`: how many run at once."""

    workers: int = 2
    lives: int = 3
    crashes: int = 1
    timeouts: int = 2
    garbage: int = 0
    copies: int = 0
    records: int = 0


class World(NamedTuple):
    """One state of everything. left: what the bounds still allow. former: an old checkpoint, which may be injected."""

    server: Server
    copy: Copy
    pending: tuple[Entry, ...]
    workers: tuple[Worker, ...]
    network: frozenset[Request]
    left: Bounds
    lives: int = 0
    owner: int = 0
    newest: Checkpoint = steps.NOTHING
    former: Checkpoint = steps.NOTHING


class Found(NamedTuple):
    """The end of a search: the counterexample, if any, the steps to it, and the numbers of states."""

    states: int
    complete: int
    problem: str
    trace: tuple[str, ...]

    def __str__(self) -> str:
        lines = [f"{number:3}. {step}" for number, step in enumerate(self.trace, 1)]
        return "\n".join([*lines, f"  => {self.problem or 'no problem'}, {self.states:,} states"])


class Violation(Exception):
    """An invariant does not hold."""


class TooMany(Exception):
    """The search has more states than the test allows."""


class Model(NamedTuple):
    """A protocol, what it has to decide, and the troubles that it meets."""

    story: Story
    bounds: Bounds
    protocol: Protocol = Protocol()

    def start(self) -> World:
        """Nothing is stored and nobody runs."""
        return World(Server(), Copy(), (), (), frozenset(), self.bounds)

    def steps(self, world: World) -> Iterator[tuple[str, World]]:
        """Every step that can happen next. A step raises `Violation` or `Stalled` while it is made."""
        yield from self._server_steps(world)
        for index, one in enumerate(world.workers):
            yield from self._worker_steps(world, index, one)
        yield from self._troubles(world)

    # ---- the server and the network

    def _server_steps(self, world: World) -> Iterator[tuple[str, World]]:
        for request in world.network:
            after, seq = self._store(world, request)
            text = f"the server {'refuses' if seq is None else 'stores'} {_said(request)}"
            index = _waiting(after.workers, request)
            if index is None:
                yield f"{text}, late", after
                continue
            yield text, self._answer(after, index, seq)
            if world.left.timeouts:
                yield f"{text}; the answer is lost", after
        if world.pending and any(one.phase == "load" for one in world.workers):
            entry, *rest = world.pending
            yield f"STATE copies {_entry(entry)}", world._replace(copy=copy_one(world.copy, entry), pending=tuple(rest))

    def _store(self, world: World, request: Request) -> tuple[World, int | None]:
        network = world.network - {request}
        server, seq = store(world.server, request, fenced=self.protocol.fence)
        if seq is None:
            return world._replace(network=network), None
        world = self._check(world, request, server)
        pending = world.pending + (() if request.form == "purge" else entries(request, seq))
        return world._replace(server=server, network=network, pending=pending), seq

    def _check(self, world: World, request: Request, server: Server) -> World:
        """The invariants of one stored request."""
        if request.form == "purge":
            return world
        if request.form != "claim" and request.life != world.owner:
            raise Violation(f"worker {request.life} commits after worker {world.owner} took over")
        ours = [one.rank for one in server.records if one.rank != FOREIGN]
        if len(set(ours)) < len(ours):
            raise Violation("an event is committed twice")
        if ours != list(range(1, len(ours) + 1)):
            raise Violation("records are out of order, or one is lost")
        if request.checkpoint is None:
            return world
        found = request.checkpoint
        if len(ours) < self.story.before(found.position + 1):
            raise Violation(f"the checkpoint passes event {found.position}, whose records are lost")
        if found.position < world.newest.position:
            raise Violation("the position of the checkpoint falls")
        if self.protocol.epoch and found.epoch < world.newest.epoch + (request.form == "claim"):
            raise Violation("the epoch does not rise")
        owner = request.life if request.form == "claim" else world.owner
        former = world.newest if world.left.copies else steps.NOTHING
        return world._replace(owner=owner, newest=found, former=former)

    def _answer(self, world: World, index: int, seq: int | None) -> World:
        one = world.workers[index]
        if seq is None:
            return _put(world, index, one._replace(phase="refused"))
        return self._sent(world, index, steps.answered(one, seq, self.story, self.protocol))

    def _sent(self, world: World, index: int, after: Worker | None) -> World:
        """The world once a worker went on and sent its next request, if it has one."""
        if after is None:
            return world._replace(workers=world.workers[:index] + world.workers[index + 1 :])
        world = _put(world, index, after)
        if after.phase == "wait" and after.request is not None:
            world = world._replace(network=world.network | {after.request})
        return world

    # ---- workers

    def _worker_steps(self, world: World, index: int, one: Worker) -> Iterator[tuple[str, World]]:
        who, left = f"worker {one.life}", world.left
        if one.phase == "wait" and left.timeouts:
            after = self._sent(world, index, steps.timed_out(one, self.story, self.protocol))
            yield f"{who} hears nothing", after._replace(left=left._replace(timeouts=left.timeouts - 1))
        elif one.phase == "refused":
            found = steps.refused(one, world.server, self.story, self.protocol)
            yield f"{who} reads the fence and {'goes on' if found else 'gives up'}", self._sent(world, index, found)
        elif one.phase == "look":
            after_look = steps.look(one, world.server, self.story, self.protocol)
            yield f"{who} looks for its record", self._sent(world, index, after_look)
        elif one.phase == "load":
            if steps.may_load(one, world.copy, self.protocol):
                loaded = steps.loaded(one, world.copy, world.server, self.story, self.protocol)
                outcome = f"begins after event {loaded.position}" if loaded else "gives up"
                yield f"{who} loads STATE and {outcome}", self._sent(world, index, loaded)
            elif not world.pending:
                raise Stalled(f"{who} waits for STATE for ever")
        if left.crashes:
            after = self._sent(world, index, None)
            yield f"{who} crashes", after._replace(left=left._replace(crashes=left.crashes - 1))

    # ---- what comes from outside

    def _troubles(self, world: World) -> Iterator[tuple[str, World]]:
        left = world.left
        if left.lives and len(world.workers) < left.workers:
            life = world.lives + 1
            one = steps.begin(world.server, life, self.protocol)
            after = world._replace(left=left._replace(lives=left.lives - 1), lives=life, workers=(*world.workers, one))
            yield f"worker {life} takes over: {_said(one.request)}", self._sent(after, len(world.workers), one)
        if left.garbage and world.owner:
            after = world._replace(left=left._replace(garbage=left.garbage - 1))
            yield "a foreign message lands on the fence", self._inject(after, GARBAGE)
        if left.copies and world.former.epoch:
            after = world._replace(left=left._replace(copies=left.copies - 1))
            yield f"a copy of {_shown(world.former)} lands on the fence", self._inject(after, world.former)
        if left.records and world.server.records:
            for entity in sorted({one.entity for one in world.server.records} - {NOT_COPIED}):
                server = inject_record(world.server, entity)
                pending = (*world.pending, Record(entity, FOREIGN))
                after = world._replace(server=server, pending=pending, left=left._replace(records=left.records - 1))
                yield f"a foreign message lands on the subject of entity {entity}", after

    def _inject(self, world: World, payload: Checkpoint | str) -> World:
        server = inject_fence(world.server, payload)
        return world._replace(server=server, pending=(*world.pending, Stored(server.last, payload)))

    # ---- the search

    def normal(self, world: World) -> World:
        """The world without what cannot matter any more: late requests that the fence will refuse."""
        if not self.protocol.fence:
            return world
        place = world.server.expected
        kept = frozenset(
            one
            for one in world.network
            if one.form == "purge" or one.expected >= place or _waiting(world.workers, one) is not None
        )
        return world._replace(network=kept, workers=tuple(sorted(world.workers, key=lambda one: one.life)))

    def explore(self, limit: int) -> Found:
        """Visit every state within the bounds, the nearest first, until an invariant does not hold."""
        first = self.start()
        parents: dict[World, tuple[World, str] | None] = {first: None}
        waiting, complete = deque([first]), 0
        total = self.story.before(len(self.story.shapes) + 1)
        while waiting:
            world, step = waiting.popleft(), "(the next step)"
            ours = sum(1 for one in world.server.records if one.rank != FOREIGN)
            complete += ours == total
            try:
                for step, following in self.steps(world):
                    after, known = self.normal(following), len(parents)
                    parents.setdefault(after, (world, step))  # hashing a world is most of the search: once
                    if len(parents) > known:
                        waiting.append(after)
            except (Violation, Stalled) as problem:
                return Found(len(parents), complete, str(problem), (*_trace(parents, world), "the step that breaks it"))
            if len(parents) > limit:
                raise TooMany(f"more than {limit:,} states")
        return Found(len(parents), complete, "", ())


def _trace(parents: dict[World, tuple[World, str] | None], world: World) -> tuple[str, ...]:
    found: list[str] = []
    at: World = world
    while (before := parents[at]) is not None:
        at, step = before
        found.append(step)
    return tuple(reversed(found))


def _put(world: World, index: int, one: Worker) -> World:
    return world._replace(workers=(*world.workers[:index], one, *world.workers[index + 1 :]))


def _waiting(workers: tuple[Worker, ...], request: Request) -> int | None:
    """The worker that waits for the answer to this very request."""
    for index, one in enumerate(workers):
        if one.phase == "wait" and one.request == request:
            return index
    return None


def _shown(found: Checkpoint) -> str:
    plan = "" if found.plan is None else f", plan of {found.plan.cause} done {found.plan.done}"
    return f"the checkpoint (epoch {found.epoch}, position {found.position}{plan})"


def _entry(entry: Entry) -> str:
    if isinstance(entry, Record):
        return "a foreign record" if entry.rank == FOREIGN else f"record {entry.rank}"
    return _shown(entry.payload) if isinstance(entry.payload, Checkpoint) else "a foreign message of the fence"


def _said(request: Request | None) -> str:
    assert request is not None
    records = "".join(f" record {one.rank}" for one in request.records)
    checkpoint = "" if request.checkpoint is None else f" with {_shown(request.checkpoint)}"
    under = "" if request.form == "purge" else f", expecting {request.expected}"
    return f"the {request.form} of worker {request.life}:{records}{checkpoint}{under}"
