"""`phaseline observe --cluster`: list and watch, forgotten versions, servers that are away."""

import asyncio
import signal
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from phaseline.machines.kinds.kubernetes.kind_facts import KindsTold
from phaseline.schemas.errors import SetupError
from tests.support import closed_port
from tests.support.command import Shell
from tests.support.gitops_history import APP
from tests.support.installation import Settings, Wire, inspect, until_decided
from tests.support.kubernetes_server import Kube
from tests.support.manifests import kubernetes_object
from tests.support.observing import cluster, discovery, kubernetes_api
from tests.support.own_installation import Client
from tests.support.raising import raises


class Watching:
    """What comes of watching, one by one."""

    def __init__(self, source: AsyncIterator[cluster.ClusterReport]) -> None:
        self.source = source

    async def next(self) -> tuple[str, bool] | None:
        """A change; None after a list."""
        async with asyncio.timeout(60):
            found = await anext(self.source)
        if isinstance(found, cluster.AllSeen):
            return None
        return f"{found.manifest['kind']} {found.manifest['metadata']['name']}", found.gone


async def test_what_there_is_then_what_changes(kube: tuple[Kube, Path]) -> None:
    server, path = kube
    for name in "abc":
        await server.put("ConfigMap", name)
    await server.put("Deployment", "web")
    async with kubernetes_api.connected(path, None) as api:
        resources = await discovery.discover(api, ["cm", "deployments.apps"])
        assert [(one.path, one.plural, one.version, one.kind) for one in resources] == [
            ("/api/v1", "configmaps", "v1", "ConfigMap"),
            ("/apis/apps/v1", "deployments", "apps/v1", "Deployment"),
        ]
        source = cluster.changes(api, resources, "shop")
        watching = Watching(source)
        first = [await watching.next() for _ in range(6)]
        assert set(first) == {
            ("ConfigMap a", False),
            ("ConfigMap b", False),
            ("ConfigMap c", False),
            ("Deployment web", False),
            None,
        }
        assert first[-1] is None
        await server.put("ConfigMap", "a", data={"k": "2"})
        assert await watching.next() == ("ConfigMap a", False)
        await server.delete("Deployment", "web")
        assert await watching.next() == ("Deployment web", True)
        await source.aclose()
    assert any("continue=2" in asked for asked in server.asked)


async def test_a_kind_of_a_version_that_its_group_does_not_prefer_is_found(kube: tuple[Kube, Path]) -> None:
    server, path = kube
    gizmos = {
        "name": "gizmos",
        "singularName": "gizmo",
        "kind": "Gizmo",
        "namespaced": True,
        "verbs": ["list", "watch"],
    }
    server.more = {"apps/v2alpha1": [gizmos]}
    async with kubernetes_api.connected(path, None) as api:
        found = await discovery.discover(api, ["gizmos.apps", "gizmo", "deploy"])
        assert [one.version for one in found] == ["apps/v2alpha1", "apps/v2alpha1", "apps/v1"]
        assert await discovery.present(api, found[0]._replace(version="apps/v1beta1")) == found[0]
        assert await discovery.present(api, found[2]) == found[2]


async def one(api: Any) -> discovery.Resource:
    [found] = await discovery.discover(api, ["configmaps"])
    return found


async def test_a_watch_that_breaks_off_goes_on_where_it_was(kube: tuple[Kube, Path]) -> None:
    server, path = kube
    await server.put("ConfigMap", "a")
    async with kubernetes_api.connected(path, None) as api:
        watching = Watching(cluster.follow(api, await one(api), "shop"))
        assert [await watching.next(), await watching.next()] == [("ConfigMap a", False), None]
        for name in "bcd":
            await server.put("ConfigMap", name)
            assert await watching.next() == (f"ConfigMap {name}", False)
            server.pull()
            server.down = 2
        await server.put("ConfigMap", "e")
        assert await watching.next() == ("ConfigMap e", False)
    assert sum("watch" not in asked and "configmaps" in asked for asked in server.asked) == 1


async def test_what_is_forgotten_is_listed_anew_and_what_has_gone_meanwhile_is_told(kube: tuple[Kube, Path]) -> None:
    server, path = kube
    for name in "ab":
        await server.put("ConfigMap", name)
    async with kubernetes_api.connected(path, None) as api:
        watching = Watching(cluster.follow(api, await one(api), None))
        assert [await watching.next() for _ in range(3)] == [("ConfigMap a", False), ("ConfigMap b", False), None]
        server.down = 10_000
        server.pull()
        await server.delete("ConfigMap", "a")
        await server.put("ConfigMap", "c")
        server.forget()
        server.down = 0
        told = [await watching.next() for _ in range(4)]
        assert told == [("ConfigMap b", False), ("ConfigMap c", False), ("ConfigMap a", True), None]
        await server.put("ConfigMap", "d")
        assert await watching.next() == ("ConfigMap d", False)


async def test_a_list_of_which_the_rest_expires_begins_anew_and_ends_nothing(kube: tuple[Kube, Path]) -> None:
    server, path = kube
    for name in "abc":
        await server.put("ConfigMap", name)
    server.expired = 2
    async with kubernetes_api.connected(path, None) as api:
        watching = Watching(cluster.follow(api, await one(api), None))
        told = [await watching.next() for _ in range(8)]
        assert told == [(f"ConfigMap {name}", False) for name in "ababab"] + [("ConfigMap c", False), None]


