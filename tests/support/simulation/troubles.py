"""What befalls an installation in a simulation, by the dice of its world.

Belongs here: kills, freezes, cuts, silence, crashes of servers, operators who change edges, and the calm that follows.
Does not: what must hold afterwards (`judge`).
"""

import asyncio
import re
from collections.abc import Callable
from contextlib import suppress

from phaseline.engine.nats.streams import layout_of
from phaseline.engine.nats.wire import Wire
from phaseline.engine.worker.sites import adding, edge_streams
from phaseline.engine.worker.sites.edge_names import EdgeNames
from phaseline.schemas.errors import PhaselineError
from phaseline.schemas.subjects import partition_of
from tests.support.injections import INJECTIONS
from tests.support.simulation import tables
from tests.support.simulation.connection import Frame
from tests.support.simulation.plant import PARTITIONS, TREES, WINDOW, Plant
from tests.support.simulation.world import Process

MOST = 4
"""The most workers at a time."""
KILLS = 3
"""The most workers that a schedule kills: an event on which three of them ended would be given up."""


class Troubles:
    """The troubles of one schedule."""

    def __init__(self, plant: Plant, count: int, seconds: float, only: tuple[str, ...] = ()) -> None:
        """seconds: within which they begin. only: the names of those that may happen; all that can if left out."""
        self._plant, self._world, self._dice = plant, plant.world, plant.world.dice
        self._kills, self._is_over, self._is_archiving = 0, False, False
        everywhere: tuple[Callable[[], None], ...] = (
            self.worker_dies, self.worker_freezes, self.worker_comes, self.worker_leaves, self.cut, self.stall,
            self.weather, self.answers_lost, self.copies_late, self.hub_dies, self.injected,
            self.tables_changed, self.archived,
            *([self.replicas_lag, self.leader_elected] if plant.hub.is_clustered else []),
        )  # fmt: skip
        at_edges: tuple[Callable[[], None], ...] = (
            self.uplink_cut,
            self.edge_dies,
            self.edge_loses_power,
            self.hub_dies_in_a_cut,
            self.taken_again,
            self.added_again,
        )
        kinds = everywhere + at_edges * 2 if plant.edges else everywhere
        if only:
            kinds = tuple(one for one in kinds if getattr(one, "__name__", "") in only)
        for _ in range(count):
            self._later(self._dice.uniform(0.0, seconds), self._dice.choice(kinds))

    def _later(self, seconds: float, call: Callable[..., object], *args: object) -> None:
        """Call something then, unless it is calm by then."""
        self._world.later(seconds, lambda: self._is_over or call(*args))

    def worker_dies(self) -> None:
        """A worker is killed; another one starts, soon or later."""
        if self._plant.workers and self._kills < KILLS:
            self._kills += 1
            one = self._dice.choice(self._plant.workers)
            self._world.tell(one.name, "is killed")
            self._plant.kill_worker(one)
            self._later(self._dice.uniform(0.0, 3.0), self._plant.start_worker)

    def worker_comes(self) -> None:
        """Another worker starts, to which partitions are handed over."""
        if len(self._plant.workers) < MOST:
            self._plant.start_worker()

    def worker_leaves(self) -> None:
        """A worker is told to stop, and hands its partitions over. Another one starts later."""
        if self._plant.workers:
            one = self._dice.choice(self._plant.workers)
            self._world.tell(one.name, "is told to stop")
            self._plant.stop_worker(one)
            self._later(self._dice.uniform(0.0, 2.0), self._plant.start_worker)

    def worker_freezes(self) -> None:
        """A worker runs nothing for a while, then goes on as if nothing had happened."""
        if self._plant.workers:
            one, seconds = self._dice.choice(self._plant.workers), self._dice.choice((0.3, 3.0, 8.0))
            self._world.tell(one.name, "freezes for", seconds)
            one.pause(seconds)

    def cut(self) -> None:
        """A connection ends; what was under way is lost. The client may notice late."""
        if sessions := self._dice.choice(self._plant.servers).sessions:
            one = self._dice.choice(sessions)
            self._world.tell("the connection of", one.client.process.name, "is cut")
            one.cut(self._dice.choice((0.0, 0.0, 2.0)))

    def stall(self) -> None:
        """Nothing comes through a connection for a while; then all of it does."""
        if sessions := self._dice.choice(self._plant.servers).sessions:
            one = self._dice.choice(sessions)
            seconds = self._dice.uniform(0.5, 6.0)
            self._world.tell("the connection of", one.client.process.name, "stalls for", seconds)
            one.blocked_until = self._world.now + seconds

    def weather(self) -> None:
        """Requests and answers are lost, doubled and late for a while."""
        network = self._dice.choice(self._plant.servers).network
        network.lost, network.doubled, network.slow = (self._dice.choice((0.0, 0.05, 0.3)) for _ in range(3))
        network.late = self._dice.choice((0.1, 1.5, 3.0))
        self._world.tell("weather:", network.lost, network.doubled, network.slow)
        self._later(self._dice.uniform(0.5, 4.0), self.clear_up)

    def answers_lost(self) -> None:
        """A server does what it is asked, and its answers are lost for a while."""
        network = self._dice.choice(self._plant.servers).network
        network.unanswered = self._dice.choice((0.1, 0.5))
        self._world.tell("answers are lost:", network.unanswered)
        self._later(self._dice.uniform(0.5, 4.0), self.clear_up)

    def copies_late(self) -> None:
        """What the hub copies from one of its streams to another one lags for a while."""
        self._plant.hub.network.busy = 0.7
        self._world.tell("copies are late")
        self._later(self._dice.uniform(1.0, 4.0), self.clear_up)

    def replicas_lag(self) -> None:
        """The replicas of the hub's streams lag behind their leaders for a while."""
        self._plant.hub.network.lag = lag = self._dice.choice((0.3, 2.0, 5.0))
        self._world.tell("replicas lag by", lag)
        self._later(self._dice.uniform(1.0, 6.0), self.clear_up)

    def leader_elected(self) -> None:
        """The streams of the hub have another leader. The former one answers as well until it learns that."""
        self._world.tell("another leader is elected")
        self._plant.hub.network.elected = self._world.time_ns()
        self._later(self._dice.uniform(1.0, 5.0), self._former_leader_knows)

    def _former_leader_knows(self) -> None:
        self._plant.hub.network.elected = 0

    def tables_changed(self) -> None:
        """Workers with the former tables are replaced one after the other. One of these may start meanwhile."""
        if not self._plant.has_changed:
            self._world.tell("the tables change")
            for one in self._plant.change_tables():
                self._later(self._dice.uniform(0.0, 3.0), self._replaced, one)
            if self._dice.random() < 0.5:
                self._later(self._dice.uniform(0.0, 4.0), self._plant.start_worker, tables.former())

    def _replaced(self, worker: Process) -> None:
        if worker in self._plant.workers:
            self._plant.stop_worker(worker)
            self._plant.start_worker()

    def archived(self) -> None:
        """An operator archives, some times, and may break a run off."""
        if "pl-LEASE" in self._plant.hub.streams and not self._is_archiving:
            self._is_archiving = True
            process = self._world.process("archiver")
            task = process.start(self._archive(self._dice.choice((1, 3))))
            if self._dice.random() < 0.4:
                self._world.later(self._dice.uniform(0.0, 0.3), process.call, task.cancel)

    async def _archive(self, count: int) -> None:
        for _ in range(count):
            with suppress(PhaselineError):
                await self._plant.operated(self._plant.archived)
            await asyncio.sleep(self._dice.uniform(0.1, 1.0))

    def injected(self) -> None:
        """Somebody lets the server store its answers among the records, again and again."""
        if not self._plant.hub.is_up or "pl-LEASE" not in self._plant.hub.streams:
            return
        self._plant.is_attacked = True
        tree, name = self._dice.choice(TREES), self._dice.choice((*INJECTIONS, *["acknowledgement as timer"] * 10))
        self._world.tell("injected:", name)
        chosen = INJECTIONS[name](layout_of(self._plant.settings, PARTITIONS))
        partition = partition_of(tree, PARTITIONS)
        for node in self._dice.sample(("n0", "n1", "n2"), self._dice.choice((1, 3))):
            subject, body, reply = (
                _about(tree, partition, node, part) for part in (chosen.subject, chosen.body.decode(), chosen.reply)
            )
            self._plant.hub.handle(Frame(subject, reply, body.encode(), None))

    def clear_up(self) -> None:
        """Nothing is lost any more."""
        for one in self._plant.servers:
            one.network.calm()

    def hub_dies(self) -> None:
        """The server of the hub is killed and started again."""
        if self._plant.hub.is_up:
            self._plant.hub.crash(self._notice)
            self._later(self._dice.choice((0.1, 1.0, 2.5 * WINDOW)), self._plant.hub.start)

    def _notice(self) -> float:
        return self._dice.uniform(0.0, 0.05)

    def edge_dies(self) -> None:
        """The server of an edge is killed and started again."""
        one = self._plant.sites[self._dice.choice(self._plant.edges)]
        if one.is_up:
            one.crash(self._notice)
            self._later(self._dice.uniform(0.1, 2.0), one.start)

    def edge_loses_power(self) -> None:
        """The machine of an edge is off for a while. Its server has on its disk what it writes there."""
        one = self._plant.sites[self._dice.choice(self._plant.edges)]
        if one.is_up:
            one.lose_power(self._notice)
            self._later(self._dice.uniform(0.1, 2.0), one.start)

    def uplink_cut(self, seconds: float = 0.0) -> None:
        """An edge loses its uplink, maybe for longer than message ids are known."""
        name = self._dice.choice(self._plant.edges)
        uplink = self._plant.uplinks[name]
        self._world.tell("the uplink of", name, "is cut")
        uplink.is_up = False
        self._later(seconds or self._dice.choice((0.5, 1.2 * WINDOW)), self._join, name)

    def _join(self, name: str) -> None:
        self._world.tell("the uplink of", name, "is back")
        self._plant.uplinks[name].is_up = True

    def hub_dies_in_a_cut(self) -> None:
        """The hub is killed after it has decided all that came, and before the edge was told."""
        self.uplink_cut(2 * WINDOW)
        self._later(1.5 * WINDOW, self.hub_dies)

    def taken_again(self) -> None:
        """EVENTS begins anew with what an inlet holds: an operator has changed its source."""
        self._operated(self._dice.choice(self._plant.edges), self._take_again)

    async def _take_again(self, wire: Wire, name: str) -> None:
        names = EdgeNames("pl", name)
        events = (await wire.api("STREAM.INFO.pl-EVENTS"))["config"]
        others = [one for one in events["sources"] if one["name"] != names.inlet]
        if len(others) == len(events["sources"]):
            return
        await wire.api("STREAM.UPDATE.pl-EVENTS", {**events, "sources": others})
        other = edge_streams.inlet_source(names, (name, "c9"), PARTITIONS, None)
        await wire.api("STREAM.UPDATE.pl-EVENTS", {**events, "sources": [*others, other]})

    def added_again(self) -> None:
        """An operator removes an edge and adds it again."""
        self._operated(self._dice.choice(self._plant.edges), self._add_again)

    async def _add_again(self, wire: Wire, name: str) -> None:
        await adding.remove(wire, self._plant.settings, name)
        await self._plant.add(name, wire)

    def _operated(self, name: str, do: Callable[[Wire, str], object]) -> None:
        """An operator does something with an edge. What fails is done again once it is calm."""
        if self._plant.operator is None or any(not one.done() for one in self._plant.operator.tasks):
            return
        self._world.tell("an operator:", do.__name__, name)

        async def attempt(wire: Wire) -> None:
            try:
                await do(wire, name)  # type: ignore[misc]
            except PhaselineError as error:
                self._world.tell("the operator fails:", error)

        self._plant.operator.start(self._plant.operated(attempt))

    def end(self) -> None:
        """Calm: everything runs and is connected."""
        self._world.tell("it is calm")
        self._is_over = True
        self.clear_up()
        self._former_leader_knows()
        for server in self._plant.servers:
            if not server.is_up:
                server.start()
            for session in server.sessions:
                session.blocked_until = 0.0
        for name in self._plant.edges:
            self._plant.uplinks[name].is_up = True
        for one in self._plant.world.processes:
            one.go_on()
        if self._plant.is_attacked or self._plant.has_changed:
            self._plant.replace_workers()
        elif not self._plant.workers:
            self._plant.start_worker()


def _about(tree: str, partition: int, node: str, text: str) -> str:
    """What an injection names, of a tree and its partition."""
    return re.sub(r"\.0(?=[.\"]|$)", f".{partition}", text.replace("c0", tree).replace("n0", node))
