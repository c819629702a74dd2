"""Other tables take over only where an operator accepts them. The log says since which event; audits use that."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace

import pytest

from phaseline.engine.log import table_eras
from phaseline.machines.compiler.kinds import Kinds
from phaseline.machines.language.scripts import NoScripts
from phaseline.schemas import codec
from phaseline.schemas.errors import BadSetting, SetupError
from phaseline.schemas.subjects import Subjects
from tests.support.built_in_kinds import BUILT_IN_KINDS
from tests.support.changed_tables import DEGRADED
from tests.support.command import call
from tests.support.installation import (
    LIMIT,
    Installation,
    Layout,
    Settings,
    Wire,
    Worker,
    inspect,
    provision,
    until_decided,
)
from tests.support.log_check import stored
from tests.support.owners import Message, Plan, Processor, Tree, oversized_commit, take_over
from tests.support.raising import raises
from tests.support.random_events import RandomEvents, Sent, publish
from tests.support.recorded_logs import AuditReport, ServerLog, Span, StoredEvent, WhatIf, audit_of
from tests.support.streams import last_message_from_leader

OLD = BUILT_IN_KINDS


@asynccontextmanager
async def worker(wire: Wire, settings: Settings, kinds: Kinds, accepted: str = "") -> AsyncIterator[Worker]:
    made = Worker(wire, replace(settings, partitions=2, accept_tables=accepted), kinds)
    stop = asyncio.Event()
    running = asyncio.create_task(made.run(stop))
    ready = asyncio.create_task(made.ready.wait())
    await asyncio.wait({running, ready}, return_when=asyncio.FIRST_COMPLETED)
    ready.cancel()
    try:
        if not running.done():
            yield made
    finally:
        stop.set()
        await running


async def decide(wire: Wire, settings: Settings, kinds: Kinds, events: list[Sent], accepted: str = "") -> Layout:
    """Run a worker with these tables until it has decided these events."""
    async with worker(wire, settings, kinds, accepted):
        layout = await inspect(wire, settings)
        await publish(wire, events)
        await until_decided(wire, layout)
    return layout


async def audit(wire: Wire, layout: Layout, kinds: Kinds) -> AuditReport:
    return await audit_of(Installation(wire, layout, BUILT_IN_KINDS), kinds)


def story(fleet: RandomEvents) -> tuple[list[Sent], list[Sent]]:
    """Events that start clusters with a degraded component; then further events of that component."""
    begin = [*fleet.built(4, 1), fleet.event("component", "degraded", "c0/dns")]
    recovered = fleet.event("component", "recovered", "c0/dns", condition="Degraded")
    later = [recovered, *(fleet.event("component", "degraded", f"c{number}/dns") for number in range(4))]
    return begin, later


async def refused(wire: Wire, settings: Settings, kinds: Kinds) -> str:
    with raises(SetupError.tables_differ) as told:
        async with asyncio.timeout(LIMIT):
            await Worker(wire, settings, kinds).run(asyncio.Event())
    return str(told.value)


async def test_a_table_is_rolled_out(wire: Wire, settings: Settings) -> None:
    begin, later = story(RandomEvents(settings.prefix))
    layout = await decide(wire, settings, OLD, begin)
    said = await refused(wire, settings, DEGRADED)
    assert f"other tables than those installed here, which are {DEGRADED.digest} (changed: component)" in said
    async with ServerLog.open(Installation(wire, layout, BUILT_IN_KINDS), Span()) as log:
        difference = await WhatIf(log, OLD, DEGRADED, None, None).run()
    assert [found.id for found in difference.final] == ["c0/dns"]
    # The new table lacks that one state, so the old table must leave it first.
    await decide(wire, settings, OLD, later[:1])
    behind = len(begin) + 1
    await decide(wire, settings, DEGRADED, later[1:], accepted=DEGRADED.digest)
    for partition in range(layout.partitions):
        first, second = await table_eras.eras(Installation(wire, layout, BUILT_IN_KINDS), partition)
        assert (first.position, first.digest, first.tables) == (0, OLD.digest, OLD.versions)
        assert 0 < second.position <= behind
        assert (second.digest, second.tables) == (DEGRADED.digest, DEGRADED.versions)
    for message in await stored(wire, layout.log, [f"{layout.prefix}.log.*.transition.component.>"]):
        body = codec.decode(message.data)
        kinds = OLD if body["data"]["cause"]["sequence"] <= behind else DEGRADED
        assert body["tableversion"] == kinds["component"].version
    assert "(changed: component)" in await refused(wire, settings, OLD)
    for kinds, others in ((OLD, len(later) - 1), (DEGRADED, behind)):
        verdict = await audit(wire, layout, kinds)
        assert (verdict.holds, verdict.by_others) == (True, others)


async def test_a_worker_gives_a_partition_up_when_other_tables_decided_it(wire: Wire, settings: Settings) -> None:
    layout = await provision(wire, replace(settings, partitions=1))
    await take_over(Installation(wire, layout, OLD), 0, "old")
    await take_over(Installation(wire, layout, DEGRADED), 0, "new", DEGRADED.digest)
    subject = Subjects(layout.prefix).checkpoint(0)
    before = await last_message_from_leader(wire, layout.log, subject)
    with raises(SetupError.tables_differ, match="changed: component"):
        await take_over(Installation(wire, layout, OLD), 0, "old")
    assert await last_message_from_leader(wire, layout.log, subject) == before


async def test_a_cascade_under_way_is_finished_as_it_was_decided(wire: Wire, settings: Settings) -> None:
    layout = await provision(wire, replace(settings, partitions=1))
    subjects = Subjects(layout.prefix)
    processor, fleet = Processor(Tree(OLD, NoScripts()), subjects, 0), RandomEvents(layout.prefix)
    events = [
        StoredEvent(sent.subject.replace(".events.", ".inbox.0."), sent.body, number, number)
        for number, sent in enumerate(fleet.built(1, 2), 1)
    ]
    messages = processor.process(events, 0).messages
    claim = await take_over(Installation(wire, layout, OLD), 0, "old")
    pieces = [Message(subjects.plan(0, number), body) for number, body in enumerate(oversized_commit.chunks(messages))]
    await claim.append(pieces, 0, Plan(len(events), len(pieces), 0))
    new = await take_over(Installation(wire, layout, DEGRADED), 0, "new", DEGRADED.digest)
    await oversized_commit.resume(Installation(wire, layout, DEGRADED), new)
    found = await stored(wire, layout.log, [f"{layout.prefix}.log.*.*.>"])
    assert [message.data for message in found] == [message.body for message in messages]
    assert (new.position, len(new.tree)) == (len(events), 5)
    assert (await table_eras.eras(Installation(wire, layout, BUILT_IN_KINDS), 0))[-1].position == len(events)


async def test_the_same_tables_are_noted_once(wire: Wire, settings: Settings) -> None:
    layout = await provision(wire, replace(settings, partitions=1))
    for number in range(3):
        await take_over(Installation(wire, layout, OLD), 0, f"worker-{number}", OLD.digest)
    (era,) = await table_eras.eras(Installation(wire, layout, BUILT_IN_KINDS), 0)
    assert (era.position, era.worker) == (0, "worker-0")


async def test_an_installation_without_notes_gets_one(wire: Wire, settings: Settings) -> None:
    begin, later = story(RandomEvents(settings.prefix))
    layout = await decide(wire, settings, OLD, begin)
    await wire.api(f"STREAM.PURGE.{layout.log}", {"filter": f"{layout.prefix}.tables.*"})
    assert await table_eras.latest(Installation(wire, layout, BUILT_IN_KINDS), 0) is None
    await decide(wire, settings, OLD, later)
    noted = [
        await table_eras.eras(Installation(wire, layout, BUILT_IN_KINDS), partition)
        for partition in range(layout.partitions)
    ]
    assert [len(found) for found in noted] == [1, 1]
    assert 0 < noted[0][0].position <= len(begin)
    verdict = await audit(wire, layout, OLD)
    assert (verdict.holds, verdict.by_others) == (True, 0)


async def test_only_the_tables_at_hand_can_be_accepted(wire: Wire, settings: Settings) -> None:
    with pytest.raises(BadSetting, match=f"the tables installed here are {OLD.digest}, not 123"):
        await Worker(wire, replace(settings, accept_tables="123"), OLD).run(asyncio.Event())


async def test_the_command_says_what_to_do(wire: Wire, settings: Settings) -> None:
    layout = await provision(wire, replace(settings, partitions=1))
    await take_over(Installation(wire, layout, DEGRADED), 0, "new")
    words = ("worker", "--nats", settings.nats[0], "--prefix", settings.prefix)
    code, _, said = await call(*words)
    assert code == 6
    assert f"which are {OLD.digest} (changed: component)" in said
    assert "start with --accept-tables" in said
    code, _, said = await call(*words, "--accept-tables", "nonsense")
    assert (code, f"the tables installed here are {OLD.digest}" in said) == (2, True)


def test_which_tables_decided_an_event() -> None:
    eras = [table_eras.Era(10, "a", {}), table_eras.Era(20, "b", {})]
    assert [found and found.digest for found in (table_eras.in_force(eras, at) for at in (10, 11, 20, 21))] == [
        None,
        "a",
        "a",
        "b",
    ]
    assert table_eras.differing_kinds(OLD, table_eras.Era(0, "", {"cluster": "x", "blimp": "y"})) == (
        f"changed: cluster; new: {', '.join(sorted({*BUILT_IN_KINDS.versions} - {'cluster'}))}; missing: blimp"
    )
