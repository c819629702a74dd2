"""`phaseline observe --cluster` and an API server that refuses, forgets, counts anew, or ends what it has begun.

The law: what one resource meets stops no other one; no try is repeated for ever that cannot help; nothing is ended by
what is no list.
"""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from structlog.testing import capture_logs

from phaseline.machines.language.fields import free_attributes
from phaseline.schemas.errors import SetupError
from tests.support.command import Shell
from tests.support.kubernetes_server import Kube
from tests.support.observing import cluster, discovery, kubernetes_api
from tests.support.own_installation import Client
from tests.support.raising import raises

Told = tuple[str, str]


async def told(source: AsyncIterator[cluster.ClusterReport], *until: Told) -> list[Told]:
    """What is told until all of this was: kind and name of an object, "-name" where it is gone, "all" after a list."""
    found: list[Told] = []
    async with asyncio.timeout(60):
        while not set(until) <= {*found}:
            one = await anext(source)
            if isinstance(one, cluster.AllSeen):
                found.append((one.resource.kind, "all"))
            else:
                sign = "-" if one.gone else ""
                found.append((one.manifest["kind"], f"{sign}{one.manifest['metadata']['name']}"))
    return found


async def until(is_so: Callable[[], bool]) -> None:
    async with asyncio.timeout(60):
        while not is_so():
            await asyncio.sleep(0.01)


async def resources(api: Any, *names: str) -> list[discovery.Resource]:
    return await discovery.discover(api, names or ["configmaps"])


@pytest.mark.parametrize("status", [400, 403, 404])
async def test_a_kind_that_is_refused_in_mid_run_stops_no_other_and_comes_back(
    kube: tuple[Kube, Path], status: int
) -> None:
    server, path = kube
    await server.put("ConfigMap", "a")
    await server.put("ConfigMap", "b")
    await server.put("Deployment", "web")
    away: set[str] = set()
    async with kubernetes_api.connected(path, None) as api:
        source = cluster.changes(api, await resources(api, "cm", "deploy"), None, away)
        await told(source, ("Deployment", "all"), ("ConfigMap", "all"))
        server.refused["ConfigMap"] = status
        server.pull()
        async with asyncio.timeout(60):
            while not away:
                await server.put("Deployment", "web", step=server.version)
                await told(source, ("Deployment", "web"))
        await server.delete("ConfigMap", "b")
        server.refused.clear()
        found = await told(source, ("ConfigMap", "all"))
        assert ("ConfigMap", "-b") in found
        assert away == set()
        await source.aclose()


@asynccontextmanager
async def followed(server: Kube, path: Path) -> AsyncIterator[AsyncIterator[cluster.ClusterReport]]:
    """ConfigMaps that are followed, with one that is there and was listed."""
    await server.put("ConfigMap", "a")
    async with kubernetes_api.connected(path, None) as api:
        source = cluster.follow(api, (await resources(api))[0], None)
        await told(source, ("ConfigMap", "all"))
        yield source


async def test_a_token_that_is_not_known_any_more_ends_it(kube: tuple[Kube, Path]) -> None:
    server, path = kube
    async with followed(server, path) as source:
        server.token = "another"
        server.pull()
        with raises(SetupError.cluster_unusable, match="401 Unauthorized"):
            await told(source, ("ConfigMap", "never"))


async def test_a_definition_that_changes_its_version_is_followed(kube: tuple[Kube, Path]) -> None:
    server, path = kube
    await server.put("Deployment", "web")
    async with kubernetes_api.connected(path, None) as api:
        source = cluster.follow(api, (await resources(api, "deploy"))[0], None)
        await told(source, ("Deployment", "all"))
        server.served["apps"] = "v2"
        server.pull()
        await server.put("Deployment", "new")
        assert ("Deployment", "new") in await told(source, ("Deployment", "all"))
    assert any("/apis/apps/v2/deployments?watch" in asked or "/apis/apps/v2/deployments?limit" in asked
               for asked in server.asked)  # fmt: skip


