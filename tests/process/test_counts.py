"""`phaseline counts` and `client.fleet`, on the real server."""

import pytest

from phaseline.engine.client.client import Client
from phaseline.engine.errors import EntityUnknown, InvalidId, TreeUnknown
from phaseline.engine.jetstream.streams import inspect
from phaseline.engine.jetstream.wire import Wire
from phaseline.engine.log.when import Moment
from phaseline.engine.settings import Settings
from tests.support.command import Shell
from tests.support.installation import until_decided

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


async def test_what_cannot_be_counted(shell: Shell, client: Client) -> None:
    with pytest.raises(TreeUnknown):
        await client.fleet.counts("nowhere")
    with pytest.raises(InvalidId, match="is longer than"):
        await client.fleet.counts("a/b/c/d")
    missing = await shell("counts", "nowhere")
    assert (missing.code, missing.out) == (1, "")
    with pytest.raises(EntityUnknown, match="no bundle_deployment on the cluster 'c9'"):
        await client.fleet.cluster_counts("c9")
    for words in ((), ("infra", "--cluster", "c1")):
        wrong = await shell("counts", *words)
        assert (wrong.code, "give either ID or --cluster" in wrong.err) == (2, True)
