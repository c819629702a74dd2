"""The real code of workers and edges on a virtual server, by seeds: each event counts once, in order, whatever happens.

`python -m tests.support.simulation SEED` replays a seed and prints all that happens in it.
"""

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from typing import Any
from unittest import mock

import pytest

from phaseline.engine.log import foreign
from phaseline.engine.log.as_of import AsOf
from phaseline.engine.log.foreign import Barrier
from phaseline.engine.log.installation import Installation
from phaseline.engine.nats.direct_get import direct
from phaseline.engine.nats.reader import Reader, Stored
from phaseline.engine.nats.streams import layout_of, provision
from phaseline.engine.nats.wire import Wire
from phaseline.engine.publish.compose import EventMessage
from phaseline.engine.publish.pipeline import PublishResult, publish_many
from phaseline.engine.worker.erasure import Erasure
from phaseline.schemas import codec, wire_codec
from phaseline.schemas.records import Cause, Rejection, Transition
from phaseline.schemas.subjects import Subjects, covers
from tests.support.built_in_kinds import BUILT_IN_KINDS
from tests.support.simulation import judge, schedule, tables
from tests.support.simulation.connection import Frame
from tests.support.simulation.plant import PARTITIONS, Plant, running
from tests.support.simulation.safeguards import SAFEGUARDS
from tests.support.simulation.server import CALLS, VirtualServer
from tests.support.simulation.stream import Answer, VirtualStream
from tests.support.simulation.world import World

SEEDS = 40
"""Schedules in each run of the tests."""
FOUND = (
    76, 559, 653, 1573, 2600, 3773, 3852, 3888, 4366, 4613, 700218, 700374, 700699, 701096, 701470, 702026, 702188, 702228
)  # fmt: skip
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
        seed = next(one for one in range(safeguard.first, safeguard.first + REACH) if found_by(one).problems)
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


@contextmanager
def former_leader(plant: Plant, moment_ns: int, calls: tuple[str, ...], about: str = "") -> Iterator[list[str]]:
    """In this block whoever asks for these subjects, or streams, is answered with what was there at a moment."""
    asked = list[str]()

    def answer(call: str) -> Callable[..., Answer]:
        def former(hub: VirtualServer, stream: VirtualStream, body: dict[str, Any]) -> Answer:
            subject = body.get("last_by_subj") or stream.name
            network, moment = hub.network, moment_ns if about in subject else 0
            asked.extend([subject] if moment else [])
            network.elected, network.former = moment, 1.0
            try:
                return genuine[call](hub, stream, body)
            finally:
                network.elected, network.former = 0, 0.5

        return former

    genuine = {name: CALLS[name] for name in calls}
    plant.hub.is_clustered = True
    with mock.patch.dict(CALLS, {name: answer(name) for name in calls}):
        yield asked


def lived(seed: int, events: int = 8) -> Plant:
    """An installation of which all is decided, in a world that goes on."""
    plant = Plant(World(seed), (), events)
    plant.hub.is_clustered = True
    return plant


def test_a_former_leader_that_knows_of_no_checkpoint_empties_no_log() -> None:
    plant = lived(1)
    with running(plant):
        plant.start_worker()
        plant.start_agents()
        assert plant.world.run(lambda: "pl-STATE" in plant.hub.streams and plant.hub.streams["pl-STATE"].last > 0, 20.0)
        moment = next(iter(plant.hub.streams["pl-LOG"].stored.values())).time_ns - 1
        assert plant.world.run(lambda: not plant.waits_for, 60.0)
        with former_leader(plant, moment, ("STREAM.MSG.GET",), "transition.checkpoint") as asked:
            plant.kill_worker(plant.workers[0])
            plant.start_worker()
            plant.world.pass_by(10.0)
        assert asked
        assert plant.world.run(lambda: not plant.waits_for, 60.0)
        assert not judge.problems(plant)


def test_a_former_leader_that_knows_of_former_tables_lets_no_worker_decide_by_them() -> None:
    plant = lived(1)
    with running(plant):
        plant.start_worker()
        plant.start_agents()
        assert plant.world.run(lambda: "pl-LEASE" in plant.hub.streams and not plant.waits_for, 60.0)
        moment = plant.world.time_ns()
        plant.change_tables()
        plant.replace_workers()
        assert plant.world.run(lambda: all_noted(plant), 20.0)
        with former_leader(plant, moment, ("STREAM.MSG.GET",), "pl.tables.") as asked:
            plant.kill_worker(plant.workers[0])
            former = plant.start_worker(tables.former())
            for agent in plant.agents:
                agent.choices, agent.most = [*agent.choices, *range(5)], agent.most + 5
            plant.start_agents()
            plant.world.pass_by(10.0)
        assert asked
        if former in plant.workers:
            plant.kill_worker(former)
        plant.start_worker()
        assert plant.world.run(lambda: not plant.waits_for, 60.0)
        assert not judge.problems(plant)