async def test_a_server_that_ends_each_watch_at_once_is_not_asked_all_the_time(kube: tuple[Kube, Path]) -> None:
    server, path = kube
    await server.put("ConfigMap", "a")
    server.ends_at_once = True
    away: set[str] = set()
    async with kubernetes_api.connected(path, None) as api:
        source = cluster.follow(api, (await resources(api))[0], None, away)
        await told(source, ("ConfigMap", "all"))
        with capture_logs() as logged:
            waiting = asyncio.ensure_future(told(source, ("ConfigMap", "b")))
            await until(lambda: any(one["event"] == "cluster_away" for one in logged) or len(server.asked) > 200)
        assert len(server.asked) < 200
        assert away == {"core:ConfigMap"}
        server.ends_at_once = False
        await server.put("ConfigMap", "b")
        await waiting


async def test_a_server_that_was_put_back_is_listed_anew_by_its_bookmarks(kube: tuple[Kube, Path]) -> None:
    server, path = kube
    for name in "abc":
        await server.put("ConfigMap", name)
    server.version = 100
    await server.put("ConfigMap", "d")
    async with kubernetes_api.connected(path, None) as api:
        source = cluster.follow(api, (await resources(api))[0], None)
        await told(source, ("ConfigMap", "all"))
        await server.put_back(12, "ConfigMap", "ab")
        waiting = asyncio.ensure_future(told(source, ("ConfigMap", "all")))
        await until(lambda: "resourceVersion=101" in server.asked[-1] and len(server.open) == 1)
        server.events.append((102, "BOOKMARK", "ConfigMap", {"metadata": {"resourceVersion": "13"}}))
        async with server.news:
            server.news.notify_all()
        assert await waiting == [("ConfigMap", name) for name in ("a", "b", "-c", "-d", "all")]


