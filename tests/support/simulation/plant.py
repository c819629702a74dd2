"""An installation in a simulation: a hub, edges, workers that are the real ones, and agents that publish.

Belongs here: starting all of it, what agents have been told is stored. Does not: what befalls it (`troubles`).
"""

import asyncio
import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import cache, partial
from typing import Any
from unittest import mock

from phaseline.engine import logs
from phaseline.engine.log import checkpoint, foreign
from phaseline.engine.log.checkpoint import Checkpoint
from phaseline.engine.nats import wire as wire_module
from phaseline.engine.nats.streams import layout_of, provision
from phaseline.engine.nats.wire import Wire
from phaseline.engine.settings import PACING, Settings
from phaseline.engine.worker.deciding import DecidingThread, Pace
from phaseline.engine.worker.sites import adding, edge_server
from phaseline.engine.worker.sites.adding import StoreOptions
from phaseline.engine.worker.sites.edge_names import EdgeNames
from phaseline.engine.worker.worker import Worker
from phaseline.machines.compiler.kinds import Kinds
from phaseline.schemas.errors import PhaselineError, SetupError
from phaseline.schemas.records import SECOND
from phaseline.schemas.subjects import Subjects
from tests.support.simulation import tables
from tests.support.simulation.archiving import VirtualArchive
from tests.support.simulation.connection import VirtualConnection
from tests.support.simulation.server import Uplink, VirtualServer
from tests.support.simulation.world import Process, World

PARTITIONS, TREES = 2, ("c1", "c2")
WINDOW, STORE_WINDOW = 2.0, 600.0
"""Seconds in which message ids are known: by EVENTS where all agents are at edges, and otherwise.

An agent that tries again publishes twice if its own server knows ids for less time than it tries. So only what crosses
an uplink meets a short window.
"""
LEASE, PATIENCE = 2.0, 1.0
AGAIN = 0.05
"""The share of schedules in which edges are added again though nobody has touched them."""
CLUSTERS = 0.3
"""The share of schedules in which the hub is a cluster of three, whose replicas may lag."""
SOON = 5 * SECOND
"""Timers that are due within these ns are waited for. Those of tables take a quarter of an hour, or more."""


def event(tree: str, number: int, choice: int) -> tuple[str, dict[str, Any]]:
    """An event of a tree: its subject, and its envelope. Most make one transition, some make several, a rejection or a
    timer."""
    data: dict[str, Any] = {}
    kind, trigger, rest = "node", ("ready", "not_ready")[number % 2], [tree, "p", f"n{choice % 3}"]
    if number < 3:
        trigger, rest, data = "adopt", [tree, "p", f"n{number}"], {"phase": "Running"}
    elif choice % 5 == 4:
        kind, trigger, rest = "cluster", ("overdue", "renewed", "started")[choice % 3], [tree]
    elif choice % 5 == 3:
        trigger, data = "update", {"deadline": (0.5, 2.5)[choice % 2]}
    elif choice % 5 == 2:
        trigger = ("updated", "rest", "woken", "rest")[choice % 4]
    about = {"type": f"{kind}.{trigger}", "subject": "/".join([kind, *rest]), "data": data}
    envelope = {"specversion": "1.0", "id": f"{tree}-{number}", "source": f"/agent/{tree}", **about}
    return ".".join(["pl.events", tree, kind, trigger, *rest[1:]]), envelope


class Agent:
    """Publishes the events of a tree one after the other, each until it is stored."""

    def __init__(self, world: World, tree: str, address: str, most: int, seconds: float) -> None:
        """most: how many. seconds: in which it publishes them, if nothing keeps it from that."""
        self.tree, self.most, self.stored = tree, most, 0
        self.choices = [world.dice.randrange(1 << 16) for _ in range(most)]
        self._pause = world.dice.choice((0.2, 0.9)) * seconds / (most or 1)
        self._settings, self._dice = Settings(nats=(address,), prefix="pl", request_timeout=PATIENCE), world.dice

    async def run(self) -> None:
        """Publish."""
        async with Wire.open(self._settings, patient=True) as wire:
            while self.stored < self.most:
                subject, body = event(self.tree, self.stored, self.choices[self.stored])
                try:
                    await wire.publish_acked(subject, json.dumps(body).encode(), {"Nats-Msg-Id": body["id"]})
                except PhaselineError:
                    await asyncio.sleep(0.05)
                else:
                    self.stored += 1
                    await asyncio.sleep(self._dice.uniform(0.0, 2 * self._pause))


def _configuration(names: EdgeNames) -> str:
    """What `phaseline admin sites config` prints for the server of an edge."""
    plan = edge_server.users_at_edge("pl", (names.name,))
    return edge_server.edge_server(edge_server.EdgeServer(names, ("nats-leaf://hub",)), plan, lambda user: f"U{user}")


