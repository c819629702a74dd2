"""What commands and the API say of lives that ended unseen, and of what is left behind."""

import json
import re
import signal

from tests.support.adoption import adopt
from tests.support.command import Shell, line_with
from tests.support.own_installation import Client

FLEET = [
    ("cluster", "c1", "Running"),
    ("node_pool", "c1/p", "Running"),
    *(("node", f"c1/p/{n}", "Running") for n in "ab"),
]


async def test_a_leaked_machine_has_a_place(shell: Shell, client: Client) -> None:
    await adopt(client, FLEET)
    await client.publish_and_wait("cluster", "deleted", "c1", timeout=10)
    unseen = await shell("list", "node", "--all")
    assert unseen.out.count("Deleted (not seen)") == 2
    assert (await shell("get", "node", "c1/p/a", "--json")).json["facets"]["phase"]["label"] == "Deleted (not seen)"
    told = (await shell("get", "node", "c1/p/b")).out
    assert re.search(r"^cause +owner_gone \(cascade of cluster/c1\), of event \d+ by /test$", told, re.MULTILINE)
    assert "no entities found" in (await shell("list", "--left-behind")).err
    assert "everything there is deleted: --all shows it" in (await shell("tree", "c1")).err

    left = await client.publish_and_wait("node", "reported", "c1/p/a", {"phase": "Running"}, timeout=10)
    [record] = left.transitions
    assert (str(record.before), str(record.after)) == ("Deleted", "Deleted")
    listed = await shell("list", "--left-behind")
    assert "c1/p/a" in listed.out
    assert "c1/p/b" not in listed.out
    assert "Deleted, last shown Running [Ok]" in listed.out
    shown = (await shell("get", "node", "c1/p/a", "--json")).json
    assert (shown["end"], shown["attributes"]["shows"]["phase"]) == ("contradicted", "Running")
    assert "left behind" in shown["facets"]["phase"]["label"]
    assert "report it gone" in shown["facets"]["phase"]["advice"]
    told = (await shell("get", "node", "c1/p/a")).out
    assert "Deleted  Deleted (not seen), left behind" in told
    assert "remove it where it runs, then report it gone" in told
    assert re.search(r"^shows +Running \[Ok\] at .*, event \d+$", told, re.MULTILINE)
    why = (await shell("why", "node", "c1/p/a")).out
    assert "node c1/p/a  Deleted  Deleted (not seen), left behind  since " in why
    assert "deleted by /test" in why
    assert "but it was reported to be there still, Running [Ok], which does not decide" in why
    assert "reported by /test" in why.split("reported to be there still", 1)[1]
    assert "node c1/p/b  Deleted  Deleted (not seen)  since " in (await shell("why", "node", "c1/p/b")).out
    tree = await shell("tree", "c1")
    assert "node a  Deleted  Deleted (not seen), left behind, last shown Running [Ok]" in tree.out
    assert "c1/p/b" not in tree.out
    assert "cluster c1  Deleted" in tree.out
    history = (await shell("history", "node", "c1/p/a")).out.splitlines()
    assert "Deleted (not seen), left behind" in history[-1]
    assert "still there, Running [Ok]: the node_pool c1/p is deleted" in history[-1]
    watched = await shell("watch", "node", "--from", "0", "--no-follow")
    assert "stays Deleted (not seen), last shown Running [Ok]" in watched.out
    assert (await shell("list", "node")).out == ""

    await client.publish_and_wait("node", "deleted", "c1/p/a", timeout=10)
    assert (await shell("get", "node", "c1/p/a", "--json")).json["end"] == "seen"
    assert "no entities found" in (await shell("list", "--left-behind")).err
    assert "everything there is deleted: --all shows it" in (await shell("tree", "c1")).err
    assert "it is gone, that is seen now" in (await shell("history", "node", "c1/p/a")).out


GROUP, OLD, NEW = "proj+app+v1+group", "web/prov+old/dep+Deployment", "web/prov+new/dep+Deployment"


async def emco(client: Client, *events: tuple[str, str, str, dict[str, object]]) -> None:
    for kind, trigger, entity_id, data in events:
        found = await client.publish_and_wait(kind, trigger, entity_id, data, timeout=10)
        assert found.rejection is None, found


