"""Levels of an installation: what is read of the log, and what stands above what is asked for."""

import time
from dataclasses import replace
from pathlib import Path

import pytest

from phaseline import Moment
from phaseline.engine.products.levels.fold.reckoning import ENTITY, KIND, TREE, levels_map
from phaseline.engine.products.levels.reading import LevelsQuestion, levels
from phaseline.errors import InvalidInput, NotFound, NotInLog, TreeUnknown
from phaseline.levels import LevelsReport
from phaseline.schemas.records import SECOND, timestamp
from tests.support.archives import run_archive
from tests.support.built_in_kinds import BUILT_IN_KINDS
from tests.support.http_server import Api, as_json
from tests.support.installation import Installation, Settings, Wire, at_work, until_decided, working
from tests.support.notified import read_rules
from tests.support.own_installation import Client
from tests.support.random_events import RandomEvents, publish


async def fleet(client: Client) -> None:
    await client.publish_and_wait("cluster", "adopt", "c1", {"phase": "Running"})
    await client.publish_and_wait("node", "adopt", "c1/p/n1", {"phase": "Running"})
    await client.publish_and_wait("node", "adopt", "c2/p/n1", {"phase": "Running"})


async def down(client: Client, name: str) -> tuple[int, int]:
    """A node is bad for a moment: when it became so, and when it was well again."""
    begun = await client.publish_and_wait("node", "not_ready", name, {"reason": "KubeletDown"})
    ended = await client.publish_and_wait("node", "ready", name)
    return begun.transitions[0].time_ns, ended.transitions[0].time_ns


def names(found: LevelsReport) -> list[str]:
    return [one.id or one.name for one in found.rows]


async def test_outages_are_those_of_the_log(client: Client) -> None:
    await fleet(client)
    begin, end = await down(client, "c1/p/n1")
    found = await levels(client, LevelsQuestion("start"))
    # the pool and the cluster are bad for as long, because of the node
    assert {(one.begin_ns, one.end_ns, one.bad) for one in found.outages} == {(begin, end, end - begin)}
    assert (found.outages[0].id, found.outage_number) == ("c1/p/n1", 3)
    assert found.outages[0].record is not None
    assert found.outages[0].record.reason == "KubeletDown"
    assert names(found)[:3] == ["c1", "c1/p", "c1/p/n1"]
    assert found.total.lost == 3 * (end - begin) == 3 * found.rows[0].lost
    assert found.total.to_recover == end - begin
    assert sum(one.whole for one in found.rows) == found.total.whole


async def test_trees_and_kinds_are_parts_of_the_whole(client: Client) -> None:
    await fleet(client)
    await down(client, "c2/p/n1")
    end: Moment = await client.moment("now")
    whole = await levels(client, LevelsQuestion("start", end))
    for by in (ENTITY, TREE, KIND):
        rows = (await levels(client, LevelsQuestion("start", end, by=by))).rows
        assert sum(one.whole for one in rows) == whole.total.whole
        assert sum(one.lost for one in rows) == whole.total.lost
    trees = [await levels(client, LevelsQuestion("start", end, trees=(tree,))) for tree in ("c1", "c2")]
    assert sum(one.total.whole for one in trees) == whole.total.whole
    nodes = await levels(client, LevelsQuestion("start", end, kind="node"))
    assert sorted(names(nodes)) == ["c1/p/n1", "c2/p/n1"]
    assert names(await levels(client, LevelsQuestion("start", end, trees=("c1/p",), kind="node"))) == ["c1/p/n1"]


async def test_slices_of_time_add_up(client: Client) -> None:
    await fleet(client)
    middle: Moment = await client.moment("now")
    await down(client, "c1/p/n1")
    end: Moment = await client.moment("now")
    whole = (await levels(client, LevelsQuestion("start", end))).total
    parts = [(await levels(client, LevelsQuestion(*ends))).total for ends in (("start", middle), (middle, end))]
    assert sum(one.whole for one in parts) == whole.whole
    assert sum(one.lost for one in parts) == whole.lost