def all_noted(plant: Plant) -> bool:
    """Whether each partition is decided by the later tables."""
    last = (plant.hub.streams["pl-LOG"].last_on(Subjects("pl").tables(number)) for number in range(PARTITIONS))
    return all(one is not None and codec.decode(one.data)["digest"] == tables.later().digest for one in last)


@pytest.mark.parametrize("asks_behind", [True, False])
def test_a_former_leader_that_knows_of_no_archive_loses_no_record(*, asks_behind: bool) -> None:
    """Who does not ask behind a message of his own finds at least that the files hold what the log has given up."""
    plant, said = lived(1, 40), list[str]()

    async def archived(wire: Wire) -> None:
        said.append(await plant.archive.run(wire, layout_of(plant.settings, PARTITIONS), tables.former()))

    with running(plant):
        plant.start_worker()
        plant.start_agents()
        assert plant.world.run(lambda: "pl-LEASE" in plant.hub.streams and not plant.waits_for, 60.0)
        moment = plant.world.time_ns()
        plant.world.complete(plant.world.process("archiver"), plant.operated(archived))
        before = plant.archive.held()
        assert before[1].keys() - plant.hub.streams["pl-LOG"].messages.keys(), "it was trimmed"
        without = nullcontext() if asks_behind else mock.patch.object(foreign, "barrier", unasked)
        with former_leader(plant, moment, ("STREAM.MSG.GET",), "pl.tables.") as asked, without:
            plant.world.complete(plant.world.process("archiver"), plant.operated(archived))
        assert asked
        assert said[0] == ""
        assert ("the streams no longer hold" in said[1]) is not asks_behind, said
        assert plant.archive.held()[1].keys() >= before[1].keys()
        assert not judge.problems(plant)


def test_a_former_leader_and_a_replica_that_lags_take_no_record_from_an_archive() -> None:
    """Both reads of the records would end before them, and so agree with each other."""
    plant, said, create = lived(1, 40), list[str](), CALLS["CONSUMER.CREATE"]

    async def archived(wire: Wire) -> None:
        said.append(await plant.archive.run(wire, layout_of(plant.settings, PARTITIONS), tables.former()))

    def lagging(hub: VirtualServer, stream: VirtualStream, name: str, body: dict[str, Any]) -> Answer:
        is_of_records = str(body["config"].get("filter_subject")).startswith("pl.*.")
        with mock.patch.object(hub.network, "behind", return_value=6.0 * is_of_records):
            return create(hub, stream, name, body)

    with running(plant):
        plant.start_worker()
        plant.start_agents()
        plant.world.run(lambda: "pl-LEASE" in plant.hub.streams, 20.0)
        moment = plant.world.time_ns()
        assert plant.world.run(lambda: not plant.waits_for, 60.0)
        late = mock.patch.dict(CALLS, {"CONSUMER.CREATE": lagging})
        with former_leader(plant, moment, ("STREAM.MSG.GET",), "pl.*.") as asked, late:
            plant.world.complete(plant.world.process("archiver"), plant.operated(archived))
        assert (said, bool(asked)) == ([""], True)
        assert plant.archive.held()[1]
        assert not judge.problems(plant)


def test_a_former_leader_that_knows_of_no_rejected_secret_leaves_none_behind() -> None:
    """The one that ends before it has erased it is followed by an owner that looks what it has left."""
    plant, told = lived(1), list[Rejection]()
    refused = Rejection(
        "resource",
        "shop/shop/core:Secret/shop/key",
        "observed",
        "secret",
        "no",
        None,
        (),
        Cause(1, "e", "/x", "event"),
        1,
    )

    async def told_to(wire: Wire) -> None:
        installation = Installation(wire, layout_of(plant.settings, PARTITIONS), BUILT_IN_KINDS)
        subject = installation.subjects.checkpoint(0)
        fence = Barrier(subject, (await wire.publish_acked(subject, b"{}")).seq)
        told.extend([one async for one in Erasure(installation, 0, fence)._told()])

    with running(plant):
        plant.start_worker()
        assert plant.world.run(lambda: "pl-LEASE" in plant.hub.streams, 20.0)
        plant.world.pass_by(2.0)
        plant.kill_worker(plant.workers[0])
        moment = plant.world.time_ns()
        plant.world.pass_by(0.1)
        subject = Subjects("pl").rejection(0, "resource", "secret", refused.id)
        plant.hub.streams["pl-LOG"].publish(subject, wire_codec.write(refused, 0, 1, "phaseline/pl"), None)
        with former_leader(plant, moment, ("STREAM.MSG.GET",), ".secret.") as asked:
            plant.world.complete(plant.world.process("owner"), plant.operated(told_to))
    assert asked
    assert [one.id for one in told] == [refused.id]


