"""One contract for the latest states and for states as of a moment; a moment is resolved once."""

import asyncio
import re
from collections.abc import AsyncIterator
from contextlib import suppress
from datetime import UTC, datetime, timedelta

import pytest
import pytest_asyncio

from phaseline.schemas import wire_codec
from phaseline.schemas.errors import EntityUnknown, InvalidInput, TreeUnknown
from phaseline.schemas.records import Transition
from tests.support import forked_process
from tests.support.built_in_kinds import BUILT_IN_KINDS as KINDS
from tests.support.command import Shell
from tests.support.installation import Installation, Settings, Wire, installation_with_history
from tests.support.log_check import stored
from tests.support.own_installation import Client
from tests.support.raising import raises
from tests.support.reading import AsOf, Latest, Pattern, StateView

LIMIT = 120


@pytest_asyncio.fixture
async def installation(settings: Settings, wire: Wire) -> AsyncIterator[Installation]:
    async with installation_with_history(settings, wire, events=150, clusters=3) as layout:
        yield Installation(wire, layout, KINDS)


async def transitions(installation: Installation) -> list[Transition]:
    """All that the log holds, in order."""
    messages = await stored(installation.wire, installation.layout.log, [f"{installation.prefix}.log.*.transition.>"])
    records = [wire_codec.read(message.data) for message in messages]
    return [record for record in records if isinstance(record, Transition)]


async def view_of(name: str, installation: Installation) -> StateView:
    """The view of that name, once STATE has copied the whole log."""
    latest, end = Latest(installation), await AsOf.at(installation, "now")
    async with asyncio.timeout(LIMIT):
        while await latest.states(deleted=True) != await end.states(deleted=True):
            await asyncio.sleep(0.01)
    return latest if name == "latest" else end


@pytest.fixture(params=["latest", "as of the end"])
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


async def test_a_view_shows_the_last_transition_of_each_entity(installation: Installation, name: str) -> None:
    view, log = await view_of(name, installation), await transitions(installation)
    last = {(record.entity.kind, record.entity.id): record for record in log}
    found = await view.states(deleted=True)
    assert {(record.entity.kind, record.entity.id): record for record in found} == last
    assert len(found) == len(last) > 10
    alive = [key for key, record in last.items() if record.entity.facets[0].state.phase != "Deleted"]
    assert {(record.entity.kind, record.entity.id) for record in await view.states()} == set(alive)
    phase = last[alive[0]].entity.facets[0].state.phase
    in_phase = {key for key, record in last.items() if record.entity.facets[0].state.phase == phase}
    assert {(record.entity.kind, record.entity.id) for record in await view.states(state=phase)} == in_phase
    nodes = [record.entity.id for record in await view.states("node", "c1", deleted=True)]
    assert sorted(nodes) == sorted(name for kind, name in last if kind == "node" and name.startswith("c1/"))
    assert [record.entity.id for record in await view.tree("c1", deleted=True)] == [
        record.entity.id for record in found if record.entity.id.split("/")[0] == "c1"
    ]
    for kind, entity_id in list(last)[::5]:
        assert await view.last(kind, entity_id) == last[kind, entity_id]
        assert await view.exists(kind, entity_id)
        mine = [record for record in log if (record.entity.kind, record.entity.id) == (kind, entity_id)]
        assert await view.history(kind, entity_id) == mine
    of_two = await view.matching([Pattern("*", "cluster", "c0"), Pattern("*", "node", "c1.>")])
    assert {record.entity.id for record in of_two} == {"c0", *nodes}


async def test_a_view_says_what_it_does_not_know(installation: Installation, name: str) -> None:
    view = await view_of(name, installation)
    with pytest.raises(EntityUnknown, match="no cluster 'nobody'"):
        await view.last("cluster", "nobody")
    with pytest.raises(TreeUnknown, match="'nobody'"):
        await view.tree("nobody")
    with raises(InvalidInput.invalid_id, match="no cluster can be under 'c1/p'"):
        await view.states("cluster", "c1/p")
    assert await view.states("node", "nobody") == []
    assert not await view.exists("cluster", "nobody")
    assert await view.history("cluster", "nobody") == []
    assert isinstance(view.unknown(["node"], "x"), EntityUnknown)
    assert "no node 'x'" in str(view.unknown(["node"], "x"))
    assert "no entity 'x'" in str(view.unknown(["node", "cluster"], "x"))