async def test_what_is_silent_above_is_unknown_below(client: Client) -> None:
    await fleet(client)
    await client.publish_and_wait("cluster", "configure", "c1", {"silence_after": 0.2})
    await client.publish_and_wait("cluster", "heartbeat", "c1")
    async with client.watch("cluster", state="Silent", start="start") as watch:
        silent = await anext(watch)
    for asked in (
        LevelsQuestion("start"),
        LevelsQuestion("start", kind="node"),
        LevelsQuestion("start", trees=("c1/p/n1",)),
    ):
        found = await levels(client, asked)
        [node] = [one for one in found.rows if one.id == "c1/p/n1"]
        assert node.times["silent"] == found.end_ns - silent.time_ns
        assert all("silent" not in one.times for one in found.rows if one.id.startswith("c2"))


async def test_what_an_intent_opens_is_excused_also_from_before_the_range(client: Client) -> None:
    await fleet(client)
    windows = read_rules.read("windows: [{name: w, opened-by: [cordon], up-to: 1h}]", client.kinds).windows
    opened = (await client.publish_and_wait("node", "cordon", "c1/p/n1")).transitions[0].time_ns
    begin: Moment = await client.moment("now")
    await client.publish_and_wait("node", "not_ready", "c1/p/n1")
    for start in ("start", begin):
        found = await levels(client, LevelsQuestion(start, trees=("c1/p/n1",), windows=windows))
        assert found.total.times["window"] == found.end_ns - max(opened, found.begin_ns)
        assert found.total.failures.number == 0
    plain = await levels(client, LevelsQuestion("start", trees=("c1/p/n1",)))
    assert plain.total.failures.number == 1


async def test_a_window_of_a_file_is_excused(client: Client, tmp_path: Path) -> None:
    await fleet(client)
    text = "windows: [{name: w, from: 2020-01-01T00:00:00Z, to: 2200-01-01T00:00:00Z, trees: [c2]}]"
    (tmp_path / "windows.yaml").write_text(text)
    found = await client.levels.measure("start", windows=text)
    assert (await client.levels.measure("start", windows=tmp_path / "windows.yaml")).total.times.keys() == {
        *found.total.times
    }
    for one in found.rows:
        assert (one.times.keys() == {"window"}) == one.id.startswith("c2"), one
        assert one.availability == (None if one.id.startswith("c2") else 1)


async def test_a_range_before_everything_is_empty_and_an_unknown_tree_is_named(client: Client) -> None:
    await fleet(client)
    found = await levels(client, LevelsQuestion(Moment(0, 1), Moment(0, SECOND)))
    assert (found.rows, found.total.availability) == ([], None)
    assert levels_map(found)["total"]["availability"] is None
    with pytest.raises(TreeUnknown):
        await levels(client, LevelsQuestion("start", trees=("c9",)))
    before = await levels(client, LevelsQuestion(Moment(0, 1), Moment(0, SECOND), trees=("c1",)))
    assert before.rows == []
    assert time.time_ns() > found.end_ns


@pytest.mark.asyncio(loop_scope="module")
async def test_the_client_and_http_say_the_same(api: Api) -> None:
    client = api.service.client
    await api.place()
    end = timestamp((await client.moment("now")).time_ns)
    trees = sorted({one.id.partition("/")[0] async for one in client.list()})
    mine = levels_map(await client.levels.measure("start", end, tree=trees[:2], by="kind", slices=3600))
    whole = await client.levels.measure("start", end, by="tree")
    assert [one.name for one in sorted(whole.rows, key=lambda one: one.name)] == trees
    assert sum(one.whole for one in whole.rows) == whole.total.whole
    with pytest.raises(InvalidInput, match="label=NAME"):
        await client.levels.measure(by="colour")
    asked = {"from_": "start", "to": end, "tree": trees[:2], "by": "kind", "slice": "1h", "limit": 1}
    answer = await api.get("/v1/levels", **asked)
    assert answer["total"] == as_json(mine["total"])
    assert answer["rows"] == as_json(mine["rows"][:1])
    assert answer["numbers"]["rows"] == len(mine["rows"])
    text = '[{"name":"w","from":"2020-01-01T00:00:00Z","to":"2200-01-01T00:00:00Z"}]'
    excused = await api.get("/v1/levels", **asked, windows=text)
    found = await client.levels.measure("start", end, tree=trees[:2], slices=3600, windows=f"windows: {text}")
    assert excused["total"] == as_json(levels_map(found)["total"])
    assert excused["total"]["availability"] is None
    for name, value in (("objective", "101"), ("by", "colour"), ("slice", "0.0001s"), ("windows", '[{"nme":"w"}]')):
        await api.get("/v1/levels", 400, **{"from_": "start", name: value})


