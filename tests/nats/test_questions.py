"""Questions about many entities on a real server: answered by the owners, and by STATE where nobody's answer counts."""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any, NamedTuple

import pytest_asyncio

from phaseline import EntityView
from phaseline.engine.log.questions.answering import ANSWERED, REFUSED
from phaseline.engine.log.questions.asking import WorkersView
from phaseline.engine.log.questions.question import OwnerAnswer, encode
from phaseline.engine.surfaces.overview.overview import as_map
from tests.support.built_in_kinds import BUILT_IN_KINDS
from tests.support.installation import Installation, Settings, Wire, Worker, inspect, until_decided
from tests.support.own_installation import Client
from tests.support.owners import Checkpoint
from tests.support.random_events import RandomEvents, publish
from tests.support.reading import Pattern

PARTITIONS = 4
QUESTIONS: Mapping[str, Mapping[str, Any]] = {
    "state": {"state": "Failed"},
    "state of a kind": {"kind": "node", "state": "{Failed,[NotReady,*]}"},
    "condition": {"condition": "Balance"},
    "class": {"class_": "bad"},
    "classes of a tree": {"class_": ("bad", "busy", "excused"), "tree": "c3"},
    "dwell": {"class_": "good", "lasting": 0.001},
    "deleted": {"state": "Deleted", "deleted": True},
    "nothing": {"kind": "component", "state": "Failed", "condition": "Balance"},
}


class Workers(NamedTuple):
    """Some workers that share the partitions, each with a connection of its own."""

    wires: list[Wire]
    workers: list[Worker]
    client: Client

    async def view(self, states: Callable[[Installation], WorkersView] | None = None) -> EntityView[None]:
        """A view that asks however few entities there are."""
        installation = await self.client._session.installation()
        return EntityView(states(installation) if states else WorkersView(installation, few=0), None)


@asynccontextmanager
async def running(settings: Settings, number: int = 2) -> AsyncIterator[tuple[list[Wire], list[Worker]]]:
    stop = asyncio.Event()
    wires = [await Wire.start(settings, name=f"worker-{one}") for one in range(number)]
    workers = [Worker(wire, settings, BUILT_IN_KINDS) for wire in wires]
    tasks = [asyncio.create_task(worker.run(stop)) for worker in workers]
    try:
        async with asyncio.timeout(60):
            share = PARTITIONS // number
            while [sum(one.tree is not None for one in worker.loaded.values()) for worker in workers] != [
                share
            ] * number:
                await asyncio.sleep(0.02)
        yield wires, workers
    finally:
        stop.set()
        await asyncio.gather(*tasks, return_exceptions=True)
        for wire in wires:
            await wire.close()


@pytest_asyncio.fixture
async def two(settings: Settings) -> AsyncIterator[Workers]:
    """Two workers, and a history of some clusters that they have decided."""
    settings = replace(settings, partitions=PARTITIONS)
    async with running(settings) as (wires, workers), Client.open(settings, kinds=BUILT_IN_KINDS) as client:
        fleet = RandomEvents(settings.prefix)
        await publish(wires[0], [*fleet.built(8, 4), *fleet.life(500, 8, 4)])
        await until_decided(wires[0], await inspect(wires[0], settings))
        yield Workers(wires, workers, client)


async def found(view: EntityView[None], question: Mapping[str, Any]) -> list[tuple[str, str, int]]:
    return [(one.kind, one.id, one.version) async for one in view.list(**question)]


async def copied(workers: Workers) -> None:
    """Wait until STATE holds what LOG holds: what is read from it alone must not be older than an answer."""
    installation = await workers.client._session.installation()
    log, state = installation.layout.log, installation.layout.state
    async with asyncio.timeout(60):
        while (await workers.client._session.wire.api(f"STREAM.INFO.{log}"))["state"]["messages"] == 0 or (
            await workers.client._session.wire.api(f"STREAM.INFO.{state}")
        )["sources"][0]["lag"]:
            await asyncio.sleep(0.02)


