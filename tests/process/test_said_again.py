"""What was said of a condition: `why` and `get` show the reason, by whom, since when, and how often EVENTS has it."""

from pathlib import Path

from tests.support.command import Shell
from tests.support.own_installation import Client

N = "c/p/n"


async def tell(client: Client, source: str, trigger: str, **data: object) -> None:
    await client.publish_and_wait("node", trigger, N, data, source=source)


async def test_repeats_are_counted_and_who_says_otherwise_stands_beside(client: Client, shell: Shell) -> None:
    await tell(client, "/agent", "reported", phase="Running")
    await tell(client, "/kubelet-watcher", "not_ready", reason="KubeletStopped", message="no lease")
    for minutes in (1, 2):
        await tell(
            client, "/kubelet-watcher", "not_ready", reason="KubeletStopped", message=f"no lease for {minutes} m"
        )
    await tell(client, "/cloud-api", "reported", phase="Running", message="instance state running")
    told = (await shell("why", "node", N)).out
    assert "NotReady because of KubeletStopped since" in told
    assert "by /kubelet-watcher; said 3 times, last at" in told
    assert "no lease for 2 m" in told
    assert "but /cloud-api reported Running at" in told
    assert "instance state running" in told
    facet = (await shell("why", "node", N, "--json")).json["facets"][0]
    [said] = facet["said"]
    assert (said["condition"], said["reason"], said["count"], said["source"]) == (
        "NotReady", "KubeletStopped", 3, "/kubelet-watcher",
    )  # fmt: skip
    assert facet["contradicted_by"][0]["state"] == "Running"
    got = await shell("get", "node", N)
    assert "NotReady because of KubeletStopped since" in got.out
    assert "said 3 times" in got.out
    assert (await shell("get", "node", N, "--json")).json["said"] == [said]


async def test_another_reason_counts_from_its_own_beginning(client: Client, shell: Shell) -> None:
    await tell(client, "/agent", "reported", phase="Running")
    await tell(client, "/a", "not_ready", reason="KubeletStopped")
    await tell(client, "/b", "not_ready", reason="NetworkPluginNotReady")
    assert "NotReady because of NetworkPluginNotReady since" in (await shell("why", "node", N)).out
    [said] = (await shell("get", "node", N, "--json")).json["said"]
    assert (said["reason"], said["source"], said["count"]) == ("NetworkPluginNotReady", "/b", 1)
    await tell(client, "/a", "ready")
    assert "said" not in (await shell("get", "node", N, "--json")).json


async def test_a_snapshot_of_one_reporter_speaks_of_its_part(client: Client, shell: Shell, tmp_path: Path) -> None:
    await tell(client, "/agent", "reported", phase="Running")
    await tell(client, "/kubelet-watcher", "not_ready", reason="KubeletStopped")
    await tell(client, "/biller", "overdue", reason="Unpaid")
    items = tmp_path / "nodes.json"
    items.write_text('[{"id": "p/n", "phase": "Running"}]')
    sent = await shell(
        "publish", "cluster", "c", "--snapshot", str(items), "--kind", "node", "--about", "NotReady", "--wait"
    )
    assert sent.code == 0, sent
    [said] = (await shell("get", "node", N, "--json")).json["said"]
    assert (said["condition"], said["reason"]) == ("Balance", "Unpaid")
