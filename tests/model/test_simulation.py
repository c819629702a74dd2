"""The real code of workers and edges on a virtual server, by seeds: each event counts once, in order, whatever happens.

`python -m tests.support.simulation SEED` replays a seed and prints all that happens in it.
"""

import asyncio
from unittest import mock

import pytest

from phaseline.engine.nats.reader import Reader, Stored
from phaseline.engine.nats.streams import provision
from phaseline.engine.nats.wire import Wire
from phaseline.schemas import codec
from phaseline.schemas.subjects import Subjects
from tests.support.simulation import judge, schedule
from tests.support.simulation.connection import Frame
from tests.support.simulation.plant import Plant, running
from tests.support.simulation.safeguards import SAFEGUARDS
from tests.support.simulation.stream import Answer
from tests.support.simulation.world import World

SEEDS = 40
"""Schedules in each run of the tests."""
FOUND = (559, 653, 1573, 2600, 3773, 3852, 3888, 4366, 4613)
"""Schedules that found a fault once."""
REACH = 400
"""Seeds within which each safeguard must be missed."""


@pytest.mark.parametrize("share", range(4))
def test_each_event_counts_once_by_any_seed(share: int) -> None:
    for seed in range(share, SEEDS, 4):
        assert not (found := schedule.run(seed)).problems, str(found)


@pytest.mark.parametrize("seed", FOUND)
def test_what_was_found_once_is_mended(seed: int) -> None:
    assert not (found := schedule.run(seed)).problems, str(found)


@pytest.mark.parametrize("name", SAFEGUARDS)
def test_without_a_safeguard_a_seed_finds_a_problem(name: str) -> None:
    """The seed is searched for: it is another one as soon as the code sends one request more."""
    safeguard = SAFEGUARDS[name]

    def found_by(seed: int) -> schedule.Outcome:
        return schedule.run(seed, edges=safeguard.edges, only=safeguard.troubles)

    with safeguard.taken_out():
        seed = next(one for one in range(REACH) if found_by(one).problems)
        assert any(safeguard.problem in one for one in found_by(seed).problems), str(found_by(seed))
    assert not found_by(seed).problems, str(found_by(seed))


def test_a_foreign_checkpoint_that_came_before_the_first_worker_stops_nobody() -> None:
    """STATE copies it, so that it looks as if the log had lost the checkpoint of which it is a copy."""
    plant = Plant(World(1), (), 8)

    async def provisioned() -> None:
        async with Wire.open(plant.settings) as wire:
            layout = await provision(wire, plant.settings)
            for partition in range(layout.partitions):
                subject = Subjects("pl").checkpoint(partition)
                plant.hub.handle(Frame(f"$JS.API.STREAM.INFO.{layout.lease}", subject, b"", None))
                await asyncio.sleep(3.0)

    with running(plant):
        plant.world.complete(plant.world.process("intruder"), provisioned())
        plant.start_worker()
        plant.start_agents()
        plant.world.run(lambda: not plant.waits_for, 60.0)
        assert not judge.problems(plant)
        assert len(plant.hub.streams["pl-LOG"].foreign) == 2


def test_a_message_that_is_lost_on_its_way_comes_although_no_other_follows() -> None:
    """A heartbeat of the server says how many messages it has sent."""
    plant = Plant(World(1), (), 0)

    async def read() -> list[Stored]:
        async with Wire.open(plant.settings) as wire:
            layout = await provision(wire, plant.settings)
            async with Reader(wire, layout.log, []) as reader:
                plant.hub.network.lost = 1.0
                plant.hub.streams[layout.log].publish("pl.plan.0.0", b"it", None)
                await asyncio.sleep(0.1)
                plant.hub.network.calm()
                return await reader.take(1, 10.0)

    with running(plant):
        found = plant.world.complete(plant.world.process("reader"), read())
    assert [one.data for one in found] == [b"it"]


def test_a_former_leader_that_answers_doubles_no_record() -> None:
    """The answer to a lone record is lost, and who says whether it is stored does not know of it."""
    plant, lost = Plant(World(1), (), 8), list[int]()
    plant.hub.is_clustered, reply = True, plant.hub._reply

    def replied(inbox: str, answer: Answer) -> None:
        found = (
            plant.hub.streams["pl-LOG"].stored.get(answer.get("seq", 0)) if answer.get("stream") == "pl-LOG" else None
        )
        if lost or found is None or not found.subject.startswith("pl.log.") or "batch" in answer:
            reply(inbox, answer)
            return
        lost.append(found.sequence)
        plant.hub.network.elected, plant.hub.network.former = found.time_ns - 1, 1.0
        plant.world.later(5.0, setattr, plant.hub.network, "elected", 0)

    with mock.patch.object(plant.hub, "_reply", replied), running(plant):
        plant.start_worker()
        plant.world.pass_by(3.0)  # the partitions are taken
        plant.start_agents()
        assert plant.world.run(lambda: not plant.waits_for, 60.0), plant.waits_for
        assert lost
        assert not judge.problems(plant)


def test_a_seed_leads_to_the_same_again() -> None:
    first, again = schedule.run(7, is_told=True), schedule.run(7, is_told=True)
    assert first.story == again.story
    assert first.digest == again.digest
    assert schedule.run(8).digest != first.digest