async def test_before_everything_there_is_nothing(installation: Installation) -> None:
    for when in ("start", 0, datetime.now(UTC) - timedelta(days=1)):
        view = await AsOf.at(installation, when)
        assert await view.states(deleted=True) == []
        assert not await view.exists("cluster", "c1")


async def test_a_view_of_a_moment_stays_as_it_is(client: Client) -> None:
    await client.publish_and_wait("cluster", "adopt", "c1", {"phase": "Running"})
    view = await client.at("now")
    done = await client.publish_and_wait("cluster", "delete", "c1")
    assert (await view.get("cluster", "c1")).version == 1
    assert [entity.version async for entity in view.list()] == [1]
    assert [entity.version for entity in await view.tree("c1")] == [1]
    assert (await view.last("cluster", "c1")).trigger == "adopt"
    assert await view.kind_of("c1") == "cluster"
    assert (await view.why("cluster", "c1")).place == view.moment.place
    # The moment can be passed on: it is not resolved again.
    assert (await client.get("cluster", "c1", at=view.moment)).version == 1
    assert (await client.at(view.moment)).moment == view.moment
    # What came after it follows without a gap.
    followed = [record async for record in client.watch(start=view.moment, follow=False)]
    assert followed == list(done.transitions)


async def test_the_latest_view_has_no_moment(client: Client) -> None:
    view = await client.at()
    assert view.moment is None
    await client.publish_and_wait("cluster", "adopt", "c1", {"phase": "Running"})
    async with asyncio.timeout(LIMIT):
        while not [entity async for entity in view.list()]:
            await asyncio.sleep(0.01)
    assert (await view.get("cluster", "c1")).version == 1


async def test_a_moment_has_the_time_that_was_named(client: Client) -> None:
    await client.publish_and_wait("cluster", "adopt", "c1", {"phase": "Running"})
    stored_at = (await client.last("cluster", "c1", at="now")).time_ns
    now = datetime.now(UTC)
    assert (await client.moment(now)).time_ns == int(now.timestamp()) * 10**9 + now.microsecond * 1000
    at_place = await client.moment((await client.moment("now")).place)
    assert abs(at_place.time_ns - stored_at) < 60 * 10**9
    assert abs((await client.moment("15m")).time_ns - (now.timestamp() - 900) * 1e9) < 60e9


async def test_of_a_time_to_come_nothing_is_known(client: Client, shell: Shell) -> None:
    await client.publish_and_wait("cluster", "adopt", "c1", {"phase": "Running"})
    for command in (("get", "cluster", "c1"), ("list",), ("tree", "c1"), ("why", "c1")):
        said = await shell(*command, "--at", "2099-01-01T00:00:00Z")
        assert said.code == 2
        assert "the moment 2099-01-01T00:00:00Z is in the future, it is 20" in said.err
        assert not said.out
    ahead = datetime.now(UTC) + timedelta(seconds=20)  # as the clock of another machine may be
    assert (await client.get("cluster", "c1", at=ahead)).version == 1
    moment = await client.moment("2099-01-01")
    assert moment.time <= datetime.now(UTC)
    assert [one.id for one in await client.changes("start", "2099-01-01")] == ["c1"]


@pytest.mark.parametrize("command", [("get", "cluster"), ("why",), ("list", "cluster")], ids=" ".join)
async def test_a_command_prints_the_place_that_it_read(client: Client, shell: Shell, command: tuple[str, ...]) -> None:
    """Although the log grows between any two requests of the command."""
    await client.publish_and_wait("cluster", "adopt", "c1", {"phase": "Running"})
    await asyncio.to_thread(forked_process.started_server)  # so that the commands begin at once

    async def keep_changing() -> None:
        while True:
            await client.publish("cluster", "update", "c1")
            await client.publish("cluster", "updated", "c1")
            await asyncio.sleep(0.002)

    changing = asyncio.create_task(keep_changing())
    try:
        shown = [await shell(*command, *(() if command[0] == "list" else ("c1",)), "--at", "0s") for _ in range(2)]
    finally:
        changing.cancel()
        with suppress(asyncio.CancelledError):
            await changing
    versions = {}
    watch = client.history("cluster", "c1")
    async for record in watch:
        versions[watch.sequence] = record
    for answer in shown:
        said = re.search(r"place (\d+) of the log", answer.err)
        assert said is not None, answer
        read = versions[max(place for place in versions if place <= int(said[1]))]
        assert re.search(rf"\b{read.entity.version if command[0] != 'why' else read.cause.sequence}\b", answer.out), (
            answer
        )
