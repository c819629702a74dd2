"""Edges, exactly once: hub, edges and workers die at any moment, under load, over cuts longer than the window."""

import asyncio
import random
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import nats
import pytest

from phaseline.engine.log.installation import Installation
from phaseline.engine.surfaces.client.client import Client
from phaseline.engine.worker.sites import edge_streams
from phaseline.schemas.errors import PhaselineError
from phaseline.schemas.records import Transition
from tests.support.archives import audit_of_both, leave_window, run_archive, whole_log, with_archive
from tests.support.built_in_kinds import BUILT_IN_KINDS
from tests.support.edge_site import EdgeSite, Site, site
from tests.support.installation import until_decided
from tests.support.patience import wait_for
from tests.support.prove_scale import scaled
from tests.support.raw_checker import check, decode, read
from tests.support.worker_fleet import Fleet, fleet_of

WINDOW = 4.0
"""Seconds in which message ids are known: longer than an edge needs to come back to an agent that tries again."""
TREES = ("c1", "c2")


def event(tree: str, number: int) -> dict[str, Any]:
    """One of the events of a tree, each of which makes one transition of its node: it is ready, then it is not."""
    trigger = ("ready", "not_ready")[number % 2] if number else "adopt"
    about = {"type": f"node.{trigger}", "subject": f"node/{tree}/p/n", "data": {} if number else {"phase": "Running"}}
    return {"specversion": "1.0", "id": f"{tree}-{number}", "source": f"/agent/{tree}", **about}


class Agent:
    """Publishes the events of a tree at its edge, one after the other, each until the edge has it."""

    def __init__(self, edge: EdgeSite) -> None:
        self.edge, self.count, self.ends = edge, 0, False

    async def run(self) -> None:
        while not self.ends:
            try:
                async with Client.open(self.edge.settings(request_timeout=1.0), source="/agent") as client:
                    while not self.ends:
                        await client.publish_many([event(self.edge.names.name, self.count)])
                        self.count += 1
                        await asyncio.sleep(0.02)
            except PhaselineError:
                await asyncio.sleep(0.05)


@asynccontextmanager
async def agents(found: Site) -> AsyncIterator[dict[str, Agent]]:
    """An agent at each edge while the block runs."""
    made = {name: Agent(edge) for name, edge in found.edges.items()}
    running = [asyncio.create_task(agent.run()) for agent in made.values()]
    try:
        yield made
    finally:
        for agent in made.values():
            agent.ends = True
        await asyncio.gather(*running)


class Troubles:
    """What befalls an installation with edges."""

    def __init__(self, found: Site, fleet: Fleet, seed: int) -> None:
        self.found, self.fleet, self.dice = found, fleet, random.Random(seed)
        self.all: tuple[Callable[[], Awaitable[None]], ...] = (
            self.hub_dies, self.edge_dies, self.worker_dies, self.hub_dies_in_a_cut, self.cut,
        )  # fmt: skip

    async def any(self) -> None:
        await self.dice.choice(self.all)()
        await asyncio.sleep(self.dice.uniform(0.0, 3.0))

    async def hub_dies(self) -> None:
        await self.found.hub.kill()
        await asyncio.sleep(self.dice.uniform(0.0, 1.0))
        await self.found.hub.start()

    async def edge_dies(self) -> None:
        edge = self.dice.choice([*self.found.edges.values()])
        await edge.kill()
        await edge.start()

    async def worker_dies(self) -> None:
        await self.fleet.killed()

    async def cut(self) -> None:
        """An edge loses its uplink for longer than the window."""
        edge = self.dice.choice([*self.found.edges.values()])
        await edge.cut_off()
        await asyncio.sleep(WINDOW * self.dice.uniform(1.1, 1.5))
        await edge.join()

    async def hub_dies_in_a_cut(self) -> None:
        """So that the hub has decided all that came, and the edge has not been told."""
        edge = self.dice.choice([*self.found.edges.values()])
        await edge.cut_off()
        await asyncio.sleep(WINDOW * self.dice.uniform(1.1, 1.5))
        await self.hub_dies()
        if self.dice.random() < 0.5:
            await self.fleet.killed()
        await edge.join()