def test_an_event_that_has_the_id_of_another_one_is_stored_though_a_replica_lags() -> None:
    """The server takes it for a repeat, and the replica that is asked of what does not have that one yet."""
    plant, found = lived(1, 0), list[PublishResult]()

    async def published(wire: Wire) -> None:
        plant.hub.network.behind = lambda: 0.7  # type: ignore[method-assign]
        events = ((subject, b'{"x": %d}' % number) for number, subject in enumerate(("node.ready.n1", "node.ready.n2")))
        messages = [EventMessage(f"pl.events.c1.{subject}", body, "one", "one", "/x") for subject, body in events]
        found.append(await publish_many(wire, messages))

    with running(plant):
        plant.start_worker()
        assert plant.world.run(lambda: "pl-LEASE" in plant.hub.streams, 20.0)
        plant.world.complete(plant.world.process("publisher"), plant.operated(published))
    assert found == [PublishResult(2, 0)]


async def unasked(*_: object) -> None:
    """No message behind which to ask."""


def test_a_former_leader_that_knows_of_no_event_lets_nobody_purge_them() -> None:
    plant = lived(1)
    with running(plant):
        plant.start_worker()
        plant.start_agents()
        assert plant.world.run(lambda: "pl-EVENTS" in plant.hub.streams, 20.0)
        moment = plant.hub.streams["pl-EVENTS"].created_ns
        assert plant.world.run(lambda: not plant.waits_for, 60.0)
        plant.kill_worker(plant.workers[0])
        plant.start_worker()
        log, subject = plant.hub.streams["pl-LOG"], Subjects("pl").checkpoint(1)
        before = log.last_on(subject)
        with former_leader(plant, moment, ("STREAM.INFO",), "pl-EVENTS") as asked:
            assert plant.world.run(lambda: log.last_on(subject) is not before, 20.0), "it is taken over"
            plant.world.pass_by(1.0)
        plant.world.pass_by(10.0)
        assert asked
        assert not judge.problems(plant)


def test_a_replica_that_lags_denies_nothing_that_the_leader_has() -> None:
    plant = lived(1)

    async def ask(where: str, wanted: dict[str, Any] | None = None) -> bytes | None:
        async with Wire.open(plant.settings) as wire:
            plant.hub.network.lag, plant.hub.network.behind = 60.0, lambda: 60.0  # type: ignore[method-assign]
            found = await direct(wire, where, wanted)
            return None if found is None else foreign.message_in(found).data

    with running(plant):
        plant.start_worker()
        plant.start_agents()
        assert plant.world.run(lambda: "pl-LEASE" in plant.hub.streams and not plant.waits_for, 60.0)
        last = next(reversed(plant.hub.streams["pl-LOG"].messages.values()))
        reader = plant.world.process("reader")
        for where, wanted in (("pl-LOG", {"seq": last.sequence}), (f"pl-LOG.{last.subject}", None)):
            assert plant.world.complete(reader, ask(where, wanted)) == last.data
        assert plant.world.complete(reader, ask("pl-LOG", {"seq": last.sequence + 1000})) is None


def test_states_of_a_moment_that_a_replica_has_not_got_to_are_those_of_the_leader() -> None:
    plant = lived(1)
    plant.hub.is_clustered = True

    async def ask(place: int, kind: str, entity_id: str) -> int:
        async with Wire.open(plant.settings) as wire:
            installation = Installation(wire, layout_of(plant.settings, PARTITIONS), BUILT_IN_KINDS)
            view = await AsOf.at(installation, place)
            behind.append(60.0)
            return (await view.last(kind, entity_id)).entity.version

    with running(plant):
        plant.start_worker()
        plant.start_agents()
        assert plant.world.run(lambda: "pl-LEASE" in plant.hub.streams and not plant.waits_for, 60.0)
        records = [*plant.hub.streams["pl-LOG"].messages.values()]
        last = [one for one in records if covers("pl.log.*.transition.>", one.subject)][-1]
        record = wire_codec.read(last.data)
        assert isinstance(record, Transition)
        behind = [0.0]
        plant.hub.network.behind = lambda: behind[-1]  # type: ignore[method-assign]
        asked = ask(last.sequence, record.entity.kind, record.entity.id)
        assert plant.world.complete(plant.world.process("reader"), asked) == record.entity.version
        assert behind[-1] == 60.0


def test_a_seed_leads_to_the_same_again() -> None:
    first, again = schedule.run(7, is_told=True), schedule.run(7, is_told=True)
    assert first.story == again.story
    assert first.digest == again.digest
    assert schedule.run(8).digest != first.digest