class Plant:
    """The installation of one world."""

    def __init__(self, world: World, edges: tuple[str, ...], events: int, seconds: float = 1.0) -> None:
        """edges: the trees that have one. events: how many each agent publishes, in so many seconds."""
        self.world, self.edges = world, edges
        # In half of the worlds few states are enough to be read together.
        self.pacing = PACING._replace(loads_alone=1, small_state=0) if world.seed % 2 else PACING
        self.hub = VirtualServer(world, "hub")
        self.hub.is_clustered = world.dice.random() < CLUSTERS
        self.sites: dict[str, VirtualServer] = {}
        self.uplinks: dict[str, Uplink] = {}
        for name in edges:
            names = EdgeNames("pl", name)
            self.sites[name], self.uplinks[name] = VirtualServer(world, name, names.domain), Uplink()
            self.sites[name].syncs_always = "sync_interval: always" in _configuration(names)
            self.hub.uplinks[names.domain] = self.sites[name], self.uplinks[name]
        self.agents = [
            Agent(world, tree, f"nats://{tree if tree in edges else 'hub'}", events, seconds) for tree in TREES
        ]  # fmt: skip
        self.workers: list[Process] = []
        self._stops: dict[Process, asyncio.Event] = {}
        self._count = 0
        self.faults: list[str] = []
        """What went wrong in the code that runs, and must not."""
        self.operator: Process | None = None
        self._untouched = 0
        """How much the operator has done if nobody has touched the edges since they were added."""
        self.archive = VirtualArchive()
        self._tables = tables.former()
        """Those with which workers start."""
        self.is_attacked = False
        """Whether somebody has stored messages among the records."""

    @property
    def settings(self) -> Settings:
        """Those of workers and operators."""
        window = WINDOW if len(self.edges) == len(TREES) else STORE_WINDOW
        return Settings(
            nats=("nats://hub",), prefix="pl", partitions=PARTITIONS, lease=LEASE, request_timeout=PATIENCE,
            dedupe_window=window, accept_tables=self._tables.digest if self.has_changed else "",
        )  # fmt: skip

    @property
    def servers(self) -> list[VirtualServer]:
        """All of them."""
        return [self.hub, *self.sites.values()]

    def start_worker(self, kinds: Kinds | None = None) -> Process:
        """Start another worker. kinds: its tables, if not those that all have now."""
        self._count += 1
        made = self.world.process(f"w{self._count}")
        self.workers.append(made)
        settings = self.settings if kinds is None else replace(self.settings, accept_tables="")
        made.start(self._work(made, kinds or self._tables, settings))
        return made

    async def _work(self, process: Process, kinds: Kinds, settings: Settings) -> None:
        stop = self._stops[process] = asyncio.Event()
        try:
            async with Wire.open(settings, name=process.name, patient=True) as wire:
                await Worker(wire, settings, kinds, process.name, pacing=self.pacing).run(stop)
        except Exception as error:  # noqa: BLE001  # it is judged later
            if self.has_changed and SetupError.tables_differ.made(error):
                self.world.tell(process.name, "has the former tables, and ends")
                if process in self.workers:
                    self.workers.remove(process)
            elif not self.world.is_over:
                self.faults.append(f"{process.name} ended: {error!r}")

    def stop_worker(self, process: Process) -> None:
        """Tell a worker to stop."""
        self.workers.remove(process)
        process.call(self._stop, process)

    def _stop(self, process: Process) -> None:
        self._stops[process].set()

    def replace_workers(self) -> None:
        """Let other workers take over: they set timers again whose schedules foreign messages have replaced."""
        for one in [*self.workers]:
            self.stop_worker(one)
        self.start_worker()

    async def archived(self, wire: Wire) -> None:
        """An operator archives what is finished."""
        problem = await self.archive.run(wire, layout_of(self.settings, PARTITIONS), self._tables)
        self.world.tell("archived", problem or "well")

    @property
    def has_changed(self) -> bool:
        """Whether workers start with other tables than at first."""
        return self._tables is not tables.former()

    def change_tables(self) -> list[Process]:
        """Let workers start with the later tables from now on; those that have the former ones."""
        self._tables = tables.later()
        return [*self.workers]

    def kill_worker(self, process: Process) -> None:
        """Kill a worker."""
        process.kill()
        self.workers.remove(process)

    def is_there(self, layouts: "Layouts") -> None:
        """Let the streams be there, and the edges added."""
        for server in self.servers:
            for config in layouts[server.name]:
                server.api("STREAM.CREATE", [config["name"]], {**config, "sources": []})
            for config in layouts[server.name]:
                if config.get("sources"):
                    server.api("STREAM.UPDATE", [config["name"]], config)
        self.operator = self.world.process("operator")

    def add_edges(self) -> None:
        """Add the edges, as an operator does, or make what an interrupted call has left."""
        operator = self.world.process("operator")
        for name in self.edges:
            added = self.world.complete(operator, self.operated(partial(self.add, name)))
            assert added.connected
        self.operator, self._untouched = operator, len(operator.tasks)

    def finish(self) -> None:
        """Let operators end what they do, and do again what has failed. What nobody touched is seldom added again."""
        if self.operator is not None:
            tasks = self.operator.tasks
            self.world.run(lambda: all(one.done() for one in tasks), 100.0)
            if len(tasks) > self._untouched or self.world.dice.random() < AGAIN:
                self.add_edges()

    async def add(self, name: str, wire: Wire) -> Any:
        """Add an edge, or mend it."""
        return await adding.add(wire, replace(self.settings, dedupe_window=STORE_WINDOW), name, StoreOptions())

    async def operated(self, do: Callable[[Wire], Any]) -> Any:
        """What an operator does."""
        async with Wire.open(self.settings, patient=True) as wire:
            return await do(wire)

    def start_agents(self) -> None:
        """Let them publish."""
        for agent in self.agents:
            self.world.process(f"agent-{agent.tree}").start(agent.run())

    @property
    def is_published(self) -> bool:
        """Whether the agents are done."""
        return all(agent.stored == agent.most for agent in self.agents)

    @property
    def written(self) -> int:
        """How much EVENTS and LOG have ever stored."""
        return sum(self.hub.streams[name].last for name in ("pl-EVENTS", "pl-LOG"))

    @property
    def waits_for(self) -> str:
        """What is still to come until EVENTS has all that was published, and all of it is decided; empty if that is."""
        streams, subjects = self.hub.streams, Subjects("pl")
        if not self.is_published:
            return "agents publish"
        for name in self.edges:
            names = EdgeNames("pl", name)
            if names.store not in self.sites[name].streams or names.inlet not in streams:
                return f"the edge {name} is not there"
        for stream, links in self.hub.links.items():
            if behind := [one.info() for one in links.values() if one.is_behind]:
                return f"{stream} lacks something of {behind}"
        soon = self.world.time_ns() + SOON
        if any(due < soon for _, due in streams["pl-LOG"].schedules.values()):
            return "timers are to come"
        for partition in range(PARTITIONS):
            last = streams["pl-EVENTS"].last_on(subjects.stored(partition))
            found = streams["pl-LOG"].last_own(subjects.checkpoint(partition))
            known = Checkpoint() if found is None else checkpoint.decode(found.data)
            position = known.position
            if self.is_attacked and known.worker not in [one.name for one in self.workers]:
                return f"partition {partition} is not taken over"
            if last is not None and position < last.sequence:
                return f"partition {partition} is at {position} of {last.sequence}"
        return ""

    def logged(self, level: str, event: str, fields: dict[str, Any]) -> None:
        """Take a line that the real code logs."""
        if self.world.is_over:
            return
        self.world.tell(f"[{level}]", event, fields)
        if level == "error" and event not in EXPECTED:
            self.faults.append(f"{event}: {fields}")


