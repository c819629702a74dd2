"""Differences between two moments, compared with the states at both; states as of a moment, by client and command."""

import random
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta

import pytest
import pytest_asyncio

from phaseline import Change
from phaseline.schemas.errors import EntityUnknown, InvalidInput
from phaseline.schemas.records import Entity, State, Transition
from tests.support.built_in_kinds import BUILT_IN_KINDS as KINDS
from tests.support.command import shell_of
from tests.support.installation import Layout, Settings, Wire
from tests.support.log_check import Log, folded, whole
from tests.support.own_installation import Client
from tests.support.raising import raises


@pytest_asyncio.fixture
async def reader(settings: Settings) -> AsyncIterator[Client]:
    async with Client.open(settings, kinds=KINDS) as opened:
        yield opened


def states(entity: Entity | None) -> dict[str, State] | None:
    if entity is None:
        return None
    return {name: facet.state for name, facet in zip(entity.names, entity.facets, strict=True)}


def between(log: Log, after: int, up_to: int) -> dict[tuple[str, str], list[Transition]]:
    found: dict[tuple[str, str], list[Transition]] = {}
    for logged in log:
        if after < logged.sequence <= up_to and isinstance(logged.record, Transition):
            found.setdefault((logged.record.entity.kind, logged.record.entity.id), []).append(logged.record)
    return found


def check(change: Change, was: Entity | None, now: Entity, records: list[Transition]) -> None:
    assert (change.before, change.after) == (states(was), states(now))
    assert (change.transitions, change.first, change.last) == (len(records), records[0].time, records[-1].time)
    path = [record.after.phase for record in records]
    path.insert(0, records[0].before.phase if records[0].before else "")
    moves = [phase for at, phase in enumerate(path) if at == 0 or phase != path[at - 1]]
    assert change.flaps == sum(phase in moves[:at] for at, phase in enumerate(moves))


async def test_changes_are_the_difference_of_two_states(wire: Wire, layout: Layout, reader: Client) -> None:
    log = await whole(wire, layout)
    for seed in range(8):
        bounds = sorted(random.Random(seed).sample([logged.sequence for logged in log], 2))
        after, up_to = [(await reader.moment(bound)).place for bound in bounds]
        found = {(change.kind, change.id): change for change in await reader.changes(after, up_to)}
        wanted = between(log, after, up_to)
        assert found.keys() == wanted.keys()
        was, now = folded(log, after), folded(log, up_to)
        for key, change in found.items():
            check(change, was.get(key), now[key], wanted[key])
        # What is not among the changes is the same at both ends.
        assert {key: was[key] for key in was.keys() - found.keys()} == {
            key: now[key] for key in now.keys() - found.keys()
        }


async def test_only_a_tree_or_a_kind(reader: Client, layout: Layout) -> None:
    assert layout.partitions == 3
    everything = await reader.changes(0)
    assert len(everything) == 42
    assert await reader.changes(0, tree="c2") == [c for c in everything if c.id.split("/")[0] == "c2"]
    assert await reader.changes(0, kind="node") == [c for c in everything if c.kind == "node"]
    assert await reader.changes(0, tree="c1/p", kind="node") == [c for c in everything if c.id.startswith("c1/p/")]
    end = await reader.moment("now")
    assert await reader.changes(end, end) == []
    with raises(InvalidInput.start_after_end):
        await reader.changes(datetime.now(UTC) + timedelta(days=1))


def test_words() -> None:
    running, gone = {"phase": State("Running")}, {"phase": State("Deleted")}
    for before, after, what in (
        (None, running, "created"), (gone, running, "created"), (running, gone, "gone"), (None, gone, "came and went"),
        (running, dict(running), "same again"), (running, {"phase": State("Failed")}, "changed"),
    ):  # fmt: skip
        assert Change("node", "c/p/n", before, after).what == what


async def test_the_client_as_of_a_moment(wire: Wire, layout: Layout, reader: Client) -> None:
    log = await whole(wire, layout)
    place = (await reader.moment(log[len(log) // 2].sequence)).place
    then = folded(log, place)
    assert {(e.kind, e.id): e async for e in reader.list(deleted=True, at=place)} == then
    for (kind, entity_id), entity in list(then.items())[:5]:
        assert await reader.get(kind, entity_id, at=place) == entity
    assert {e.id for e in await reader.tree("c1", deleted=True, at=place)} == {
        i for _, i in then if i.split("/")[0] == "c1"
    }
    with pytest.raises(EntityUnknown):
        await reader.get("cluster", "c0", at=datetime.now(UTC) - timedelta(days=1))


async def test_the_commands(wire: Wire, settings: Settings, layout: Layout, reader: Client) -> None:
    shell = shell_of(settings)
    log = await whole(wire, layout)
    place = (await reader.moment(log[300].sequence)).place
    then = folded(log, place)
    found = (await shell("list", "--all", "--at", str(place), "--json")).lines
    assert {(e["kind"], e["id"], e["version"]) for e in found} == {(*key, e.version) for key, e in then.items()}
    cluster = next(name for kind, name in then if kind == "cluster")
    one = await shell("get", "cluster", cluster, "--at", str(place))
    assert one.out.split()[:2] == ["cluster", cluster]
    assert f"place {place} of the log" in one.err
    exact = (await shell("get", "cluster", cluster, "--at", str(place), "--json")).json
    assert exact["version"] == then["cluster", cluster].version
    tree = (await shell("tree", cluster, "--at", str(place), "--json")).json
    assert tree["version"] == then["cluster", cluster].version
    changed = (await shell("changes", "--from", str(place), "--json")).lines
    assert {(c["kind"], c["id"]) for c in changed} == between(log, place, log[-1].sequence).keys()
    people = await shell("changes", "--from", "start", "--tree", cluster)
    assert people.out.splitlines()[0].split() == ["KIND", "ID", "CHANGE", "FROM", "TO", "TRANSITIONS", "FLAPS", "LAST"]
    assert "created" in people.err
    nothing = await shell("changes", "--from", "now")
    assert (nothing.code, nothing.out, nothing.err) == (0, "", "no changes\n")
    assert (await shell("changes")).out == (await shell("changes", "--from", "1h")).out