async def test_status_tells_of_an_older_context_and_of_what_is_left(shell: Shell, client: Client) -> None:
    await emco(
        client,
        ("emco_resource", "create", GROUP, {}), ("emco_resource", "approve", GROUP, {}),
        ("app_context", "create", f"{GROUP}/1", {}), ("rsync_resource", "add", f"{GROUP}/1/{OLD}", {}),
        ("emco_resource", "instantiate", GROUP, {"context": "1"}), ("rsync_resource", "applied", f"{GROUP}/1/{OLD}", {}),
        ("app_context", "create", f"{GROUP}/2", {}), ("rsync_resource", "add", f"{GROUP}/2/{NEW}", {}),
        ("emco_resource", "update", GROUP, {"context": "2"}), ("rsync_resource", "applied", f"{GROUP}/2/{NEW}", {}),
    )  # fmt: skip
    said = await shell("emco", "status", GROUP)
    assert "app_context 1  Updating" in said.out
    assert "under way beside the current one" in said.out
    assert "  web on prov+old: 1 Applied" in said.out
    body = (await shell("emco", "status", GROUP, "--json")).json
    assert (body["status"], body["previous"][0]["rsync-status"]) == ("Instantiated", {"Applied": 1})
    assert "app_context 1" in (await shell("tree", GROUP)).out
    current = await shell("tree", GROUP, "--current")
    assert "app_context 2" in current.out
    assert "app_context 1" not in current.out

    await emco(
        client, ("emco_resource", "terminate", GROUP, {}), ("rsync_resource", "terminated", f"{GROUP}/2/{NEW}", {})
    )
    refused = await shell("publish", "emco_resource", "delete", GROUP, "--wait")
    assert refused.code == 1
    assert f"({GROUP}/1/{OLD})" in refused.out
    assert f"or delete at emco_resource {GROUP} with abandon true" in refused.out
    given_up = await shell("publish", "emco_resource", "delete", GROUP, "--wait", "--data", '{"abandon": true}')
    assert given_up.code == 0
    listed = [json.loads(line) for line in (await shell("list", "--left-behind", "--json")).out.splitlines()]
    assert [(one["id"], one["end"], one["attributes"]["shows"]["phase"]) for one in listed] == [
        (f"{GROUP}/1/{OLD}", "assumed", "Applied")
    ]
    ended = (await shell("emco", "status", GROUP)).out
    assert ended.startswith(f"emco_resource {GROUP}  Deleted  Deleted (not seen)  for ")
    assert "left behind dep+Deployment of web on prov+old (context 1), last shown Applied" in ended
    for how in ((), ("--at", "0s"), ("--shape", "emco")):
        body = (await shell("emco", "status", GROUP, *how, "--json")).json
        assert len(body.get("left_behind") or body["leftBehind"]) == 1
    await client.publish_and_wait("rsync_resource", "terminated", f"{GROUP}/1/{OLD}", timeout=10)
    assert (await shell("emco", "status", GROUP)).code == 4


async def test_a_status_is_shown_again_after_each_change(shell: Shell, client: Client) -> None:
    await emco(
        client,
        ("emco_resource", "create", GROUP, {}), ("emco_resource", "approve", GROUP, {}),
        ("app_context", "create", f"{GROUP}/1", {}), ("rsync_resource", "add", f"{GROUP}/1/{OLD}", {}),
        ("emco_resource", "instantiate", GROUP, {"context": "1"}),
    )  # fmt: skip
    watching = await shell.start("emco", "status", GROUP, "--watch", "--json", "--output", "summary")
    try:
        before = json.loads(await line_with(watching.stdout, '"Instantiating"'))
        await client.publish("rsync_resource", "applied", f"{GROUP}/1/{OLD}")
        after = json.loads(await line_with(watching.stdout, '"Applied"'))
        watching.send_signal(signal.SIGINT)
        _, said = await watching.communicate()
    finally:
        if watching.returncode is None:
            watching.kill()
            await watching.communicate()
    assert (before["rsync-status"], after["rsync-status"], after["status"]) == (
        {"Pending": 1},
        {"Applied": 1},
        "Instantiated",
    )
    assert (watching.returncode, said) == (130, b"")
    assert "leave out --at" in (await shell("emco", "status", GROUP, "--watch", "--at", "1m")).err