Layouts = dict[str, list[dict[str, Any]]]
"""By server, the configurations of its streams."""


@cache
def layout(edges: tuple[str, ...]) -> Layouts:
    """The streams of an installation with these edges, as a worker and an operator make them."""
    plant = Plant(World(0), edges, 0)

    async def made() -> None:
        async with Wire.open(plant.settings) as wire:
            await provision(wire, plant.settings, tables.former().copies.values())

    with running(plant):
        plant.world.complete(plant.world.process("worker"), made())
        plant.add_edges()
        return {one.name: [stream.config for stream in one.streams.values()] for one in plant.servers}


EXPECTED = {"partition_failed", "nats_unreachable"}
"""Errors that are logged where NATS does not answer."""


async def _decided_here(_: DecidingThread, call: Callable[[], Any], __: Pace) -> Any:
    """What `DecidingThread.run` does, without a thread."""
    return call()


@contextmanager
def running(plant: Plant) -> Iterator[None]:
    """A block in which the code of the engine runs in the world of a plant."""

    def log(_: logs.Logger, level: str, event: str, fields: dict[str, Any]) -> None:
        plant.logged(level, event, fields)

    with (
        mock.patch.object(wire_module, "Connection", VirtualConnection),
        mock.patch.object(DecidingThread, "run", _decided_here),
        mock.patch.object(logs.Logger, "_log", log),
        mock.patch.object(foreign, "_reports", foreign._Reports()),  # the minute of one world is not that of another
        plant.world.entered(),
    ):
        try:
            yield
        finally:
            plant.archive.close()
