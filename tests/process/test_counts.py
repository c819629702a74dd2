"""`phaseline counts` and `client.fleet`, on the real server."""

import json
from pathlib import Path
from typing import Any

import pytest

from phaseline import Moment
from phaseline.schemas.errors import EntityUnknown, InvalidInput, TreeUnknown
from tests.support import fleet_objects as fleet
from tests.support.command import Shell
from tests.support.fleet_objects import Resource
from tests.support.installation import Settings, Wire, inspect, until_decided
from tests.support.own_installation import Client
from tests.support.raising import raises

ON = "infra/web/c1"


async def deployed(client: Client, wire: Wire, settings: Settings) -> Moment:
    """Two clusters, eleven resources each; one of them is deleted. The moment before that."""
    for cluster in ("c1", "c2"):
        where = f"infra/web/{cluster}"
        await client.publish("bundle_deployment", "target", where, {"deployment_id": "v1"})
        await client.publish("bundle_deployment", "applied", where, {"deployment_id": "v1"})
        for number in range(11):
            await client.publish("bundle_resource", "ready", f"{where}/core:ConfigMap/shop/r{number}")
    await until_decided(wire, await inspect(wire, settings))
    before = await client.moment("now")
    await client.publish("bundle_resource", "deleted", f"{ON}/core:ConfigMap/shop/r7", {"message": "by hand"})
    await until_decided(wire, await inspect(wire, settings))
    return before


async def test_ten_of_eleven_and_which(shell: Shell, client: Client, working: Settings, wire: Wire) -> None:
    before = await deployed(client, wire, working)
    assert (await shell("counts", "infra")).out.splitlines() == [
        "git_repo infra  Modified",
        "  deployments  1/2 ready, 1 modified",
        "  resources    21/22 ready, 1 missing",
        "    c1         10/11 ready, 1 missing",
        "    c2         11/11 ready",
        "  infra/web/c1/core:ConfigMap/shop/r7 Missing (by hand)",
    ]  # fmt: skip
    assert (await shell("counts", ON)).out.splitlines()[:3] == [
        "bundle_deployment infra/web/c1  Modified", "  deployments  0/1 ready, 1 modified", "  resources    10/11 ready, 1 missing",
    ]  # fmt: skip
    told = (await shell("counts", "infra/web", "--json")).json
    assert (
        told["display"]["ready_resources"],
        told["resources"]["missing"],
        told["per_cluster"]["c2"]["resources"]["ready"],
    ) == ("21/22", 1, 11)
    then = await client.fleet.counts("infra", at=before)
    assert (then["state"], then["display"]["ready_resources"]) == ("Ready", "22/22")


async def test_a_cluster_out_of_all_repositories(shell: Shell, client: Client, working: Settings, wire: Wire) -> None:
    await deployed(client, wire, working)
    await client.publish("bundle_deployment", "target", "tools/log/c1", {"deployment_id": "v1"})
    await client.publish("bundle_resource", "ready", "tools/log/c1/apps:DaemonSet/log/agent")
    await until_decided(wire, await inspect(wire, working))
    assert (await shell("counts", "--cluster", "c1")).out.splitlines() == [
        "cluster c1  WaitApplied",
        "  deployments  0/2 ready, 1 wait applied, 1 modified",
        "  resources    11/12 ready, 1 missing",
        "    infra      10/11 ready, 1 missing",
        "    tools      1/1 ready",
        "  infra/web/c1/core:ConfigMap/shop/r7 Missing (by hand)",
        "  tools/log/c1 WaitApplied",
    ]
    moment = await client.moment("now")
    now, then = await client.fleet.cluster_counts("c1"), await client.fleet.cluster_counts("c1", at=moment)
    assert now == then
    assert now["per_git_repo"]["tools"]["deployments"]["wait_applied"] == 1
    await client.publish("git_repo", "removed", "tools")
    await until_decided(wire, await inspect(wire, working))
    assert (await client.fleet.cluster_counts("c1"))["state"] == "Modified"
    assert await client.fleet.cluster_counts("c1", at=moment) == now
    assert (await client.fleet.cluster_counts("c2"))["display"]["ready_resources"] == "11/11"


async def test_several_clusters_and_globs(shell: Shell, client: Client, working: Settings, wire: Wire) -> None:
    await deployed(client, wire, working)
    await client.publish("bundle_deployment", "target", "tools/log/lab", {"deployment_id": "v1"})
    await until_decided(wire, await inspect(wire, working))
    assert (await shell("counts", "--cluster", "c*", "--cluster", "lab")).out.splitlines() == [
        "clusters c*, lab  WaitApplied",
        "  deployments  1/3 ready, 1 wait applied, 1 modified",
        "  resources    21/22 ready, 1 missing",
        "    c1         10/11 ready, 1 missing",
        "    c2         11/11 ready",
        "    lab        0/0 ready",
        "  infra/web/c1/core:ConfigMap/shop/r7 Missing (by hand)",
        "  tools/log/lab WaitApplied",
    ]
    found = await client.fleet.cluster_counts("{c1,lab}")
    assert (found["clusters"], found["display"]["ready_resources"]) == (["c1", "lab"], "10/11")
    assert [*found["per_git_repo"]] == ["infra", "tools"]
    missing = await shell("counts", "--cluster", "c1", "--cluster", "x*")
    assert (missing.code, "no bundle_deployment on the cluster 'x*'" in missing.err) == (4, True)


