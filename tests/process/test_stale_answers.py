"""Every answer that shows states at or below a silent place says so: commands for people and programs, the client."""

import asyncio
import re
from typing import Any

import pytest_asyncio

from phaseline.schemas.records import timestamp, utc
from tests.support.command import Shell
from tests.support.own_installation import Client

LIMIT = 120
EDGE = "r/x/app/p+edge"
EVENTS: tuple[tuple[str, str, str, dict[str, Any]], ...] = (
    ("cluster", "adopt", "c1", {"phase": "Running"}),
    ("cluster", "adopt", "c2", {"phase": "Running"}),
    ("node", "adopt", "c1/p/n1", {"phase": "Running"}),
    ("node", "adopt", "c2/p/n1", {"phase": "Running"}),
    ("emco_resource", "create", "r", {}),
    ("emco_resource", "approve", "r", {}),
    ("app_context", "create", "r/x", {}),
    ("emco_resource", "instantiate", "r", {"context": "x"}),
    ("rsync_resource", "add", f"{EDGE}/db+Deployment", {}),
    ("app_cluster", "connected", EDGE, {}),
)


@pytest_asyncio.fixture
async def silent(client: Client) -> dict[str, int]:
    """Two silent places: when each was heard last, ns. The cluster c2 and its node are not waited for."""
    for kind, trigger, name, data in EVENTS:
        done = await client.publish_and_wait(kind, trigger, name, data)
        assert done.rejection is None, done.rejection
    for kind, name in (("cluster", "c1"), ("app_cluster", EDGE)):
        await client.publish(kind, "configure", name, {"silence_after": 0.2})
        await client.publish(kind, "heartbeat", name)
    found: dict[str, int] = {}
    async with asyncio.timeout(LIMIT), client.watch(facet="contact", state="Silent", start="start") as records:
        async for record in records:
            found[record.entity.id] = record.entity.attributes["heard_at"]
            if len(found) == 2:
                break
    return found


async def test_the_client_says_since_when(silent: dict[str, int], client: Client) -> None:
    found = [entity async for entity in client.list()]
    stale = await client.stale_since(found)
    since = utc(silent["c1"])
    assert {key: when for key, when in stale.items() if key[1].startswith("c")} == {
        ("cluster", "c1"): since, ("node_pool", "c1/p"): since, ("node", "c1/p/n1"): since,
    }  # fmt: skip
    assert stale["rsync_resource", f"{EDGE}/db+Deployment"] == utc(silent[EDGE])
    alone = [await client.get("node", "c1/p/n1"), await client.get("node", "c2/p/n1")]
    assert await client.stale_since(alone) == {("node", "c1/p/n1"): since}


async def test_get_list_and_tree(silent: dict[str, int], shell: Shell) -> None:
    since = timestamp(silent["c1"])
    assert (await shell("get", "node", "c1/p/n1", "--json")).json["stale_since"] == since
    assert "stale_since" not in (await shell("get", "node", "c2/p/n1", "--json")).json
    told = (await shell("get", "node", "c1/p/n1")).out
    assert re.search(r"^stale +~ as of .* ago: nothing was heard since ", told, re.MULTILINE)
    listed = (await shell("list", "node", "--json")).lines
    assert [(one["id"], one.get("stale_since")) for one in listed] == [("c1/p/n1", since), ("c2/p/n1", None)]
    head, first, second = (await shell("list", "node")).out.splitlines()
    assert (head.split()[-1], " ago" in first, " ago" in second) == ("STALE", True, False)
    top = (await shell("tree", "c1", "--json")).json
    assert {top["stale_since"], top["children"][0]["children"][0]["stale_since"]} == {since}
    drawn = (await shell("tree", "c1")).out
    assert drawn.count("~ as of ") == 3
    assert "contact: Silent" in drawn
    assert (await shell("list", "--state", "Silent", "--json")).lines[0]["id"] == "c1"


async def test_an_earlier_moment_shows_what_was_stale_then(
    silent: dict[str, int], shell: Shell, client: Client
) -> None:
    async with client.watch(facet="contact", state="Silent", tree="c1", start="start", follow=False) as records:
        async for _ in records:
            place = records.sequence
    then = await shell("get", "node", "c1/p/n1", "--at", str(place), "--json")
    assert then.json["stale_since"] == timestamp(silent["c1"])
    assert "stale_since" not in (await shell("get", "node", "c1/p/n1", "--at", str(place - 1), "--json")).json
    await client.publish("cluster", "configure", "c1", {"silence_after": 600})
    await client.publish_and_wait("node", "not_ready", "c1/p/n1")
    assert "stale_since" not in (await shell("get", "node", "c1/p/n1", "--json")).json
    assert (await shell("tree", "c1", "--at", str(place), "--json")).json["stale_since"]


