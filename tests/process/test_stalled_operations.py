"""An operation that nobody answered, as people see it on a real server."""

import asyncio

from tests.support.command import Shell
from tests.support.installation import LIMIT, Settings, Wire, inspect, until_decided
from tests.support.own_installation import Client


def line_with(start: str, text: str) -> str:
    """The only line whose first words are these."""
    [found] = [line for line in text.splitlines() if line.strip(" │├└─").startswith(start)]
    return found


async def test_every_command_says_what_is_stalled_and_lacking(
    shell: Shell, client: Client, working: Settings, wire: Wire
) -> None:
    for kind, entity_id in (("cluster", "c"), ("node_pool", "c/p"), ("node", "c/p/n1"), ("node", "c/p/n2")):
        await client.publish(kind, "adopt", entity_id, {"phase": "Running"})
    await client.publish("node", "error", "c/p/n2", {"message": "no disk"})
    await client.publish("node_pool", "configure", "c/p", {"deadline": 0.3, "version": "1.28"})
    await client.publish("node_pool", "scale", "c/p", {"desired": 4})
    await until_decided(wire, await inspect(wire, working))
    async with asyncio.timeout(LIMIT):
        while "Stalled" not in (await client.get("node_pool", "c/p")).facets[0].state.conditions:
            await asyncio.sleep(0.05)
    await client.publish("node", "not_ready", "c/p/n1")
    await client.publish("node", "ready", "c/p/n1")
    await until_decided(wire, await inspect(wire, working))

    got = (await shell("get", "node_pool", "c/p")).out
    assert "1 of 4 nodes Running, 1 Failed" in line_with("state", got)
    assert "scale by" in line_with("asked", got)
    assert "1.28" in line_with("version (attribute)", got)
    assert "node c/p/n1  Running [Ok], ready by" in line_with("last said", got)
    told = (await shell("get", "node_pool", "c/p", "--json")).json["stalled"]
    assert ([one["trigger"] for one in told["asked"]], told["last_said"]["id"]) == (["scale"], "c/p/n1")
    why = (await shell("why", "node_pool", "c/p")).out
    assert "the last that was said here or below: node c/p/n1  Running [Ok], ready by" in why
    assert "1 Scaling [Stalled]" in line_with("cluster c", (await shell("tree", "c")).out)

    counted = (await shell("counts", "c")).out.splitlines()
    assert counted[0] == "cluster c  Running [Ok]"
    assert [line.split()[:1] for line in counted[1:]] == [["node_pool"], ["node"], ["lacks"], ["stalled"]]
    assert "2: 1 Running, 1 Failed" in counted[2]
    assert "node_pool c/p: 1 of 4 nodes Running, 1 Failed" in counted[3]
    found = (await shell("counts", "c", "--json")).json
    assert found["below"]["node"] == {"count": 2, "facets": {"phase": {"Running": 1, "Failed": 1}}}
    assert [one["id"] for one in found["stalled"]] == ["c/p"]
    assert (await shell("counts", "c", "--condition", "Stalled", "--json")).json["below"] == {
        "node_pool": {"count": 1, "facets": {"phase": {"Scaling [Stalled]": 1}}}
    }
    wrong = await shell("counts", "c", "--condition", "Stalld")
    assert (wrong.code, "did you mean Stalled?" in wrong.err) == (2, True)
    assert (await shell("counts", "nothing")).code == 4