@pytest.mark.parametrize("answer", [{}, {"kind": "Status", "message": "busy"}, {"kind": "ConfigMap", "metadata": {}}])
async def test_an_answer_that_is_no_list_ends_nothing(kube: tuple[Kube, Path], answer: dict[str, Any]) -> None:
    server, path = kube
    await server.put("ConfigMap", "a")
    async with kubernetes_api.connected(path, None) as api:
        watching = Watching(cluster.follow(api, await one(api), None))
        assert [await watching.next() for _ in range(2)] == [("ConfigMap a", False), None]
        server.instead = [answer]
        server.pull()
        await server.put("ConfigMap", "b")
        server.forget()
        told = [await watching.next() for _ in range(3)]
        assert told == [("ConfigMap a", False), ("ConfigMap b", False), None]
        assert server.instead == []


async def test_what_the_server_refuses(kube: tuple[Kube, Path], tmp_path: Path) -> None:
    server, path = kube
    async with kubernetes_api.connected(path, None) as api:
        with raises(SetupError.cluster_unusable, match="the cluster has no resource 'gizmos'"):
            await discovery.discover(api, ["gizmos"])
        found = await one(api)
        with raises(SetupError.cluster_unusable, match="404"):
            await anext(cluster.follow(api, found, "elsewhere"))
        server.down = 1
        with raises(SetupError.cluster_unusable, match="API server does not answer: /api/v1: 503"):
            await one(api)
        server.token = "another"
        with raises(SetupError.cluster_unusable, match=r"401 Unauthorized.*who are you"):
            await anext(cluster.changes(api, [found], "shop"))
    away = yaml.safe_load(path.read_text())
    away["clusters"][0]["cluster"]["server"] = f"http://{closed_port.ADDRESS}"
    path.write_text(yaml.safe_dump(away))
    async with kubernetes_api.connected(path, None) as api:
        with raises(SetupError.cluster_unusable, match="API server does not answer: Cannot connect"):
            await one(api)
    empty = tmp_path / "empty"
    empty.write_text("")
    with raises(SetupError.cluster_unusable, match="the kubeconfig cannot be used"):
        async with kubernetes_api.connected(empty, None):
            pass


async def test_from_a_cluster_into_states(
    kube: tuple[Kube, Path], shell: Shell, client: Client, working: Settings, wire: Wire, tmp_path: Path
) -> None:
    server, path = kube
    desired = tmp_path / "git"
    desired.mkdir()
    (desired / "a.yaml").write_text(
        yaml.safe_dump_all(
            [kubernetes_object("v1", "ConfigMap", metadata={"name": name}, data={"k": "1"}) for name in "ab"]
        )
    )
    await server.put("ConfigMap", "a", data={"k": "1"})
    words = (
        "observe",
        "--cluster",
        "--kubeconfig",
        str(path),
        "--resources",
        "cm",
        "-n",
        "shop",
        "--application",
        APP,
        "--desired",
        str(desired),
    )
    process = await shell.start(*words)
    async with client.watch("application", start="start") as watch:
        async for record in watch:
            if record.after.phase == "Missing":
                break
        await server.put("ConfigMap", "b", data={"k": "1"})
        async for record in watch:
            if record.after.phase == "Synced":
                break
        await server.delete("ConfigMap", "a")
        async for record in watch:
            if record.after.phase == "OutOfSync":
                break
    process.send_signal(signal.SIGINT)
    async with asyncio.timeout(60):
        assert await process.wait() == 130
    await until_decided(wire, await inspect(wire, working))


async def test_what_vanished_while_nobody_looked_is_gone(
    kube: tuple[Kube, Path], shell: Shell, client: Client, working: Settings, wire: Wire
) -> None:
    server, path = kube
    for name in "abc":
        await server.put("ConfigMap", name)
    words = ("observe", "--cluster", "--kubeconfig", str(path), "--resources", "cm", "-n", "shop", "--application", APP)

    async def there() -> list[str]:
        return sorted([one.id[-1] async for one in client.list("resource")])

    async def observed(names: str) -> None:
        """Run the command until these objects are there and no others, and kill it."""
        process = await shell.start(*words)
        async with asyncio.timeout(60):
            while await there() != list(names):
                await asyncio.sleep(0.05)
        process.kill()
        await process.wait()

    await observed("abc")
    await server.delete("ConfigMap", "a")
    await server.put("ConfigMap", "d")
    server.forget()
    await observed("bcd")


async def test_words_that_go_together(shell: Shell) -> None:
    for words in (("--cluster",), ("--resources", "cm")):
        said = await shell("observe", *words)
        assert (said.code, "--cluster and --resources go together" in said.err) == (2, True)


async def test_the_definitions_of_what_is_watched_are_read(kube: tuple[Kube, Path]) -> None:
    server, path = kube
    version = {"served": True, "schema": {"openAPIV3Schema": {"properties": {"spec": {}}}}}
    spec = {"group": "argoproj.io", "names": {"kind": "Application"}, "versions": [version]}
    one = {"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "spec": spec}
    server.objects["CustomResourceDefinition", "applications.argoproj.io"] = one
    async with kubernetes_api.connected(path, None) as api:
        resources = await discovery.discover(api, ["cm", "deploy", "applications", "applicationsets"])
        found = KindsTold(await discovery.definitions(api, resources))
        server.hidden.add(("CustomResourceDefinition", "applications.argoproj.io"))
        assert await discovery.definitions(api, resources) == []
    told = {
        kind: found.of({"apiVersion": "argoproj.io/v1alpha1", "kind": kind}).status for kind in ("Application", "X")
    }
    assert told == {"Application": False, "X": True}
    asked = [one for one in server.asked if "customresourcedefinitions" in one]
    assert [one.rpartition("/")[2] for one in asked[:2]] == ["applications.argoproj.io", "applicationsets.argoproj.io"]
