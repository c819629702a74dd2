"""What commands and the API say of which thing an entity stands for, and requests that are meant for one version."""

import json
import re

from tests.support.adoption import adopt
from tests.support.command import Shell
from tests.support.own_installation import Client

FLEET = [("cluster", "c1", "Running"), ("node_pool", "c1/p", "Running"), ("node_pool", "c1/q", "Running")]
A, B, N = "aws:i-a", "aws:i-b", "c1/p/n"


async def told(client: Client, trigger: str, entity_id: str, **data: object) -> str:
    outcome = await client.publish_and_wait("node", trigger, entity_id, data, timeout=10)
    return outcome.effect if outcome.rejection is None else outcome.rejection.message


async def test_a_name_that_is_used_again_shows_whose_it_is(shell: Shell, client: Client) -> None:
    await adopt(client, FLEET)
    await told(client, "adopt", N, phase="Running")
    assert await told(client, "reported", N, phase="Running", uid=A) == "none"
    assert re.search(r"^identity +aws:i-a$", (await shell("get", "node", N)).out, re.MULTILINE)

    assert await told(client, "reported", N, phase="Running", uid=B) == "transitions"
    shown = (await shell("get", "node", N, "--json")).json
    assert shown["memory"] == {"uids": {"aws": "i-b"}, "former": [A]}
    assert (shown["replaced"], shown["unasked"], shown["born"]) == (A, True, shown["cause"]["sequence"])
    out = (await shell("get", "node", N)).out
    assert re.search(r"^earlier +aws:i-a$", out, re.MULTILINE)
    assert re.search(rf"^born +event {shown['born']}$", out, re.MULTILINE)
    for command in ("history", "why"):
        assert ", unasked, in place of aws:i-a" in (await shell(command, "node", N)).out
    late = await shell("publish", "node", "deleted", N, "--data", json.dumps({"uid": A}), "--wait")
    assert late.code == 1
    assert "an earlier life; aws:i-b is there since event" in late.out + late.err

    refused = await shell("publish", "node", "delete", N, "--data", '{"if_version": 1}', "--wait")
    assert refused.code == 1
    assert "delete was meant for version 1" in refused.out + refused.err
    meant = json.dumps({"if_version": shown["version"]})
    assert (await shell("publish", "node", "delete", N, "--data", meant, "--wait")).code == 0


async def test_one_thing_at_two_places_is_named(shell: Shell, client: Client) -> None:
    await adopt(client, FLEET)
    assert "no entities found" in (await shell("list", "--duplicates")).err
    for entity_id in (N, "c1/q/n"):
        await told(client, "adopt", entity_id, phase="Running", uid=A)
    await told(client, "adopt", "c1/q/other", phase="Running")
    await told(client, "reported", "c1/q/other", phase="Running", uid="k8s:1")
    listed = await shell("list", "--duplicates")
    assert f"aws:i-a is also at node {N}" in listed.out
    assert "aws:i-a is also at node c1/q/n" in listed.out
    assert "other" not in listed.out
    found = await shell("doctor")
    assert "2 entities stand for what is elsewhere too: aws:i-a is at node" in " ".join(found.out.split())
    await told(client, "deleted", "c1/q/n", uid=A)
    assert "no entities found" in (await shell("list", "--duplicates")).err
    assert "each identity stands at one place of its tree" in (await shell("doctor")).out