async def test_the_status_of_what_emco_deployed(silent: dict[str, int], shell: Shell) -> None:
    since = timestamp(silent[EDGE])
    found = (await shell("emco", "status", "r", "--json")).json
    assert {found["stale_since"], found["resources"][0]["clusters"][0]["stale_since"]} == {since}
    later = (await shell("emco", "status", "r", "--shape", "emco", "--json")).json
    assert {later["stale_since"], later["apps"][0]["clusters"][0]["stale_since"]} == {since}
    assert later["apps"][0]["clusters"][0]["readyStatus"] == "Retrying"
    drawn = (await shell("emco", "status", "r")).out
    assert drawn.count("~ as of ") == 2
    assert "Unreachable" in drawn


async def test_counts_say_since_when_a_part_is_silent(silent: dict[str, int], shell: Shell, client: Client) -> None:
    assert (await shell("counts", "c1", "--json")).json["stale_since"] == timestamp(silent["c1"])
    assert "~ as of " in (await shell("counts", "c1")).out.splitlines()[0]
    assert "stale_since" not in (await shell("counts", "c2", "--json")).json
    await client.publish("node", "configure", "c2/p/n1", {"silence_after": 0.2})
    async with asyncio.timeout(LIMIT), client.watch("node", facet="contact", state="Silent", start="start") as records:
        async for record in records:
            assert record.entity.id == "c2/p/n1"
            break
    assert "stale_since" in (await shell("counts", "c2", "--json")).json
    assert "~ as of " in (await shell("counts", "c2")).out.splitlines()[0]


async def test_the_counts_of_fleet(shell: Shell, client: Client) -> None:
    for cluster in ("east", "west"):
        await client.publish("bundle_deployment", "target", f"infra/web/{cluster}", {"deployment_id": "d"})
        await client.publish("bundle_deployment", "applied", f"infra/web/{cluster}", {"deployment_id": "d"})
        ready = {"target": "d", "applied": "d", "ready": True}
        await client.publish_and_wait("bundle_deployment", "observed", f"infra/web/{cluster}", ready)
    whole = (await shell("counts", "infra", "--json")).json
    assert ("stale_since" in whole, whole["display"]["ready_deployments"]) == (False, "2/2")
    await client.publish("bundle_deployment", "configure", "infra/web/east", {"silence_after": 0.2})
    async with asyncio.timeout(LIMIT), client.watch(facet="contact", state="Silent", start="start") as records:
        async for record in records:
            since = timestamp(record.entity.attributes["heard_at"])
            break
    whole = (await shell("counts", "infra", "--json")).json
    assert (whole["stale_since"], whole["display"]["ready_deployments"]) == (since, "1/2")
    assert whole["deployments"]["wait_check_in"] == 1
    assert {name: one.get("stale_since") for name, one in whole["per_cluster"].items()} == {"east": since, "west": None}
    assert whole["display"]["message"] == f"infra/web/east WaitCheckIn (nothing was heard of it since {since})"
    assert (await shell("counts", "--cluster", "east", "--json")).json["stale_since"] == since
    drawn = (await shell("counts", "infra")).out
    assert drawn.count("~ as of ") == 2


async def test_watching_shows_silence_itself(silent: dict[str, int], shell: Shell) -> None:
    lines = (await shell("watch", "--state", "Silent", "--from", "start", "--no-follow")).out.splitlines()
    assert len(lines) == len(silent)
    assert re.search(r"cluster c1 contact  Fresh -> Silent  falls_silent .*: nothing was heard since ", lines[0])


async def test_why_history_and_timeline(silent: dict[str, int], shell: Shell) -> None:
    since = timestamp(silent["c1"])
    assert (await shell("why", "c1/p/n1", "--json")).json["stale_since"] == since
    assert "stale_since" not in (await shell("why", "c2/p/n1", "--json")).json
    first, *others = (await shell("why", "c1/p/n1")).out.splitlines()
    assert re.search(r" {2}~ as of .* ago$", first)
    assert "~" not in "".join(others)
    assert re.search(r" so far ~ as of .* ago ", (await shell("history", "node", "c1/p/n1")).out)
    assert "~" not in (await shell("history", "node", "c2/p/n1")).out
    lanes = (await shell("timeline", "c1", "--json")).lines
    assert [(lane["kind"], lane["facet"], lane["stale_since"]) for lane in lanes] == [
        ("cluster", "phase", since), ("cluster", "contact", since), ("node_pool", "phase", since), ("node", "phase", since),
    ]  # fmt: skip
    drawn = (await shell("timeline", "c1")).out.splitlines()
    assert [line[-3:] for line in drawn[1:5]] == ["~~~"] * 4
    assert drawn[5].endswith("~ may have changed")
    assert "~" not in (await shell("timeline", "c2")).out


async def test_when_it_was_heard_is_no_news_of_a_history(shell: Shell, client: Client) -> None:
    await client.publish("cluster", "adopt", "c1", {"phase": "Running", "signals": {"Degraded": "True"}})
    await client.publish("cluster", "configure", "c1", {"silence_after": 600})
    await client.publish_and_wait("cluster", "condition", "c1", {"name": "Security", "status": "True"})
    shown = await shell("history", "cluster", "c1")
    assert "silence_after 600" in shown.out
    assert "heard_at" not in shown.out
