"""Reading commands say where events are not decided yet, and where nobody decides them; else they say nothing."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace

import pytest

from phaseline.schemas.subjects import partition_of_id
from tests.support.accounts_server import accounts_installation
from tests.support.built_in_kinds import BUILT_IN_KINDS
from tests.support.command import shell_of
from tests.support.installation import Installation, Settings, Wire, Worker, layout_of, provision
from tests.support.own_installation import Client
from tests.support.owners import Batch, Claim, Commits, Message
from tests.support.reading import Backlog, backlog

NOBODY, IDLE = "not decided yet: no worker is running (events are waiting)", "no worker is running (nothing is waiting"
NAMES = [f"c{number}" for number in range(20)]
SOME = next(name for name in NAMES if partition_of_id(name, 2) == 0)
OTHER, ABSENT = [name for name in NAMES if partition_of_id(name, 2) == 1][:2]


@pytest.fixture
def two(settings: Settings) -> Settings:
    """An installation of two partitions."""
    return replace(settings, partitions=2)


@asynccontextmanager
async def worker(wire: Wire, settings: Settings) -> AsyncIterator[Worker]:
    """A worker that owns both partitions."""
    stop, found = asyncio.Event(), Worker(wire, settings, BUILT_IN_KINDS)
    running = asyncio.create_task(found.run(stop))
    await found.ready.wait()
    installation = Installation(wire, layout_of(settings, 2), BUILT_IN_KINDS)
    async with asyncio.timeout(60):
        while await backlog(installation) != Backlog(0):
            await asyncio.sleep(0.02)
    yield found
    stop.set()
    await running


async def test_where_no_worker_runs(wire: Wire, two: Settings) -> None:
    shell = shell_of(two)
    async with worker(wire, two), Client.open(two, kinds=BUILT_IN_KINDS) as client:
        await client.publish_and_wait("cluster", "create", OTHER)
        for words in (("get", "cluster", OTHER), ("list",), ("tree", OTHER)):
            said = await shell(*words)
            assert (said.code, "not decided" in said.err, "no worker" in said.err) == (0, False, False), said
    for words in (("get", "cluster", OTHER), ("list",), ("tree", OTHER)):
        said = await shell(*words)
        assert (said.code, IDLE in said.err, "phaseline up" in said.err) == (0, True, True), said
    assert (await shell("publish", "cluster", "create", SOME)).code == 0
    for words in (("get", "cluster", SOME), ("tree", SOME, "--json")):
        missing = await shell(*words)
        assert (missing.code, missing.out, NOBODY in missing.err) == (3, "", True)
        assert "events not decided yet in its partition (1) may change that" in missing.err
    listed = await shell("list", "--json")
    assert (listed.code, [one["id"] for one in listed.lines], NOBODY in listed.err) == (0, [OTHER], True)
    nowhere = await shell("get", "cluster", ABSENT)  # in a partition in which no event waits
    assert (nowhere.code, IDLE in nowhere.err, "there is no cluster" in nowhere.err) == (4, True, True)
    before = await shell("list", "--at", "1h")
    assert (before.code, "not decided" in before.err) == (0, False)


async def test_nothing_is_said_to_wait_before_all_partitions_were_looked_at(wire: Wire, settings: Settings) -> None:
    many = replace(settings, partitions=40)
    await provision(wire, many)
    shell, late = shell_of(many), next(name for name in NAMES if partition_of_id(name, 40) > 31)
    assert IDLE in (await shell("list")).err
    assert (await shell("publish", "cluster", "create", late)).code == 0
    for words in (("list",), ("overview", "--json"), ("levels",), ("changes",), ("rejections", "--summary")):
        said = await shell(*words)
        assert (said.code, NOBODY in said.err) == (0, words[0] != "rejections"), said
    for words in (("why", late), ("history", late), ("timeline", late)):
        said = await shell(*words)
        assert (said.code, NOBODY in said.err) == (3, True), said


async def test_of_a_worker_that_does_not_answer_the_streams_say_whether_events_wait(wire: Wire, two: Settings) -> None:
    installation = Installation(wire, await provision(wire, two), BUILT_IN_KINDS)
    for number in range(2):
        await wire.subscribe(installation.subjects.backlog(number), lambda *_: None)  # it is frozen
    shell = shell_of(two)
    assert (await shell("publish", "cluster", "create", SOME)).code == 0
    waiting = await shell("get", "cluster", SOME, "--timeout", "0.5")
    assert (waiting.code, "does not answer (events are waiting)" in waiting.err) == (3, True), waiting
    idle = await shell("get", "cluster", OTHER, "--timeout", "0.5")
    assert (idle.code, "does not answer;" in idle.err) == (4, True), idle
    sources = await shell("admin", "sources", "--json", "--timeout", "0.5")
    assert (sources.code, sources.out, "no event was decided" in sources.err) == (3, "", False), sources


async def test_waiting_for_an_outcome_says_at_once_that_nobody_decides(wire: Wire, two: Settings) -> None:
    await provision(wire, two)
    said = await shell_of(two)("publish", "cluster", "create", "c1", "--wait", "0.5")
    assert said.code == 3
    first, then, *_ = said.err.splitlines()
    assert first.startswith(NOBODY)
    assert then.startswith("error: event 1 is stored, but no worker decided it within 0.5 s")


async def test_events_on_the_way_are_counted(wire: Wire, two: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    shell, committed = shell_of(two), asyncio.Event()
    commit = Commits.commit

    async def held(self: Commits, claim: Claim, batch: Batch, stored: Sequence[int] = ()) -> None:
        if batch.messages:
            await committed.wait()
        await commit(self, claim, batch, stored)

    async with worker(wire, two), Client.open(two, kinds=BUILT_IN_KINDS) as client:
        await client.publish_and_wait("cluster", "create", OTHER)
        monkeypatch.setattr(Commits, "commit", held)
        await client.publish("cluster", "created", OTHER)
        installation = Installation(wire, layout_of(two, 2), BUILT_IN_KINDS)
        async with asyncio.timeout(60):
            while not (await backlog(installation, OTHER)).events:
                await asyncio.sleep(0.01)
        said = await shell("get", "cluster", OTHER, "--json")
        assert (said.code, said.json["facets"]["phase"]["state"]) == (0, "Creating")
        assert "not decided yet: 1 event is on the way" in said.err
        assert "on the way" not in (await shell("get", "cluster", SOME)).err
        committed.set()


async def test_an_event_whose_outcome_was_seen_is_not_called_undecided(
    wire: Wire, two: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked, commit_under_way, append_row = asyncio.Event(), Commits.under_way, Claim.append_row

    async def stored_but_not_heard(self: Claim, messages: Sequence[Message], position: int) -> None:
        await append_row(self, messages, position)
        await asked.wait()

    def question(self: Commits) -> asyncio.Future[None] | None:
        asyncio.get_running_loop().call_soon(asked.set)
        return commit_under_way(self)

    async with worker(wire, two), Client.open(two, kinds=BUILT_IN_KINDS) as client:
        monkeypatch.setattr(Claim, "append_row", stored_but_not_heard)
        monkeypatch.setattr(Commits, "under_way", question)
        await client.publish_and_wait("cluster", "create", OTHER)
        assert not asked.is_set()
        assert await backlog(Installation(wire, layout_of(two, 2), BUILT_IN_KINDS), OTHER) == Backlog(0)


async def test_readers_in_an_account_of_their_own_are_told_the_truth() -> None:
    async with accounts_installation() as server:
        for user in ("reader", "operator"):
            async with Client.open(server.settings(user)) as client:
                installation = await client._session.installation()
                async with asyncio.timeout(60):
                    while await backlog(installation) != Backlog(0):
                        await asyncio.sleep(0.02)
        await server.stop_worker()
        async with Client.open(server.settings("tree-c1", partitions=installation.layout.partitions)) as agent:
            await agent.publish("cluster", "create", "c1")
        async with Client.open(server.settings("reader")) as client:
            found = await backlog(await client._session.installation(), "c1")
            assert (found.events, found.workers) == (1, None)
