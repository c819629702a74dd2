"""What is not known of an application is said by every reader: `get`, `tree`, `list`, `why`, the client."""

from typing import Any

from tests.support.command import Shell
from tests.support.gitops_history import APP, SET, resource_id
from tests.support.manifests import deployment, kubernetes_object
from tests.support.own_installation import Client

OUT = {"observedGeneration": 1, "replicas": 3, "updatedReplicas": 3, "availableReplicas": 3}
WIDGETS = [kubernetes_object("acme.dev/v1", "Widget", metadata={"name": f"w{number}"}) for number in range(3)]
CONFIG = kubernetes_object("v1", "ConfigMap")
WEB = {**deployment(replicas=3), "status": OUT}


async def observe(client: Client, found: dict[str, Any], **data: Any) -> None:
    await client.publish_and_wait("resource", "observed", resource_id(found), {"live": found, **data})


async def test_nothing_known_is_said_everywhere(client: Client, shell: Shell) -> None:
    for one in WIDGETS:
        await observe(client, one)
    got = (await shell("get", "application", APP)).out
    assert "NotAssessed" in got
    assert "NotCompared  Not known (nothing compared)" in got
    assert "to do" in got
    listed = (await shell("list", "application", "--json")).lines[0]["facets"]
    assert (listed["health"]["state"], listed["sync"]["label"]) == ("NotAssessed", "Not known (nothing compared)")
    assert "Healthy" not in (await shell("tree", SET)).out
    told = (await shell("why", "application", APP)).out
    assert "to do: Bring a health rule for the kind" in told
    assert "处理" not in told
    assert "请为该类型提供健康规则" in (await shell("why", "application", APP, "--lang", "zh")).out


async def test_what_is_partly_known_says_how_much_is_not(client: Client, shell: Shell) -> None:
    for one in WIDGETS:
        await observe(client, one)
    await observe(client, WEB, desired=deployment(replicas=3))
    await observe(client, CONFIG, desired=CONFIG)
    text = "3 of 4 not assessed"
    got = (await shell("get", "application", APP)).out
    assert f"Healthy, {text}" in got
    assert "Synced, 3 of 5 not compared" in got
    assert f"Healthy, {text}" in (await shell("tree", SET)).out
    assert text in (await shell("list", "application")).out
    facets = (await shell("get", "application", APP, "--json")).json["facets"]
    assert facets["health"]["unknown_parts"] == {"count": 3, "of": 4, "text": text}
    nested = (await shell("tree", SET, "--json")).json["children"][0]["facets"]
    assert nested["health"]["unknown_parts"]["text"] == text
    view = await client.at(None)
    found = await view.unknown_parts([await view.get("application", APP)])
    assert found["application", APP]["health"].text("zh") == "4 个中 3 个未评估"


async def test_a_hook_is_not_counted_among_what_is_not_compared(client: Client, shell: Shell) -> None:
    hook = {"name": "migrate", "annotations": {"argocd.argoproj.io/hook": "PreSync"}}
    await observe(client, CONFIG, desired=CONFIG)
    job = kubernetes_object("batch/v1", "Job", metadata=hook)
    await observe(client, job, desired=job)
    assert "not compared" not in (await shell("tree", SET)).out
    await observe(client, WIDGETS[0])
    assert "Synced, 1 of 2 not compared" in (await shell("tree", SET)).out


async def test_other_names_of_a_health_are_accepted(client: Client, shell: Shell) -> None:
    paused = deployment(replicas=3, paused=True)
    await observe(client, paused)
    await client.publish_and_wait("application", "observed", "other/other", {"reported_health": "Processing"})
    for state in ("Suspended", "Paused", "{Suspended,[*]}"):
        listed = (await shell("list", "resource", "--state", state, "--json")).lines
        assert [one["id"] for one in listed] == [resource_id(paused)]
    assert [one["id"] for one in (await shell("list", "application", "--state", "Processing", "--json")).lines] == [
        "other/other"
    ]
    watched = (await shell("watch", "--state", "Suspended", "--from", "start", "--no-follow", "--json")).lines
    assert {one["data"]["to"]["state"] for one in watched} == {"Paused"}
    await client.publish_and_wait("resource", "reported", resource_id(WEB), {"phase": "Processing"})
    assert (await client.get("resource", resource_id(WEB))).facets[0].state.phase == "Progressing"
