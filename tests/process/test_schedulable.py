"""Whether pods may go to a node is said by every reader, with what is above it in mind: `get`, `list`, `tree`."""

from tests.support.command import Shell
from tests.support.own_installation import Client

N = "c/p/n"


async def test_nothing_is_schedulable_while_the_cluster_is_stopped(client: Client, shell: Shell) -> None:
    await client.publish_and_wait("node", "reported", N, {"phase": "Running"})
    for trigger, fit in ((None, True), ("overdue", False), ("renewed", False), ("started", True)):
        if trigger is not None:
            await client.publish_and_wait("cluster", trigger, "c")
        got = (await shell("get", "node", N, "--json")).json["facets"]["phase"]
        assert (got["state"], got["schedulable"]) == ("Running", fit), trigger
        [listed] = (await shell("list", "node", "--json")).lines
        pool = (await shell("tree", "c/p", "--json")).json
        for found in (listed, pool["children"][0]):
            assert found["facets"]["phase"]["schedulable"] is fit, trigger
    await client.publish_and_wait("cluster", "overdue", "c")
    assert "no: the cluster is Stopped [Balance]" in (await shell("get", "node", N)).out
