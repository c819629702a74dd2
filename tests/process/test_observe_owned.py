"""What objects make, and the Events about them, from kubectl's output and from a cluster: `tree`, `why`, `get`, HTTP.

Belongs here: the command on a real server. Does not: which events are made (`tests/pure/test_owned_objects.py`).
"""

import asyncio
import json
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import yaml

from tests.support.command import Shell
from tests.support.gitops_history import APP
from tests.support.kubernetes_server import Kube
from tests.support.manifests import Manifest, kubernetes_object
from tests.support.observing import MAKES, discovery
from tests.support.own_installation import Client
from tests.support.owned_objects import (
    CRASHING,
    DEPLOYED,
    OF_POD,
    POD,
    READY,
    REPLICA_SET,
    SET,
    WEB,
    happening,
    named,
    pod,
    replica_set,
)

BACKED_OFF = happening(CRASHING, "BackOff", "Back-off restarting failed container", count=12)
MAIL = kubernetes_object("v1", "Secret", metadata=named("mail"), data={"password": "aHVudGVyMg=="})


async def states(client: Client) -> dict[str, str]:
    """The healths of what is owned, by the last names of the ids."""
    return {one.id.rpartition(":")[2]: one.facets[0].state.phase async for one in client.list("owned_object")}


async def until(client: Client, wanted: dict[str, str]) -> None:
    async with asyncio.timeout(60):
        while await states(client) != wanted:
            await asyncio.sleep(0.05)


async def events_of(client: Client, entity_id: str) -> list[Any]:
    return list((await client.get("owned_object", entity_id)).attributes.get("events", ()))


async def test_from_kubectls_output_into_what_people_see(shell: Shell, client: Client, tmp_path: Path) -> None:
    path = tmp_path / "all.json"
    items = [BACKED_OFF, CRASHING, SET, DEPLOYED, MAIL]
    path.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": items}))
    said = await shell("observe", "--file", str(path), "--application", APP)
    assert (said.code, said.out) == (0, "5 events stored\n")
    await until(client, {REPLICA_SET: "Progressing", POD: "Degraded"})
    lines = (await shell("tree", "shop", "-o", "wide")).out.splitlines()
    at = [
        next(line.index(word) for line in lines if word in line)
        for word in ("resource apps:Deployment", "owned_object apps:R", "owned_object core:Pod")
    ]
    assert at[0] < at[1] < at[2]
    nested = json.loads((await shell("tree", WEB, "--json")).out)
    assert nested["children"][0]["children"][0]["id"] == OF_POD
    async with asyncio.timeout(60):
        while not await events_of(client, OF_POD):
            await asyncio.sleep(0.05)
    why = (await shell("why", APP, "-o", "wide")).out
    for words in (
        "CrashLoopBackOff", "the last run of container app is over (exit code 1, Error) since 2026-03-02T08:09:00Z",
        "event: Warning BackOff, 12 times, last at 2026-03-02T08:10:00Z: Back-off restarting failed container",
    ):  # fmt: skip
        assert words in why
    assert "Warning BackOff, 12 times" in (await shell("get", OF_POD)).out
    shown = await shell("get", OF_POD, "--manifest")
    assert yaml.safe_load(shown.out) == CRASHING
    assert json.loads((await shell("get", WEB, "--manifest", "--json")).out) == DEPLOYED
    secret = yaml.safe_load((await shell("get", f"{APP}/core:Secret/shop/mail", "--manifest")).out)
    assert (secret["data"], "aHVudGVyMg" in shown.out) == ({"password": "(secret)"}, False)
    refused = await shell("get", APP, "--manifest")
    assert (refused.code, "has no manifests: name an entity of resource or owned_object" in refused.err) == (2, True)
    assert (await shell("get", OF_POD, "--manifest", "--watch")).code == 2


@asynccontextmanager
async def watching(shell: Shell, path: Path, *more: str) -> AsyncIterator[None]:
    words = ("observe", "--cluster", "--kubeconfig", str(path), "--resources", "deploy", "-n", "shop")
    process = await shell.start(*words, "--application", APP, *more)
    try:
        yield
    finally:
        process.send_signal(signal.SIGINT)
        async with asyncio.timeout(60):
            await process.wait()


async def put(server: Kube, found: Manifest) -> None:
    parts = {name: part for name, part in found.items() if name not in ("apiVersion", "kind", "metadata")}
    metadata = {name: value for name, value in found["metadata"].items() if name != "resourceVersion"}
    await server.put(found["kind"], found["metadata"]["name"], metadata, **parts)


async def test_a_cluster_shows_what_its_objects_make(kube: tuple[Kube, Path], shell: Shell, client: Client) -> None:
    server, path = kube
    for found in (BACKED_OFF, CRASHING, SET, DEPLOYED, pod(replica_set(None, "foreign"), "elsewhere")):
        await put(server, found)
    async with watching(shell, path):
        await until(client, {REPLICA_SET: "Progressing", POD: "Degraded"})
        async with asyncio.timeout(60):
            while not await events_of(client, OF_POD):
                await asyncio.sleep(0.05)
        await put(server, pod(SET, "other", READY))
        await put(server, pod(SET, status=READY))
        await until(client, {REPLICA_SET: "Progressing", POD: "Healthy", "other": "Healthy"})
        await server.delete("Pod", POD)
        await until(client, {REPLICA_SET: "Progressing", "other": "Healthy"})
    await server.delete("Pod", "other")
    server.forget()
    async with watching(shell, path):
        await until(client, {REPLICA_SET: "Progressing"})


async def test_what_may_not_be_listed_is_left_out(kube: tuple[Kube, Path], shell: Shell, client: Client) -> None:
    server, path = kube
    server.denied = {"Pod", "Event"}
    for found in (CRASHING, SET, DEPLOYED):
        await put(server, found)
    async with watching(shell, path):
        await until(client, {REPLICA_SET: "Progressing"})
        await put(server, replica_set(DEPLOYED, available=1))
        await until(client, {REPLICA_SET: "Healthy"})


def test_the_rights_in_the_example_are_those_that_are_needed() -> None:
    path = Path(__file__).parents[2] / "examples" / "gitops" / "observer-rights.yaml"
    rules = yaml.safe_load(path.read_text())["rules"]
    may = {
        (group, one)
        for rule in rules
        if "watch" in rule["verbs"]
        for group in rule["apiGroups"]
        for one in rule["resources"]
    }
    followed = {(group, f"{kind.lower()}s") for group, kind in discovery.FOLLOWED}
    assert followed | {(group, f"{kind.lower()}s") for group, kind in MAKES} <= may
    assert {verb for rule in rules for verb in rule["verbs"]} == {"get", "list", "watch"}