def on_disk(path: Path, *objects: dict[str, Any]) -> str:
    path.write_text("\n".join(map(json.dumps, objects)))
    return str(path)


async def test_fleets_objects_through_observe(shell: Shell, working: Settings, wire: Wire, tmp_path: Path) -> None:
    """Each command is a process that remembers nothing of the one before."""

    async def observed(*objects: dict[str, Any]) -> list[str]:
        await shell("observe", "--file", on_disk(tmp_path / "objects.json", *objects))
        await until_decided(wire, await inspect(wire, working))
        return (await shell("counts", "infra")).out.splitlines()

    def web(*resources: Resource) -> dict[str, Any]:
        return fleet.bundle_deployment(fleet.status_of(resources, "v1"))

    twelve = [Resource(f"r{number:02}") for number in range(12)]
    assert (await observed(fleet.git_repo(commit="abc"), fleet.bundle(), web(*twelve)))[
        2
    ] == "  resources    12/12 ready"
    gone = await observed(web(*(one._replace(exists=False) for one in twelve)))
    assert (gone[0], gone[2], gone[-1]) == (
        "git_repo infra  Modified",
        "  resources    0/12 ready, 12 missing",
        "  and 2 more",
    )
    assert (await observed(web(*twelve[:2])))[2] == "  resources    2/2 ready"
    bad = fleet.condition("Ready", "False", "values: key 'replicas' not found", "Error")
    partitions = [
        {"name": "one", "count": 2, "maxUnavailable": 0, "unavailable": 0},
        {"count": 2, "maxUnavailable": 0, "unavailable": 1},
    ]
    told = await observed(fleet.bundle(conditions=[bad], partitions=partitions), web(*twelve[:2]), fleet.cluster(None))
    assert told[0] == "git_repo infra  WaitCheckIn [Error]"
    assert told[1] == "  deployments        0/1 ready, 1 wait check in"
    assert "held back by partition 2: 1 of 2 targets are unavailable, 0 may be" in told[3]
    assert told[4:] == [
        "  infra/web WaitCheckIn [Error] (values: key 'replicas' not found)",
        "  infra/web/fleet-default+c1 WaitCheckIn (its agent was never seen)",
    ]
    why = (await shell("why", "infra")).out
    assert "values: key 'replicas' not found" in why
    assert "held back by partition 2" in (await shell("get", "bundle", "infra/web")).out


async def test_what_cannot_be_counted(shell: Shell, client: Client) -> None:
    with pytest.raises(TreeUnknown):
        await client.fleet.counts("nowhere")
    with raises(InvalidInput.invalid_id, match="is longer than"):
        await client.fleet.counts("a/b/c/d")
    missing = await shell("counts", "nowhere")
    assert (missing.code, missing.out) == (4, "")
    with pytest.raises(EntityUnknown, match="no bundle_deployment on the cluster 'c9'"):
        await client.fleet.cluster_counts("c9")
    for words in ((), ("infra", "--cluster", "c1")):
        wrong = await shell("counts", *words)
        assert (wrong.code, "give either ID or --cluster" in wrong.err) == (2, True)


async def test_counting_what_has_a_condition(shell: Shell, client: Client, working: Settings, wire: Wire) -> None:
    await deployed(client, wire, working)
    for number in (1, 2):
        where = f"infra/broken/c{number}"
        await client.publish("bundle_deployment", "target", where, {"deployment_id": "v1"})
        await client.publish("bundle_resource", "ready", f"{where}/core:ConfigMap/shop/b")
    data = {"phase": "NotReady", "conditions": ["Error"]}
    assert (await client.publish_and_wait("bundle", "reported", "infra/broken", data)).effect == "transitions"
    await until_decided(wire, await inspect(wire, working))
    for how, resources in (((), 24), (("--condition", "Error"), 2), (("--condition", "Waiting"), 0)):
        counted = (await shell("counts", "infra", *how, "--json")).json
        assert counted["resources"]["desired_ready"] == resources
    assert (await client.fleet.counts("infra", condition="Error"))["deployments"]["desired_ready"] == 2
    assert (await client.fleet.cluster_counts("c1", condition=["Error"]))["resources"]["desired_ready"] == 1
    wrong = await shell("counts", "infra", "--condition", "Blance")
    assert (wrong.code, "did you mean Balance?" in wrong.err) == (2, True)