@asynccontextmanager
async def in_trouble(folder: Path, seed: int) -> AsyncIterator[tuple[Site, Fleet, Troubles]]:
    """A hub with edges and workers. The workers are processes."""
    async with (
        site(folder, *TREES, accounts=False, dedupe_window=WINDOW) as found,
        fleet_of(found.wire.settings, 2, folder, seed) as fleet,
    ):
        yield found, fleet, Troubles(found, fleet, seed)


async def numbers_in(found: Site) -> dict[str, list[int]]:
    """By tree, the numbers of the events that EVENTS holds, in order. Read without code of the engine."""
    client = await nats.connect(found.hub.url)
    try:
        bodies = [decode(raw.data) for raw in await read(client, found.layout.events)]
    finally:
        await client.close()
    return by_tree(body["id"] for body in bodies)


def by_tree(names: Iterable[str]) -> dict[str, list[int]]:
    found: dict[str, list[int]] = {}
    for name in names:
        tree, _, number = name.partition("-")
        found.setdefault(tree, []).append(int(number))
    return found


async def all_came(found: Site, made: dict[str, Agent], last: Callable[[], Awaitable[dict[str, list[int]]]]) -> None:
    """Wait until the last event of each tree is decided."""

    async def there() -> bool:
        return {tree: numbers[-1] for tree, numbers in (await last()).items()} == {
            tree: agent.count - 1 for tree, agent in made.items()
        }

    await wait_for(there, found.count)
    await until_decided(found.wire, found.layout)


def rounds(full: int) -> pytest.MarkDecorator:
    """How many troubles: one in each run of the tests, all in a proof."""
    slow = pytest.param(scaled(full, 2), marks=pytest.mark.slow)
    return pytest.mark.parametrize("rounds", [1, slow], ids=["short", "long"])


@rounds(60)
async def test_each_event_counts_once_whoever_dies(tmp_path: Path, rounds: int) -> None:
    async with in_trouble(tmp_path, rounds) as (found, _, troubles):
        async with agents(found) as made:
            await asyncio.sleep(3.0)
            await troubles.hub_dies_in_a_cut()
            for _ in range(rounds):
                await troubles.any()
        await all_came(found, made, lambda: numbers_in(found))
        wanted = {tree: [*range(agent.count)] for tree, agent in made.items()}
        assert await numbers_in(found) == wanted
        report = await check(found.hub.url, "pl")
        records = [decode(raw.data) for raw in report.log if ".transition.node." in raw.subject]
        assert by_tree(one["data"]["cause"]["event"] for one in records) == wanted
        held = [await edge.held() for edge in found.edges.values()]
        assert max(held) <= edge_streams.UNTOLD


@rounds(30)
async def test_archives_in_between_change_nothing(tmp_path: Path, rounds: int) -> None:
    async with in_trouble(tmp_path, rounds) as (found, _, troubles):
        live, folder = Installation(found.wire, found.layout, BUILT_IN_KINDS), tmp_path / "archive"
        await leave_window(live)  # so that each archive trims all
        async with agents(found) as made:
            for number in range(rounds + 1):
                await asyncio.sleep(troubles.dice.uniform(1.0, 3.0))
                await run_archive(live, folder)
                await (troubles.any() if number else troubles.hub_dies_in_a_cut())
                await found.wire.until_connected(60)

        async def recorded() -> dict[str, list[int]]:
            both = await with_archive(live, folder)
            records = [one for _, one in await whole_log(both) if isinstance(one, Transition)]
            return by_tree(one.cause.event for one in records if one.entity.kind == "node")

        await all_came(found, made, recorded)
        assert await recorded() == {tree: [*range(agent.count)] for tree, agent in made.items()}
        report = await audit_of_both(live, folder)
        assert (report.holds, report.events) == (True, sum(agent.count for agent in made.values()))