async def test_a_server_that_knows_no_such_version_is_listed_anew_in_the_end(
    kube: tuple[Kube, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A server that was put back answers 504: the version is too large. It never comes, if nothing changes."""
    monkeypatch.setattr(cluster, "WATCH_SECONDS", 0.2)
    server, path = kube
    for name in "ab":
        await server.put("ConfigMap", name)
    async with kubernetes_api.connected(path, None) as api:
        source = cluster.follow(api, (await resources(api))[0], None)
        await told(source, ("ConfigMap", "all"))
        del server.objects["ConfigMap", "b"]
        watch = server._watch

        async def too_large(request: Any, kind: str) -> Any:
            return server_answer(504) if int(request.query["resourceVersion"]) >= 12 else await watch(request, kind)

        server._watch = too_large  # type: ignore[method-assign]  # of this server alone
        server.version = 5
        server.pull()
        assert ("ConfigMap", "-b") in await told(source, ("ConfigMap", "all"))


def server_answer(status: int) -> Any:
    return web.json_response({"kind": "Status", "message": "Timeout: Too large resource version"}, status=status)


@pytest.mark.parametrize(
    "page",
    [
        {"items": "none"}, {"items": [None]}, {"items": [{}]}, {"items": [{"metadata": {"name": 7}}]},
        {"items": [{"metadata": None}]}, {"items": {}, "kind": "Status"},
    ],
)  # fmt: skip
async def test_a_list_of_what_are_no_objects_ends_nothing(kube: tuple[Kube, Path], page: dict[str, Any]) -> None:
    server, path = kube
    async with followed(server, path) as source:
        server.instead = [{"kind": "ConfigMapList", "metadata": {"resourceVersion": "50"}, **page}]
        server.pull()
        await server.put("ConfigMap", "b")
        server.forget()
        assert await told(source, ("ConfigMap", "all")) == [("ConfigMap", name) for name in ("a", "b", "all")]
        assert server.instead == []


async def test_a_list_without_an_item_is_empty(kube: tuple[Kube, Path]) -> None:
    """Some servers write null where a list has nothing."""
    server, path = kube
    server.instead = [{"kind": "ConfigMapList", "metadata": {"resourceVersion": "50"}, "items": None}]
    async with kubernetes_api.connected(path, None) as api:
        source = cluster.follow(api, (await resources(api))[0], None)
        assert await told(source, ("ConfigMap", "all")) == [("ConfigMap", "all")]


async def test_a_list_whose_pages_have_no_end_is_left(kube: tuple[Kube, Path]) -> None:
    server, path = kube
    page = {"kind": "ConfigMapList", "metadata": {"continue": "0"}, "items": [{"metadata": {"name": "x"}}]}
    server.instead = [page] * 5
    async with kubernetes_api.connected(path, None) as api:
        with capture_logs() as logged:
            source = cluster.follow(api, (await resources(api))[0], None)
            await told(source, ("ConfigMap", "all"))
    assert any("the list has no end" in one.get("error", "") for one in logged)


async def test_the_end_of_an_object_is_not_that_of_its_successor(kube: tuple[Kube, Path]) -> None:
    server, path = kube
    async with followed(server, path) as source:
        old = server.objects["ConfigMap", "a"]
        await server.put("ConfigMap", "a", {"uid": "u-2"})
        await server._tell("DELETED", "ConfigMap", old)
        await told(source, ("ConfigMap", "-a"))
        server.pull()
        del server.objects["ConfigMap", "a"]
        server.version += 1
        server.forget()
        assert await told(source, ("ConfigMap", "all")) == [("ConfigMap", "-a"), ("ConfigMap", "all")]


@pytest.mark.parametrize("status", [401, 403, 404, 500, 503])
async def test_an_api_group_that_is_refused_hides_no_other(kube: tuple[Kube, Path], status: int) -> None:
    server, path = kube
    server.groups["metrics.k8s.io"] = status
    async with kubernetes_api.connected(path, None) as api:
        assert [one.named for one in await resources(api, "deploy", "cm")] == ["deployments.apps", "configmaps"]
        for name in ("nodes.metrics.k8s.io", "gizmos"):
            with raises(SetupError.cluster_unusable, match="unless it is one of metrics.k8s.io/v1beta1"):
                await resources(api, name)
        server.groups["metrics.k8s.io"] = 200
        with raises(SetupError.cluster_unusable, match="has no resource 'gizmos': see"):
            await resources(api, "gizmos")


async def test_an_application_says_what_of_it_nobody_may_look_at(
    kube: tuple[Kube, Path], shell: Shell, client: Client
) -> None:
    """Its other objects go on to be heard, so that nothing of it falls silent."""
    server, path = kube
    await server.put("ConfigMap", "a")
    await server.put("Deployment", "web", spec={})
    words = ("observe", "--cluster", "--kubeconfig", str(path), "--resources", "cm,deploy", "--application", "s/a")

    async def says(wanted: object) -> None:
        async with asyncio.timeout(60):
            while True:
                found = [one async for one in client.list("application")]
                if found and free_attributes(found[0].attributes).get("unwatched") == wanted:
                    return
                await asyncio.sleep(0.05)

    process = await shell.start(*words, "--heartbeat", "0.3")
    async with asyncio.timeout(60):
        while len([one async for one in client.list("resource")]) < 2:
            await asyncio.sleep(0.05)
    server.refused["ConfigMap"] = 403
    server.pull()
    await says("core:ConfigMap")
    marks = {
        one.id: (await shell("get", one.id, "--json")).json.get("unwatched") async for one in client.list("resource")
    }
    assert [marks[one] for one in sorted(marks)] == [None, {"by": "application/s/a", "named": "core:ConfigMap"}], marks
    shown = (await shell("get", max(marks))).out
    assert ": nobody may look at core:ConfigMap now, as application s/a says" in shown
    process.kill()
    await process.wait()
    server.refused.clear()
    process = await shell.start(*words, "--heartbeat", "0.3")
    await says(None)
    before = (await client.last("application", "s/a")).entity.version
    process.kill()
    await process.wait()
    process = await shell.start(*words, "--heartbeat", "0.3")
    started = len(server.asked)
    await until(lambda: len(server.asked) > started)
    await asyncio.sleep(1.5)
    assert (await client.last("application", "s/a")).entity.version == before
    process.kill()
    await process.wait()
