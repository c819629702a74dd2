"""What was said of an entity since its last record and was refused is told by `get` and `why`.

The law: who asks what a thing is learns that its state is older than the last that was said of it; and nothing of what
a later word has replaced.
"""

from typing import Any

import pytest

from tests.support.command import Shell
from tests.support.own_installation import Client
from tests.support.why_output import known

UP: list[Any] = [
    ("cluster", "adopt", "c1", {"phase": "Running"}),
    ("node_pool", "adopt", "c1/a", {"phase": "Running"}),
    *(("node", "adopt", f"c1/a/n{number}", {"phase": "Running"}) for number in range(10)),
]
GARBLED = {"reason": 7}


async def say(client: Client, kind: str, trigger: str, entity_id: str, data: Any = None, source: str = "/agent") -> Any:
    return await client.publish_and_wait(kind, trigger, entity_id, data or {}, source=source, check=False)


async def up(client: Client) -> None:
    for kind, trigger, entity_id, data in UP:
        await say(client, kind, trigger, entity_id, data, source="/admin")
    await known(client)


async def refused(client: Client, kind: str, entity_id: str) -> list[str]:
    view = await client.at()
    found = await view.refused(await view.last(kind, entity_id))
    why = await view.why(kind, entity_id)
    assert [one for one in why.facets[0].contradicted_by if "was refused" in one.text] == [*found]
    return [f"{one.text}: {one.message}" for one in found]


async def test_what_could_not_be_read_is_told_until_it_is_said_rightly(client: Client, shell: Shell) -> None:
    await up(client)
    assert (await say(client, "node", "not_ready", "c1/a/n1", GARBLED)).rejection
    [found] = await refused(client, "node", "c1/a/n1")
    assert found.startswith("/agent said not_ready at 20")
    assert "and was refused (invalid): " in found
    shown = await shell("get", "node", "c1/a/n1")
    assert "but" in shown.out
    assert "and was refused (invalid): " in " ".join(shown.out.split())
    assert (await shell("get", "node", "c1/a/n1", "--json")).json["refused"][0]["text"] in found
    assert ", which does not decide" in (await shell("why", "c1/a/n1")).out
    assert await refused(client, "node", "c1/a/n2") == []
    await say(client, "node", "not_ready", "c1/a/n1", {"reason": "NoLease"})
    assert await refused(client, "node", "c1/a/n1") == []
    before = await say(client, "node", "not_ready", "c1/a/n1", GARBLED)
    assert await refused(client, "node", "c1/a/n1") != []
    past = await client.at("now")
    assert await past.refused(await past.last("node", "c1/a/n1")) == ()
    same = await say(client, "node", "not_ready", "c1/a/n1", {"reason": "NoLease"})
    assert (before.transitions, same.transitions) == ((), ())
    assert await refused(client, "node", "c1/a/n1") == []


async def test_a_refused_request_and_what_is_older_are_not_told(client: Client) -> None:
    await up(client)
    await say(client, "node", "reported", "c1/a/n1", {"phase": "Running", "uid": "x:1"})
    await say(client, "node", "reported", "c1/a/n1", {"phase": "Running", "uid": "x:2"})
    assert (await say(client, "node", "not_ready", "c1/a/n1", {"uid": "x:1"})).rejection.reason == "stale"
    assert (await say(client, "node", "start", "c1/a/n1")).rejection
    assert await refused(client, "node", "c1/a/n1") == []


async def test_a_word_that_is_refused_itself_replaces_none(client: Client) -> None:
    await up(client)
    for uid in ("x:1", "x:2"):
        await say(client, "node", "reported", "c1/a/n1", {"phase": "Running", "uid": uid})
    assert (await say(client, "node", "not_ready", "c1/a/n1", GARBLED)).rejection
    assert (await say(client, "node", "not_ready", "c1/a/n1", {"uid": "x:1"})).rejection.reason == "stale"
    assert len(await refused(client, "node", "c1/a/n1")) == 1


async def test_what_the_brake_held_back_is_told_at_the_place_and_at_each_thing(client: Client, shell: Shell) -> None:
    await up(client)
    items = [{"id": f"a/n{number}", "phase": "Running"} for number in range(10)]
    held = await say(client, "cluster", "snapshot", "c1", {"kind": "node", "items": items[:2]})
    assert held.rejection.reason == "brake"
    [found] = await refused(client, "node", "c1/a/n5")
    assert "said snapshot of cluster c1 at " in found
    assert found.endswith("and was refused (brake): the snapshot does not list it")
    assert await refused(client, "node", "c1/a/n1") == []
    assert "it would end 8 of the 10 nodes" in (await refused(client, "cluster", "c1"))[0]
    assert "does not list it" in (await shell("why", "c1/a/n5")).out
    await say(client, "cluster", "snapshot", "c1", {"kind": "node_pool", "items": [{"id": "a", "phase": "Running"}]})
    assert await refused(client, "node", "c1/a/n5") != []
    await say(client, "cluster", "snapshot", "c1", {"kind": "node", "items": items})
    assert await refused(client, "node", "c1/a/n5") == []
    assert await refused(client, "cluster", "c1") == []


@pytest.mark.parametrize("item", [{"id": "a/n5", "phase": "Purple"}])
async def test_what_a_snapshot_says_and_does_not_fit_is_told(client: Client, item: Any) -> None:
    await up(client)
    items = [{"id": f"a/n{number}", "phase": "Running"} for number in range(10) if number != 5]
    done = await say(client, "cluster", "snapshot", "c1", {"kind": "node", "items": [*items, item]})
    assert done.rejection.reason == "left_out"
    [found] = await refused(client, "node", "c1/a/n5")
    assert "and was refused (left_out): " in found
    assert "Purple" in found
