"""Why, histories, timelines, trees, changes, rejections, statuses and the summary by HTTP
(engine/surfaces/http/reading)."""

import asyncio
from typing import Any

import pytest

from phaseline import Moment
from tests.support.built_in_kinds import BUILT_IN_KINDS as KINDS
from tests.support.http_server import Api, as_json, http_server, maps
from tests.support.installation import Settings, Wire
from tests.support.own_installation import Client
from tests.support.random_events import RandomEvents, publish
from tests.support.reading import as_map

SHARED = pytest.mark.asyncio(loop_scope="module")
GROUP = "p+app+v1+group"
BEFORE = "urn:phaseline:problem:start-after-end"


@SHARED
async def test_why_is_what_the_client_explains(api: Api) -> None:
    end = await api.place()
    for place in (end, end // 2):
        for item in (await api.get("/v1/entities", at=place))["items"][:6]:
            said = await api.get(f"/v1/why/{item['kind']}/{item['id']}", at=place)
            expected = as_map(await api.service.client.why(item["kind"], item["id"], at=place))
            assert said["facets"] == as_json(expected["facets"])
            assert (said["kind"], said["id"], said["place"]) == (item["kind"], item["id"], expected["place"])


@SHARED
async def test_a_history_in_parts(api: Api) -> None:
    [node, *_] = (await api.get("/v1/entities", kind="node", sort="version", deleted=1))["items"][::-1]
    path = f"/v1/history/node/{node['id']}"
    whole = await api.get(path)
    assert [one["data"]["version"] for one in whole["items"]] == list(range(1, node["version"] + 1))
    assert whole["continue"] is None
    last = await api.get(path, limit=2)
    assert last["items"] == whole["items"][-2:]
    found, start = [], 1
    while start:
        page = await api.get(path, from_=start, limit=2)
        found += page["items"]
        start = page["continue"]
    assert found == whole["items"]
    assert (await api.get("/v1/history/node/c1/p/nobody", 404))["detail"].startswith("there is no node")


@SHARED
async def test_a_timeline_is_what_the_client_reads(api: Api) -> None:
    place = await api.place()
    said = await api.get("/v1/timeline/cluster/c1", to=place, depth=1)
    expected = await api.service.client.timeline("c1", end=place, depth=1)
    assert [(lane["kind"], lane["id"], lane["depth"]) for lane in said["lanes"]] == [
        (lane.kind, lane.id, lane.depth) for lane in expected.lanes
    ]
    assert said["lanes"][0]["intervals"] == as_json(maps.lane_map(KINDS, expected.lanes[0])["intervals"])


@SHARED
@pytest.mark.parametrize("path", ["history/cluster/c1", "timeline/cluster/c1", "changes", "strip", "rejections"])
async def test_a_range_that_ends_before_it_starts(api: Api, path: str) -> None:
    end = await api.place()
    for start, stop in ((end, 1), ("2026-03-02T09:00:00Z", "2026-03-02T08:00:00Z"), ("2099-01-01T00:00:00Z", "now")):
        said = await api.get(f"/v1/{path}", 400, from_=start, to=stop)
        assert (said["type"], said["detail"][:27]) == (BEFORE, f"nothing can be read from {said['start'][:2]}")
    for start, stop in ((end, end), ("0s", "now")):
        await api.get(f"/v1/{path}", from_=start, to=stop)
    while True:  # a timer may add to the log meanwhile; then now is later than the end
        end = await api.place()
        answer = await api.http.get(f"/v1/{path}", params={"from": "0s", "to": end})
        if answer.status_code == 200 or await api.place() == end:
            break
    assert answer.status_code == 200, answer.text


@SHARED
@pytest.mark.parametrize("path", ["entities", "counts", "overview", "columns", "tree/c1", "why/cluster/c1"])
async def test_a_place_may_name_its_log(api: Api, path: str) -> None:
    end, log = await api.place(), await api.service.client.log_identity()
    at_place = await api.get(f"/v1/{path}", at=end)
    assert await api.get(f"/v1/{path}", at=f"{end}@{log}") == at_place
    said = await api.get(f"/v1/{path}", 410, at=f"{end}@1")
    assert (said["place"], said["log"], said["now"]) == (end, 1, log)
    assert (await api.get(f"/v1/{path}", 404, at=f"{end + 1000}@{log}"))["place"] == end + 1000
    ahead = await api.get(f"/v1/{path}", 400, at="2099-01-01T00:00:00Z")
    assert ahead["detail"].startswith("the moment 2099-01-01T00:00:00Z is in the future")


@SHARED
async def test_a_short_history_knows_since_when_states_last(api: Api) -> None:
    end = await api.place()
    async with http_server(api.service.settings, history=end // 2) as short:
        while short.service.history.history is None:
            await asyncio.sleep(0.01)
        begins = short.service.history.history.begins
        assert begins >= end // 2
        for at in (begins, begins + (end - begins) // 2, end - 1):
            said, whole = [await one.get("/v1/columns", at=at, deleted=1) for one in (short, api)]
            named = [[columns["states"][one]["state"] for one in columns["state"]] for columns in (said, whole)]
            assert named[0] == named[1]
            assert [said[name] for name in ("place", "id", "since", "flags")] == [
                whole[name] for name in ("place", "id", "since", "flags")
            ]


@SHARED
async def test_a_tree_is_nested_and_counts_what_it_leaves_out(api: Api) -> None:
    whole = await api.get("/v1/tree/c1")
    [cluster] = whole["trees"]
    pool = next(one for one in cluster["children"] if one["kind"] == "node_pool")
    assert cluster["kind"] == "cluster"
    cut = await api.get("/v1/tree/c1", depth=0)
    below = cut["trees"][0]["below"]
    assert sum(sum(states.values()) for states in below.values()) == whole["total"] - 1
    assert sum(below.get("node", {}).values()) == len(pool["children"])
    assert (await api.get("/v1/tree/nobody", 404))["detail"].startswith("there is no entity in the tree 'nobody'")


@SHARED
async def test_changes_are_what_the_client_finds(api: Api) -> None:
    end = await api.place()
    start, stop = await api.service.client.moment(end // 3), await api.service.client.moment(2 * end // 3)
    said = await api.get("/v1/changes", from_=start.place, to=stop.place)
    expected = await api.service.client.changes(start, stop)
    assert said["items"] == as_json([maps.change_map(change) for change in expected])
    assert said["total"] == len(expected) == sum(said["counts"].values())
    everything = await api.get("/v1/changes", from_="start", limit=3)
    assert (len(everything["items"]), everything["total"]) == (3, len(await api.service.client.changes(Moment(0, 0))))


async def test_rejections_are_counted_shown_and_sent_again(fresh: Api, client: Client) -> None:
    outcome = await client.publish_and_wait("node", "create", "c1/p/n1", source="/console", check=False)
    [rejected] = outcome.records
    await fresh.service.follower.reach(rejected.sequence, 60)
    listed = await fresh.get("/v1/rejections", reason="unknown_parent")
    assert (listed["total"], listed["counts"][0]["source"]) == (1, "/console")
    assert listed["items"][0]["logsequence"] == rejected.sequence
    assert (await fresh.get("/v1/rejections", source="/other"))["total"] == 0
    one = await fresh.get(f"/v1/rejections/{rejected.sequence}")
    assert one["rejection"]["data"]["reason"] == "unknown_parent"
    assert one["event"]["decoded"]["source"] == "/console"
    await client.publish_and_wait("cluster", "adopt", "c1", {"phase": "Running"})
    adopted = await client.publish_and_wait("node_pool", "adopt", "c1/p", {"phase": "Running"})
    sent = await fresh.http.post(f"/v1/rejections/{rejected.sequence}/resend")
    assert (sent.status_code, sent.json()["duplicate"]) == (202, False)
    assert (await fresh.service.client.outcome(_receipt(sent.json()))).effect == "transitions"
    assert (await fresh.get(f"/v1/rejections/{adopted.records[0].sequence}", 404))["type"].endswith("not-rejected")
    refused = await fresh.get("/v1/rejections", 404, reason="ilegal")
    assert "did you mean illegal?" in refused["detail"]


def _receipt(body: dict[str, Any]) -> Any:
    from phaseline import Receipt

    return Receipt(**body)


async def test_the_status_of_emco_in_both_shapes(fresh: Api, client: Client, wire: Wire, working: Settings) -> None:
    fleet, place = RandomEvents(working.prefix), f"{GROUP}/c1/web/pv+edge1"
    await publish(wire, [
        fleet.event("emco_resource", "create", GROUP),
        fleet.event("emco_resource", "approve", GROUP),
        fleet.event("app_context", "create", f"{GROUP}/c1"),
        fleet.event("rsync_resource", "add", f"{place}/dep+Deployment"),
        fleet.event("emco_resource", "instantiate", GROUP, context="c1"),
    ])  # fmt: skip
    done = await client.publish_and_wait("rsync_resource", "applied", f"{place}/dep+Deployment")
    end = done.records[-1].sequence
    said = await fresh.get(f"/v1/status/emco_resource/{GROUP.replace('+', '%2B')}", at=end)
    view = await client.at(end)
    assert said["status"] == as_json(await view.emco.status(GROUP, output="all"))
    emco = await fresh.get(f"/v1/status/emco_resource/{GROUP}", at=end, shape="emco", status="deployed", app="web")
    assert emco["status"] == as_json(
        await view.emco.status(GROUP, shape="emco", status="deployed", app="web", output="all")
    )
    assert "did you mean" in (await fresh.get("/v1/status/bundles/infra/web", 404))["detail"]
    assert "did you mean emco?" in (await fresh.get(f"/v1/status/emco_resource/{GROUP}", 400, shape="emko"))["detail"]


async def test_the_counts_of_fleet(fresh: Api, client: Client) -> None:
    await client.publish_and_wait("bundle_deployment", "target", "infra/web/edge-1", {"deployment_id": "v1"})
    place = await fresh.place()
    counted = await fresh.get("/v1/status/bundle_deployment/infra/web/edge-1", at=place)
    view = await client.at(place)
    assert counted["status"] == as_json(await view.fleet.counts("infra/web/edge-1"))


async def test_the_summary_shows_workers_partitions_streams_and_silence(fresh: Api, client: Client) -> None:
    await client.publish_and_wait("cluster", "adopt", "c1", {"phase": "Running"})
    await fresh.place()
    said = await fresh.get("/v1/summary")
    assert (said["entities"], said["kinds"], said["classes"]) == (
        1,
        {"cluster": {"phase": {"Running": 1}}},
        {"good": 1},
    )
    [worker] = said["workers"]
    assert [(one["partition"], one["worker"], one["waiting"]) for one in said["partitions"]] == [
        (0, worker, 0), (1, worker, 0),
    ]  # fmt: skip
    assert {one["tables"] for one in said["partitions"]} == {KINDS.digest} == {said["tables"]["digest"]}
    assert {one["stream"] for one in said["streams"]} == set(fresh.service.installation.layout.streams)
    assert said["silent"] == []