async def test_the_owners_answer_as_state_does(two: Workers) -> None:
    await copied(two)
    by_state = await two.client.at()  # of so few entities nobody is asked
    for name, question in QUESTIONS.items():
        asking = await two.view()
        assert await found(asking, question) == await found(by_state, question), name
        assert asking.unanswered == frozenset()
    for tree in (None, "c1", "c2/p", "nowhere"):
        asking = await two.view()
        told, read = await asking.overview(tree=tree), await by_state.overview(tree=tree)
        assert as_map(told) | {"time": ""} == as_map(read) | {"time": ""}, tree
    counted = [worker.measures.questions for worker in two.workers]
    assert all(one[ANSWERED] for one in counted), counted
    assert sum(one[REFUSED] for one in counted) == 0
    assert (
        sum(one[ANSWERED] for one in counted) == PARTITIONS * len(QUESTIONS) + 1 + 2
    )  # some are of one tree, and a part of a tree is read


async def test_a_worker_that_dies_in_the_middle_takes_nothing_with_it(two: Workers) -> None:
    """It was read that it owns its partitions, and then it is gone before it answers."""
    await copied(two)
    expected, lost = await found(await two.client.at(), {"class_": "bad"}), {*two.workers[0].owned}

    class Dying(WorkersView):
        async def _owners(self, asked: Sequence[Pattern]) -> Mapping[int, Checkpoint]:
            owners = await super()._owners(asked)
            await two.wires[0].close()
            return owners

    asking = await two.view(lambda installation: Dying(installation, few=0))
    assert await found(asking, {"class_": "bad"}) == expected
    assert asking.unanswered == lost


async def test_no_worker_at_all(settings: Settings) -> None:
    settings = replace(settings, partitions=PARTITIONS)
    async with Client.open(settings, kinds=BUILT_IN_KINDS) as client:
        async with running(settings, 1) as (wires, workers):
            fleet = RandomEvents(settings.prefix)
            await publish(wires[0], [*fleet.built(4, 3), *fleet.life(200, 4, 3)])
            await until_decided(wires[0], await inspect(wires[0], settings))
            there = Workers(wires, workers, client)
            await copied(there)
        asking = await there.view()
        assert await found(asking, {"class_": "bad"}) == await found(await client.at(), {"class_": "bad"})
        assert asking.unanswered == {*range(PARTITIONS)}
        overview = as_map(await asking.overview())
        assert overview | {"time": ""} == as_map(await client.overview()) | {"time": ""}


async def test_an_answer_of_a_former_owner_does_not_count(two: Workers) -> None:
    """A worker was paused, lost its partitions without knowing, and answers from what it remembers: nothing is bad."""
    await copied(two)
    expected = await found(await two.client.at(), {"class_": "bad"})
    installation = await two.client._session.installation()
    async with Wire.open(two.client._session.settings, name="paused") as wire:
        for worker in two.workers:  # the real ones are slower than the one that remembers
            for number in [*worker.owned]:
                epoch = worker.owned[number][0].epoch - 1
                await wire.subscribe(installation.subjects.entities(number), answering(wire, number, epoch))
        for wire_of in two.wires:
            await wire_of.close()
        asking = await two.view()
        assert await found(asking, {"class_": "bad"}) == expected
        assert asking.unanswered == {*range(PARTITIONS)}


def answering(wire: Wire, number: int, epoch: int) -> Callable[..., None]:
    """Answers that a partition has nothing of what is asked."""

    def take(_: str, __: bytes, ___: bytes | None, reply: str) -> None:
        wire.publish(reply, encode(OwnerAnswer(number, "paused", epoch, 10_000, 100, 100, [])))

    return take


async def test_other_tables_are_not_asked(two: Workers) -> None:
    """What states mean must be the same to both, or the classes that they choose by differ."""
    await copied(two)

    def other(installation: Installation) -> WorkersView:
        states = WorkersView(installation, few=0)
        states.meaning = lambda _: "0.1 000000000000 00"
        return states

    asking = await two.view(other)
    assert await found(asking, {"class_": "bad"}) == await found(await two.client.at(), {"class_": "bad"})
    assert asking.unanswered == {*range(PARTITIONS)}
    assert sum(worker.measures.questions[REFUSED] for worker in two.workers) == PARTITIONS


async def test_what_changed_a_moment_ago_is_in_the_answer(two: Workers) -> None:
    """As soon as the outcome is known: the reader waits for STATE, or reads the log."""
    asking = await two.view()
    for number in range(12):
        node, trigger = f"c1/p/q{number}", "not_ready"
        await two.client.publish_and_wait("node", "adopt", node, {"phase": "Running"}, timeout=60)
        await two.client.publish_and_wait("node", trigger, node, timeout=60)
        assert node in [one[1] for one in await found(asking, {"kind": "node", "class_": "bad"})]