async def test_an_excuse_excuses_later_and_is_withdrawn(client: Client) -> None:
    await fleet(client)
    begin, end = await down(client, "c1/p/n1")
    until: Moment = await client.moment("now")
    before = (await client.levels.measure("start", until)).total
    await client.levels.excuse("c1/p", timestamp(begin), timestamp(end), "new switches")
    found = await client.levels.measure("start", until)
    [excused] = found.excuses
    assert (excused.tree, excused.begin_ns, excused.end_ns, excused.why) == ("c1/p", begin, end, "new switches")
    assert found.total.times["excuse"] == 2 * (end - begin)  # the pool and the node; the cluster is not excused
    assert (found.total.failures.number, found.total.recorded.number) == (1, 3)
    assert found.total.as_recorded.availability == before.availability
    assert found.total.as_recorded.classes == before.classes
    assert (await client.levels.measure("start", until, tree="c2")).excuses == []
    await client.levels.withdraw(excused.place, "the wrong one")
    assert (await client.levels.measure("start", until)).total == before
    with pytest.raises(NotFound, match="levels excuses"):
        await client.levels.withdraw(excused.place, "again")
    for start, stop, why in (
        ("now", "start", "x"),
        (timestamp(begin), timestamp(end), " "),
        ("1h", "now", "x" * 2_000),
    ):
        with pytest.raises(InvalidInput):
            await client.levels.excuse("c1", start, stop, why)
    assert await client.levels.excuses() == []


async def test_an_archive_changes_nothing(settings: Settings, wire: Wire, tmp_path: Path) -> None:
    async with working(settings, wire, BUILT_IN_KINDS) as layout:
        fleet = RandomEvents(layout.prefix)
        await publish(wire, [*fleet.built(2, 3), *fleet.life(60, 2, 3)])
        await until_decided(wire, layout)
        async with Client.open(settings) as client:
            end: Moment = await client.moment("now")
            middle: Moment = await client.moment(end.place // 2)
            asked = [
                LevelsQuestion("start", end), LevelsQuestion(middle, end, ("c1",), "node"),
                LevelsQuestion("start", middle, by=KIND, slice_length=3_600 * SECOND),
            ]  # fmt: skip
            before = [levels_map(await levels(client, one)) for one in asked]
        assert before[0]["outages"]
        await run_archive(Installation(wire, layout, BUILT_IN_KINDS), tmp_path)
        async with Client.open(replace(settings, archive=str(tmp_path))) as client:
            for one, was in zip(asked, before, strict=True):
                found = levels_map(await levels(client, one))
                assert found["total"] == was["total"]
                assert found == was
        async with Client.open(settings) as client:
            with pytest.raises(NotInLog):
                await levels(client, asked[1])


async def test_what_was_decided_later_counts_from_when_it_was_stored(settings: Settings, wire: Wire) -> None:
    """Time without a worker is known, once the log has caught up."""
    one = replace(settings, partitions=2)
    async with at_work(one, wire) as layout, Client.open(one) as client:
        await client.publish_and_wait("node", "adopt", "c1/p/n1", {"phase": "Running"})
    async with Client.open(one) as client:
        receipt = await client.publish("node", "not_ready", "c1/p/n1")
        end = await Installation(wire, layout, BUILT_IN_KINDS).server_time()
        await client.publish("node", "ready", "c1/p/n1")
        unknown_yet = await client.levels.measure("start", timestamp(end), tree="c1/p/n1")
        assert unknown_yet.total.failures.number == 0
        async with at_work(one, wire):
            await until_decided(wire, layout)
            begin = (await client.outcome(receipt)).transitions[0].time_ns
            found = await client.levels.measure("start", timestamp(end), tree="c1/p/n1")
    assert found.total.times["bad"] == end - begin
    assert [(each.begin_ns, each.end_ns) for each in found.outages] == [(begin, None)]
